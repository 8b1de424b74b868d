"""How state machines are played."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def assert_whole(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            # To see the shortest story that goes wrong, add Phase.shrink; it takes minutes.
            phases=[Phase.reuse, Phase.generate],
        ),
    )


class Writes:
    """Whether rows changed since it was last asked: what holds of rows holds until then."""

    def __init__(self) -> None:
        self.since = True

    def __call__(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        self.since |= sql.startswith(("INSERT", "UPDATE", "DELETE"))
        return execute(sql, params, many, context)

    def any(self) -> bool:
        found, self.since = self.since, False
        return found
