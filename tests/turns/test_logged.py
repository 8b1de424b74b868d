"""What a runner does stands in the log with whom it concerns."""

from __future__ import annotations

from datetime import datetime

from efforts.models import ContextPlan, Session
from efforts.models.threads import read
from efforts.turns.runner import Runner
from tests.kept_log import kept_of
from tests.turns.conftest import PATIENCE, Stage


async def test_the_end_of_a_run_is_logged_with_person_conversation_turn_run_and_plan(
    runner: Runner, stage: Stage, session: Session
) -> None:
    with kept_of("ccm.turns", until="The run ended") as kept:
        turn = await stage.ask("How many cranes are there?")
        assert await read(kept.ended.wait, PATIENCE)
    (line,) = kept.lines
    plan = await read(ContextPlan.objects.get)
    ids = {"user": session.owner_id, "session": session.pk, "turn": turn.number, "run": plan.run_id, "plan": plan.pk}
    assert {name: line[name] for name in ids} == {name: str(value) for name, value in ids.items()}
    assert (line["level"], line["logger"]) == ("INFO", "ccm.turns")
    assert line["message"] == "The run ended, completed."
    assert datetime.fromisoformat(line["time"]).tzinfo is not None
