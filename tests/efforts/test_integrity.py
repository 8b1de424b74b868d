"""Whatever is changed in the database behind the product's back is named; what follows from other rows is made anew."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.db import transaction
from django.db.models import F

from efforts import actions
from efforts.context.planning import run_inputs
from efforts.domain.prompt.planner import plan
from efforts.domain.seals import seal_of
from efforts.models import (
    Branch,
    Constraint,
    ContextPlan,
    ContextPointer,
    EffortState,
    Event,
    Fragment,
    Hold,
    Message,
    Passage,
    PointerTurn,
    RetrievalItem,
    Run,
    Session,
    Turn,
    TurnLabel,
)
from efforts.turns import recording
from efforts.turns.recording import STOPPED
from efforts.turns.summaries import summarise_now
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db


def ask(talk: Talk, text: str, *calls: Any, ending: Any = recording.COMPLETED) -> None:
    """A turn with its plan."""
    lease = talk.begin(text)
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    recording.record_plan(lease, 1, plan(run_inputs(run)))
    for name, arguments in calls:
        talk.call(lease, name, **arguments)
    talk.finish(lease, f"On {text.lower()} I can say this much: all of it is noted.", ending)


@pytest.fixture
def whole(alice: User) -> Talk:
    """A conversation with an open effort, a concluded one whose excerpts stand, pins, rules, a search and a fork."""
    talk = Talk(actions.create_session(alice))
    actions.open_effort(talk.place, "Harbour")
    for text in (
        "The harbour of Kiel has two cranes and a ferry.",
        "The ferry to Oslo leaves at two.",
        "Book a cabin.",
    ):
        ask(talk, text)
    actions.close_effort(talk.place, "harbour")
    summarise_now(talk.state("harbour"))
    actions.open_effort(talk.place, "Kitchen")
    ask(talk, "Tiles for the kitchen", ("search_messages", {"query": "ferry cranes"}))
    ask(talk, "Grout for the tiles", ending=STOPPED)
    actions.pin_turn(talk.place, 1)
    actions.focus_effort(talk.place, "harbour")
    actions.set_constraint(talk.place, "Book a cabin.", turn=3)
    child = Talk(talk.session, actions.fork(talk.branch, after=4, actor=alice))
    ask(child, "Another kitchen")
    ask(talk, "What is left to do?")
    return talk


def problems(command: str, *arguments: str) -> list[str]:
    """What a command says is wrong; its exit status says whether anything is."""
    out, failed = StringIO(), False
    try:
        call_command(command, "--json", *arguments, stdout=out, stderr=StringIO())
    except SystemExit:
        failed = True
    found = json.loads(out.getvalue())
    told = [json.dumps(one) for one in found.get("failures", found.get("problems"))]
    assert failed == bool(told)
    return told


def test_a_conversation_that_nobody_touched_is_whole(whole: Talk) -> None:
    assert problems("check_integrity") == []
    assert problems("verify_plans", "--plan-again", "--retrieve-again") == []


def plans() -> list[ContextPlan]:
    return list(ContextPlan.objects.filter(branch__parent=None).order_by("created_at"))


def change_body(change: Callable[[dict[str, Any]], object], place: int = 2) -> None:
    row = plans()[place]
    change(row.body)
    row.save()


def say_otherwise(role: str) -> None:
    row = Message.objects.filter(role=role).latest("id")
    Message.objects.filter(pk=row.pk).update(text=row.text + " Not.")


def add_plan() -> None:
    row = plans()[2]
    run = Run.objects.latest("created_at")
    row.pk, row.run, row.call = None, run, 7
    row.seal = seal_of(row.seal_before, row.sealed_content)
    row.save(force_insert=True)


def swap_plans() -> None:
    one, other = plans()[1:3]
    ContextPlan.objects.filter(pk=one.pk).update(created_at=other.created_at)
    ContextPlan.objects.filter(pk=other.pk).update(created_at=one.created_at)


def reseal() -> None:
    """Somebody who knows how seals are made changes a plan and seals it anew."""
    row = plans()[-1]
    row.body["items"][0]["reason"] = "ambient_window"
    row.seal = seal_of(row.seal_before, row.sealed_content)
    row.save()
    Branch.objects.filter(pk=row.branch_id).update(plan_seal=row.seal)


def change_event(kind: str, **data: Any) -> None:
    row = Event.objects.filter(kind=kind).earliest("seq")
    Event.objects.filter(pk=row.pk).update(data={**row.data, **data})


def swap_events() -> None:
    one, other = Event.objects.filter(kind="run.started").order_by("seq")[:2]
    Event.objects.filter(pk=one.pk).update(seq=100_000)
    Event.objects.filter(pk=other.pk).update(seq=one.seq)
    Event.objects.filter(pk=one.pk).update(seq=other.seq)


def move_label() -> None:
    other = EffortState.objects.get(effort__slug="kitchen", branch__parent=None).effort
    TurnLabel.objects.filter(branch__parent=None, turn__number=1).update(effort=other)


def main(rows: Any) -> Any:
    return rows.filter(branch__parent=None)


SESSION, CHANGED = Session.objects, "changed: it is not what it was sealed as"
# By what is done: how, and words of what is said of it.
TAMPERINGS: dict[str, tuple[Callable[[], object], str]] = {
    # Messages
    "words that plans have sent": (lambda: Message.objects.filter(turn__number=1).update(text="Lübeck."), "turn 1"),
    "the last answer, which no plan has sent": (lambda: say_otherwise("assistant"), "what was said in it is not"),
    "what a tool returned": (lambda: say_otherwise("tool"), "its result is not that of its hash"),
    "a message taken away": (lambda: Message.objects.latest("id").delete(), "what was said in it is not"),
    "a message put in": (
        lambda: Message.objects.create(
            session=SESSION.get(), turn=(run := Run.objects.latest("created_at")).turn, run=run, role="assistant",
            text="I never said this.", tokens=5,
        ),
        "what was said in it is not",
    ),
    "a message in another turn": (
        lambda: Message.objects.filter(role="assistant", turn__number=2).update(turn=Turn.objects.get(number=1)),
        "it belongs to no attempt at its turn",
    ),
    "the tokens of a message": (
        lambda: Message.objects.filter(turn__number=2).update(tokens=F("tokens") - 1), "what was said in it is not"
    ),
    # Plans
    "a reason": (lambda: change_body(lambda body: body["items"][0].update(reason="ambient_window")), CHANGED),
    "tokens of an item": (lambda: change_body(lambda body: body["items"][0].update(tokens=1)), CHANGED),
    "an item left out": (lambda: change_body(lambda body: body["items"].pop()), CHANGED),
    "a recipe": (lambda: change_body(lambda body: body["recipe"].pop(1)), "not what was sent"),
    "the tokens of a plan": (
        lambda: ContextPlan.objects.filter(pk=plans()[1].pk).update(tokens=9), "tells other tokens"
    ),
    "the hash of a request": (
        lambda: ContextPlan.objects.filter(pk=plans()[1].pk).update(request_sha256="0" * 64), "not what was sent"
    ),
    "a plan taken away": (lambda: plans()[2].delete(), "the one before it is gone"),
    "the last plan taken away": (lambda: plans()[-1].delete(), "the last one is gone"),
    "all plans taken away": (lambda: ContextPlan.objects.all().delete(), "the last one is gone"),
    "a plan put in": (add_plan, "no event tells that it was made"),
    "plans in another order": (swap_plans, "another stands before it than did"),
    "a plan changed and sealed anew": (reseal, "another seal"),
    "the seal of a branch": (lambda: Branch.objects.filter(parent=None).update(plan_seal=""), "the last one is gone"),
    "the text of a fragment": (lambda: Fragment.objects.filter(text__startswith="[").update(text="No."), "fragment"),
    # Labels and states
    "the effort of a turn": (move_label, "it is of kitchen, and the log tells harbour"),
    "a label taken away": (
        lambda: main(TurnLabel.objects).filter(turn__number=4).delete(), "it is of no effort, and the log tells kitchen"
    ),
    "an effort opened": (
        lambda: main(EffortState.objects).filter(effort__slug="harbour").update(status="open"),
        "not what the log tells: status",
    ),
    "the active effort": (lambda: Branch.objects.update(active_effort=None), "it is None, and the log tells kitchen"),
    "the focus": (lambda: Branch.objects.update(focus=None), "it is None, and the log tells harbour"),
    "an expansion": (
        lambda: main(EffortState.objects).filter(effort__slug="harbour").update(expanded_turn=2),
        "not what the log tells: expanded_turn",
    ),
    "the sums of an effort": (lambda: EffortState.objects.update(tokens=1), "are not those of its turns"),
    "the sums of a turn": (lambda: Turn.objects.filter(number=2).update(tokens=1), "it counts 1 tokens"),
    "the clock of a branch": (lambda: Branch.objects.update(clock=99), "99 completed"),
    "the end of a run": (
        lambda: Run.objects.filter(state="stopped").update(state="completed"), "its event says stopped"
    ),
    # What stands for turns, and what is kept
    "what stands for an effort": (lambda: ContextPointer.objects.update(text="All went well."), "its text is not that"),
    "a pointer that stands": (lambda: main(ContextPointer.objects).update(state="superseded"), "does not stand"),
    "a turn of a pointer": (
        lambda: main(PointerTurn.objects).filter(turn__number=1).update(active=False), "not for all of its turns"
    ),
    "a pin ended": (lambda: main(Hold.objects).update(state="ended"), "the last event of it is hold.granted"),
    "the words of a rule": (lambda: Constraint.objects.update(text="Book two cabins."), "its words do not stand where"),
    "a hit of a search": (lambda: RetrievalItem.objects.filter(rank=1).update(score=99.0), "its hits are not those"),
    # Events and the index
    "what an event says": (lambda: change_event("effort.opened", name="Port"), "(effort.opened)"),
    "an event taken away": (lambda: Event.objects.filter(kind="effort.concluded").delete(), "it was changed or moved"),
    "the last event taken away": (lambda: Event.objects.latest("seq").delete(), "the last one is gone"),
    "an event put in": (
        lambda: Event.objects.create(session=SESSION.get(), seq=SESSION.get().event_seq + 1, kind="turn.moved"),
        "added: it has no seal",
    ),
    "events in another order": (swap_events, "(run.started)"),
    "the count of events": (lambda: SESSION.update(event_seq=1), "its count is 1"),
    "the index": (lambda: Passage.objects.earliest("id").delete(), "Mended: 1 passages"),
}  # fmt: skip


def test_thirty_ways_to_change_a_database_are_each_named(whole: Talk) -> None:
    unnamed = {}
    for what, (tamper, words) in TAMPERINGS.items():
        with transaction.atomic():
            tamper()
            found = [*problems("verify_plans"), *problems("check_integrity")]
            if not any(words in one for one in found):
                unnamed[what] = found
            transaction.set_rollback(True)
    assert len(TAMPERINGS) >= 30
    assert not unnamed


# Of these nothing but a row that follows from others was changed.
MENDED = (
    "the effort of a turn", "a label taken away", "an effort opened", "the active effort", "the focus", "an expansion",
    "the sums of an effort", "the sums of a turn", "the clock of a branch", "the index",
)  # fmt: skip


def test_what_follows_from_other_rows_is_made_anew_and_said(whole: Talk) -> None:
    for what in MENDED:
        with transaction.atomic():
            TAMPERINGS[what][0]()
            found = problems("check_integrity")
            assert all('"mended": true' in one for one in found), (what, found)
            assert problems("check_integrity") == [], what
            transaction.set_rollback(True)


def test_by_a_log_that_was_tampered_with_nothing_is_made_anew(whole: Talk) -> None:
    change_event("effort.opened", effort="port")
    EffortState.objects.update(tokens=1)
    assert all('"mended": false' in one for one in problems("check_integrity"))
    assert EffortState.objects.filter(tokens=1).exists()


def test_it_is_told_to_people(whole: Talk) -> None:
    out = StringIO()
    call_command("check_integrity", stdout=out)
    assert out.getvalue() == "1 conversations checked: all are whole.\n"
    Branch.objects.filter(parent=None).update(clock=99)
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("check_integrity", "--session", str(whole.session.pk), stdout=out)
    assert out.getvalue() == (
        "1 conversations checked: 1 things wrong, 1 of them mended.\n"
        f"{whole.session.pk}: the counts in branch main: last turn 6 and 99 completed; there are 6 and 5 (mended)\n"
    )
    with pytest.raises(CommandError, match="There is no session"):
        call_command("check_integrity", "--session", "00000000-0000-0000-0000-000000000000")
