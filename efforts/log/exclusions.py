"""Turns that a person has left out of prompts: no prompt shows them, and nothing brings them back but the person."""

from __future__ import annotations

from django.db.models import Exists, OuterRef, QuerySet

from efforts.models import Branch, Exclusion


def left_out(branch: Branch) -> QuerySet[Exclusion]:
    return Exclusion.objects.filter(branch=branch)


def is_left_out(branch: Branch, turn: str = "pk") -> Exists:
    """`turn`: the way to its key, as in "turn"."""
    return Exists(left_out(branch).filter(turn=OuterRef(turn)))


def numbers_left_out(branch: Branch) -> frozenset[int]:
    return frozenset(left_out(branch).values_list("turn__number", flat=True))
