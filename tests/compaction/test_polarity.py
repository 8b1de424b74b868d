"""What turns a statement round."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.denials import denial
from compaction.domain.polarity import MODALS, ORDERS, SCOPES, asserted, exchanged, rebound


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("We do not use Redis for sessions.", "We use Redis for the sessions of guests."),
        ("We use Redis for sessions.", "We never use Redis for sessions."),
        ("Sessions are enabled for guests.", "Sessions are disabled for guests."),
        ("Guests are included in the report.", "Guests are excluded from the report."),
        ("Redis は使いません、セッション用。", "Redis はセッション用に使います。"),
        ("Wir nehmen Redis für Sitzungen.", "Wir nehmen kein Redis für Sitzungen."),
        ("The display option is not ruled out.", "There is no display option."),
        ("`test_dst_autumn` is not written.", "The test is written, but `test_dst_autumn` fails."),
        ("They did use the whiteboard.", "We didn't we didn't use the whiteboard."),
    ],
)
def test_opposites(claim: str, text: str) -> None:
    assert denial(claim, [text])


@pytest.mark.parametrize(
    ("claim", "text"),
    [
        ("We do not use Redis for sessions.", "We don't use Redis for sessions."),
        ("Sessions are not enabled.", "Sessions are disabled."),
        ("We use Redis, not Celery.", "We use Redis instead of Celery."),
        ("We use neither Redis nor Celery.", "We don't use Redis. We don't use Celery."),
        ("Redis is used for sessions.", "Not only sessions: we use Redis for sessions and queues."),
        ("Redis was written off for sessions.", "No Redis for sessions."),
        ("The grant is not there yet.", "We wait for the grant of the database people."),
        ("Without teletext, display or voice recognition.", "There is no voice recognition."),
    ],
)
def test_the_same_in_other_words(claim: str, text: str) -> None:
    assert denial(claim, [text]) is None


TELLING = """
    we use redis sessions for not never no only all some must may before after until without with unless , . and the
    keys disabled enabled nobody nicht kein pas sauf out ruled turned down yet is was
"""
SENTENCES = st.lists(st.sampled_from(TELLING.split()), max_size=16).map(" ".join)


@given(st.text(max_size=120) | SENTENCES)
def test_nothing_contradicts_itself(text: str) -> None:
    assert denial(text, [text]) is None
    assert exchanged(text, [text], MODALS) is None
    assert rebound(text, [text], SCOPES) is None
    assert rebound(text, [text], ORDERS) is None


def test_it_asserts_nothing_of_what_it_denies_puts_aside_or_imagines() -> None:
    said = asserted("The worktop is laminate, not oak; quartz was turned down, and granite would cost more.")
    assert "lamin" in said
    assert not said & {"oak", "quartz", "granit"}


def test_how_binding_it_is_counts_only_between_clauses_about_the_same() -> None:
    assert exchanged("Guests may log in.", ["Guests must log in."], MODALS)
    assert exchanged("Guests may log in.", ["Owners must pay the bill."], MODALS) is None
    assert exchanged("Guests have to log in.", ["Guests should log in."], MODALS) is None


def test_of_how_much_it_holds_is_told_by_the_word_behind() -> None:
    assert rebound("Some guests log in.", ["All guests log in."], SCOPES)
    assert rebound("Some guests and all owners log in.", ["All owners log in, and some guests log in."], SCOPES) is None


def test_order_is_told_by_the_word_behind() -> None:
    assert rebound("The task comes after the tests.", ["The task comes before the tests."], ORDERS)
    assert rebound("The task comes before the tests.", ["The task first, the tests after that."], ORDERS) is None
