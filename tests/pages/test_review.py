"""The review page, part by part: what it shows to whom, and where everything on it leads."""

from __future__ import annotations

import json
import re
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from compaction import review
from compaction.domain import digest
from compaction.domain.artifact import Kind, Section, parse_artifact
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.drafting.costs import spent_on
from compaction.drafting.reading import log_for
from compaction.models import Artifact, Check, ClaimVerdict, DraftRun, GateRun, NotNeeded, Reviewer
from compaction.pages.presenters.artifact import artifact_view
from compaction.pages.presenters.gates import LOOKS
from compaction.pages.presenters.states import seen_now
from compaction.review.rechecking import RECHECKS
from compaction.standing.accepting import accept_compaction, rollback_compaction
from efforts import actions
from efforts.domain.effort.chosen import BODY, RAW
from efforts.domain.effort.states import EntryKind, HoldScope, ScopeState
from efforts.llm.recorded import RECORDED_MODEL
from efforts.models import (
    Branch,
    ContextPointer,
    EffortState,
    Endpoint,
    Message,
    RetrievalItem,
    RetrievalSet,
    Run,
    ScopeDraft,
)
from efforts.turns.drafts import claim_from, draft_and_settle
from tests.compaction.artifacts import LongTalk, claim, of_turns
from tests.compaction.review import (
    BACKUPS,
    CLAIMS,
    HEADLINE,
    MOVE,
    POSTGRES,
    SLUG,
    STATES,
    TESTS,
    Room,
    claim_of,
    judged,
    outcomes,
    run,
    verdict_of,
)
from tests.pages.conftest import HTMX


def part_of(client: Client, name: str, *args: object, **query: str) -> str:
    response = client.get(reverse(name, args=args), query, headers=HTMX)
    assert response.status_code == 200
    assert "HX-Request" in response["Vary"]
    return response.content.decode()


def post(client: Client, name: str, *args: object, **data: str) -> Any:
    return client.post(reverse(name, args=[getattr(one, "pk", one) for one in args]), data, headers=HTMX)


def page_of(client: Client, row: Artifact) -> str:
    response = client.get(row.get_absolute_url())
    assert response.status_code == 200
    return response.content.decode()


def claim_in(page: str, item: str) -> str:
    """The row of one claim."""
    rows: list[str] = re.findall(r'<article class="claim .*?</article>', page, re.DOTALL)
    return next(row for row in rows if f'title="Claim {item}"' in row)


def texts_in(html: str) -> list[str]:
    return [unescape(text) for text in re.findall(r"<blockquote[^>]*>(.*?)</blockquote>", html, re.DOTALL)]


PANELS = ("review_top", "claims", "review_desk", "review_preview")


# What it shows


@pytest.mark.parametrize("name", PANELS)
def test_each_panel_has_an_address_and_is_a_page_there(drafted: Artifact, as_alice: Client, name: str) -> None:
    assert "<html" not in part_of(as_alice, name, drafted.pk)
    assert '<div class="review"' in as_alice.get(reverse(name, args=[drafted.pk])).content.decode()


def test_the_log_and_the_list_are_read_once_for_all_that_the_page_shows(drafted: Artifact, as_alice: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        page = page_of(as_alice, drafted)
    assert 'id="desk"' in page
    assert 'id="standing"' in page
    read = [query["sql"] for query in asked.captured_queries]
    assert sum('"efforts_message"."text" AS "text"' in sql for sql in read) == 1
    assert sum('FROM "efforts_ledgerentry"' in sql for sql in read) == 1


@pytest.mark.parametrize("name", [*PANELS, "artifact"])
def test_strangers_find_nothing(drafted: Artifact, as_bob: Client, name: str) -> None:
    assert as_bob.get(reverse(name, args=[drafted.pk])).status_code == 404


def test_what_would_stand_is_shown_to_the_byte_and_what_it_is_expanded_to(drafted: Artifact, as_alice: Client) -> None:
    assert texts_in(part_of(as_alice, "review_preview", drafted.pk)) == [drafted.standing, drafted.body]


def test_what_would_stand_follows_the_verdicts_before_they_are_submitted(drafted: Artifact, as_alice: Client) -> None:
    said_of(as_alice, drafted, "postgres", verdict="struck")
    answer = said_of(as_alice, drafted, "move", verdict="edited", text="Move the orders.")
    standing, _ = texts_in(answer.partition('id="preview"')[2])
    assert standing == drafted.standing.replace(claim_of(drafted, "move").text, "Move the orders.").replace(
        f"- {claim_of(drafted, 'postgres').text}\n", ""
    )
    said_of(as_alice, drafted, "move", verdict="undo")
    said_of(as_alice, drafted, "postgres", verdict="undo")
    assert texts_in(part_of(as_alice, "review_preview", drafted.pk))[0] == drafted.standing


@pytest.fixture
def factual(room: Room, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    """It has a fact too, with a figure; nothing of it is in the short form. It stands."""
    monkeypatch.setitem(CLAIMS, "tests", ("fact", TESTS, "The tests took 340 ms."))
    room.claims = tuple(CLAIMS)
    return STATES["stands"](room)


def test_a_claim_that_the_model_is_not_sent_says_so_and_the_page_counts_those_that_it_is(
    factual: Artifact, as_alice: Client
) -> None:
    assert "The tests took 340 ms." not in factual.standing
    page = page_of(as_alice, factual)
    assert "The model sees 4 of its 5 claims instead of turns 1-3." in page
    assert "full summary only</span>" in claim_in(page, "tests")
    assert "full summary only" not in claim_in(page, "move")
    assert re.search(r"<code dir=\"auto\">340 ms</code>.*full summary only</span></li>", page)


@pytest.mark.parametrize("what", [RAW, BODY])
def test_what_is_expanded_is_collapsed_from_its_page_by_the_owner(
    factual: Artifact, room: Room, as_alice: Client, as_bob: Client, bob: User, what: str
) -> None:
    assert 'id="collapse"' not in page_of(as_alice, factual)
    actions.expand_effort(room.talk.place, SLUG, what=what)
    Reviewer.objects.create(session=factual.session, user=bob)
    assert 'id="collapse"' not in page_of(as_bob, factual)
    action, back = re.search(
        r'action="([^"]*/collapse/)">.*?name="next" value="([^"]*)"><button class="button" id="collapse"',
        page_of(as_alice, factual),
    ).groups()  # type: ignore[union-attr]
    answer = as_alice.post(action, {"next": back}, headers={"Accept": "text/html"})
    assert answer["Location"] == factual.get_absolute_url()
    page = page_of(as_alice, factual)
    assert "In the prompt instead of turns 1-3." in page
    assert 'id="collapse"' not in page


def test_chosen_turns_that_are_expanded_are_collapsed_from_their_page(room: Room, as_alice: Client) -> None:
    row = STATES["chosen"](room)
    accept_compaction(row.pk, row.session_id, 1, 3, actor=row.session.owner)
    actions.expand_effort(room.talk.place, "turns-1-3")
    found = re.search(r'action="([^"]*/collapse/)"', page_of(as_alice, row))
    assert found is not None
    as_alice.post(found[1])
    assert "In the prompt instead of turns 1-3." in page_of(as_alice, row)


def test_the_chat_says_which_form_stands_where_that_leaves_claims_out(
    factual: Artifact, room: Room, as_alice: Client
) -> None:
    session = room.talk.session.pk
    sees = "The model sees the short summary (4 of its 5 claims) instead of turns 1-3."
    assert sees in part_of(as_alice, "turn", session, 3)
    assert sees in part_of(as_alice, "efforts", session)
    actions.expand_effort(room.talk.place, SLUG)
    sees = "Once collapsed, it sees the short summary (4 of its 5 claims) instead."
    assert sees in part_of(as_alice, "turn", session, 3)
    assert sees in part_of(as_alice, "efforts", session)
    # Nor does having been shown in full once make it another.
    actions.collapse_effort(room.talk.place, SLUG)
    actions.expand_effort(room.talk.place, SLUG, what=BODY)
    actions.collapse_effort(room.talk.place, SLUG)
    assert "The model sees the short summary (4 of its 5 claims) instead" in part_of(as_alice, "turn", session, 3)


def test_the_chat_calls_short_only_what_leaves_claims_out(room: Room, as_alice: Client) -> None:
    STATES["stands"](room)
    session = room.talk.session.pk
    actions.expand_effort(room.talk.place, SLUG, what=BODY)
    actions.collapse_effort(room.talk.place, SLUG)
    assert "The model sees the summary instead of turns 1-3." in part_of(as_alice, "turn", session, 3)


def test_of_what_is_expanded_the_page_says_what_the_model_sees_now(
    factual: Artifact, room: Room, as_alice: Client
) -> None:
    actions.expand_effort(room.talk.place, SLUG)
    page = page_of(as_alice, factual)
    assert "The model sees turns 1-3 now. Once collapsed, it sees 4 of its 5 claims" in page
    assert "Expanded now: the model sees turns 1-3. Once collapsed, it sees this, word for word." in page
    actions.collapse_effort(room.talk.place, SLUG)
    actions.expand_effort(room.talk.place, SLUG, what="body")
    page = page_of(as_alice, factual)
    assert "The model sees this in full instead of turns 1-3 now." in page
    assert "full summary only</span>" not in claim_in(page, "tests")
    assert "The full summary: expanded, so the model sees this now" in page


def test_claims_have_the_numbers_by_which_the_log_and_the_gates_call_them(drafted: Artifact, as_alice: Client) -> None:
    page = page_of(as_alice, drafted)
    assert '<span class="unseen">Claim </span>move</span>' in claim_in(page, "move")
    assert re.search(r'used by claim <a href="#claim-\d">move</a>', page)


def test_what_is_left_out_is_told_apart_from_what_is_missing(drafted: Artifact, as_alice: Client) -> None:
    listed = part_of(as_alice, "claims", drafted.pk, show="dropped")
    assert "List: nothing missing</a>" in listed
    assert "Dropped" not in listed
    assert re.search(r"No claim comes from \d+ of the \d+ sentences of these turns\.", listed)
    assert "The rest stays in the log, search finds it, and expanding brings it back." in listed


def test_every_sentence_that_is_cited_leads_to_its_words_and_back_to_a_claim(
    drafted: Artifact, as_alice: Client
) -> None:
    page = page_of(as_alice, drafted)
    cites = set(re.findall(r'href="#(span-\d+)"', page))
    assert len(cites) == 4
    assert cites == set(re.findall(r'id="(span-\d+)"', page))
    assert set(re.findall(r'href="#(claim-\d+)"', page)) <= set(re.findall(r'id="(claim-\d+)"', page))


def test_marked_words_are_the_sentences_that_claims_cite(drafted: Artifact, as_alice: Client) -> None:
    page = page_of(as_alice, drafted)
    marked = re.findall(r"<mark data-spans=\"\d+\">([^<]+)</mark>", page)
    assert marked[0] == POSTGRES
    assert BACKUPS in marked
    assert MOVE in marked
    assert "<mark" not in page.partition('id="source-pane"')[0]
    # Sentences are counted by turn, as everything else on the page: the first of turn 3 is the first of message 5.
    assert claim_of(drafted, "move").cites == ("5.1",)
    assert ">3.1</a>" in claim_in(page, "move")


def test_it_counts_what_is_cited_and_says_what_is_cited_by_nothing(drafted: Artifact, as_alice: Client) -> None:
    page = page_of(as_alice, drafted)
    found = re.search(r"(\d+) of (\d+) messages cited", page)
    assert found
    cited, messages = map(int, found.groups())
    assert messages == page.count('class="src ')
    assert page.count("cited by nothing</span>") == messages - cited


def test_a_sentence_that_is_gone_from_the_log_is_said_to_be_gone(
    room: Room, drafted: Artifact, as_alice: Client
) -> None:
    actions.move_turn(room.talk.place, 3, None)
    page = page_of(as_alice, drafted)
    assert "1 of its sentences is not in the log" in claim_in(page, "move")
    assert "Changed since it was judged: the log." in page


def test_the_result_comes_first_and_one_section_is_shown_where_it_is_asked_for(
    drafted: Artifact, as_alice: Client
) -> None:
    all_of_it = part_of(as_alice, "claims", drafted.pk)
    assert re.findall(r'id="group-(\w+)"', all_of_it)[:2] == ["result", "open_work"]
    keys = re.findall(r'id="show-(\w+)"', all_of_it)
    assert keys == ["all", "result", "open_work", "decision", "dropped"]
    one = part_of(as_alice, "claims", drafted.pk, show="decision")
    assert (one.count('<article class="claim'), all_of_it.count('<article class="claim')) == (2, 4)
    nonsense = part_of(as_alice, "claims", drafted.pk, show="nonsense")
    assert nonsense.count('<article class="claim') == 4


def test_owner_and_due_date_stand_beside_the_claim(alice: User, as_alice: Client) -> None:
    talk = LongTalk(actions.create_session(alice))
    talk.ask("Marie moves the old orders by Friday.")
    moves = claim("move", Section.OPEN_WORK, "Move the old orders.", "1.1", owner="Marie", due="Friday")
    row = of_turns(talk.branch, [1], "The old orders are moved.", claims=[moves])
    shown = claim_in(page_of(as_alice, row), "move")
    assert '<span class="chip" dir="auto">Marie</span><span class="chip" dir="auto">due Friday</span>' in shown


def test_a_reviewer_sees_the_scope_and_no_way_into_the_conversation(
    drafted: Artifact, bob: User, as_bob: Client
) -> None:
    Reviewer.objects.create(session=drafted.session, user=bob)
    page = page_of(as_bob, drafted)
    assert POSTGRES in page
    assert '<b dir="auto">alice</b>' in page
    assert drafted.session.get_absolute_url() not in page
    # The list is the owner's.
    for gate in "ABCDE":
        assert "your list" not in as_bob.get(reverse("gate", args=[drafted.pk, gate])).content.decode()
    assert "your list" not in page.lower()
    assert "your list" not in part_of(as_bob, "claims", drafted.pk, show="dropped").lower()


# What readers say


def test_beside_each_claim_stands_what_the_checker_says_and_how_it_proved_itself(
    drafted: Artifact, as_alice: Client
) -> None:
    page = page_of(as_alice, drafted)
    assert page.count("checker: in the log</span>") == 4
    assert page.count('title="The checker (drafter-1) read the claim') == 4
    assert page.count('data-suggested="kept"') == 4
    check = Check.objects.get()
    assert check.planted > 0
    assert f"found {check.caught} of the {check.planted} errors that were hidden to test it." in page
    assert "In its exam it judged 40 of 40 claims right." in page
    assert "drafter-1" in claim_in(page, "move")


def test_what_is_doubted_comes_first_with_the_words_and_the_sentence_that_says_otherwise(
    room: Room, as_alice: Client
) -> None:
    room.model.doubts("Nightly backups", "contradicted", phrase="Nightly", sentence="3.1", why="It is weekly.")
    row = STATES["reviewed"](room)
    page = page_of(as_alice, row)
    assert re.findall(r'title="Claim (\w+)"', page)[0] == "backups"
    doubted = claim_in(page, "backups")
    assert '<mark class="fault">Nightly</mark> backups' in doubted
    assert 'drafter-1 doubts <q dir="auto">Nightly</q>' in doubted
    beside = re.search(r'<blockquote dir="auto"><a [^>]*href="#(src-[\w-]+)"[^>]*>2.1</a> (.*?)</blockquote>', doubted)
    assert beside
    assert beside[2] == BACKUPS
    assert f'id="{beside[1]}"' in page
    assert 'data-suggested="struck"' in doubted
    assert "It is weekly." in doubted
    assert 'id="show-doubted"' in page


def test_a_check_that_proves_nothing_says_why(room: Room, as_alice: Client) -> None:
    page = page_of(as_alice, STATES["void"](room))
    assert "read the claims, but this check does not count." in page
    assert "made wrong on purpose to test it" in page
    assert "checker: in the log</span>" not in page
    assert 'data-suggested=""' in page


def test_a_claim_that_a_person_has_read_says_so(drafted: Artifact, as_alice: Client, alice: User) -> None:
    review.decide(drafted, "move", Say.KEPT, reviewer=alice)
    review.submit(drafted, reviewer=alice)
    row = claim_in(page_of(as_alice, drafted), "move")
    assert "read by alice</span>" in row


def test_who_only_keeps_claims_is_shown_the_page_as_it_is_then_and_not_only_scrolled(
    drafted: Artifact, as_alice: Client, alice: User
) -> None:
    for verdict, stays in ((Say.KEPT, True), (Say.STRUCK, False)):
        review.decide(drafted, "move", verdict, reviewer=alice)
        answer = post(as_alice, "review_submit", drafted)
        assert answer["HX-Redirect"].startswith(drafted.get_absolute_url()) == stays
        assert json.loads(answer["HX-Refresh"]) == stays


def test_who_submits_what_was_submitted_in_another_tab_is_told_of_the_newer_version(
    drafted: Artifact, as_alice: Client, alice: User
) -> None:
    assert "Keep, edit or strike a claim first." in post(as_alice, "review_submit", drafted).content.decode()
    review.decide(drafted, "move", Say.STRUCK, reviewer=alice)
    review.submit(drafted, reviewer=alice)
    answer = post(as_alice, "review_submit", drafted)
    assert answer.status_code == 422
    assert "There is a newer version" in answer.content.decode()
    assert "review" in json.loads(answer["HX-Trigger"])
    assert "v2 is newer" in part_of(as_alice, "review_top", drafted.pk)


def test_who_reads_one_version_while_another_makes_the_next_is_told_and_loses_no_verdict(
    drafted: Artifact, as_alice: Client, alice: User, bob: User
) -> None:
    review.name_reviewer(drafted.session, "bob", actor=alice)
    reading = page_of(as_alice, drafted)
    review.decide(drafted, "move", Say.STRUCK, reviewer=bob)
    made = review.submit(drafted, reviewer=bob).made
    assert made is not None
    assert "is newer" not in reading
    told = post(as_alice, "claim", drafted, "postgres", verdict="kept").content.decode()
    assert 'id="review-top" tabindex="-1" hx-swap-oob="true"' in told
    assert f'<a href="{made.get_absolute_url()}">v2 is newer</a>. Your verdicts are kept' in told
    answer = post(as_alice, "review_submit", drafted)
    assert answer["HX-Redirect"].startswith(made.get_absolute_url())
    assert "Kept" in claim_in(page_of(as_alice, made), "postgres")


def test_who_submits_while_another_rolls_back_is_told_and_loses_no_verdict(
    drafted: Artifact, as_alice: Client, alice: User, bob: User
) -> None:
    review.name_reviewer(drafted.session, "bob", actor=alice)
    accept_compaction(drafted.pk, drafted.session_id, 1, 3, actor=alice)
    assert "In the prompt instead of turns 1-3." in page_of(as_alice, drafted)
    post(as_alice, "claim", drafted, "postgres", verdict="kept")
    rollback_compaction(drafted.pk, actor=bob, reason="Too short.")
    answer = post(as_alice, "review_submit", drafted)
    assert answer["HX-Redirect"].startswith(drafted.get_absolute_url())
    page = page_of(as_alice, drafted)
    assert "It is not in the prompt: bob rolled it back on " in page
    assert "bob · on its review page" in page
    assert "read by alice" in claim_in(page, "postgres")


def test_while_the_checker_reads_what_a_person_worded_the_page_says_so_and_then_what_came_of_it(
    drafted: Artifact, as_alice: Client, alice: User, room: Room
) -> None:
    words = "Dana moves the old orders before 4 March."
    review.decide(drafted, "move", Say.EDITED, text=words, reviewer=alice)
    made = review.submit(drafted, reviewer=alice).made
    assert made is not None
    asking = reverse("review_top", args=[made.pk]) + "?waiting"
    assert f'hx-get="{asking}" hx-trigger="every 2s"' in page_of(as_alice, made)
    room.model.believes("open_work", words)
    for job in claim_from([RECHECKS], "tests:1:a", 9):
        run(draft_and_settle(job))
    answer = as_alice.get(asking, headers=HTMX)
    assert answer["HX-Trigger-After-Swap"] == "standing"
    assert "The checker has read what was worded anew." in answer.content.decode()
    assert 'id="review-checking"' not in page_of(as_alice, made)
    assert "checker: in the log</span>" in claim_in(page_of(as_alice, made), "move")


def test_a_claim_that_a_person_worded_says_that_nobody_else_has_read_it(
    drafted: Artifact, as_alice: Client, alice: User
) -> None:
    review.decide(drafted, "move", Say.EDITED, text="Dana moves the old orders before 4 March.", reviewer=alice)
    made = review.submit(drafted, reviewer=alice).made
    assert made is not None
    assert "not checked: worded by alice, read by nobody else</span>" in claim_in(page_of(as_alice, made), "move")
    assert "read by nobody else" not in claim_in(page_of(as_alice, made), "postgres")


# What the gates say


def test_a_gate_shows_how_it_was_computed(drafted: Artifact, as_alice: Client) -> None:
    shown = part_of(as_alice, "gate", drafted.pk, "C")
    assert "Listed decisions kept" in shown
    assert "at least 95%" in shown
    assert "2 of 2" in shown
    assert "Is every decision, to-do and rule still there?" in shown
    assert "Tokens to check it" in part_of(as_alice, "gate", drafted.pk, "E")
    page = as_alice.get(reverse("gate", args=[drafted.pk, "C"]))
    assert "<html" in page.content.decode()
    assert as_alice.get(reverse("gate", args=[drafted.pk, "F"])).status_code == 404


WORDS = {
    "stands": ("In use", "The model sees this text instead of turns 1-3."),
    "waits": ("Waits for you", "It passes every gate, but the checker is the model that wrote it"),
    "fails": (
        "Blocked",
        "drafter-1 doubts 1 claim: edit it, strike it, or open gate D above and choose “This is not a contradiction…”.",
    ),
    "unchecked": ("Not checked", "drafter-1 may not check summaries: in its exam it found 0 of 20"),
    "chosen": ("Waits for you", "It passes every gate, but the checker is the model that wrote it"),
    "no model": ("In use", "The model sees this text instead of turns 1-3."),
    "void": ("Not checked", "The check by drafter-1 does not count. It believed "),
    "loses": ("Blocked", "1 thing that must not be lost is missing: add it, or say why it is not needed."),
}


@pytest.mark.parametrize("state", WORDS)
def test_where_it_stands_is_a_word_and_a_sentence(room: Room, as_alice: Client, state: str) -> None:
    top = part_of(as_alice, "review_top", STATES[state](room).pk)
    word, sentence = WORDS[state]
    assert f"{word}</strong>" in top
    assert sentence in top


def test_what_could_not_be_judged_is_neither_passed_nor_failed(room: Room, as_alice: Client) -> None:
    top = part_of(as_alice, "review_top", STATES["unchecked"](room).pk)
    assert "not judged</span>" in top
    assert "fail</span>" not in top
    assert "nobody has read the claims against the log" in top


def test_of_a_gate_that_fails_its_own_page_alone_has_the_mark(room: Room, as_alice: Client) -> None:
    row = STATES["loses"](room)
    assert "insufficient fidelity" in part_of(as_alice, "gate", row.pk, "C")
    assert "insufficient fidelity" not in part_of(as_alice, "gate", row.pk, "E")


def test_what_a_gate_fails_leads_to_its_claim(room: Room, as_alice: Client) -> None:
    row = STATES["fails"](room)
    number = re.search(r'id="(claim-\d+)"', claim_in(page_of(as_alice, row), "backups"))
    assert number
    assert f'{row.get_absolute_url()}#{number[1]}">Claim backups</a>' in part_of(as_alice, "gate", row.pk, "D")


# Excerpts


def test_of_excerpts_no_time_is_measured_and_the_size_is_that_of_their_text(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    gate = part_of(as_alice, "gate", row.pk, "E")
    assert "nothing to count" not in gate
    found = re.search(
        r"Size of the full text, compared with the log</td><td>[^<]*</td><td>[^<]*</td><td>(\d+) of [\d,]+</td>", gate
    )
    assert found
    assert f"<td>Tokens of its prompt text, without the heading</td><td>{found[1]}</td>" in gate
    assert int(found[1]) > 0


def test_excerpts_are_shown_as_they_stand_with_nothing_to_decide(room: Room, as_alice: Client) -> None:
    page = page_of(as_alice, STATES["no model"](room))
    assert "Excerpts of storage" in page
    assert "Excerpts, not a summary" in page
    assert "Made automatically, without a model" in page
    assert "Came into use without a review" in page
    assert "accepted by alice" not in page
    assert "No model has looked for what they leave out." in page
    assert 'data-do="' not in page
    assert "Undecided" not in page


def test_quotes_name_the_two_sides_as_the_log_beside_them_does(room: Room, as_alice: Client) -> None:
    page = page_of(as_alice, STATES["no model"](room))
    kinds = re.findall(r'class="kind" id="claim-\d+-kind" dir="auto">([^<]*)<', page)
    assert kinds
    assert {kind.rpartition(", ")[2] for kind in kinds} <= {"you", "model"}


@pytest.mark.parametrize("state", ["fails", "loses", "unchecked", "void"])
def test_the_page_of_a_draft_says_that_excerpts_are_in_the_prompt_and_takes_them_back(
    room: Room, as_alice: Client, state: str
) -> None:
    row = STATES[state](room)
    (excerpts,) = ContextPointer.objects.filter(state="active")
    told = part_of(as_alice, "standing", row.pk)
    assert "Not in the prompt." in told
    assert f'href="{reverse("artifact", args=[excerpts.artifact])}" dir="auto">the excerpts of storage' in told
    assert f'hx-get="{reverse("rollback", args=[excerpts.artifact])}"' in told
    assert "the model sees the log" not in told
    rollback_compaction(excerpts.artifact, actor=None)
    told = part_of(as_alice, "standing", row.pk)
    assert "Not in the prompt: the model sees the log of turns 1-3." in told
    assert 'id="instead"' not in told


def test_rolled_back_to_excerpts_the_page_says_that_the_model_sees_those(
    room: Room, as_alice: Client, alice: User
) -> None:
    row = STATES["unchecked"](room)
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice, unchecked=True)
    assert 'id="instead"' not in part_of(as_alice, "standing", row.pk)
    rollback_compaction(row.pk, actor=alice)
    page = page_of(as_alice, row)
    assert "Rolled back. You can use it again." in page
    assert "the excerpts of storage" in page[page.index('id="instead"') :]
    assert "sees the log again" not in page


def test_each_quote_of_excerpts_leads_to_its_sentences_which_are_marked_in_the_log(
    room: Room, as_alice: Client
) -> None:
    row = STATES["no model"](room)
    page = page_of(as_alice, row)
    quotes = re.findall(r'<article class="claim" id="claim-\d+".*?</article>', page, re.DOTALL)
    excerpts = parse_artifact(row.document).excerpts
    assert len(quotes) == len(excerpts) > 0
    for quote, excerpt in zip(quotes, excerpts, strict=True):
        assert excerpt.text in unescape(quote)
        led_to = re.findall(r'href="#span-(\d+)"', quote)
        assert len(led_to) == len(excerpt.cites)
        for span in led_to:
            assert f'<mark data-spans="{span}">' in page


def test_excerpts_say_how_much_and_what_of_the_list_they_leave_out(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    document = parse_artifact(row.document)
    every = log_for(row, document).source.by_sentence
    quoted = {id for excerpt in document.excerpts for id in excerpt.cites}
    page = page_of(as_alice, row)
    assert f"{len(every) - len(quoted)} of {len(every)} sentences of turns 1-3 are not quoted" in page
    assert "The list of decisions, to-dos and rules has nothing from these turns, so nothing was put first." in page
    room.note(EntryKind.DECISION, BACKUPS)
    told = unescape(page_of(as_alice, row))
    assert "Of the list these are not quoted:" in told
    assert f'<li dir="auto">Decision: {BACKUPS}' in told


@pytest.mark.parametrize(
    ("letter", "outcome", "why"),
    [
        ("A", "does not apply", "No model wrote anything whose form could be wrong."),
        ("B", "pass", "The program found every quote in the log, word for word."),
        (
            "C",
            "nobody looked",
            "The list of decisions, to-dos and rules has nothing from these turns. No model has looked for",
        ),
        ("D", "does not apply", "These are quotes: nothing was reworded, so nothing can contradict the log."),
    ],
)
def test_of_excerpts_only_what_was_compared_passes(
    room: Room, as_alice: Client, letter: str, outcome: str, why: str
) -> None:
    row = STATES["no model"](room)
    drawer = part_of(as_alice, "gate", row.pk, letter)
    assert f'<span class="word">{outcome}</span>' in drawer
    assert f'<b class="state {LOOKS.get(outcome, ("",))[0]}">' in drawer
    assert why in unescape(drawer)
    assert "nothing to count" not in drawer


def test_excerpts_that_quote_nothing_say_so_and_what_to_do(
    room: Room, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No sentence is short enough.
    monkeypatch.setattr(digest, "FILLED", 0)
    row = STATES["no model"](room)
    assert parse_artifact(row.document).excerpts == ()
    page = unescape(page_of(as_alice, row))
    assert "No sentence of turns 1-3 is in these excerpts" in page
    assert "To send the turns again, roll the excerpts back" in page
    assert "Nobody: none of these turns’ sentences is quoted." in page
    assert "Word for word from the log; nothing was reworded." not in page
    assert '<span class="word">does not apply</span>' in part_of(as_alice, "gate", row.pk, "B")


@pytest.mark.parametrize(
    ("state", "letter", "outcome"),
    [("stands", "B", "pass"), ("unchecked", "B", "not read"), ("unchecked", "A", "pass")],
)
def test_what_passes_without_having_been_read_is_no_green_pass(
    room: Room, as_alice: Client, state: str, letter: str, outcome: str
) -> None:
    drawer = part_of(as_alice, "gate", STATES[state](room).pk, letter)
    assert f'<span class="word">{outcome}</span>' in drawer
    assert ('<b class="state ok">' in drawer) == (outcome == "pass")


def test_what_a_recording_has_read_is_no_green_pass(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    Check.objects.update(model=RECORDED_MODEL)
    for letter in "BCD":
        drawer = part_of(as_alice, "gate", row.pk, letter)
        assert '<b class="state "><' in drawer.replace("\n", "")
        assert '<span class="word">recorded check</span>' in drawer


def test_history_and_roll_back_of_excerpts_call_them_excerpts(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    page = page_of(as_alice, row)
    assert "the excerpts of storage (turns 1-3)" in page
    assert "the summary of storage" not in page
    assert "The excerpts are kept: you can read them and use them again." in part_of(as_alice, "rollback", row.pk)


def test_excerpts_of_chosen_turns_are_accepted_like_a_summary(room: Room, as_alice: Client) -> None:
    row = STATES["chosen digest"](room)
    address = reverse("accept", args=[row.pk])
    scope = {"session": str(row.session_id), "first": row.source_start, "last": row.source_end}
    assert as_alice.post(address, scope).status_code == 302
    assert room.standing == [row.standing]


# What is done with claims


def said_of(client: Client, row: Artifact, item: str, status: int = 200, **fields: str) -> str:
    response = client.post(reverse("claim", args=[row.pk, item]), fields, headers=HTMX)
    assert response.status_code == status
    return response.content.decode()


def test_a_verdict_is_kept_at_once_and_answered_with_the_claim_and_the_count(
    drafted: Artifact, as_alice: Client
) -> None:
    answer = said_of(as_alice, drafted, "move", verdict="kept")
    assert "Kept" in answer
    assert 'id="progress" hx-swap-oob="true">You have decided 1 of 4 claims' in answer
    assert "1 verdict saved, not submitted yet. Only you see it." in answer
    verdict = ClaimVerdict.objects.get()
    assert (verdict.item, verdict.verdict, verdict.submitted_at) == ("move", "kept", None)
    assert "Undecided" in said_of(as_alice, drafted, "move", verdict="undo")
    assert not ClaimVerdict.objects.exists()


def test_an_edit_shows_the_difference_and_one_without_a_change_says_what_to_do(
    drafted: Artifact, as_alice: Client
) -> None:
    text = claim_of(drafted, "move").text
    form = as_alice.get(reverse("claim", args=[drafted.pk, "move"]), {"edit": ""}, headers=HTMX).content.decode()
    assert f"{text}</textarea>" in form
    wrong = said_of(as_alice, drafted, "move", 422, verdict="edited", text=text)
    assert "Nothing is changed yet. Write it in other words, or keep it." in wrong
    assert "<textarea" in wrong
    edited = said_of(as_alice, drafted, "move", verdict="edited", text=f"{text} Surely.")
    assert "<ins>" in edited
    assert "Surely." in edited


def test_the_only_result_cannot_be_struck(drafted: Artifact, as_alice: Client) -> None:
    assert 'data-do="struck"' not in claim_in(page_of(as_alice, drafted), "result")
    assert "A summary needs its result." in said_of(as_alice, drafted, "result", 422, verdict="struck")


def test_an_unknown_verdict_is_refused_in_words(drafted: Artifact, as_alice: Client) -> None:
    assert "There is no such verdict." in said_of(as_alice, drafted, "move", 422, verdict="loved")


def test_without_scripts_forms_post_and_pages_come_back(drafted: Artifact, as_alice: Client) -> None:
    address = reverse("claim", args=[drafted.pk, "move"])
    response = as_alice.post(address, {"verdict": "kept"})
    assert response.status_code == 302
    assert response["Location"].startswith(f"{drafted.get_absolute_url()}#claim-")
    assert "<textarea" in as_alice.get(address, {"edit": ""}).content.decode()
    wrong = as_alice.post(address, {"verdict": "edited", "text": ""})
    assert wrong.status_code == 422
    assert '<div class="review"' in wrong.content.decode()


def test_what_was_decided_last_is_taken_back(drafted: Artifact, as_alice: Client) -> None:
    said_of(as_alice, drafted, "move", verdict="kept")
    answer = as_alice.post(reverse("review_undo", args=[drafted.pk]), headers=HTMX)
    assert answer["HX-Retarget"].startswith("#claim-")
    assert "chosen" in answer["HX-Trigger-After-Swap"]
    assert not ClaimVerdict.objects.exists()
    assert as_alice.post(reverse("review_undo", args=[drafted.pk]), headers=HTMX).status_code == 204


def test_submitting_an_edit_leads_to_the_next_version_which_can_be_compared(
    drafted: Artifact, as_alice: Client
) -> None:
    said_of(as_alice, drafted, "move", verdict="edited", text="Move the old orders over before the launch. Surely.")
    answer = as_alice.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    made = Artifact.objects.get(version=2)
    assert answer["HX-Redirect"] == f"{made.get_absolute_url()}#claim-1"
    page = page_of(as_alice, made)
    assert "compare v1" in page
    assert "Edited by alice" in page
    assert "Waits for you" in page
    old = page_of(as_alice, drafted)
    assert "v2 is newer" in old
    assert "Undecided" not in old
    # What came after it is what one is led to accept.
    offers = [re.findall(r'class="([^"]*)" id="accept"', one)[0].split() for one in (old, page)]
    assert ["primary" in one for one in offers] == [False, True]
    compared = as_alice.get(reverse("compare", args=[made.pk, drafted.pk])).content.decode()
    assert "Surely." in compared
    assert "<ins>" in compared
    assert "Claim move" in compared


def test_nothing_to_submit_says_what_to_do(drafted: Artifact, as_alice: Client) -> None:
    answer = as_alice.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    assert answer.status_code == 422
    assert "There are no verdicts to submit. Keep, edit or strike a claim first." in answer.content.decode()


def test_of_another_reviewer_one_sees_the_presence_first_and_the_words_when_handed_in(
    drafted: Artifact, bob: User, as_bob: Client, as_alice: Client
) -> None:
    Reviewer.objects.create(session=drafted.session, user=bob)
    said_of(as_bob, drafted, "move", verdict="struck")
    page = page_of(as_alice, drafted)
    assert "bob is reviewing too" in page
    assert "<b>bob</b>" not in page
    said_of(as_alice, drafted, "move", verdict="edited", text="Other words, of alice.")
    as_bob.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    answer = as_alice.post(reverse("review_submit", args=[drafted.pk]), headers=HTMX)
    newest = Artifact.objects.get(version=2)
    assert answer["HX-Redirect"] == f"{newest.get_absolute_url()}#conflicts"
    page = page_of(as_alice, newest)
    assert "say different things of 1 claim" in page
    for words in ("<b>bob</b>", "<b>alice</b>", "Other words, of alice."):
        assert words in page.partition('id="conflicts-title"')[2]


def test_who_reads_every_claim_of_what_nobody_has_checked_lets_sources_and_contradictions_pass(
    room: Room, as_alice: Client
) -> None:
    row = STATES["unchecked"](room)
    for item in ("result", "postgres", "backups", "move"):
        said_of(as_alice, row, item, verdict="kept")
    as_alice.post(reverse("review_submit", args=[row.pk]), headers=HTMX)
    answer = as_alice.post(reverse("review_judge", args=[row.pk]), headers=HTMX).content.decode()
    assert "Read by alice" in answer
    assert [outcomes(judged(row))[gate] for gate in "BCD"] == ["pass", "not judged", "pass"]


def test_the_head_names_who_has_read_every_claim_and_does_not_ask_for_it_again(room: Room, as_alice: Client) -> None:
    row = STATES["unchecked"](room)
    for item in ("result", "postgres", "backups"):
        said_of(as_alice, row, item, verdict="kept")
    as_alice.post(reverse("review_submit", args=[row.pk]), headers=HTMX)
    top = part_of(as_alice, "review_top", row.pk)
    assert "Nobody</dd>" in top
    assert "Read every claim yourself" in top
    said_of(as_alice, row, "move", verdict="kept")
    as_alice.post(reverse("review_submit", args=[row.pk]), headers=HTMX)
    top = part_of(as_alice, "review_top", row.pk)
    assert "Every claim read by alice." in top
    assert "Nobody" not in top
    assert "Every claim was read by alice, but no checker has listed what must not be lost." in top
    assert "Read every claim yourself" not in top


@pytest.mark.parametrize("state", ["unchecked", "fails"])
def test_beside_excerpts_the_chat_goes_on_to_tell_of_a_draft_that_a_person_has_mended(
    room: Room, as_alice: Client, state: str
) -> None:
    row = STATES[state](room)
    said_of(as_alice, row, "backups", verdict="edited", text="Backups to the second site every night are decided.")
    said_of(as_alice, row, "move", verdict="kept")
    as_alice.post(reverse("review_submit", args=[row.pk]), headers=HTMX)
    session = room.talk.session.pk
    told = {
        "unchecked": "Not every gate could judge the draft. On its review page you can accept it unchecked.",
        "fails": "The draft passes every gate. Accept it on its review page, and it replaces the excerpts.",
    }[state]
    notice, panel = part_of(as_alice, "turn", session, 3), part_of(as_alice, "efforts", session)
    assert told in notice
    assert "Review the draft" in notice
    assert told in panel


# The whole of it


def test_what_was_turned_down_says_by_whom_and_why_and_can_be_taken_up_again(
    drafted: Artifact, as_alice: Client
) -> None:
    as_alice.post(reverse("review_reject", args=[drafted.pk]), {"reason": "Too vague."}, headers=HTMX)
    page = page_of(as_alice, drafted)
    assert "Rejected by alice: “Too vague.”" in page
    assert "Blocked</strong>" in page
    assert "Not every gate passes" not in page
    answer = as_alice.post(reverse("review_judge", args=[drafted.pk]), headers=HTMX).content.decode()
    assert "Rejected" not in answer
    assert "Waits for you" in answer


def test_a_stale_summary_is_judged_again_in_place(drafted: Artifact, as_alice: Client) -> None:
    GateRun.objects.update(inputs={})
    page = page_of(as_alice, drafted)
    assert "Judge again" in page
    assert "pass, before the change" in page
    assert "Not checked</strong>" in page
    answer = as_alice.post(reverse("review_judge", args=[drafted.pk]), headers=HTMX)
    assert "pass, before the change" not in answer.content.decode()
    assert "standing" in answer["HX-Trigger"]
    assert drafted.gate_runs.count() == 2


def test_it_is_turned_down_with_a_reason_only(drafted: Artifact, as_alice: Client) -> None:
    address = reverse("review_reject", args=[drafted.pk])
    wrong = as_alice.post(address, {"reason": " "}, headers=HTMX)
    assert wrong.status_code == 422
    assert "Say in a few words why." in wrong.content.decode()
    assert as_alice.post(address, {"reason": "Too long."}, headers=HTMX).status_code == 204
    drafted.refresh_from_db()
    assert drafted.state == "rejected"
    assert "Rejected by alice" in page_of(as_alice, drafted)


@pytest.mark.parametrize(
    ("name", "more"),
    [("claim", ["move"]), ("review_undo", []), ("review_submit", []), ("review_judge", []), ("review_redraft", [])],
)
def test_strangers_change_nothing(drafted: Artifact, as_bob: Client, name: str, more: list[str]) -> None:
    assert as_bob.post(reverse(name, args=[drafted.pk, *more]), {"verdict": "kept"}).status_code == 404
    assert not ClaimVerdict.objects.exists()


@pytest.mark.parametrize("name", ["review_undo", "review_submit", "review_judge", "review_redraft"])
def test_what_changes_something_is_posted(drafted: Artifact, as_alice: Client, name: str) -> None:
    assert as_alice.get(reverse(name, args=[drafted.pk])).status_code == 405


# What is dropped


def dropped_key(page: str, words: str) -> str:
    rows: list[str] = re.findall(r'id="dropped-([\w:-]+)" tabindex.*?</article>', page, re.DOTALL)
    return next(key for key in rows if words in page.partition(f'id="dropped-{key}"')[2].partition("</article>")[0])


def act(client: Client, row: Artifact, key: str, verb: str, status: int = 200, **fields: str) -> str:
    response = client.post(reverse("dropped", args=[row.pk, key, verb]), fields, headers=HTMX)
    assert response.status_code == status
    return response.content.decode()


@pytest.fixture
def losing(room: Room) -> Artifact:
    """No claim tells one of the decisions that the checker has listed."""
    return STATES["loses"](room)


def test_a_missing_decision_blocks_and_adding_it_from_the_dropped_list_unblocks(room: Room, as_alice: Client) -> None:
    room.note(EntryKind.DECISION, BACKUPS)
    row = STATES["loses"](room)
    assert "Blocked</strong>" in page_of(as_alice, row)
    gate = part_of(as_alice, "gate", row.pk, "C")
    assert BACKUPS in gate
    assert "Open “Missing”, where you can add it" in gate
    listed = part_of(as_alice, "claims", row.pk, show="dropped")
    assert "Missing 1</a>" in listed
    assert "On the list as a decision: needed until it is taken off the list." in listed
    key = dropped_key(listed, BACKUPS)
    assert "Not needed…" not in listed
    # Nothing on the page asks for what cannot be done with it.
    assert "say why it is not needed" not in listed
    head = part_of(as_alice, "review_top", row.pk)
    assert "1 thing on the list is missing: add it, or take it off the list." in head
    added = act(as_alice, row, key, "add")
    assert "Added</span>" in added
    assert "It counts once you submit your verdicts." in added
    assert "needed until" not in added
    assert "Added by you" in part_of(as_alice, "claims", row.pk)
    as_alice.post(reverse("review_submit", args=[row.pk]))
    page = page_of(as_alice, Artifact.objects.get(version=2))
    assert BACKUPS in page
    assert "Waits for you</strong>" in page


def test_what_a_checker_listed_is_not_needed_with_a_reason_and_can_be_wanted_again(
    losing: Artifact, as_alice: Client
) -> None:
    listed = part_of(as_alice, "claims", losing.pk, show="dropped")
    assert "drafter-1 listed it as a decision" in listed
    key = dropped_key(listed, BACKUPS)
    wrong = act(as_alice, losing, key, "not-needed", status=422, reason=" ")
    assert "Say in a few words why it is not needed." in wrong
    assert '<details class="with-reason" open>' in wrong
    assert not NotNeeded.objects.exists()
    answer = act(as_alice, losing, key, "not-needed", reason="It was taken back.")
    assert "List: nothing missing</a>" in answer
    assert "“It was taken back.”" in answer
    assert verdict_of(judged(losing), "C")["outcome"] == "pass"
    assert "Missing 1</a>" in act(as_alice, losing, key, "needed")
    assert verdict_of(judged(losing), "C")["outcome"] == "fail"


def test_the_turn_of_what_is_dropped_is_pinned_by_the_owner_only(
    losing: Artifact, bob: User, as_bob: Client, as_alice: Client
) -> None:
    Reviewer.objects.create(session=losing.session, user=bob)
    listed = part_of(as_bob, "claims", losing.pk, show="dropped")
    assert "Pin the turn" not in listed
    key = dropped_key(listed, BACKUPS)
    act(as_bob, losing, key, "pin", status=422)
    assert "Turn 2 is pinned" in act(as_alice, losing, key, "pin")
    # And so it stays, where the page is read again.
    listed = part_of(as_alice, "claims", losing.pk, show="dropped")
    assert "Turn 2 is pinned" in listed
    assert "Pin the turn" not in listed


def test_where_nothing_is_dropped_it_says_so(drafted: Artifact, as_alice: Client) -> None:
    listed = part_of(as_alice, "claims", drafted.pk, show="dropped")
    assert (
        "Every decision, to-do and rule on the list, or found by the checker (drafter-1, which also drafted it)"
        in listed
    )


# Drafted anew


def test_chosen_turns_are_drafted_anew_from_the_review_page(room: Room, as_alice: Client) -> None:
    row = STATES["chosen"](room)
    # The ledger is another than it was judged by: then the page offers another draft.
    room.note(EntryKind.DECISION, POSTGRES)
    assert 'id="draft-anew"' in part_of(as_alice, "review_top", row.pk)
    answer = as_alice.post(reverse("review_redraft", args=[row.pk]), headers=HTMX)
    assert (answer.status_code, "A new draft of these turns is on its way" in answer.content.decode()) == (200, True)
    draft = ScopeDraft.objects.get()
    assert (draft.state, draft.turns, draft.artifact) == (ScopeState.DUE, [1, 2, 3], "")
    # Once more is once too often, and says so.
    answer = as_alice.post(reverse("review_redraft", args=[row.pk]), headers=HTMX)
    assert (answer.status_code, "is being drafted already" in answer.content.decode()) == (422, True)


def test_of_turns_that_nobody_chose_no_draft_is_made_again(room: Room, as_alice: Client) -> None:
    row = STATES["chosen"](room)
    ScopeDraft.objects.all().delete()
    answer = as_alice.post(reverse("review_redraft", args=[row.pk]), headers=HTMX)
    assert (answer.status_code, "Choose the turns in the conversation" in answer.content.decode()) == (422, True)


def test_the_queue_says_what_each_cost_and_what_are_only_excerpts(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    shown = as_alice.get(reverse("reviews"), {"tab": "accepted"}).content.decode()
    assert f">Summary of {row.name}<" in shown
    assert f"It cost {spent_on(row.family):,} tokens" in shown
    Artifact.objects.filter(pk=row.pk).update(kind=Kind.DIGEST)
    shown = as_alice.get(reverse("reviews"), {"tab": "accepted"}).content.decode()
    assert f">Excerpts of {row.name}<" in shown
    assert "No model has checked what they leave out." in shown


def test_excerpts_say_what_the_draft_has_cost_that_came_to_nothing(room: Room, as_alice: Client) -> None:
    row = STATES["no draft"](room)
    used = sum(run.tokens or 0 for run in DraftRun.objects.all())
    assert (row.kind, used > 0) == (Kind.DIGEST, True)
    assert f"It cost {used:,} tokens" in part_of(as_alice, "review_saving", row.pk)


def test_a_blocked_summary_says_what_it_cost_and_what_it_would_take_the_place_of(
    room: Room, as_alice: Client, alice: User
) -> None:
    row = STATES["fails"](room)
    assert f"It cost {spent_on(row.family):,} tokens" in part_of(as_alice, "review_saving", row.pk)
    assert seen_now(artifact_view(row, alice)) == f"the excerpts of {row.name} (turns 1-3)"


AWAY = {
    "expanded": (
        {"expanded_turn": 3},
        "The model sees turns 1-3 now.",
        "Saves nothing while it is expanded, and ",
    ),
    "left": (
        {"evicted_clock": 3},
        "The model sees nothing of turns 1-3 now but what other turns quote, as",
        "Not in the prompt now",
    ),
}


@pytest.mark.parametrize("case", AWAY)
def test_what_stands_and_is_not_sent_does_not_say_that_the_model_sees_it(
    room: Room, as_alice: Client, case: str
) -> None:
    row = STATES["stands"](room)
    fields, sentence, saving = AWAY[case]
    EffortState.objects.filter(branch=row.branch, effort=row.effort).update(**fields)
    page = page_of(as_alice, row)
    assert sentence in page
    assert "In the prompt instead of" not in page
    assert saving in part_of(as_alice, "review_saving", row.pk)
    listed = part_of(as_alice, "summaries", row.session_id)
    assert "In the prompt instead of" not in listed
    queued = as_alice.get(reverse("reviews"), {"tab": "accepted"}).content.decode()
    assert ("Not in the prompt now," in queued, "The model sees its turns now" in queued) == (
        case == "left",
        case == "expanded",
    )
    # And back again.
    EffortState.objects.filter(branch=row.branch, effort=row.effort).update(**dict.fromkeys(fields))
    assert "In the prompt instead of turns 1-3." in page_of(as_alice, row)


# An earlier form


@pytest.fixture
def earlier(room: Room) -> Artifact:
    """It stands, and its document is of another schema."""
    row = STATES["stands"](room)
    Artifact.objects.filter(pk=row.pk).update(schema_version="compaction.v1")
    return Artifact.objects.get(pk=row.pk)


def test_what_was_made_in_an_earlier_form_is_shown_as_it_stands(earlier: Artifact, as_alice: Client) -> None:
    page = page_of(as_alice, earlier)
    assert "Made in an earlier form." in page
    assert HEADLINE in page
    assert earlier.standing.split("\n")[-1] in page
    assert "Roll back… <kbd>Shift R</kbd></a>" in page
    assert '<article class="claim' not in page
    assert "Made in an earlier form" in as_alice.get(reverse("reviews"), {"tab": "accepted"}).content.decode()


def test_it_is_neither_edited_nor_judged_nor_accepted(earlier: Artifact, as_alice: Client) -> None:
    for name in ("claims", "review_top", "review_desk"):
        assert as_alice.get(reverse(name, args=[earlier.pk]), headers=HTMX).status_code == 404
    for name, more in (("claim", ["move"]), ("review_submit", []), ("review_judge", []), ("review_reject", [])):
        assert as_alice.post(reverse(name, args=[earlier.pk, *more]), {"verdict": "kept"}).status_code == 404
    as_alice.post(reverse("rollback", args=[earlier.pk]))
    dialog = part_of(as_alice, "accept", earlier.pk)
    assert "made in an earlier form" in dialog
    assert 'class="button primary"' not in dialog


def test_it_is_drafted_again(earlier: Artifact, room: Room, as_alice: Client) -> None:
    refused = as_alice.post(reverse("review_redraft", args=[earlier.pk]), headers=HTMX)
    assert (refused.status_code, "Roll it back first" in refused.content.decode()) == (422, True)
    as_alice.post(reverse("rollback", args=[earlier.pk]))
    answer = as_alice.post(reverse("review_redraft", args=[earlier.pk]), headers=HTMX)
    assert (answer.status_code, "A new draft is on its way" in answer.content.decode()) == (200, True)
    assert room.state.summary == "due"


# Its address


def test_there_is_none_of_an_unknown_id(as_alice: Client) -> None:
    assert as_alice.get(reverse("artifact", args=["cmp_0"])).status_code == 404


def test_it_is_read_with_get_only(drafted: Artifact, as_alice: Client) -> None:
    assert as_alice.post(drafted.get_absolute_url()).status_code == 405


# What readers of these pages misread


def test_that_its_own_author_checked_it_is_said_where_every_gate_passes(room: Room, as_alice: Client) -> None:
    top = part_of(as_alice, "review_top", STATES["waits"](room).pk)
    assert "It passes every gate, but the checker is the model that wrote it, so read what matters to you." in top


def test_what_waits_says_that_the_log_leaves_the_prompt_anyway(room: Room, as_alice: Client) -> None:
    waits, ages = (
        STATES["waits"](room),
        "If nothing mentions the effort for 20 turns from now on, excerpts take the log’s",
    )
    assert ages in part_of(as_alice, "review_top", waits.pk)
    accept_compaction(waits.pk, waits.session_id, waits.source_start, waits.source_end, actor=waits.session.owner)
    assert ages not in part_of(as_alice, "review_top", waits.pk)


def test_the_gate_of_size_says_why_a_call_saves_more_than_it_counts(drafted: Artifact, as_alice: Client) -> None:
    assert "A call saves a different number of tokens: dates" in part_of(as_alice, "gate", drafted.pk, "E")
    assert "sizes of the two texts" not in part_of(as_alice, "gate", drafted.pk, "C")


def test_where_nothing_was_listed_it_says_how_to_list(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    page = page_of(as_alice, row)
    assert "The list of decisions, to-dos and rules has nothing from these turns" in page
    assert f'<a href="{row.branch.address("ledger")}">Decisions &amp; to-dos</a>' in page


def test_where_excerpts_stand_and_no_model_drafts_the_way_to_one_is_there(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    # One is connected, and this conversation does not use it.
    choice = reverse("session_settings", args=[row.session_id])
    assert f'id="connect-checker" class="" href="{choice}">Choose a model<' in page_of(as_alice, row)
    Endpoint.objects.all().delete()
    connect = reverse("endpoint_new")
    assert f'id="connect-checker" class="" href="{connect}">Connect a model<' in page_of(as_alice, row)


def test_the_dialog_says_which_turns_stay_because_they_are_pinned(room: Room, as_alice: Client) -> None:
    row = STATES["waits"](room)
    actions.pin_turn(actions.here(row.session, actor=row.session.owner), 2, HoldScope.ALWAYS)
    stays = "Turn 2 is pinned and stays in the prompt."
    assert stays in part_of(as_alice, "accept", row.pk)
    accept_compaction(row.pk, row.session_id, row.source_start, row.source_end, actor=row.session.owner)
    assert stays in part_of(as_alice, "rollback", row.pk)
    assert "The model sees this text instead of turns 1, 3-4." in part_of(as_alice, "review_top", row.pk)


def test_the_dialog_says_how_long_a_rollback_lasts(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    back = part_of(as_alice, "rollback", row.pk)
    assert "it does not come back by itself: only “Use again” puts it back." in back
    assert "If nothing mentions the effort for 20 turns from now on, excerpts take their place" in back
    # What has passed since the last mention counts, as it does afterwards.
    Branch.objects.filter(pk=row.branch_id).update(clock=F("clock") + 3)
    said = "If nothing mentions the effort for 17 turns from now on, excerpts take"
    assert f"{said} their place" in part_of(as_alice, "rollback", row.pk)
    rollback_compaction(row.pk, actor=row.session.owner)
    assert f"{said} the log’s place" in part_of(as_alice, "review_top", row.pk)


@pytest.mark.parametrize(
    ("state", "need"),
    [
        ("stands", "optional, as it is in use already"),
        ("waits", "optional, as it passes every gate"),
        ("unchecked", "optional: what you keep or edit and submit counts as read by you"),
        ("loses", "you need not decide all of them"),
    ],
)
def test_whether_the_claims_have_to_be_decided_stands_beside_how_many_are(
    room: Room, as_alice: Client, state: str, need: str
) -> None:
    page = " ".join(part_of(as_alice, "review_top", STATES[state](room).pk).split())
    assert f"</span> · {need}</span>" in page


def test_passages_of_replaced_turns_that_other_turns_have_are_named(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    assert "were found for the message" not in part_of(as_alice, "review_top", row.pk)
    run = row.session.turns.get(number=3).runs.get()
    told = Message.objects.filter(turn__session=row.session, turn__number=1).earliest("pk")
    found = RetrievalSet.objects.create(
        session=row.session,
        branch=row.branch,
        run=run,
        trigger="auto",
        query="",
        query_hash="",
        snapshot=0,
        strategy="",
        found=2,
        result_hash="",
    )
    quoted = {"retrieval": found, "turn": told.turn, "message": told, "score": 1.0, "included": True}
    RetrievalItem.objects.create(**quoted, rank=1, leaves=True)
    assert "were found for the message" not in part_of(as_alice, "review_top", row.pk)
    RetrievalItem.objects.create(**quoted, rank=2)
    told_of = "Passages of these turns that were found for the message of turn 3 are sent as long as that turn is."
    assert told_of in part_of(as_alice, "review_top", row.pk)
    found.run = Run.objects.create(turn=run.turn, branch=row.branch, state="completed", attempt=9)
    found.save()
    assert told_of not in part_of(as_alice, "review_top", row.pk), "of an attempt that was made again"


def test_an_earlier_check_that_does_not_count_is_told_before_the_one_that_does(room: Room, as_alice: Client) -> None:
    row = STATES["waits"](room)
    again = "A check before it did not count. It believed 1 claim made wrong on purpose to test it. It was made again"
    assert "did not count" not in part_of(as_alice, "review_top", row.pk)
    first = Check.objects.get(family=row.family)
    Check.objects.filter(pk=first.pk).update(void="It believed 1 claim made wrong on purpose to test it.")
    assert again not in part_of(as_alice, "review_top", row.pk), "it is the only one"
    first.pk, first.attempt = None, 2
    first.save(force_insert=True)
    assert again in part_of(as_alice, "review_top", row.pk)
    assert page_of(as_alice, row).count(again) == 2, "at the top and beside the checks"


def test_a_verb_that_a_claim_does_not_have_says_why(room: Room, as_alice: Client) -> None:
    page = unescape(page_of(as_alice, STATES["waits"](room)))
    assert 'disabled title="A summary needs its result: edit it, or flag its source."' in page
    assert re.search(r"The numbers below it, such as [1-3]\.\d+, are the turn", page)


def test_what_was_rolled_back_leads_to_all_reviews_and_is_not_rejected(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    rollback_compaction(row.pk, actor=row.session.owner)
    desk = part_of(as_alice, "review_desk", row.pk)
    assert 'id="to-reviews"' in desk
    assert 'id="reject"' not in desk


def test_where_nothing_waits_the_queue_tells_of_excerpts_in_use(room: Room, as_alice: Client) -> None:
    STATES["no model"](room)
    queue = as_alice.get(reverse("reviews")).content.decode()
    assert "Nothing waits for you." in queue
    assert "1 set of excerpts is in use. Excerpts repeat the log" in queue
