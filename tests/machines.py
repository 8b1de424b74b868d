"""How state machines are played."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test


def assert_whole(machine: type[RuleBasedStateMachine], *, examples: int, steps: int) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=examples,
            stateful_step_count=steps,
            deadline=None,
            report_multiple_bugs=False,
            suppress_health_check=list(HealthCheck),
            # To see the shortest story that goes wrong, add Phase.shrink; it takes minutes.
            phases=[Phase.reuse, Phase.generate],
        ),
    )
