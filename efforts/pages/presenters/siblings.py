"""The versions of a turn: what was said in different branches after the same turns."""

from __future__ import annotations

from dataclasses import dataclass

from efforts.models import Branch, Turn

# Turns that come at once as one reads on, and those that a conversation opens with: more than a screen of them, and
# all of a short one; and those that a page holds at most, which is what `stretch.js` leaves on it and what came last.
PAGE, OPENING, SHORT, MOST = 40, 12, 24, 160


@dataclass(frozen=True, kw_only=True)
class Siblings:
    """The versions of one turn, all said after the same turns; this one is number `place` of `total`."""

    place: int
    total: int
    previous: str
    next: str


@dataclass(frozen=True, kw_only=True)
class Family:
    """A branch among all of its conversation, oldest first."""

    branch: Branch
    rows: tuple[Branch, ...]

    def shares(self, turn: Turn) -> bool:
        """Another branch goes on from the turn, so that it stays as it is."""
        children = (row for row in self.rows if row.parent_id == turn.branch_id)
        return any((row.fork_turn or 0) >= turn.number for row in children)

    def siblings(self, number: int) -> Siblings | None:
        """None where the turn has none."""
        mine = self.branch.owner_of(number)
        shown = [row for row in self.versions(number) if row.archived_at is None or str(row.pk) == mine]
        at = next((at for at, row in enumerate(shown) if str(row.pk) == mine), None)
        if at is None or len(shown) == 1:
            return None
        return Siblings(
            place=at + 1,
            total=len(shown),
            previous=turn_address(shown[at - 1], number) if at else "",
            next=turn_address(shown[at + 1], number) if at + 1 < len(shown) else "",
        )

    def versions(self, number: int) -> list[Branch]:
        parent = self.branch.owner_of(number - 1)
        return [row for row in self.rows if row.head >= number and is_version(row, number, parent)]


def family_of(branch: Branch) -> Family:
    return Family(branch=branch, rows=tuple(Branch.objects.filter(session=branch.session_id).order_by("created_at")))


def is_version(row: Branch, number: int, parent: str) -> bool:
    """Its turn of that number is its own, and follows the same turns."""
    if str(row.pk) == parent:
        return (row.fork_turn or 0) < number
    return str(row.parent_id) == parent and row.fork_turn == number - 1


def turn_address(branch: Branch, number: int) -> str:
    # What is not among the newest is reached in the log around it.
    far = branch.head - number >= OPENING
    return branch.address_of_turn(number) if far else f"{branch.get_absolute_url()}#turn-{number}"
