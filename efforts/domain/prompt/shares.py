"""How the room of a prompt is shared among its layers."""

from __future__ import annotations

from collections.abc import Mapping

# In the order in which layers are filled, and in which room that nobody needs is lent on.
ORDER = ("active", "ambient", "body", "expanded", "open", "awaiting", "lease", "summary")
# Shares of the room that is left beside what must be sent. A layer has its floor even when one before it could take
# all; beyond its cap it only borrows. What is expanded was asked for and lends nothing: its floor is its cap.
FLOORS = {
    "active": 0.15,
    "ambient": 0.10,
    "body": 0.10,
    "expanded": 0.35,
    "open": 0.05,
    "awaiting": 0.05,
    "lease": 0.05,
    "summary": 0.10,
}
CAPS = {
    "active": 0.60,
    "ambient": 0.30,
    "body": 0.25,
    "expanded": 0.35,
    "open": 0.30,
    "awaiting": 0.15,
    "lease": 0.15,
    "summary": 0.15,
}


def allot(demands: Mapping[str, int], room: int) -> dict[str, int]:
    """Tokens for each layer: never more than it demands, all together never more than `room`."""
    room = max(room, 0)
    floors = {key: min(demands.get(key, 0), int(room * FLOORS[key])) for key in ORDER}
    reserved = sum(floors.values())
    given = {}
    left = room
    for key in ORDER:
        reserved -= floors[key]
        given[key] = max(min(demands.get(key, 0), int(room * CAPS[key]), left - reserved), 0)
        left -= given[key]
    for key in ORDER:
        lent = min(demands.get(key, 0) - given[key], left)
        given[key] += lent
        left -= lent
    return given
