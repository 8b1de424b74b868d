"""What waits for whom, and what came of the rest."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from compaction import review
from compaction.domain import digest
from compaction.domain.artifact import parse_artifact
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.drafting.costs import spent_on
from compaction.models import Artifact, Check
from compaction.pages.presenters.queue import Tab, needs_me, next_in_queue, queue_of
from compaction.review.claims import dropped
from compaction.standing import accepting
from efforts import actions
from efforts.domain.effort.states import EntryKind, ReviewMode
from efforts.llm.recorded import RECORDED_MODEL
from efforts.models import EffortState, Event, Session
from tests.compaction.artifacts import accept
from tests.compaction.review import BACKUPS, SLUG, STATES, Room, judged, outcomes, room_of
from tests.fakes.provider import FakeProvider
from tests.pages.conftest import HTMX


@pytest.fixture
def room(alice: User, provider: FakeProvider) -> Room:
    """Every summary waits for its person."""
    return room_of(alice, provider, review=ReviewMode.ALWAYS)


def listed(user: User, tab: Tab) -> list[str]:
    return [row.artifact.pk for row in queue_of(user, tab).rows if row.artifact]


def where(user: User) -> list[str]:
    """The tabs that list anything."""
    return [str(tab) for tab, count in queue_of(user, Tab.NEEDS_ME).counts if count]


def test_a_summary_goes_from_tab_to_tab(room: Room, alice: User) -> None:
    assert where(alice) == []
    row = room.draft()
    assert (where(alice), listed(alice, Tab.NEEDS_ME)) == (["needs-me"], [row.pk])
    accept(row)
    assert (where(alice), listed(alice, Tab.ACCEPTED)) == (["accepted"], [row.pk])
    accepting.rollback_compaction(row.pk, actor=alice)
    assert (where(alice), listed(alice, Tab.ROLLED_BACK)) == (["rolled-back"], [row.pk])


@pytest.mark.parametrize(
    ("state", "tabs"),
    [
        ("stands", ["accepted"]),
        ("waits", ["needs-me"]),
        ("fails", ["blocked", "accepted"]),
        ("loses", ["blocked", "accepted"]),
        ("unchecked", ["not-checked", "accepted"]),
        ("void", ["not-checked", "accepted"]),
        ("no draft", ["accepted"]),
        ("no model", ["accepted"]),
        ("chosen", ["needs-me"]),
        ("chosen digest", ["needs-me"]),
    ],
)
def test_each_state_has_its_tab_and_excerpts_that_stand_are_accepted(
    alice: User, provider: FakeProvider, state: str, tabs: list[str]
) -> None:
    row = STATES[state](room_of(alice, provider))
    assert where(alice) == tabs
    assert listed(alice, Tab(tabs[0])) == [row.pk]


def test_what_lacks_something_is_blocked_until_it_is_added(room: Room, alice: User) -> None:
    room.note(EntryKind.DECISION, BACKUPS)
    room.claims = [id for id in room.claims if id != "backups"]
    row = room.draft()
    assert (where(alice), listed(alice, Tab.BLOCKED)) == (["blocked"], [row.pk])
    (missing,) = [one for one in dropped(row) if one.confirmed]
    review.add_dropped(row, missing.key, reviewer=alice)
    made = review.submit(row, reviewer=alice).made
    assert made is not None
    assert (where(alice), listed(alice, Tab.NEEDS_ME)) == (["needs-me"], [made.pk])


def test_what_was_turned_down_waits_for_nobody(room: Room, alice: User) -> None:
    review.reject(room.draft(), actor=alice, reason="Too vague.")
    assert where(alice) == []


def test_what_is_due_is_running_and_its_old_draft_waits_no_more(room: Room, alice: User) -> None:
    review.redraft(room.draft(), actor=alice)
    assert where(alice) == ["running"]
    (row,) = queue_of(alice, Tab.RUNNING).rows
    assert (row.title, row.doing, row.first, row.last) == (SLUG, "Waiting to be prepared", 1, 3)


def test_a_summary_of_what_is_open_again_waits_no_more(room: Room, alice: User) -> None:
    room.draft()
    actions.reopen_effort(room.talk.place, SLUG)
    assert where(alice) == []


def test_others_have_queues_of_their_own_until_they_are_named(room: Room, alice: User, bob: User) -> None:
    row = room.draft()
    assert (needs_me(alice), needs_me(bob)) == (1, 0)
    named = review.name_reviewer(room.talk.session, "bob", actor=alice)
    assert (needs_me(bob), listed(bob, Tab.NEEDS_ME)) == (1, [row.pk])
    review.remove_reviewer(room.talk.session, named.pk, actor=alice)
    assert needs_me(bob) == 0
    told = Event.objects.filter(session=room.talk.session, kind__startswith="review.reviewer").order_by("seq")
    assert [(one.kind, one.data["reviewer"], one.actor) for one in told] == [
        ("review.reviewer_named", "bob", alice),
        ("review.reviewer_removed", "bob", alice),
    ]


def test_a_row_tells_what_it_is_how_it_was_judged_and_who_looked_at_it(room: Room, alice: User) -> None:
    row = room.draft()
    review.decide(row, "move", Say.KEPT, reviewer=alice)
    (shown,) = queue_of(alice, Tab.NEEDS_ME).rows
    assert (shown.title, shown.session, shown.first, shown.last) == (f"Summary of {SLUG}", room.talk.session, 1, 3)
    assert outcomes(judged(row)) == dict.fromkeys("ABCDE", "pass")
    assert shown.spent == spent_on(row.family) > 0
    assert shown.reviewers == ("alice",)


def test_after_one_the_next_is_offered_and_after_the_last_the_first(alice: User, provider: FakeProvider) -> None:
    first, second, third = (STATES["waits"](room_of(alice, provider)) for _ in range(3))
    assert next_in_queue(alice) == first
    assert next_in_queue(alice, first) == second
    assert next_in_queue(alice, third) == first
    for row in (first, second, third):
        accept(row)
    assert next_in_queue(alice, third) is None


# The page


def test_the_page_shows_each_tab_with_a_word_for_what_comes_next(as_alice: Client) -> None:
    pages = {tab: as_alice.get(reverse("reviews"), {"tab": tab}).content.decode() for tab in Tab}
    assert "Nothing waits for you" in pages[Tab.NEEDS_ME]
    assert "No summary is being prepared" in pages[Tab.RUNNING]
    assert "Nothing is blocked" in pages[Tab.BLOCKED]
    assert "No summary is in use yet" in pages[Tab.ACCEPTED]
    assert "Nothing is here." in pages[Tab.ROLLED_BACK]
    assert "Nothing waits for you" in as_alice.get(reverse("reviews"), {"tab": "nonsense"}).content.decode()


def test_what_was_rolled_back_waits_for_nobody(room: Room, as_alice: Client, alice: User) -> None:
    accept(row := room.draft())
    accepting.rollback_compaction(row.pk, actor=alice)
    page = as_alice.get(reverse("reviews"), {"tab": "rolled-back"}).content.decode()
    (marks,) = re.findall(r'<p class="marks.*?</p>', page, re.DOTALL)
    assert "Rolled back</span>" in marks
    assert "Waits for you" not in marks


def test_what_stands_says_who_accepted_it_apart_from_who_read_it(
    alice: User, provider: FakeProvider, as_alice: Client
) -> None:
    row = STATES["stands"](room_of(alice, provider))
    page = as_alice.get(reverse("reviews"), {"tab": "accepted"}).content.decode()
    assert "In use without a review." in page
    accepting.rollback_compaction(row.pk, actor=alice)
    accepting.accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    page = as_alice.get(reverse("reviews"), {"tab": "accepted"}).content.decode()
    assert "Accepted by alice." in page
    assert "In use without a review." not in page
    assert "No person has read its claims yet" in page


def test_excerpts_that_stand_are_told_where_what_is_not_checked_is_listed(
    alice: User, provider: FakeProvider, as_alice: Client
) -> None:
    STATES["no model"](room_of(alice, provider))
    page = as_alice.get(reverse("reviews"), {"tab": "not-checked"}).content.decode()
    assert "1 set of excerpts is in use. Excerpts repeat the log word for word" in page
    other = as_alice.get(reverse("reviews"), {"tab": "blocked"}).content.decode()
    assert "set of excerpts" not in other


def test_every_page_tells_how_many_wait(room: Room, as_alice: Client, as_bob: Client) -> None:
    room.draft()
    assert "wait for you" in as_alice.get(reverse("start")).content.decode()
    assert "wait for you" not in as_bob.get(reverse("start")).content.decode()


def test_it_takes_as_many_queries_however_many_there_are(alice: User, as_alice: Client, provider: FakeProvider) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as found:
            as_alice.get(reverse("reviews"))
        return len(found)

    STATES["waits"](room_of(alice, provider))
    few = queries()
    for _ in range(3):
        row = STATES["waits"](room_of(alice, provider))
        review.decide(row, "move", Say.KEPT, reviewer=alice)
    assert queries() == few


def test_long_lists_have_pages(
    alice: User, as_alice: Client, provider: FakeProvider, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("compaction.pages.presenters.queue.ON_A_PAGE", 1)
    first, second = (STATES["waits"](room_of(alice, provider)) for _ in range(2))
    page = as_alice.get(reverse("reviews"), {"page": 2}).content.decode()
    assert (first.pk in page, second.pk in page, "Page 2 of 2" in page) == (False, True, True)


def row_in(client: Client, tab: Tab) -> str:
    (row,) = re.findall(
        r'<li class="row-of-queue">.*?</li>', client.get(reverse("reviews"), {"tab": tab}).content.decode(), re.DOTALL
    )
    return unescape(row)


def test_excerpts_that_quote_nothing_are_not_called_quotes(
    alice: User, provider: FakeProvider, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No sentence is short enough.
    monkeypatch.setattr(digest, "FILLED", 0)
    STATES["no model"](room_of(alice, provider))
    row = row_in(as_alice, Tab.ACCEPTED)
    assert "No sentence of these turns is quoted: each was too long." in row
    assert "Quotes, word for word" not in row


@pytest.mark.parametrize(("state", "tab"), [("waits", Tab.NEEDS_ME), ("stands", Tab.ACCEPTED)])
def test_what_only_a_recording_has_read_passes_no_gate_by_reading(
    alice: User, provider: FakeProvider, as_alice: Client, state: str, tab: Tab
) -> None:
    drafted = STATES[state](room_of(alice, provider))
    assert "It passes every gate." in row_in(as_alice, tab)
    Check.objects.update(model=RECORDED_MODEL)
    row = row_in(as_alice, tab)
    assert "No gate fails, but the answers of its check were recorded for the example." in row
    assert "It passes every gate." not in row
    assert "B Sources: recorded check. C Retention: recorded check." in row
    read_whole(drafted, alice)
    assert "It passes every gate." in row_in(as_alice, tab)


def read_whole(row: Artifact, person: User) -> None:
    for claim in parse_artifact(row.document).claims:
        review.decide(row, claim.id, Say.KEPT, reviewer=person)
    review.submit(row, reviewer=person)


# While it is open


def again(client: Client, tab: Tab) -> tuple[int, str]:
    """What it answers when the page that is shown now asks again, once something may have changed."""
    shown = client.get(reverse("reviews"), {"tab": tab}).content.decode()
    found = re.search(r'id="queue"[^>]* hx-get="([^"]+)"', shown)
    assert found
    answer = client.get(unescape(found[1]), headers=HTMX)
    return answer.status_code, answer.content.decode()


@pytest.mark.parametrize("tab", Tab)
def test_asked_again_it_answers_nothing_where_nothing_has_changed(room: Room, as_alice: Client, tab: Tab) -> None:
    room.draft()
    assert again(as_alice, tab) == (204, "")


def test_asked_again_it_shows_what_has_changed_as_a_part(room: Room, alice: User, as_alice: Client) -> None:
    row = room.draft()
    old = as_alice.get(reverse("reviews"), {"tab": Tab.NEEDS_ME}).content.decode()
    address = unescape(re.findall(r'id="queue"[^>]* hx-get="([^"]+)"', old)[0])
    review.decide(row, "move", Say.KEPT, reviewer=alice)
    answer = as_alice.get(address, headers=HTMX)
    part = answer.content.decode()
    assert (answer.status_code, "<html" in part, "alice" in part, row.pk in part) == (200, False, True, True)
    assert unescape(re.findall(r'hx-get="([^"]+)"', part)[0]) != address


def test_it_asks_by_itself_only_while_something_is_written(room: Room, alice: User, as_alice: Client) -> None:
    row = room.draft()
    asks = 'hx-trigger="every 3s, focus from:window"'
    assert asks not in as_alice.get(reverse("reviews"), {"tab": Tab.RUNNING}).content.decode()
    review.redraft(row, actor=alice)
    assert asks in as_alice.get(reverse("reviews"), {"tab": Tab.RUNNING}).content.decode()
    assert asks in as_alice.get(reverse("reviews"), {"tab": Tab.NEEDS_ME}).content.decode()


# Reviewers


def test_the_owner_names_and_removes_reviewers(room: Room, as_alice: Client, bob: User) -> None:
    address = reverse("reviewers", args=[room.talk.session.pk])
    assert "Nobody but you" in as_alice.get(address).content.decode()
    assert as_alice.post(address, {"username": " bob "}).status_code == 302
    assert "bob" in as_alice.get(address).content.decode()
    named = room.talk.session.reviewers.get()
    as_alice.post(reverse("reviewer_remove", args=[room.talk.session.pk, named.pk]))
    assert not room.talk.session.reviewers.exists()


@pytest.mark.parametrize(
    ("name", "says"),
    [("nobody", "no account with this user name"), ("alice", "you review it anyhow"), ("", "no account")],
)
def test_who_cannot_be_named_is_refused_with_a_reason(room: Room, as_alice: Client, name: str, says: str) -> None:
    response = as_alice.post(reverse("reviewers", args=[room.talk.session.pk]), {"username": name})
    assert (response.status_code, says in response.content.decode()) == (422, True)
    assert not room.talk.session.reviewers.exists()


def test_nobody_else_names_reviewers(room: Room, as_bob: Client, alice: User) -> None:
    address = reverse("reviewers", args=[room.talk.session.pk])
    assert as_bob.get(address).status_code == as_bob.post(address, {"username": "bob"}).status_code == 404
    review.name_reviewer(room.talk.session, "bob", actor=alice)
    assert as_bob.get(address).status_code == 404


def test_a_reviewer_sees_the_summary_and_nothing_else_of_the_conversation(
    room: Room, alice: User, bob: User, as_bob: Client
) -> None:
    review.name_reviewer(room.talk.session, "bob", actor=alice)
    row = room.draft()
    room.talk.ask("A secret that belongs to no effort.")
    session: Session = room.talk.session
    pages = [row.get_absolute_url(), reverse("reviews")]
    pages += [reverse(name, args=[row.pk]) for name in ("review_top", "claims", "accept", "standing", "history")]
    for address in pages:
        page = as_bob.get(address, follow=True)
        assert page.status_code == 200
        assert f"/s/{session.pk}" not in page.content.decode(), address
        assert "A secret" not in page.content.decode(), address
    for address in (
        session.get_absolute_url(),
        reverse("summaries", args=[session.pk]),
        reverse("log", args=[session.pk]),
    ):
        assert as_bob.get(address).status_code == 404


@pytest.mark.parametrize(
    ("back", "word", "why"),
    [
        (lambda room, row: accepting.rollback_compaction(row.pk, actor=None), "Rolled back", "You can use it again."),
        (
            lambda room, row: actions.undo(room.talk.place, room.talk.events("effort.concluded")[-1]["seq"]),
            "Not in use",
            "It left the prompt, as its effort was opened again",
        ),
    ],
)
def test_excerpts_that_stood_are_found_whatever_took_them_back(
    alice: User, provider: FakeProvider, as_alice: Client, back: Callable[[Room, Artifact], Any], word: str, why: str
) -> None:
    row = STATES["no model"](room := room_of(alice, provider))
    back(room, row)
    assert (where(alice), listed(alice, Tab.ROLLED_BACK)) == (["rolled-back"], [row.pk])
    page = as_alice.get(reverse("reviews"), {"tab": "rolled-back"}).content.decode()
    assert f"{word}</span> <span>{why}" in page


def test_what_dropped_out_of_the_prompt_is_not_just_in_use(
    alice: User, provider: FakeProvider, as_alice: Client
) -> None:
    row = STATES["no model"](room_of(alice, provider))
    in_use = (reverse("reviews"), {"tab": "accepted"})
    assert "In use</span>" in as_alice.get(*in_use).content.decode()
    EffortState.objects.filter(effort=row.effort).update(evicted_clock=1)
    assert "In use, not in the prompt now</span>" in as_alice.get(*in_use).content.decode()
    notice = as_alice.get(row.session.get_absolute_url()).content.decode()
    assert "In use, not in the prompt now</span>" in notice
