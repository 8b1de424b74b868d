"""Summaries of old turns as a conversation goes on: when they are possible, and what they are made of."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client

from compaction import review
from compaction.domain.artifact import parse_artifact
from compaction.drafting.reading import log_for
from compaction.drafting.scopes import work_on_scope
from compaction.models import Acceptance, Artifact, Check, DraftRun, GateRun, ModelRequest
from compaction.standing import rolling
from compaction.standing.accepting import accept_compaction, rollback_compaction
from compaction.standing.conclusions import Compaction
from efforts import actions
from efforts.actions.pointers import StandIn, roll_back, set_pointer
from efforts.context.planning import main_branch
from efforts.context.sources import read_scope_log
from efforts.domain.errors import Refused
from efforts.log.timelines import branch_turns
from efforts.models import ContextPointer, Event, Message, ScopeDraft, Session
from efforts.turns.drafts import claim_from
from efforts.turns.scopes import SCOPES
from tests.compaction.artifacts import made_of
from tests.efforts.logs import WEBHOOK, conversation, say
from tests.efforts.talk import Talk

FILLER = [(f"Step {number} of the move: the crates of row {number} go first.", "Noted.") for number in range(1, 60)]


def chosen(session: Session, number: int, *, kept: bool = True, mended: bool = False, read: bool = True) -> Artifact:
    """A summary of chosen turns, as it is kept; `mended` after what was found went back to the drafter."""
    home: dict[str, Any] = {"session": session, "branch": main_branch(session)}
    run = DraftRun.objects.create(**home, drafter="model", prompt_version="1", ended="drafted")
    for place, step in enumerate(["draft", "repair"] if mended else ["draft"]):
        ModelRequest.objects.create(run=run, place=place, step=step, packed=b"")
    id = f"cmp_{session.pk.hex[:20]}{number:044}"
    artifact = Artifact.objects.create(
        **home,
        pk=id,
        family=id,
        run=run,
        kind="range",
        state="replaceable" if kept else "rejected",
        packed=zlib.compress(b"{}"),
        offered_form="document",
        stop_reason="stop",
        source_sha256="",
        source_start=1,
        source_end=1,
    )
    if read:
        Check.objects.create(run=run, family=id, attempt=1, model="m", seed="", source_sha256="")
    verdicts = [{"gate": "B", "outcome": "pass"}, {"gate": "C", "outcome": "pass" if kept else "fail"}]
    given = {"policy_version": "1", "evaluator_version": "1", "inputs": {}}
    GateRun.objects.create(run=run, artifact=artifact, passed=kept, verdicts=verdicts, **given)
    return artifact


def take_back(artifact: Artifact) -> None:
    branch = artifact.branch
    standing = StandIn(text="In short.", headline="In short.", tokens=2, artifact=artifact.pk)
    pointer = set_pointer(branch, None, read_scope_log(branch, []), standing, actor=None, via="review")
    Acceptance.objects.create(artifact=artifact, pointer=pointer, gate_run=artifact.gate_runs.get(), via="review")
    roll_back(branch, pointer, actor=None, via="review")


def proven(owner: User) -> Session:
    session = conversation(owner)
    for number in range(20):
        chosen(session, number)
    return session


# Whether it is possible


def test_twenty_summaries_that_kept_all_and_stayed_make_it_possible(alice: User) -> None:
    proven(alice)
    assert rolling.standing_of(alice) == rolling.RollingRecord(made=20, kept=20, rolled_back=0)
    assert rolling.standing_of(alice).missing == ()


def test_what_is_missing_is_said_in_figures(alice: User, bob: User) -> None:
    proven(bob)
    session = conversation(alice)
    for number in range(7):
        chosen(session, number)
    take_back(chosen(session, 7, kept=False))
    assert rolling.standing_of(alice).missing == ("You have 8 of 20 checked summaries of turns that you chose.",)


def test_one_in_twenty_may_lose_something_and_one_may_be_rolled_back(alice: User) -> None:
    session = conversation(alice)
    for number in range(18):
        chosen(session, number)
    chosen(session, 18, kept=False)
    take_back(chosen(session, 19))
    assert rolling.standing_of(alice) == rolling.RollingRecord(made=20, kept=19, rolled_back=1)
    assert rolling.standing_of(alice).missing == ()


def test_only_the_newest_twenty_count_and_a_second_try_is_no_first(alice: User) -> None:
    session = proven(alice)
    chosen(session, 20, mended=True)
    chosen(session, 21, kept=False)
    for number in (22, 23):
        take_back(chosen(session, number))
    standing = rolling.standing_of(alice)
    assert standing == rolling.RollingRecord(made=20, kept=18, rolled_back=2)
    assert standing.missing == (
        "18 of 20 kept every decision, to-do and rule at the first try; 19 must.",
        "2 of 20 were rolled back; 1 at most.",
    )


def test_what_nobody_has_checked_does_not_count(alice: User) -> None:
    session = conversation(alice)
    for number in range(20):
        chosen(session, number, read=number > 0)
    assert rolling.standing_of(alice).made == 19


def test_before_it_is_possible_it_is_refused_and_it_can_always_be_switched_off(alice: User) -> None:
    session = conversation(alice)
    with pytest.raises(Refused, match="You have 0 of 20"):
        rolling.set_rolling(session, True, actor=alice)
    assert not Session.objects.get().rolling
    Session.objects.update(rolling=True)
    rolling.set_rolling(session, False, actor=alice)
    assert not Session.objects.get().rolling
    assert [event.data for event in Event.objects.filter(kind="session.rolling")] == [{"on": False}]


# What is drafted


@pytest.fixture
def session(alice: User) -> Session:
    """On, with turns to roll over."""
    proven(alice)
    session = conversation(alice)
    return rolling.set_rolling(session, True, actor=alice)


def windows(session: Session) -> list[list[int]]:
    return [draft.turns for draft in ScopeDraft.objects.filter(branch__session=session).order_by("pk")]


def test_every_twenty_turns_those_before_the_newest_ten_are_put_in_line(session: Session) -> None:
    talk = Talk(session)
    say(session, FILLER[:18])
    talk.ask("Nineteen.")
    assert windows(session) == []
    talk.ask("Twenty.")
    assert windows(session) == [list(range(1, 11))]
    talk.ask("Twenty-one.")
    say(session, FILLER[21:39])
    talk.ask("Forty.")
    assert windows(session) == [list(range(1, 11)), list(range(11, 31))]
    assert set(ScopeDraft.objects.values_list("kind", "state")) == {("rolling", "due")}


def test_turns_for_which_a_summary_stands_are_left_out(session: Session, alice: User) -> None:
    say(session, FILLER[:19])
    branch = main_branch(session)
    set_pointer(
        branch,
        None,
        read_scope_log(branch, [3, 4]),
        StandIn(text="x", headline="x", tokens=1),
        actor=alice,
        via="review",
    )
    Talk(session).ask("Twenty.")
    assert windows(session) == [[1, 2, 5, 6, 7, 8, 9, 10]]


def test_what_a_long_conversation_has_behind_it_is_caught_up_with_bit_by_bit(session: Session) -> None:
    say(session, [*FILLER, *FILLER][:99])
    Talk(session).ask("One hundred.")
    assert windows(session) == [list(range(start, start + 20)) for start in (1, 21, 41)]


def test_what_is_too_much_for_one_draft_is_several(session: Session, settings: Any) -> None:
    settings.CCM_ROLLING_CAP = 14_000
    say(session, [("much was said about it " * 60, "Noted.") for _ in range(19)])
    Talk(session).ask("Twenty.")
    inside = windows(session)
    assert len(inside) == rolling.MOST_WINDOWS
    assert [turn for window in inside for turn in window] == list(range(1, inside[-1][-1] + 1))


def test_a_branch_goes_on_where_the_windows_of_its_parent_end(session: Session, alice: User) -> None:
    talk = Talk(session)
    say(session, FILLER[:19])
    talk.ask("Twenty.")
    child = Talk(session, actions.fork(talk.branch, after=20, actor=alice))
    assert rolling.windows_of(child.branch) == []
    for number in range(21, 26):
        child.ask(f"Turn {number}.")
    assert rolling.windows_of(child.branch) == [[11, 12, 13, 14, 15]]


def test_where_it_is_off_or_nothing_may_be_drafted_nothing_is_put_in_line(session: Session, alice: User) -> None:
    say(session, FILLER[:19])
    Session.objects.filter(pk=session.pk).update(review_mode="never")
    Talk(session).ask("Twenty.")
    other = conversation(alice)
    say(other, FILLER[:19])
    Talk(other).ask("Twenty.")
    assert not ScopeDraft.objects.exists()


def test_where_it_has_proved_bad_since_it_pauses(session: Session) -> None:
    Artifact.objects.filter(kind="range").first().delete()  # type: ignore[union-attr]
    say(session, FILLER[:19])
    Talk(session).ask("Twenty.")
    assert not ScopeDraft.objects.exists()


def test_a_window_of_which_no_draft_came_is_drafted_again_at_the_next_look_but_not_for_ever(
    session: Session, alice: User
) -> None:
    talk = Talk(session)
    say(session, FILLER[:19])
    talk.ask("Twenty.")
    first = ScopeDraft.objects.get()

    def look(said: str) -> list[tuple[list[int], str]]:
        branch = main_branch(session)
        say(session, FILLER[branch.clock : branch.clock + 19])
        talk.ask(said)
        return list(ScopeDraft.objects.order_by("pk").values_list("turns", "state"))

    # What a person is to look at, or has stopped, is left to them.
    for state, artifact, found in (("failed", "cmp_x", "failed"), ("stopped", "", "stopped"), ("failed", "", "due")):
        ScopeDraft.objects.filter(pk=first.pk).update(state=state, artifact=artifact)
        with transaction.atomic():
            assert look("Forty.") == [(list(range(1, 11)), found), (list(range(11, 31)), "due")]
            transaction.set_rollback(True)
    home = {"session": session, "branch": main_branch(session), "scope": first}
    for _ in range(rolling.MOST_TRIES):
        DraftRun.objects.create(**home, drafter="model", prompt_version="1", ended="fault")
    assert look("Forty.")[0] == (list(range(1, 11)), "failed")


def test_what_is_put_in_line_again_holds_up_no_turn_and_leaves_out_what_stands_by_now(
    session: Session, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk = Talk(session)
    say(session, FILLER[:19])
    talk.ask("Twenty.")
    ScopeDraft.objects.update(state="failed")
    looked: list[object] = []
    monkeypatch.setattr(Compaction, "estimate", staticmethod(lambda *given: looked.append(given)))
    say(session, FILLER[20:39])
    with transaction.atomic():
        talk.ask("Forty.")
        assert list(ScopeDraft.objects.order_by("pk").values_list("state", flat=True)) == ["due", "due"]
        transaction.set_rollback(True)
    branch = main_branch(session)
    stands = StandIn(text="x", headline="x", tokens=1)
    set_pointer(branch, None, read_scope_log(branch, [3, 4]), stands, actor=alice, via="review")
    talk.ask("Forty.")
    assert list(ScopeDraft.objects.order_by("pk").values_list("state", flat=True)) == ["failed", "due"]
    assert looked == []


def drafted(row: ScopeDraft) -> Artifact:
    """As a runner leaves it, with a summary that a checker has read."""
    task = work_on_scope(row, read_scope_log(row.branch, row.turns)).task
    artifact = made_of(task, next(iter(task.source.by_sentence.values())).text)
    ScopeDraft.objects.filter(pk=row.pk).update(state="ready", artifact=artifact.pk)
    row.refresh_from_db()
    return artifact


def cited(artifact: Artifact) -> set[int]:
    """Ids of the messages that its claims lead to."""
    document = parse_artifact(artifact.document)
    source = log_for(artifact, document).source
    return {source.by_sentence[cite].message for claim in document.claims for cite in claim.cites}


def test_it_is_made_of_turns_as_they_were_said_and_waits_for_a_review(session: Session) -> None:
    say(session, [*WEBHOOK, *FILLER[3:19]])
    Talk(session).ask("Twenty.")
    draft = ScopeDraft.objects.get()
    artifact = drafted(draft)
    own = set(Message.objects.filter(turn__session=session, turn__number__in=draft.turns).values_list("pk", flat=True))
    assert (draft.state, artifact.kind) == ("ready", "rolling")
    assert cited(artifact)
    assert cited(artifact) <= own
    assert not ContextPointer.objects.filter(branch__session=session).exists()
    assert DraftRun.objects.get(session=session).purpose == "rolling"


def test_of_turns_that_are_too_old_to_be_sent_the_review_says_so(session: Session, as_alice: Client) -> None:
    say(session, FILLER[:19])
    Talk(session).ask("Twenty.")
    artifact = drafted(ScopeDraft.objects.get())
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    assert "Nothing in place of turns 1-10." in page
    assert "Not in the prompt, nor is the log of turns 1-10: they are older than what is sent." in page
    assert "and the model sees this text; of these turns it sees nothing now." in page
    Session.objects.filter(pk=session.pk).update(ambient_window=11)
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    assert "The log of turns 1-10." in page


def test_the_next_window_reads_what_was_said_and_not_the_summary_before_it(session: Session, alice: User) -> None:
    say(session, [*WEBHOOK, *FILLER[3:19]])
    talk = Talk(session)
    talk.ask("Twenty.")
    first = ScopeDraft.objects.get()
    branch = main_branch(session)
    standing = StandIn(text="A summary that nobody said.", headline="Nobody.", tokens=6)
    set_pointer(branch, None, read_scope_log(branch, first.turns), standing, actor=alice, via="review")
    say(session, FILLER[20:39])
    talk.ask("Forty.")
    second = ScopeDraft.objects.latest("pk")
    assert second.turns == list(range(11, 31))
    assert "nobody said" not in SCOPES.log_of(second).source.text


def test_in_a_fork_and_after_a_rollback_every_link_leads_to_words_that_were_said(session: Session, alice: User) -> None:
    say(session, [*WEBHOOK, *FILLER[3:19]])
    talk = Talk(session)
    talk.ask("Twenty.")
    first = ScopeDraft.objects.get()
    drafted(first)
    accept_compaction(first.artifact, session.pk, 1, 10, actor=alice)
    child = Talk(session, actions.fork(talk.branch, after=20, actor=alice))
    rollback_compaction(first.artifact, actor=alice, branch=child.branch)
    for said, answer in [*WEBHOOK, *FILLER[23:40]]:
        child.ask(said, reply=answer)
    second = ScopeDraft.objects.get(branch=child.branch)
    artifact = drafted(second)
    said_there = set(Message.objects.filter(turn__in=branch_turns(child.branch)).values_list("pk", flat=True))
    assert (second.turns, second.state) == (list(range(11, 31)), "ready")
    assert cited(artifact)
    assert cited(artifact) <= said_there


def test_a_window_with_gaps_is_drafted_again_whatever_stands_in_the_gaps(session: Session, alice: User) -> None:
    say(session, FILLER[:19])
    branch = main_branch(session)
    elsewhere = read_scope_log(branch, [3, 4, 15])
    set_pointer(branch, None, elsewhere, StandIn(text="x", headline="x", tokens=1), actor=alice, via="review")
    Talk(session).ask("Twenty.")
    draft = ScopeDraft.objects.get()
    SCOPES.draft_now(draft)
    again = actions.redraft_turns(actions.here(session, actor=alice), draft)
    assert (again.state, again.turns) == ("due", [1, 2, 5, 6, 7, 8, 9, 10])


def test_drafted_again_from_its_page_it_is_the_rolling_draft_and_not_another_of_the_same_turns(
    session: Session, alice: User
) -> None:
    say(session, FILLER[:19])
    Talk(session).ask("Twenty.")
    draft = ScopeDraft.objects.get()
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    other = ScopeDraft.objects.create(branch=draft.branch, kind="stage", turns=draft.turns, state="ready")
    review.redraft(Artifact.objects.get(pk=draft.artifact), actor=alice)
    assert list(ScopeDraft.objects.order_by("pk").values_list("pk", "state")) == [
        (draft.pk, "due"),
        (other.pk, "ready"),
    ]


def test_switched_off_what_is_in_line_is_drafted_no_more(session: Session, alice: User) -> None:
    say(session, [*FILLER, *FILLER][:99])
    Talk(session).ask("One hundred.")
    SCOPES.draft_now(ScopeDraft.objects.earliest("pk"))
    (claimed,) = claim_from([SCOPES], "here:1:a", 1)
    rolling.set_rolling(session, False, actor=alice)
    assert list(ScopeDraft.objects.order_by("pk").values_list("state", flat=True)) == ["ready", "stopped", "stopped"]
    assert not claimed.mine().exists()


# The control


def test_the_control_is_always_there_and_says_what_is_missing(as_alice: Client, alice: User) -> None:
    session = conversation(alice)
    address = f"/s/{session.pk}/rolling/"
    assert address in as_alice.get(f"/s/{session.pk}/settings/").content.decode()
    shown = as_alice.get(address).content.decode()
    assert "You have 0 of 20 checked summaries of turns that you chose." in shown
    refused = as_alice.post(address, {"on": "1"}, headers={"HX-Request": "true"})
    assert refused.status_code == 422
    assert "Rolling summaries are not possible yet." in refused.content.decode()


def test_the_control_switches_on_and_off(as_alice: Client, as_bob: Client, alice: User) -> None:
    session = proven(alice)
    address = f"/s/{session.pk}/rolling/"
    assert as_bob.get(address).status_code == 404
    assert as_alice.post(address, {"on": "1"}).status_code == 302
    assert Session.objects.get(pk=session.pk).rolling
    assert "Switch off" in as_alice.get(address).content.decode()
    as_alice.post(address, {"on": "0"})
    assert not Session.objects.get(pk=session.pk).rolling
