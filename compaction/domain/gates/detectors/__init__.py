"""Gate D's detectors, each a function of a case that yields what it found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from . import among_items, answers, labels, one_word, turned, values
from .case import Case, Found

DETECTORS: tuple[Callable[[Case], Iterator[Found]], ...] = (
    labels.not_current,
    labels.not_dropped,
    labels.other_state,
    labels.other_actor,
    labels.other_person,
    values.differs_from_quote,
    values.counted_otherwise,
    values.corrected_later,
    turned.denied,
    turned.bound_otherwise,
    turned.of_others,
    turned.in_other_order,
    one_word.turned_by_one_word,
    answers.claims_success,
    among_items.other_status,
    among_items.opposite,
    among_items.other_value,
    answers.found_by_judge,
)
