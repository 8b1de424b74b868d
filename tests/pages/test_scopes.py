"""Chosen turns on pages: asked for, waited for, reviewed, taken back."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import review
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.models import Artifact
from compaction.standing.accepting import accept_compaction
from efforts import actions
from efforts.domain.effort.states import PointerState, ReviewMode, RunState, ScopeKind, ScopeState, SummaryState, Via
from efforts.domain.errors import Refused
from efforts.models import ContextPointer, EffortState, Event, Run, ScopeDraft, Session
from efforts.turns.drafts import claim_from
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES, summarise_now
from tests.compaction.artifacts import rolled_back_by_its_owner
from tests.compaction.review import MODEL, STATES, Room
from tests.efforts.chosen import choose
from tests.efforts.logs import WEBHOOK, concluded, say
from tests.efforts.talk import Talk

from .conftest import HTMX

Address = Callable[..., str]
TALK = [*WEBHOOK, ("And the dashboard?", "It stays as it is."), ("Good.", "Anything else?")]


@pytest.fixture(autouse=True)
def talk(session: Session) -> Session:
    say(session, TALK)
    return session


def shown(client: Client, address: str) -> str:
    response = client.get(address, headers=HTMX)
    assert response.status_code == 200
    # A turn and its number stay in one line.
    return response.content.decode().replace("\xa0", " ")


def asked(session: Session, first: int = 1, last: int = 3, **more: Any) -> ScopeDraft:
    return actions.compact_turns(actions.here(session, actor=session.owner), first, last, **more)


def drafted(session: Session) -> ScopeDraft:
    """Excerpts, as no model drafts."""
    draft = asked(session)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    assert draft.state == ScopeState.READY, draft.why
    return draft


def of(room: Room) -> Address:
    """Addresses of a conversation with a model."""

    def under_it(rest: str = "") -> str:
        return f"{room.talk.session.get_absolute_url()}{rest}"

    return under_it


def standing_summary(room: Room) -> str:
    """Of its three turns, drafted by a model and accepted."""
    row = STATES["chosen"](room)
    accept_compaction(row.pk, row.session_id, 1, 3, actor=row.session.owner)
    return row.pk


def accepted(session: Session) -> str:
    """Excerpts of the turns 1 to 3, as no model drafts."""
    artifact = Artifact.objects.get(pk=drafted(session).artifact)
    scope = (artifact.session_id, artifact.source_start, artifact.source_end)
    accept_compaction(artifact.pk, *scope, actor=session.owner)
    return artifact.pk


# The dialog


def test_each_finished_message_leads_to_the_dialog_with_its_turn(as_alice: Client, address: Address) -> None:
    assert f'hx-get="{address("compact/")}?first=2"' in shown(as_alice, address("turns/2/"))
    form = shown(as_alice, f"{address('compact/')}?first=2")
    assert 'name="first" inputmode="numeric" pattern="[0-9]*" autocomplete="off" required value="2"' in form
    assert 'autofocus value="5"' in form


def test_before_anything_is_done_it_says_what_it_takes(as_alice: Client, address: Address) -> None:
    look = shown(as_alice, f"{address('compact/look/')}?first=1&last=3")
    assert "<dt>Turns</dt><dd>3</dd>" in look
    assert "<dt>What is made</dt><dd>excerpts: no model is connected to write a summary</dd>" in look
    assert not ScopeDraft.objects.exists()


def test_it_says_which_model_drafts_what_that_costs_at_most_and_when_it_is_earned_back(
    as_alice: Client, room: Room
) -> None:
    look = shown(as_alice, of(room)("compact/look/?first=1&last=3"))
    assert f"<dt>Drafted by</dt><dd>{MODEL}</dd>" in look
    assert "tokens, its check included" in look
    assert re.search(r"<dt>Earned back</dt><dd>after \d+ calls?</dd>", look)


def test_turns_too_short_for_a_summary_say_so_and_not_that_no_model_is_connected(as_alice: Client, room: Room) -> None:
    room.talk.ask("Good morning.")
    look = shown(as_alice, of(room)("compact/look/?first=4&last=4"))
    assert "<dt>What is made</dt><dd>excerpts</dd>" in look
    assert "These turns are too short for a summary to pay." in look


def test_a_source_that_is_too_large_is_refused_with_the_numbers(as_alice: Client, room: Room, settings: Any) -> None:
    settings.CCM_DRAFT_CAP = 100
    assert "One of these turns has more than" in shown(as_alice, of(room)("compact/look/?first=1&last=3"))
    answer = as_alice.post(of(room)("compact/"), {"first": "1", "last": "3"}, headers=HTMX)
    assert answer.status_code == 422
    assert "One of these turns has more than" in answer.content.decode()


def test_what_is_to_be_kept_in_view_is_asked_for_and_told_to_the_model(as_alice: Client, room: Room) -> None:
    assert "Keep in view" in shown(as_alice, of(room)("compact/?first=1"))
    as_alice.post(of(room)("compact/"), {"first": "1", "last": "3", "focus": " the  backups "}, headers=HTMX)
    assert ScopeDraft.objects.get().focus == "the backups"
    row = room.work(SCOPES)
    assert row.run.focus == "the backups"
    (asked_for,) = row.run.requests.all()
    assert "the backups" in asked_for.messages[-1]["content"]


def test_more_than_can_be_kept_in_view_is_refused_in_words(as_alice: Client, address: Address) -> None:
    answer = as_alice.post(address("compact/"), {"first": "1", "last": "3", "focus": "word " * 101}, headers=HTMX)
    assert answer.status_code == 422
    assert "What to keep in view has 504 characters; 500 is the most." in answer.content.decode()
    assert not ScopeDraft.objects.exists()


@pytest.mark.parametrize(
    ("first", "last", "says"),
    [
        ("3", "1", "Turn 3 comes after turn 1. Choose the earlier one first."),
        ("1", "99", "There is no turn 99 here. Choose turns from 1 to 5."),
        ("", "3", "Which turns? Give the number of the first and of the last."),
        ("one", "3", "Which turns? Give the number of the first and of the last."),
        ("9" * 30, "3", "Which turns? Give the number of the first and of the last."),
    ],
)
def test_wrong_turns_are_answered_in_words(
    as_alice: Client, address: Address, first: str, last: str, says: str
) -> None:
    assert says in shown(as_alice, f"{address('compact/look/')}?first={first}&last={last}")
    answer = as_alice.post(address("compact/"), {"first": first, "last": last}, headers=HTMX)
    assert answer.status_code == 422
    assert says in answer.content.decode()


def test_without_scripts_it_is_a_page_and_leads_back_to_the_conversation(as_alice: Client, address: Address) -> None:
    page = as_alice.get(f"{address('compact/')}?first=2").content.decode()
    assert "<html" in page
    assert "Make the excerpts" in page
    answer = as_alice.post(address("compact/"), {"first": "2", "last": "3"})
    assert (answer.status_code, answer["Location"]) == (302, address())
    assert ScopeDraft.objects.get().turns == [2, 3]


def test_what_stands_in_the_way_is_named_before(as_alice: Client, session: Session, address: Address) -> None:
    accepted(session)
    assert "Roll these back first." in shown(as_alice, f"{address('compact/look/')}?first=2&last=4")
    over = shown(as_alice, f"{address('compact/look/')}?first=1&last=4")
    assert "<dt>Takes over from</dt><dd>chosen turns (turns 1-3)</dd>" in over
    assert "replaces these turns already" in shown(as_alice, f"{address('compact/look/')}?first=1&last=3")


def test_a_stranger_finds_nothing(client: Client, session: Session, address: Address, bob: User) -> None:
    accepted(session)
    draft = asked(session, 4, 5)
    client.force_login(bob)
    for path in ("compact/", "compact/look/?first=1&last=2"):
        assert client.get(address(path)).status_code == 404
    for path in ("compact/", f"compact/{draft.pk}/stop/"):
        assert client.post(address(path), {"first": "1", "last": "2"}).status_code == 404
    assert ContextPointer.objects.get().state == PointerState.ACTIVE


# Notices


def notices(client: Client, address: Address, number: int = 5) -> str:
    return shown(client, address(f"turns/{number}/"))


def test_the_notice_follows_from_asked_for_to_accepted_to_rolled_back(
    as_alice: Client, session: Session, address: Address
) -> None:
    draft = asked(session)
    begun = notices(as_alice, address)
    assert "Turns 1-3 are being summarised." in begun
    # By this name the page finds it when more of these turns is told in a later turn.
    assert 'data-about="turns-1-3"' in begun
    SCOPES.draft_now(draft)
    waits = notices(as_alice, address)
    assert "There are excerpts of turns 1-3." in waits
    assert waits.count("Waits for you") == 1
    assert "a summary of" not in waits
    listed = shown(as_alice, address("efforts/"))
    assert 'aria-label="Review the excerpts of turns 1-3"' in listed
    draft.refresh_from_db()
    assert f'href="/review/{draft.artifact}/"' in waits
    accept_compaction(draft.artifact, session.pk, 1, 3, actor=session.owner)
    stands = notices(as_alice, address)
    assert "waits for you" not in stands
    assert "Excerpts now replace turns 1-3." in stands
    assert 'aria-label="Roll back the excerpts of turns 1-3"' in stands
    asks = f"{reverse('rollback', args=[draft.artifact])}?branch="
    assert asks in stands
    in_the_chat = {**HTMX, "HX-Current-URL": f"http://testserver{address('')}"}
    as_alice.post(reverse("rollback", args=[draft.artifact]), headers=in_the_chat)
    back = notices(as_alice, address)
    assert "Rolled back: the log of turns 1-3 is in the prompt again." in back
    assert asks not in back
    assert not ContextPointer.objects.filter(state=PointerState.ACTIVE).exists()
    history = shown(as_alice, address("summaries/"))
    assert "alice · in the chat" in " ".join(history.split())
    assert "by concluding the effort" not in history


def test_what_was_rolled_back_can_be_asked_for_again(session: Session) -> None:
    artifact = accepted(session)
    first = ScopeDraft.objects.get()
    assert asked(session) == first
    rolled_back_by_its_owner(session, artifact)
    assert asked(session) != first


def test_of_a_failed_draft_it_says_why_and_offers_another(as_alice: Client, session: Session, address: Address) -> None:
    draft = asked(session)
    ScopeDraft.objects.update(state=ScopeState.FAILED, why="Gate C: one decision is missing.")
    part = notices(as_alice, address)
    assert "There is no summary of turns 1-3 that can be used." in part
    assert "Gate C: one decision is missing." in part
    assert as_alice.post(address(f"compact/{draft.pk}/again/")).json() == {"draft": draft.pk}
    assert ScopeDraft.objects.get().state == ScopeState.DUE


def test_of_turns_without_any_draft_nothing_was_found_wrong(
    as_alice: Client, session: Session, address: Address
) -> None:
    asked(session)
    ScopeDraft.objects.update(state=ScopeState.FAILED, why="Something went wrong.")
    assert "There is no summary of turns 1-3 that can be used." in notices(as_alice, address)
    for page in (notices(as_alice, address), shown(as_alice, address("efforts/"))):
        assert "Waits for you" in page
        assert "Blocked" not in page


def test_what_a_reviewer_rejected_waits_for_nobody_and_can_be_asked_for_again(
    as_alice: Client, session: Session, address: Address
) -> None:
    draft = drafted(session)
    review.reject(Artifact.objects.get(pk=draft.artifact), actor=session.owner, reason="It misses the point.")
    part = notices(as_alice, address)
    assert "waits for you" not in part
    assert "There is no summary of turns 1-3 that can be used." in part
    assert "alice rejected it: It misses the point." in part
    assert "Blocked" in shown(as_alice, address("efforts/"))
    assert asked(session) != draft


def test_a_reviewer_s_edit_is_what_waits_from_then_on(as_alice: Client, room: Room) -> None:
    row = STATES["chosen"](room)
    made = edited(row)
    part = notices(as_alice, of(room), 3)
    assert "There is a summary of turns 1-3." in part
    assert f'href="/review/{made.pk}/"' in part
    assert f'href="/review/{row.pk}/"' not in part
    accept_compaction(made.pk, made.session_id, 1, 3, actor=made.session.owner)
    assert "replaces these turns already" in shown(as_alice, of(room)("compact/look/?first=1&last=3"))


def test_a_draft_that_an_edit_makes_whole_waits_for_the_person(as_alice: Client, room: Room) -> None:
    row = STATES["chosen"](room)
    ScopeDraft.objects.update(state=ScopeState.FAILED, why="Gate C: one decision is missing.")
    edited(row)
    part = notices(as_alice, of(room), 3)
    assert "There is a summary of turns 1-3." in part
    assert "one decision is missing" not in part


def test_what_a_reviewer_makes_of_a_summary_that_stood_is_no_draft_that_failed(session: Session) -> None:
    row = Artifact.objects.get(pk=accepted(session))
    review.judge_again(row, actor=session.owner)
    rolled_back_by_its_owner(session, row.pk)
    review.reject(row, actor=session.owner, reason="It misses the point.")
    assert ScopeDraft.objects.get().state == ScopeState.READY


def edited(row: Artifact) -> Artifact:
    """The next version, with other words."""
    owner = row.session.owner
    words = "Move the old orders over before the launch of the shop."
    review.decide(row, "move", ClaimVerdictValue.EDITED, reviewer=owner, text=words)
    made = review.submit(row, reviewer=owner).made
    assert made is not None
    assert made.state == "replaceable"
    return made


def test_drafting_can_be_stopped_where_it_is_noted(as_alice: Client, session: Session, address: Address) -> None:
    draft = asked(session)
    assert f"compact/{draft.pk}/stop/" in notices(as_alice, address)
    as_alice.post(address(f"compact/{draft.pk}/stop/"))
    assert "You stopped the summary of turns 1-3." in notices(as_alice, address)
    assert as_alice.post(address(f"compact/{draft.pk}/frobnicate/")).status_code == 404


def test_a_stage_of_a_package_is_no_business_of_the_chat(as_alice: Client, session: Session, address: Address) -> None:
    asked(session, kind=ScopeKind.STAGE)
    assert "being summarised" not in notices(as_alice, address)
    assert "scopes-title" not in shown(as_alice, address("efforts/"))


def test_a_retried_turn_takes_the_summary_away_and_says_so(
    as_alice: Client, session: Session, address: Address
) -> None:
    draft = asked(session, 1, 5)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    accept_compaction(draft.artifact, session.pk, 1, 5, actor=session.owner)
    Run.objects.filter(turn__number=5).update(state=RunState.STOPPED)
    actions.retry_turn(Run.objects.get(turn__number=5).turn, actor=session.owner)
    told = notices(as_alice, address)
    assert "The excerpts of turns 1-5 are not used any more, because one of the turns was tried again." in told
    assert "stands again" not in told


def test_a_retried_turn_brings_back_what_stood_for_the_others_and_says_so(
    as_alice: Client, session: Session, address: Address
) -> None:
    first = accepted(session)
    draft = asked(session, 1, 5)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    accept_compaction(draft.artifact, session.pk, 1, 5, actor=session.owner)
    Run.objects.filter(turn__number=5).update(state=RunState.STOPPED)
    actions.retry_turn(Run.objects.get(turn__number=5).turn, actor=session.owner)
    assert ContextPointer.objects.get(state=PointerState.ACTIVE).artifact == first
    assert "Earlier summaries of others of them are back." in notices(as_alice, address)


def test_turns_that_a_summary_stands_for_say_so_with_a_link(
    as_alice: Client, session: Session, address: Address
) -> None:
    artifact = accepted(session)
    covered = notices(as_alice, address, 2)
    assert "In the prompt as excerpts" in covered
    assert f'id="cover-2" href="/review/{artifact}/"' in covered
    assert "In the prompt as excerpts" not in notices(as_alice, address, 4)
    ContextPointer.objects.update(evicted_clock=9)
    assert "Summarised, found by search only" in notices(as_alice, address, 2)


@pytest.mark.parametrize(
    ("left_out", "word"),
    [
        ({}, "In use"),
        ({"expanded_turn": 4}, "In use, expanded now"),
        ({"evicted_clock": 9}, "In use, not in the prompt now"),
    ],
)
def test_notice_and_panel_say_whether_the_prompt_has_what_is_in_use(
    as_alice: Client, session: Session, address: Address, left_out: dict[str, int], word: str
) -> None:
    accepted(session)
    ContextPointer.objects.update(**left_out)
    for page in (notices(as_alice, address), shown(as_alice, address("efforts/"))):
        # Excerpts do not look as a summary that was checked does.
        assert re.findall(r'<span class="state quotes"><svg.*?</svg>(.*?)</span>', page, re.DOTALL) == [word]


# The panel


def test_the_panel_lists_what_stands_and_what_waits(as_alice: Client, session: Session, address: Address) -> None:
    assert "scopes-title" not in shown(as_alice, address("efforts/"))
    accepted(session)
    asked(session, 4, 5)
    panel = shown(as_alice, address("efforts/"))
    assert panel.index("Turns 1-3") < panel.index("Turns 4-5")
    assert "In use</span>" in panel
    assert "In the prompt as excerpts" in panel
    assert "Being summarised" in panel
    assert 'aria-label="Roll back the excerpts of turns 1-3"' in panel


def test_of_many_summaries_those_of_earlier_turns_are_folded_and_none_is_left_out(
    as_alice: Client, session: Session, address: Address
) -> None:
    say(session, [(f"Saying {number}.", "Noted.") for number in range(20)])
    talk = Talk(session)
    for first in range(1, 21, 2):
        choose(talk, first, first + 1)
    asked(session, 21, 22)
    panel = shown(as_alice, address("efforts/"))
    named = re.findall(r"<span>(Turns [0-9-]+)</span>", panel)
    stands = [f"Turns {first}-{first + 1}" for first in range(1, 21, 2)]
    assert named == [*stands[2:], "Turns 21-22", *stands[:2]]
    assert "2 earlier ones" in panel


def test_a_summary_of_an_effort_is_rolled_back_and_drafted_again_from_its_row(as_alice: Client, room: Room) -> None:
    artifact, address = STATES["stands"](room), of(room)
    assert f'href="/review/{artifact.pk}/"' in shown(as_alice, address("efforts/"))
    as_alice.post(reverse("rollback", args=[artifact.pk]))
    panel = shown(as_alice, address("efforts/"))
    assert "Rolled back · its turns are sent in full" in panel
    assert "Draft again" in panel
    assert "Rolled back: the log of storage is in the prompt." in notices(as_alice, address, 3)
    as_alice.post(address("efforts/storage/draft/"))
    assert room.state.summary == SummaryState.DUE


def test_who_has_an_effort_drafted_again_says_what_to_keep_in_view(as_alice: Client, room: Room) -> None:
    STATES["unchecked"](room)
    address = of(room)("efforts/storage/draft/")
    assert f'href="{address}"' in shown(as_alice, of(room)("efforts/"))
    assert 'name="focus"' in shown(as_alice, address)
    refused = as_alice.post(address, {"focus": "word " * 101}, headers=HTMX)
    assert refused.status_code == 422
    assert "500 is the most" in refused.content.decode()
    assert room.state.summary != SummaryState.DUE
    as_alice.post(address, {"focus": " the  340 ms "}, headers=HTMX)
    assert Event.objects.filter(kind="effort.summary_due").latest("seq").data["focus"] == "the 340 ms"
    room.texts["backups"] = "Backups are nightly, to the second site."
    row = room.summarise()
    assert row.run.focus == "the 340 ms"
    assert any("keep in view: the 340 ms" in str(sent) for sent in room.provider.requests)
    assert "which was asked to keep in view" in as_alice.get(row.get_absolute_url()).content.decode()
    # The next draft, of whoever it is asked for, is not held to it.
    assert room.state.focus == ""


def test_an_effort_all_of_whose_turns_were_chosen_says_so(as_alice: Client, session: Session, address: Address) -> None:
    summarise_now(concluded(session))
    draft = asked(session, 1, 8)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    accept_compaction(draft.artifact, session.pk, 1, 8, actor=session.owner)
    assert EffortState.objects.get().summary == SummaryState.COVERED
    assert "Summarised with other turns" in shown(as_alice, address("efforts/"))


# How summaries come to stand


def mode(session: Session, to: ReviewMode) -> None:
    Session.objects.filter(pk=session.pk).update(review_mode=to)
    session.refresh_from_db()


def test_where_every_summary_is_reviewed_the_person_s_own_conclusion_waits_too(as_alice: Client, room: Room) -> None:
    STATES["reviewed"](room)
    assert (room.state.summary, room.standing) == (SummaryState.WAITING, [])
    part = notices(as_alice, of(room), 3)
    assert part.index("Review") < part.index("Use it")
    as_alice.post(of(room)("efforts/storage/use-summary/"))
    assert ContextPointer.objects.get().state == PointerState.ACTIVE


def test_where_nothing_is_drafted_the_log_stands_and_one_can_be_asked_for(
    as_alice: Client, session: Session, address: Address
) -> None:
    mode(session, ReviewMode.NEVER)
    here = actions.here(session, actor=session.owner)
    actions.open_effort(here, "webhook")
    for number in (1, 2, 3):
        actions.move_turn(here, number, "webhook")
    actions.close_effort(here, "webhook")
    assert (EffortState.objects.get().summary, claim_from([SUMMARIES], "here:1:a", 4)) == (SummaryState.NONE, [])
    assert "No summary was drafted, so its turns are sent in full." in notices(as_alice, address)
    panel = shown(as_alice, address("efforts/"))
    assert "Not summarised · its turns are sent in full" in panel
    assert "Connect a model" in panel
    as_alice.post(address("efforts/webhook/draft/"))
    (job,) = claim_from([SUMMARIES], "here:1:a", 4)
    assert job.row_id == EffortState.objects.get().pk


def test_the_settings_say_how_summaries_come_to_stand(as_alice: Client, session: Session, address: Address) -> None:
    form = shown(as_alice, address("settings/"))
    for words in (
        "Use summaries that pass every check",
        "Also use summaries that nobody has checked",
        "Always ask me",
        "Never draft",
    ):
        assert words in form
    actions.configure_session(session, actor=session.owner, review_mode="always")
    session.refresh_from_db()
    assert session.review_mode == ReviewMode.ALWAYS
    assert Event.objects.latest("seq").data["review_mode"] == "always"


# Expanded and collapsed where they are listed


def test_chosen_turns_are_expanded_for_their_price_and_collapsed_from_the_panel(
    as_alice: Client, session: Session, address: Address
) -> None:
    accepted(session)
    assert f'hx-get="{address("efforts/turns-1-3/price/")}"' in shown(as_alice, address("efforts/"))
    price = shown(as_alice, address("efforts/turns-1-3/price/"))
    assert re.search(r"Expanding: <b>\+\d+ tokens</b>", price)
    as_alice.post(address("efforts/turns-1-3/expand/"))
    panel = shown(as_alice, address("efforts/"))
    assert "In use, expanded now</span>" in panel
    assert 'aria-label="Collapse turns 1-3"' in panel
    assert "Expanded: turns 1-3 (" in notices(as_alice, address)
    as_alice.post(address("efforts/turns-1-3/collapse/"))
    assert "Collapsed: turns 1-3 (back to summary)" in notices(as_alice, address)
    assert "In the prompt as excerpts" in shown(as_alice, address("efforts/"))


def test_where_one_line_stands_the_whole_summary_has_a_price_too(as_alice: Client, room: Room) -> None:
    standing_summary(room)
    address = of(room)
    assert "expand-summary" not in shown(as_alice, address("efforts/turns-1-3/price/"))
    ContextPointer.objects.update(shortened_clock=3)
    assert "efforts/turns-1-3/expand-summary/" in shown(as_alice, address("efforts/turns-1-3/price/"))
    as_alice.post(address("efforts/turns-1-3/expand-summary/"))
    assert "Expanded: the whole summary of turns 1-3" in notices(as_alice, address, 3)


def test_what_the_model_expanded_can_be_taken_back_where_it_is_noted(
    as_alice: Client, session: Session, address: Address
) -> None:
    accepted(session)
    here = actions.here(session, actor=session.owner, via=Via.MODEL)
    actions.expand_effort(here, "turns-1-3")
    seq = Event.objects.get(kind="compaction.expanded").seq
    assert f"efforts/undo/{seq}/" in notices(as_alice, address)
    as_alice.post(address(f"efforts/undo/{seq}/"))
    assert ContextPointer.objects.get().expanded_turn is None
    part = notices(as_alice, address)
    assert "taken back" in part
    assert f"efforts/undo/{seq}/" not in part
    assert as_alice.post(address(f"efforts/undo/{seq}/"), headers={"Accept": "application/json"}).status_code == 409


def test_what_ended_by_itself_is_expanded_again_as_long_as_the_same_summary_stands(
    as_alice: Client, session: Session, address: Address
) -> None:
    artifact = accepted(session)
    Session.objects.filter(pk=session.pk).update(decay_threshold=1)
    actions.expand_effort(actions.here(session, actor=session.owner), "turns-1-3")
    Talk(session).ask("Something else.")
    seq = Event.objects.get(kind="compaction.decayed").seq
    part = notices(as_alice, address, 6)
    assert "Auto-collapsed: turns 1-3 (inactive for 1 turn)" in part
    assert 'aria-label="Expand turns 1-3 again"' in part
    assert f'action="{address(f"efforts/too-early/{seq}/")}"' in part
    assert f'hx-get="{address("efforts/turns-1-3/memory/")}"' in part
    as_alice.post(address(f"efforts/undo/{seq}/"))
    assert ContextPointer.objects.get().expanded_turn == 6
    actions.collapse_effort(actions.here(session, actor=session.owner), "turns-1-3")
    with pytest.raises(Refused, match="taken back already"):
        actions.undo(actions.here(session, actor=session.owner), seq)
    collapsed = Event.objects.get(kind="compaction.collapsed").seq
    rolled_back_by_its_owner(session, artifact)
    with pytest.raises(Refused, match="turns-1-3 has another summary now, or none"):
        actions.undo(actions.here(session, actor=session.owner), collapsed)


def test_too_early_expands_them_again_and_leaves_the_line_with_why_alone(
    as_alice: Client, session: Session, address: Address
) -> None:
    faded(session)
    seq = Event.objects.get(kind="compaction.decayed").seq
    too_early = address(f"efforts/too-early/{seq}/")
    as_alice.post(too_early)
    assert ContextPointer.objects.get().expanded_turn == 6
    assert Event.objects.get(kind="compaction.too_early").data["of"] == seq
    part = notices(as_alice, address, 6)
    assert "taken back" in part
    assert "Why?" in part
    assert too_early not in part
    assert as_alice.post(too_early, headers={"Accept": "application/json"}).status_code == 409


def faded(session: Session) -> str:
    """The artifact that stands for the turns 1 to 3, whose words ended by themselves in turn 6."""
    artifact = accepted(session)
    Session.objects.filter(pk=session.pk).update(decay_threshold=1)
    actions.expand_effort(actions.here(session, actor=session.owner), "turns-1-3")
    Talk(session).ask("Something else.")
    return artifact


def test_why_says_what_was_looked_for_and_how_they_moved(as_alice: Client, room: Room) -> None:
    artifact, talk, address = standing_summary(room), room.talk, of(room)
    Session.objects.filter(pk=talk.session.pk).update(decay_threshold=1)
    actions.expand_effort(talk.place, "turns-1-3")
    talk.ask("Something else.")
    talk.ask("What was it in turns 1-3?")
    why = shown(as_alice, address("efforts/turns-1-3/memory/"))
    assert "Their summary is in the prompt. It becomes one line in 20 turns" in why
    assert "the ID <code>turns-1-3</code>" in why
    assert '<span class="chip" dir="auto">Postgres</span>' in why
    assert "Your message called it by its name: " in why
    assert why.index("Collapsed automatically: nothing mentioned them") < why.index("Expanded: their words came back")
    actions.expand_effort(talk.place, "turns-1-3")
    expanded = shown(as_alice, address("efforts/turns-1-3/memory/"))
    assert "Their turns are expanded. They collapse in 1 turn unless" in expanded
    ContextPointer.objects.update(expanded_turn=None, shortened_clock=talk.branch.clock)
    assert "They are shown as one line. It drops out in 20 turns" in shown(
        as_alice, address("efforts/turns-1-3/memory/")
    )
    ContextPointer.objects.update(evicted_clock=talk.branch.clock)
    assert "Their summary dropped out of the prompt" in shown(as_alice, address("efforts/turns-1-3/memory/"))
    rolled_back_by_its_owner(talk.session, artifact)
    assert "No summary replaces these turns now" in shown(as_alice, address("efforts/turns-1-3/memory/"))
    assert as_alice.get(address("efforts/turns-1-2/memory/")).status_code == 404


def test_the_dialog_says_with_which_words_its_turns_begin(as_alice: Client, address: Address) -> None:
    look = shown(as_alice, f"{address('compact/look/')}?first=4&last=99")
    assert "“And the dashboard?”" in look
    assert look.count("There is no such turn.") == 1


def test_the_button_says_whether_excerpts_are_made_or_a_summary_is_drafted(
    as_alice: Client, address: Address, room: Room
) -> None:
    form = shown(as_alice, f"{address('compact/')}?first=1&last=3")
    assert "Make the excerpts" in form
    assert "Draft the summary" not in form
    # While the turns are being chosen it follows.
    looked = shown(as_alice, f"{address('compact/look/')}?first=1&last=2")
    assert '<span id="scope-verb" hx-swap-oob="true">Make the excerpts</span>' in looked
    with_a_model = shown(as_alice, f"{of(room)('compact/')}?first=1&last=3")
    assert "Draft the summary" in with_a_model
    assert "Make the excerpts" not in with_a_model
