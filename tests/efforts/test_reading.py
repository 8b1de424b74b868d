"""What a prompt is planned from: each effort as its branch has it, read in O(what may be shown)."""

from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from efforts import actions
from efforts.context.expansion import free, price
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.context.plans import preview
from efforts.domain.prompt.plan import PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.models import Session, Turn
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db


def inputs_of(talk: Talk, text: str = "Go on.") -> PlanInputs:
    session = Session.objects.get(pk=talk.session.pk)
    return plan_inputs(talk.branch, chosen_settings(session), current=draft_turn(talk.branch, text))


def numbers(inputs: PlanInputs) -> dict[str, list[int]]:
    efforts = {f"{effort.kind} {effort.slug}": [turn.number for turn in effort.turns] for effort in inputs.efforts}
    return {"ambient": [turn.number for turn in inputs.past], **efforts}


def test_every_turn_is_read_where_it_belongs(talk: Talk) -> None:
    talk.ask("Hello")
    talk.concluded("tax return", "The form", "Page 3")
    talk.concluded("auth bug", "It is a 401")
    talk.ask("Let's plan the vacation", ("open_effort", {"name": "vacation"}))
    talk.ask("Now the webhook", ("open_effort", {"name": "webhook"}))
    talk.ask("It times out")
    actions.expand_effort(talk.place, "auth-bug")
    inputs = inputs_of(talk)
    assert numbers(inputs) == {
        "ambient": [1],
        "expanded auth-bug": [4],
        "open vacation": [5],
        "active webhook": [6, 7],
    }
    assert [(one.slug, one.turns, one.expanded) for one in inputs.headlines] == [
        ("tax-return", (2, 3), False),
        ("auth-bug", (4, 4), True),
    ]
    assert inputs.unlisted == 0


def test_a_concluded_effort_without_a_summary_is_read_whole(talk: Talk) -> None:
    talk.ask("Let's plan the vacation", ("open_effort", {"name": "vacation"}))
    talk.ask("Booked", ("close_effort", {}))
    assert numbers(inputs_of(talk)) == {"ambient": [], "awaiting vacation": [1, 2]}


def test_the_sum_of_older_ambient_turns_leaves_out_those_of_efforts(talk: Talk) -> None:
    Session.objects.filter(pk=talk.session.pk).update(ambient_window=1)
    talk.ask("One")
    talk.ask("Let's plan the vacation", ("open_effort", {"name": "vacation"}))
    talk.ask("Booked", ("close_effort", {}))
    talk.ask("Two, a little longer")
    talk.ask("Three")
    inputs = inputs_of(talk)
    assert numbers(inputs)["ambient"] == [5]
    ambient = Turn.objects.filter(session=talk.session, number__in=[1, 4])
    assert (inputs.older.last, inputs.older.tokens) == (4, sum(turn.tokens for turn in ambient))


def test_of_a_large_effort_as_much_is_read_as_the_budget_could_hold_and_the_rest_summed(talk: Talk) -> None:
    Session.objects.filter(pk=talk.session.pk).update(budget=4_000)
    actions.open_effort(talk.place, "essay")
    for _ in range(6):
        talk.ask("word " * 1_000)
    (essay,) = inputs_of(talk).efforts
    assert [turn.number for turn in essay.turns] == [4, 5, 6]
    first = Turn.objects.filter(session=talk.session, number__lte=3)
    assert (essay.older.last, essay.older.tokens) == (3, sum(turn.tokens for turn in first))


def test_a_plan_costs_as_many_queries_after_forty_turns_as_after_four(talk: Talk) -> None:
    def queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as captured:
            inputs_of(talk)
        return len(captured)

    actions.open_effort(talk.place, "essay")
    for number in range(4):
        talk.ask(f"Part {number}")
    few = queries()
    for number in range(36):
        talk.ask(f"Part {number}")
    assert queries() == few


def test_expanding_adds_its_price_and_collapsing_gives_the_same_bytes(talk: Talk) -> None:
    talk.concluded("auth bug", "It is a 401, what now?", "The refresh token was never asked for.")
    actions.open_effort(talk.place, "webhook")
    talk.ask("It times out")
    before = plan(inputs_of(talk))
    told = price(talk.branch, None, "auth-bug")
    assert actions.expand_effort(talk.place, "auth-bug") == told.tokens
    expanded = plan(inputs_of(talk))
    assert expanded.tokens - before.tokens == told.tokens > 0
    assert free(talk.branch, None) == told.free - told.needed
    actions.collapse_effort(talk.place, "auth-bug")
    assert plan(inputs_of(talk)).request_sha256 == before.request_sha256


def test_what_an_expansion_pushed_out_is_back_when_it_is_collapsed(talk: Talk) -> None:
    Session.objects.filter(pk=talk.session.pk).update(budget=4_000)
    talk.concluded("auth bug", "word " * 300)
    actions.open_effort(talk.place, "webhook")
    for _ in range(3):
        talk.ask("word " * 400)
    talk.ask("Anything")
    before = plan(inputs_of(talk))
    talk.ask("And now?", ("expand_effort", {"id": "auth-bug"}))
    assert plan(inputs_of(talk)).request["messages"] != before.request["messages"]
    talk.ask("Enough.", ("collapse_effort", {"id": "auth-bug"}))
    after = plan(inputs_of(talk)).request["messages"]
    assert after[: len(before.request["messages"]) - 1] == before.request["messages"][:-1]


def test_a_sibling_branch_has_efforts_of_its_own(talk: Talk) -> None:
    talk.ask("Let's plan the vacation", ("open_effort", {"name": "vacation"}))
    sibling = actions.fork(talk.branch, after=1, actor=talk.session.owner)
    other = Talk(talk.session, sibling)
    assert numbers(inputs_of(other)) == numbers(inputs_of(talk)) == {"ambient": [], "active vacation": [1]}
    actions.move_turn(other.place, 1, None)
    assert numbers(inputs_of(other)) == {"ambient": [1], "active vacation": []}
    assert numbers(inputs_of(talk)) == {"ambient": [], "active vacation": [1]}


def test_the_preview_shows_every_layer_with_its_share(talk: Talk) -> None:
    talk.concluded("tax return", "The form")
    actions.open_effort(talk.place, "vacation")
    talk.ask("Where to?")
    actions.open_effort(talk.place, "webhook")
    talk.ask("It times out")
    view = preview(talk.branch)
    assert [section.key for section in view.sections] == ["system", "summary", "ambient", "open", "active", "turn"]
    assert sum(section.tokens for section in view.sections) == view.tokens
    reasons = {item.title: item.reason for item in view.included}
    assert reasons["webhook: turn 3"] == "The active effort is shown in full."
    assert reasons["tax-return"] == "Concluded: a summary is sent in place of its turns."
