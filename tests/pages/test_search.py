"""The search page and its dialog: what is found, where it leads, and what nobody else sees."""

from __future__ import annotations

import json
import re
import threading
from datetime import UTC, datetime
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from compaction.standing.accepting import accept_compaction
from efforts import actions
from efforts.context import embedders
from efforts.domain.effort.states import ReviewMode
from efforts.domain.text.snippets import LEAD, plainly, snippet
from efforts.models import Effort, Message, Passage, Session, VectorIndex
from efforts.retrieval import vectors
from tests.compaction.review import POSTGRES, STATES, room_of
from tests.efforts.talk import Talk
from tests.fakes.meanings import embeddings
from tests.fakes.provider import FakeProvider, Reply
from tests.retrieval.test_meaning import embed_all

from .conftest import HTMX

KINDS = ["effort", "message", "rule", "summary"]
HIT = re.compile(r'<li class="hit.*?</li>', re.DOTALL)
MARKED = re.compile(r"<mark>(.*?)</mark>")


@pytest.fixture
def talk(session: Session) -> Talk:
    """One conversation that has its word in each kind of thing."""
    talk = Talk(session)
    actions.rename_session(session, title="The server room", actor=session.owner)
    talk.concluded("Auth bug", "The token refresh answers 401.", "The zebra clock drifts.")
    talk.summarise("auth-bug", "The zebra clock of the host drifted; it is in order now.")
    actions.open_effort(talk.place, "Zebra crossing")
    talk.ask("We paint the crossing.", reply="Zebra stripes are half a metre wide.")
    actions.set_constraint(talk.place, "Never paint a zebra at night.")
    return talk


def hits(client: Client, query: str, **filters: str) -> list[str]:
    response = client.get("/search/", {"q": query, **filters}, headers=HTMX)
    assert response.status_code == 200
    return HIT.findall(response.content.decode())


def told(hit: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", hit)).split())


def leads_to(hit: str) -> str:
    found = re.search(r'class="place" id="hit-\d+" href="([^"]*)"', hit)
    assert found
    return unescape(found[1])


def of_kind(client: Client, kind: str, query: str = "zebra") -> str:
    [hit] = hits(client, query, kind=kind)[:1]
    return hit


def test_efforts_messages_rules_and_summaries_are_found(as_alice: Client, talk: Talk) -> None:
    kinds = {told(hit).split()[0] for hit in hits(as_alice, "zebra")}
    assert kinds == {"Effort", "Message", "Rule", "Summary"}


def test_the_words_found_are_marked_in_their_passage(as_alice: Client, talk: Talk) -> None:
    [hit] = hits(as_alice, "tokens refreshed", kind="message")
    assert MARKED.findall(hit) == ["token", "refresh"]
    assert "The token refresh answers 401." in told(hit)


def test_what_a_message_quotes_is_shown_without_the_marks_of_the_quote(as_alice: Client, talk: Talk) -> None:
    talk.ask("What was said of giraffes?", reply="> The giraffe is tall.\n> — you\n\nSo it is.")
    [hit] = [one for one in hits(as_alice, "giraffe", kind="message") if "tall" in one]
    assert "The giraffe is tall. — you So it is." in told(hit)
    assert MARKED.findall(hit) == ["giraffe"]


def test_what_a_person_wrote_is_listed_before_replies_that_only_quote_it(as_alice: Client, talk: Talk) -> None:
    talk.ask("Please note: giraffes. The giraffe eats at noon. " + "The weather was fine and all went home. " * 5)
    talk.ask("When does the giraffe eat, at noon?", reply="> The giraffe eats at noon.")
    talk.ask("And once more?", reply="You said: The giraffe eats at noon.")
    found = [told(one) for one in hits(as_alice, "giraffe eats noon", kind="message")]
    written = next(at for at, one in enumerate(found) if "Please note" in one)
    replies = [at for at, one in enumerate(found) if " Reply " in one]
    assert len(replies) == 2
    assert written < min(replies)


def test_text_is_shown_without_the_marks_of_markdown_and_code_as_it_is() -> None:
    text = "> Use `flat(x)` here.\n\n```python\nprint(`x`) > 3\n> y\n```\nDone, ``a`b`` or `not."
    assert plainly(text) == "Use flat(x) here.\n\nprint(`x`) > 3\n> y\nDone, a`b or `not."
    assert plainly(text, 2, 21) == "Use flat(x) here."


@given(st.text(alphabet="a`>~ \n"), st.integers(0, 30))
def test_shown_in_two_pieces_a_text_is_what_it_is_in_one(text: str, at: int) -> None:
    at = min(at, len(text))
    assert plainly(text, 0, at) + plainly(text, at) == plainly(text)


def test_a_passage_that_was_found_has_no_marks_of_code(as_alice: Client, talk: Talk) -> None:
    talk.ask("Look at this:\n```python\nokapi = `one`\n```\nIt is `done`.", reply="Yes.")
    [hit] = hits(as_alice, "okapi", kind="message", speaker="user")
    assert "Look at this: okapi = `one` It is done." in told(hit)


def test_a_message_says_who_said_it_where_and_when(as_alice: Client, talk: Talk) -> None:
    [hit] = hits(as_alice, "stripes", kind="message")
    assert "The server room · turn 3 Reply" in told(hit)
    assert re.search(r"\d{4}-\d\d-\d\d", told(hit))
    [hit] = hits(as_alice, "token", kind="message")
    assert "The server room · turn 1 You" in told(hit)


def test_a_message_opens_at_its_turn(as_alice: Client, talk: Talk) -> None:
    hit = of_kind(as_alice, "message", "stripes")
    page, _, turn = leads_to(hit).partition("#")
    assert leads_to(hit).startswith(f"{talk.branch.address('log')}?around=3&found=")
    assert turn == "turn-3"
    page = as_alice.get(page).content.decode()
    assert 'id="turn-3"' in page
    [told_to_page] = re.findall(r'data-found="([^"]*)"', page)
    assert told_to_page == re.findall(r'data-found="([^"]*)"', hit)[0]
    found = json.loads(unescape(told_to_page))
    assert (found["turn"], found["role"], found["marks"]) == (3, "assistant", ["stripes"])
    assert f'data-message="{found["message"]}"' in page


def test_a_hit_is_dated_by_the_clock_of_the_pages(as_alice: Client, talk: Talk, settings: Any) -> None:
    at = datetime(2026, 3, 5, 23, 30, tzinfo=UTC)
    Message.objects.update(created_at=at)
    Effort.objects.update(created_at=at)
    settings.TIME_ZONE = "Europe/Berlin"
    for kind in ("message", "effort"):
        assert 'datetime="2026-03-06"' in of_kind(as_alice, kind)


@pytest.mark.parametrize("found", ["x", "0", "99999999999999999999", "-1", "9" * 5_000])
def test_an_address_that_leads_to_no_passage_is_a_page_without_marks(as_alice: Client, talk: Talk, found: str) -> None:
    page = as_alice.get(f"{talk.branch.address('log')}?around=1&found={found}&mark=x")
    assert page.status_code == 200
    assert "data-found" not in page.content.decode()


def test_a_message_of_another_branch_opens_in_that_branch(as_alice: Client, talk: Talk) -> None:
    branch = actions.fork(talk.branch, after=1, actor=talk.session.owner)
    other = Talk(talk.session, branch)
    other.ask("An okapi walked by.")
    hit = of_kind(as_alice, "message", "okapi")
    assert leads_to(hit).startswith(f"{branch.address('log')}?around=2&")
    assert f"The server room ({branch}) · turn 2" in told(hit)


@pytest.mark.parametrize(("kind", "slug"), [("effort", "zebra-crossing"), ("summary", "auth-bug")])
def test_efforts_and_summaries_open_in_the_panel(as_alice: Client, talk: Talk, kind: str, slug: str) -> None:
    address = leads_to(of_kind(as_alice, kind))
    assert address == f"{talk.session.get_absolute_url()}#effort-{slug}-row"
    assert f'id="effort-{slug}-row"' in as_alice.get(address).content.decode()


def test_an_effort_is_called_by_its_name_and_by_its_id_where_that_has_other_words(as_alice: Client, talk: Talk) -> None:
    effort = Effort.objects.get(session=talk.session, name__icontains="zebra")
    name = effort.name
    assert effort.slug not in told(of_kind(as_alice, "effort"))
    actions.rename_effort(talk.place, effort.slug, f"The other {name}")
    assert f"The other {name} ( {effort.slug} )" in told(of_kind(as_alice, "effort"))


def test_a_draft_is_found_with_how_it_stands_and_opens_on_its_page(as_alice: Client, alice: User) -> None:
    with FakeProvider() as provider:
        row = room_of(alice, provider, review=ReviewMode.ALWAYS).draft()
    hit = of_kind(as_alice, "summary", row.headline)
    assert told(hit).startswith("Summary Waits for you")
    assert leads_to(hit) == row.get_absolute_url()
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    hit = of_kind(as_alice, "summary", row.headline)
    assert told(hit).startswith("Summary In use")
    assert leads_to(hit).endswith(f"#effort-{row.effort.slug if row.effort else ''}-row")


def test_excerpts_are_not_called_a_summary(as_alice: Client, alice: User) -> None:
    with FakeProvider() as provider:
        row = STATES["chosen digest"](room_of(alice, provider, review=ReviewMode.ALWAYS))
    assert told(of_kind(as_alice, "summary", POSTGRES)).startswith("Excerpts Waits for you")
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    assert told(of_kind(as_alice, "summary", POSTGRES)).startswith("Excerpts In use")


def test_a_draft_of_a_deleted_conversation_is_not_found(as_alice: Client, alice: User) -> None:
    with FakeProvider() as provider:
        row = room_of(alice, provider, review=ReviewMode.ALWAYS).draft()
    assert of_kind(as_alice, "summary", row.headline)
    actions.delete_session(row.session, actor=alice)
    assert hits(as_alice, row.headline, kind="summary") == []


def test_a_draft_of_anybody_else_is_not_found(as_bob: Client, alice: User) -> None:
    with FakeProvider() as provider:
        row = room_of(alice, provider, review=ReviewMode.ALWAYS).draft()
    assert hits(as_bob, row.headline) == []


def test_a_rule_opens_among_the_rules(as_alice: Client, talk: Talk) -> None:
    page, _, anchor = leads_to(of_kind(as_alice, "rule")).partition("#")
    assert page == talk.session.get_absolute_url()
    assert f'id="{anchor}"' in as_alice.get(page).content.decode()


def test_a_rule_for_all_conversations_opens_in_the_settings(as_alice: Client, talk: Talk) -> None:
    actions.set_standing_rule(talk.session.owner, "Never feed the ocelot.")
    page, _, anchor = leads_to(of_kind(as_alice, "rule", "ocelot")).partition("#")
    assert page == "/settings/"
    assert f'id="{anchor}"' in as_alice.get(page).content.decode()


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_filtered_by_kind(as_alice: Client, talk: Talk, kind: str) -> None:
    assert {told(hit).split()[0].lower() for hit in hits(as_alice, "zebra", kind=kind)} == {kind}


def test_it_is_filtered_by_conversation(as_alice: Client, alice: User, talk: Talk) -> None:
    other = Talk(actions.create_session(alice))
    other.ask("The zebra of the other talk.")
    assert len(hits(as_alice, "zebra", session=str(other.session.pk))) == 1
    assert "other talk" in told(hits(as_alice, "zebra", session=str(other.session.pk))[0])


def test_it_is_filtered_by_who_said_it(as_alice: Client, talk: Talk) -> None:
    assert {told(hit).split()[0] for hit in hits(as_alice, "zebra", speaker="assistant")} == {"Message"}
    assert "Zebra stripes" in told(hits(as_alice, "zebra", speaker="assistant")[0])
    assert "The zebra clock drifts." in told(hits(as_alice, "zebra", speaker="user")[0])


def test_it_is_filtered_by_effort_by_any_part_of_its_name(as_alice: Client, talk: Talk) -> None:
    kinds = [(told(hit).split()[0], "Auth bug" in told(hit)) for hit in hits(as_alice, "zebra", effort="Auth")]
    assert sorted(kinds) == [("Message", True), ("Summary", True)]
    page = told(as_alice.get("/search/", {"q": "zebra", "effort": "okapi"}, headers=HTMX).content.decode())
    assert "in efforts named “okapi”" in page


def test_there_are_as_many_pages_as_results_and_none_is_shown_twice(as_alice: Client, talk: Talk) -> None:
    for number in range(60):
        talk.ask(f"Yak number {number}", reply="Noted.")
    first = as_alice.get("/search/", {"q": "yak", "speaker": "user"}, headers=HTMX).content.decode()
    assert "1 to 50 of 60 results" in first
    [following] = re.findall(r'href="([^"]*)" rel="next"', first)
    second = as_alice.get(unescape(following), headers=HTMX).content.decode()
    assert "51 to 60 of 60 results" in second
    assert 'rel="next"' not in second
    numbers = [re.findall(r"Yak</mark> number (\d+)", page) for page in (first, second)]
    assert sorted(int(number) for page in numbers for number in page) == list(range(60))
    assert "There is no page 7." in as_alice.get("/search/", {"q": "yak", "page": "7"}, headers=HTMX).content.decode()


def test_a_result_leads_to_messages_like_it_and_not_to_itself(as_alice: Client, talk: Talk) -> None:
    talk.ask("The token refresh fails again at noon.", reply="I see.")
    [like] = re.findall(r'href="(/search/\?like=\d+)"', hits(as_alice, "401", kind="message")[0])
    page = as_alice.get(like, headers=HTMX).content.decode()
    assert "Messages like The token refresh answers 401." in told(page)
    found = [told(hit) for hit in HIT.findall(page)]
    assert "fails again at noon" in found[0]
    assert not any("answers 401" in hit for hit in found)


def test_nothing_is_like_what_is_somebody_else_s(as_bob: Client, talk: Talk) -> None:
    passage = Passage.objects.first()
    assert passage
    page = as_bob.get(f"/search/?like={passage.pk}").content.decode()
    assert "Messages like" not in page
    assert HIT.findall(page) == []


@pytest.fixture
def meanings(provider: FakeProvider, settings: Any, talk: Talk) -> FakeProvider:
    provider.otherwise = embeddings
    settings.CCM_EMBEDDINGS_URL, settings.CCM_EMBEDDINGS_MODEL = provider.url, "words"
    talk.ask("My boat lies in Kiel.", reply="How nice.")
    embed_all()
    return provider


def test_words_are_shown_at_once_and_meanings_are_asked_for_then(as_alice: Client, meanings: FakeProvider) -> None:
    asked = len(meanings.requests)
    page = as_alice.get("/search/", {"q": "which yacht"}, headers=HTMX).content.decode()
    assert "Nothing contains" in page
    assert len(meanings.requests) == asked
    [more] = re.findall(r'hx-get="([^"]*)" hx-trigger="load', page)
    page = as_alice.get(unescape(more), headers=HTMX).content.decode()
    assert "My boat lies in Kiel." in told(HIT.findall(page)[0])
    assert "compared by words and by meaning" in page
    assert 'hx-trigger="load' not in page


def test_what_means_the_same_is_no_hit_of_another_speaker_or_effort(as_alice: Client, meanings: FakeProvider) -> None:
    for filters in ({"speaker": "assistant"}, {"effort": "auth"}, {"until": "2001-01-01"}):
        assert hits(as_alice, "which yacht", meaning="1", **filters) == []
    assert len(hits(as_alice, "which yacht", meaning="1", speaker="user")) == 1


def test_a_slow_model_of_meanings_holds_up_no_words_and_the_page_says_so(
    as_alice: Client, meanings: FakeProvider, settings: Any
) -> None:
    settings.CCM_EMBEDDINGS_WAIT = 0.2
    meanings.otherwise = Reply("Late.", gate=threading.Event())
    asked = len(meanings.bodies)
    assert "My boat" in told(hits(as_alice, "boat")[0])
    assert len(meanings.bodies) == asked
    page = as_alice.get("/search/", {"q": "boat", "meaning": "1"}, headers=HTMX).content.decode()
    assert "My boat" in told(HIT.findall(page)[0])
    assert "by words only: The model of meanings did not answer within 0.2 seconds." in told(page)


def test_two_slow_models_take_no_longer_than_one(
    meanings: FakeProvider, talk: Talk, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = Talk(actions.create_session(talk.session.owner))
    second.ask("A boat too.")
    embed_all()
    VectorIndex.objects.filter(session=second.session).update(model="another/8")
    asked: list[Session] = []

    def late(session: Session, text: str) -> vectors.Asked:
        asked.append(session)
        return vectors.Asked(fault="Late.")

    monkeypatch.setattr(embedders, "meaning_of", late)
    settings.CCM_EMBEDDINGS_WAIT = 0
    assert embedders.meanings_of(Session.objects.owned_by(talk.session.owner), "boat").fault == "Late."
    assert asked == [talk.session]


def test_a_conversation_that_says_no_is_not_compared(as_alice: Client, meanings: FakeProvider, talk: Talk) -> None:
    talk.session.by_meaning = False
    talk.session.save()
    asked = len(meanings.requests)
    assert hits(as_alice, "which yacht", meaning="1") == []
    assert len(meanings.requests) == asked


@pytest.mark.parametrize(("since", "until", "is_found"), [("2001-01-01", "", True), ("", "2001-01-01", False)])
def test_it_is_filtered_by_date(as_alice: Client, talk: Talk, since: str, until: str, is_found: bool) -> None:
    assert bool(hits(as_alice, "zebra", since=since, until=until)) == is_found


def test_what_is_found_says_why(as_alice: Client, talk: Talk) -> None:
    assert "Why" in told(of_kind(as_alice, "message", "stripes"))
    assert "strip" in told(of_kind(as_alice, "message", "stripes")).partition("Why")[2]


def test_without_words_it_says_what_can_be_found(as_alice: Client) -> None:
    page = as_alice.get("/search/").content.decode()
    assert "Search finds efforts, messages, rules and summaries in all your conversations" in page


def test_what_is_not_found_says_what_was_searched_and_leads_to_all(as_alice: Client, talk: Talk) -> None:
    page = told(as_alice.get("/search/", {"q": "<okapi>"}, headers=HTMX).content.decode())
    assert "Nothing contains “ <okapi> ”." in page
    assert "Searched efforts, messages, rules and summaries in all your conversations." in page
    filters = {"q": "okapi", "kind": ["rule", "effort"], "session": str(talk.session.pk), "since": "2026-01-02"}
    page = as_alice.get("/search/", filters, headers=HTMX).content.decode()
    assert "Searched efforts and rules in “The server room”, from 2026-01-02." in told(page)
    assert '<a href="/search/?q=okapi">Search everything</a>' in page


def test_without_script_it_is_a_whole_page_with_what_was_chosen(as_alice: Client, talk: Talk) -> None:
    page = as_alice.get("/search/", {"q": "zebra", "kind": "rule", "since": "2026-01-02"}).content.decode()
    assert "<html" in page
    assert 'value="zebra"' in page
    assert re.search(r'value="rule"[^>]*checked', page)
    assert 'value="2026-01-02"' in page
    assert len(HIT.findall(page)) == 1


@pytest.mark.parametrize(
    ("filters", "words"),
    [
        ({"since": "yesterday"}, "From: Enter a valid date."),
        ({"since": "2026-02-02", "until": "2026-02-01"}, "To: The end date is before the start date."),
        ({"kind": "person"}, "What: Select a valid choice."),
        ({"session": "01234567-89ab-cdef-0123-456789abcdef"}, "Conversation: This conversation is not there."),
        ({"session": "x"}, "Conversation: This conversation is not there."),
    ],
)
def test_a_filter_that_makes_no_sense_is_told(as_alice: Client, filters: dict[str, str], words: str) -> None:
    for headers in ({}, HTMX):
        response = as_alice.get("/search/", {"q": "zebra", **filters}, headers=headers)
        assert response.status_code == 422
        assert words in told(response.content.decode())


def test_nothing_of_anybody_else_is_found(as_bob: Client, bob: User, talk: Talk) -> None:
    actions.set_standing_rule(talk.session.owner, "Never feed the zebra.")
    mine = Talk(actions.create_session(bob))
    mine.ask("A lone zebra.", reply="One of a lone zebra.")
    page = as_bob.get("/search/", {"q": "zebra"}).content.decode()
    assert all("lone zebra" in told(hit) for hit in HIT.findall(page))
    [total] = re.findall(r"(\d+) results?</p>", page)
    assert int(total) == len(HIT.findall(page)) == 2
    assert "server room" not in page
    assert as_bob.get("/search/", {"q": "zebra", "session": str(talk.session.pk)}).status_code == 422
    assert (
        "server room"
        not in as_bob.get("/search/box/", {"current": str(talk.session.pk)}, headers=HTMX).content.decode()
    )


def test_who_is_not_signed_in_is_asked_to(anyone: Client) -> None:
    for address in ("/search/", "/search/box/"):
        assert anyone.get(address).headers["Location"].startswith("/sign-in/")


@pytest.mark.parametrize(
    "query",
    [
        '"', '"a', "NEAR(a b)", "a NEAR b", "zeb*", "*", "(", ")", "((a) OR", "text:zebra", "-zebra", "^zebra", "a AND",
        "'; DROP TABLE x; --", "%", "_", "\\", "\x00", "zebra\x00", "\ud83d", "🦓", "zebra " * 20_000, "z" * 100_000,
        "aƀʀͱαаҁԁրؠڀܐހࠀࢀऄঀਅઅଅஃఅಀഄඅ",
    ],
)  # fmt: skip
def test_whatever_is_looked_for_is_found_or_not(as_alice: Client, talk: Talk, query: str) -> None:
    query = query.encode("utf-8", "replace").decode()
    for headers in ({}, HTMX):
        assert as_alice.get("/search/", {"q": query}, headers=headers).status_code == 200


def test_markup_in_what_was_said_and_looked_for_is_inert(as_alice: Client, talk: Talk) -> None:
    nasty = "<script>alert(1)</script> <img src=x onerror=alert(2)>"
    actions.rename_session(talk.session, title=nasty, actor=talk.session.owner)
    talk.ask(f"A gnu {nasty}")
    page = as_alice.get("/search/", {"q": f"gnu alert {nasty}"}).content.decode()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<mark>gnu</mark>" in page


def test_the_dialog_has_the_same_box_and_its_best_results(as_alice: Client, talk: Talk) -> None:
    for number in range(20):
        talk.ask(f"Zebra number {number}")
    box = as_alice.get("/search/box/", {"current": str(talk.session.pk)}, headers=HTMX).content.decode()
    assert "Only in “The server room”" in box
    found = as_alice.get("/search/", {"q": "zebra", "dialog": "1"}, headers=HTMX).content.decode()
    assert len(HIT.findall(found)) == 8
    assert "The best 8 of" in found


def test_without_script_the_dialog_is_the_page(as_alice: Client) -> None:
    assert as_alice.get("/search/box/").headers["Location"] == "/search/"


TEXTS = st.text(max_size=800)


@given(TEXTS, st.lists(st.tuples(st.integers(-5, 900), st.integers(-5, 900)), max_size=8))
def test_a_snippet_is_a_stretch_of_its_text(text: str, marks: list[tuple[int, int]]) -> None:
    pieces = snippet(text, marks, longest=200)
    shown = "".join(piece.text for piece in pieces)
    stretch = shown.removeprefix("… ").removesuffix(" …")
    assert stretch in text
    assert len(stretch) <= 200
    assert all(piece.text in text for piece in pieces if piece.marked)
    assert len(text) > 200 or shown == text


def test_a_snippet_shows_the_first_place_where_most_of_what_was_found_stands_together() -> None:
    text = "one " + "lorem " * 200 + "two three " + "lorem " * 200 + "four five " + "lorem " * 200
    found = [(text.index(word), text.index(word) + len(word)) for word in ("one", "two", "three", "four", "five")]
    assert [piece.text for piece in snippet(text, found) if piece.marked] == ["two", "three"]


@given(st.integers(0, 5_000))
def test_a_snippet_shows_what_was_found(place: int) -> None:
    text = "lorem " * 1_000
    place = place // 6 * 6
    marked = [piece.text for piece in snippet(text, [(place, place + 5)]) if piece.marked]
    assert marked == ["lorem"]
    before = next(iter(snippet(text, [(place, place + 5)]))).text
    assert len(before) <= LEAD + 2


def led_to(page: str) -> list[tuple[str, str]]:
    return re.findall(r'id="goto-\d+" href="([^"]*)"[^>]*>([^<]*)</a>', page)


def test_the_dialog_opens_on_the_conversations_used_last(as_alice: Client, session: Session, bob: User) -> None:
    other = actions.create_session(session.owner, title="Thesis")
    actions.create_session(bob, title="Secret")
    page = as_alice.get(f"/search/box/?current={session.pk}", headers=HTMX).content.decode()
    assert led_to(page) == [(other.get_absolute_url(), "Thesis")]


def test_the_dialog_leads_to_conversations_pages_and_commands_by_their_names(
    as_alice: Client, session: Session
) -> None:
    actions.rename_session(session, title="Setting sail", actor=session.owner)
    found = led_to(as_alice.get("/search/?dialog=1&q=sett", headers=HTMX).content.decode())
    assert found == [(session.get_absolute_url(), "Setting sail"), ("/settings/", "Settings")]
    typed = as_alice.get(f"/search/?dialog=1&q=/exp&current={session.pk}", headers=HTMX).content.decode()
    assert 'data-command="/expand "' in typed
    assert led_to(as_alice.get("/search/?q=sett", headers=HTMX).content.decode()) == []
