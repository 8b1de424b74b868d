"""A message that is left out of prompts, and put back."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.actions.pointers import roll_back
from efforts.context.planning import chosen_settings, next_inputs, run_inputs
from efforts.context.replanning import plan_again
from efforts.context.sources import read_effort_log
from efforts.domain.errors import Refused
from efforts.domain.prompt.plan import Item, Plan
from efforts.domain.prompt.planner import plan
from efforts.models import ContextPlan, ContextPointer, Event, Exclusion, Run
from efforts.turns import recording
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db
PORT = "The staging server listens on port 7443."


@pytest.fixture
def talk(alice: User) -> Talk:
    return Talk(actions.create_session(alice))


def next_plan(talk: Talk, text: str = "And now?") -> Plan:
    return plan(next_inputs(talk.branch, chosen_settings(talk.session), text, None))


def sent(planned: Plan) -> str:
    return str(planned.request["messages"])


def item_of(planned: Plan, turn: int) -> Item:
    return next(one for one in planned.items if one.turns and one.turns[0] <= turn <= one.turns[1])


def asked(talk: Talk, text: str, reply: str = "Noted.") -> ContextPlan:
    """A turn with the plan that it was made by."""
    lease = talk.begin(text)
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    recording.record_plan(lease, 1, plan(run_inputs(run)))
    talk.finish(lease, reply)
    return ContextPlan.objects.get(run=lease.run_id)


def test_no_prompt_has_it_and_its_plan_says_why(talk: Talk) -> None:
    talk.ask(PORT, reply="Port 7443, understood.")
    talk.ask("Something else.")
    actions.leave_out(talk.place, 1)
    planned = next_plan(talk)
    assert "7443" not in sent(planned)
    item = item_of(planned, 1)
    assert (item.included, item.sentence) == (False, "You left it out of prompts.")
    assert item.remedy == "Choose “Put back into prompts” in the menu of its message."
    assert item.tokens > 0
    actions.put_back(talk.place, 1)
    assert "7443" in sent(next_plan(talk))


def test_neither_recall_nor_a_tool_brings_it_back(talk: Talk) -> None:
    talk.ask(PORT, reply="Port 7443, understood.")
    for number in range(12):
        talk.ask(f"Aside number {number} about the weather.")
    question = "Which port does the staging server listen on?"
    assert "7443" in sent(next_plan(talk, question))
    actions.leave_out(talk.place, 1)
    assert "7443" not in sent(next_plan(talk, question))
    found, read = talk.ask(
        "Look it up.",
        ("search_messages", {"query": "staging server port"}),
        ("read_message", {"id": talk.session.messages.order_by("id")[0].pk, "offset": 0}),
    )
    assert "7443" not in str(found)
    assert read["error"] == "The user has left turn 1 out of what you are shown."


def test_of_an_effort_its_log_its_price_and_its_summary_do_without_it(talk: Talk) -> None:
    actions.open_effort(talk.place, "Staging")
    talk.ask(PORT)
    talk.ask("It runs on Debian.")
    actions.leave_out(talk.place, 1)
    planned = next_plan(talk)
    assert "7443" not in sent(planned)
    assert "Debian" in sent(planned)
    assert item_of(planned, 1).whose == "staging"
    effort = talk.branch.effort_states.get().effort
    log = read_effort_log(talk.branch, effort)
    # The summary stands for all of its turns, and tells of those that are not left out.
    assert len(log.turn_ids) == 2
    assert "7443" not in log.source.text
    [read] = talk.ask("Read it.", ("read_effort", {"id": "staging", "from_turn": 1, "to_turn": 0}))
    assert "7443" not in str(read)


def test_a_pin_does_not_bring_it_back(talk: Talk) -> None:
    talk.ask(PORT)
    actions.pin_turn(talk.place, 1)
    actions.leave_out(talk.place, 1)
    assert "7443" not in sent(next_plan(talk))


def test_what_stands_outside_the_window_is_summed_without_it(talk: Talk) -> None:
    for number in range(14):
        talk.ask(f"Message {number} about nothing in particular.")
    before = next_inputs(talk.branch, chosen_settings(talk.session), "Now?", None).older
    actions.leave_out(talk.place, 2)
    after = next_inputs(talk.branch, chosen_settings(talk.session), "Now?", None).older
    turn = talk.session.turns.get(number=2)
    assert (after.last, after.tokens) == (before.last, before.tokens - turn.tokens)


def test_plans_from_before_and_after_are_made_again_byte_for_byte(talk: Talk) -> None:
    asked(talk, PORT)
    for number in range(11):
        asked(talk, f"Aside number {number} about the weather.")
    # What was recalled for this turn stays with it, until it is left out.
    asked(talk, "Which port does the staging server listen on?", "The one you named.")
    asked(talk, "Fine.")
    actions.leave_out(talk.place, 1)
    planned = asked(talk, "And what else?")
    assert "7443" not in sent(next_plan(talk))
    actions.put_back(talk.place, 1)
    asked(talk, "And now?")
    rows = ContextPlan.objects.select_related("branch", "run")
    assert [again.problem for again in map(plan_again, rows) if again.problem or again.apart] == []
    assert any(item["reason"] == "left_out" for item in planned.body["items"])


def test_forks_carry_it_and_are_apart_after_that(talk: Talk, alice: User) -> None:
    talk.ask(PORT)
    talk.ask("Something else.")
    actions.leave_out(talk.place, 1)
    fork = actions.fork(talk.branch, after=2, actor=alice)
    assert "7443" not in sent(next_plan(Talk(talk.session, fork)))
    actions.put_back(Talk(talk.session, fork).place, 1)
    assert "7443" in sent(next_plan(Talk(talk.session, fork)))
    assert "7443" not in sent(next_plan(talk))
    assert Event.objects.get(kind="branch.forked").data["left_out"] == [1]


def test_it_is_taken_back_once(talk: Talk) -> None:
    talk.ask(PORT)
    actions.leave_out(talk.place, 1)
    left = Event.objects.get(kind="turn.left_out")
    actions.undo(talk.place, left.seq)
    assert not Exclusion.objects.exists()
    with pytest.raises(Refused, match="changed again since"):
        actions.undo(talk.place, left.seq)


def test_twice_is_once_and_what_has_not_ended_is_refused(talk: Talk) -> None:
    talk.ask(PORT)
    actions.leave_out(talk.place, 1)
    actions.leave_out(talk.place, 1)
    assert Event.objects.filter(kind="turn.left_out").count() == 1
    talk.begin("Still going")
    with pytest.raises(Refused):
        actions.leave_out(talk.place, 2)


def test_put_back_the_summary_that_stood_before_stands_again_whatever_stood_meanwhile(talk: Talk) -> None:
    slug = talk.concluded("Staging", PORT, "It runs on Debian.")
    actions.leave_out(talk.place, 1)
    talk.summarise(slug, "Without the port.")
    actions.put_back(talk.place, 1)
    standing = ContextPointer.objects.filter(state="active").values_list("text", flat=True)
    assert list(standing) == ["In short."]


def test_put_back_no_summary_stands_for_an_effort_whose_log_a_person_wants(talk: Talk) -> None:
    slug = talk.concluded("Staging", PORT, "It runs on Debian.")
    actions.leave_out(talk.place, 1)
    roll_back(talk.branch, talk.summarise(slug, "Without the port."), actor=talk.session.owner, via="control")
    actions.put_back(talk.place, 1)
    assert not ContextPointer.objects.filter(state="active").exists()
    assert talk.state(slug).summary == "rolled back"
