"""Who asks what was when is told the efforts that have left the prompt, in their order, with their days."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import transaction

from efforts import actions
from efforts.context.line import read_line
from efforts.context.planning import main_branch
from efforts.context.plans import replay
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.conversation import LineOfEfforts
from efforts.models import ContextPlan, Session, Turn
from efforts.models.threads import read, write
from efforts.pages.presenters.chat import turn_view
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider, Reply
from tests.turns.conftest import Stage

FIRST = "What did we do first?"


# At once: a runner that is about would take the turns as soon as they are queued.
@transaction.atomic
def begun(session: Session, mode: ContextMode = ContextMode.LIGHT) -> Talk:
    """Three concluded efforts, of which the two older have left the prompt."""
    Session.objects.filter(pk=session.pk).update(eviction_threshold=2, ambient_window=2, context_mode=mode)
    talk = Talk(session)
    for name in ("Migration", "Boiler", "Party"):
        talk.concluded(name, f"Something about it, called {name}.", "And more.")
    talk.ask("Fine weather.")
    return talk


@pytest.mark.usefixtures("runner")
async def test_what_came_first_is_answered_by_the_line_of_efforts_once(stage: Stage, provider: FakeProvider) -> None:
    await write(begun, stage.session)
    provider.script = [Reply("The migration."), Reply("Gladly.")]
    turn = await stage.ask(FIRST)
    today = turn.created_at.date()
    sent = str(provider.requests[-1]["messages"][-1]["content"])
    assert (
        "in the order in which they were begun]\n"
        f"1. migration (turns 1-2, {today}, concluded): In short.\n"
        f"2. boiler (turns 3-4, {today}, concluded): In short.\n"
        f"3. party (turns 5-6, {today}, concluded)\n[End of notes]\n\n[Notes for this turn"
    ) in sent
    plan = await read(ContextPlan.objects.get, run=turn.run)
    [item] = [item for item in plan.body["items"] if item["reason"] == "line"]
    assert (item["section"], item["values"]) == ("recall", {"listed": "3", "count": "3"})
    view = await read(turn_view, await read(main_branch, stage.session), turn.number)
    assert view is not None
    assert view.recall is not None
    assert (view.recall.passages, view.recall.tokens) == (0, plan.body["sections"]["recall"])
    await stage.ask("Thanks for that.")
    assert "in the order in which they were begun" not in str(provider.requests[-1])


@pytest.mark.usefixtures("runner")
async def test_a_plan_with_it_is_rendered_and_planned_again_whatever_has_happened_since(
    stage: Stage, provider: FakeProvider
) -> None:
    await write(begun, stage.session)
    provider.script = [Reply("The migration.")]
    turn = await stage.ask(FIRST)
    plan = await read(ContextPlan.objects.select_related("session", "branch").get, run=turn.run)

    @transaction.atomic
    def since() -> None:
        talk = Talk(stage.session)
        actions.reopen_effort(talk.place, "boiler")
        actions.rename_effort(talk.place, "migration", "Something else")
        talk.ask("What is left of the boiler?")

    await write(since)
    assert await read(replay, plan) == provider.requests[-1]
    out = StringIO()
    await read(call_command, "verify_plans", "--json", "--plan-again", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["ok"], found["planned_again"], found["apart"]) == (found["checked"], found["checked"], {})


@pytest.mark.usefixtures("runner")
async def test_with_context_off_nothing_is_listed(stage: Stage, provider: FakeProvider) -> None:
    await write(begun, stage.session, ContextMode.OFF)
    provider.script = [Reply("I do not know.")]
    await stage.ask(FIRST)
    assert "in the order in which they were begun" not in str(provider.requests[-1])


@pytest.fixture
def line(session: Session) -> Callable[[str], LineOfEfforts]:
    """Of three efforts, one each in January, February and March."""
    talk = begun(session)
    for number in range(1, 7):
        said = datetime(2026, (number + 1) // 2, 20 + number, 23, 30, tzinfo=UTC)
        Turn.objects.filter(session=session, number=number).update(created_at=said)
    return lambda text: read_line(talk.branch, text, before=8, today=date(2026, 3, 28))


@pytest.mark.parametrize(
    ("text", "slugs"),
    [
        (FIRST, ["migration", "party", "boiler"]),
        ("What came after the boiler?", ["boiler", "migration", "party"]),
        ("Summarise all of February.", ["boiler"]),
        ("What did we do on 24 February?", ["boiler"]),
        ("What did we do this month?", ["party"]),
        ("What did we do in 2024?", []),
        ("What is the weather in March?", []),
    ],
)
def test_of_a_named_span_only_what_had_turns_in_it_is_listed(
    line: Callable[[str], LineOfEfforts], text: str, slugs: list[str]
) -> None:
    assert [one.slug for one in line(text).efforts] == slugs
    assert line(text).count == len(slugs)


def test_a_table_of_more_than_a_thousand_days_is_looked_through(line: Callable[[str], LineOfEfforts]) -> None:
    days = [date(2026, 2, 24) - timedelta(days=2 * number) for number in range(1_100)]
    found = line(f"When did we start? {' '.join(day.isoformat() for day in days)}")
    assert [one.slug for one in found.efforts] == ["migration", "boiler"]


def test_each_is_told_with_its_days_its_turns_and_the_line_that_stands_for_it(
    line: Callable[[str], LineOfEfforts],
) -> None:
    [boiler] = line("Summarise all of February.").efforts
    assert (boiler.place, boiler.turns, boiler.text) == (1, (3, 4), "In short.")
    assert boiler.days == ("2026-02-23", "2026-02-24")
    assert line("Summarise all of February.").days == (("2026-02-01", "2026-02-28"),)
