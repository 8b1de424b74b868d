"""What of an effort's log a plan shows, as the model and the person are told it: never assumed, always of a plan."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.domain.prompt.plan import Plan
from efforts.domain.text.counting import counted


@dataclass(frozen=True, kw_only=True)
class Shown:
    """How many finished turns of a log stand in a prompt, and how many there are."""

    turns: int
    of: int

    @property
    def sentence(self) -> str:
        """As the model is told it."""
        if not self.of:
            return "It has no finished turns."
        if self.of == 1:
            return (
                "Its one turn is shown: answer from it."
                if self.turns
                else "Its one turn is not shown; read_effort reads it."
            )
        turns = counted(self.of, "turn", form=",")
        if self.turns == self.of:
            return f"All its {turns} are shown: answer from them."
        if not self.turns:
            return f"None of its {turns} is shown; read_effort reads them."
        return f"{self.turns} of its {turns} are shown; read_effort reads the rest."


def shown_of(plan: Plan, slug: str) -> Shown | None:
    """Of the log of the effort, or of the expanded chosen turns, with that id; None where it has no log in any plan."""
    log = next((one for one in plan.inputs.efforts if one.slug == slug), None)
    if log is None:
        return None
    spans = [entry["turns"] for entry in plan.recipe if "turns" in entry and entry["effort"] == slug]
    shown = sum(first <= turn.number <= last for turn in log.turns for first, last in spans)
    return Shown(turns=shown, of=log.older.count + len(log.turns))


def shows_body(plan: Plan, slug: str) -> bool:
    """Whether the whole summary of that id stands in the plan."""
    return any(item.section == "body" and item.included and item.whose == slug for item in plan.items)
