"""How values look on a page."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from django.template import engines
from django.template.backends.django import DjangoTemplates
from django.utils import timezone

from efforts.templatetags.look import age, duration, number


@pytest.mark.parametrize(
    ("passed", "words"),
    [
        (timedelta(seconds=20), "now"),
        (timedelta(seconds=-20), "now"),
        (timedelta(minutes=5), "5 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=2), "2 d"),
        (timedelta(weeks=3), "3 w"),
        (timedelta(days=800), "2 y"),
    ],
)
def test_ages_are_short(passed: timedelta, words: str) -> None:
    assert age(timezone.now() - passed) == words


def test_durations_have_their_unit() -> None:
    assert [duration(ms) for ms in (None, 40, 2_140, 75_000)] == ["", "0.0 s", "2.1 s", "1 min 15 s"]


def test_numbers_are_grouped() -> None:
    assert [number(n) for n in (None, 0, 16000)] == ["", "0", "16,000"]


def test_every_template_compiles() -> None:
    engine = engines["django"]
    assert isinstance(engine, DjangoTemplates)
    for folder in engine.dirs:
        for path in Path(folder).rglob("*.html"):
            engine.get_template(path.relative_to(folder).as_posix())
