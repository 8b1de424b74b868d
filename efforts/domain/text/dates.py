"""Days that a text names, as spans of ISO dates: what was said then, or told soon after, is what it asks about."""

from __future__ import annotations

import calendar
import re
from collections.abc import Collection, Iterator
from datetime import date, timedelta

# What happened on a day is often told in the days after it.
TOLD_AFTER = timedelta(days=7)

MONTHS = {name.casefold(): number for number, name in enumerate(calendar.month_name) if name}
MONTHS |= {name.casefold(): number for number, name in enumerate(calendar.month_abbr) if name}
NAMES = "|".join(sorted(MONTHS, key=len, reverse=True))
YEARS = r"(?:19|20)\d\d"
ORDINAL = r"(?:st|nd|rd|th)?"
DAY_MONTH = re.compile(rf"\b(\d{{1,2}}){ORDINAL}(?: of)? ({NAMES})\b\.?,?(?: ({YEARS})\b)?", re.IGNORECASE)
MONTH_DAY = re.compile(rf"\b({NAMES})\.? (\d{{1,2}}){ORDINAL}\b(?!\d)(?:,? ({YEARS})\b)?", re.IGNORECASE)
# "may" and "march" alone are verbs.
MONTH = re.compile(rf"\b(?:in|of|during|since|last|this|early|late|mid) ({NAMES})\b,?(?: ({YEARS})\b)?", re.IGNORECASE)
MONTH_YEAR = re.compile(rf"\b({NAMES}),? ({YEARS})\b", re.IGNORECASE)
ISO = re.compile(rf"\b({YEARS})-(\d{{2}})(?:-(\d{{2}}))?\b")
YEAR = re.compile(rf"\b(?:in|of|during|since) ({YEARS})\b", re.IGNORECASE)
AROUND = re.compile(r"\b(?:today|yesterday|(?:this|last) (?:week|month|year))\b", re.IGNORECASE)
RELATIVE = {"today": (0, 0), "yesterday": (1, 1), "last week": (14, 1), "this week": (7, 0), "last month": (62, 1)}


def days_named(text: str, today: date, years: Collection[int]) -> tuple[tuple[str, str], ...]:
    """First and last days. `years`: those in which something was said, for days without a year; `today`: the day of
    the question."""
    spans = list(named(text, years)) or [span(int(found[1])) for found in YEAR.finditer(text)]
    spans += [
        (today - timedelta(days=first), today - timedelta(days=last) - TOLD_AFTER)
        for words, (first, last) in RELATIVE.items()
        if re.search(rf"\b{words}\b", text, re.IGNORECASE)
    ]
    return tuple(dict.fromkeys((first.isoformat(), (last + TOLD_AFTER).isoformat()) for first, last in spans if first))


def spans_named(text: str, today: date, years: Collection[int]) -> tuple[tuple[str, str], ...]:
    """First and last days as the calendar has them: of the weeks and months around `today`, and nothing told after."""
    spans = list(named(text, years)) or [span(int(found[1])) for found in YEAR.finditer(text)]
    spans += [around(found[0].casefold(), today) for found in AROUND.finditer(text)]
    return tuple(dict.fromkeys((first.isoformat(), last.isoformat()) for first, last in spans))


def around(words: str, today: date) -> tuple[date, date]:
    which, _, unit = words.partition(" ")
    if not unit:
        day = today - timedelta(days=which == "yesterday")
        return day, day
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * (which == "last"))
        return monday, monday + timedelta(days=6)
    if unit == "year":
        return span(today.year - (which == "last"))
    day = today.replace(day=1) - timedelta(days=which == "last")
    return span(day.year, day.month)


def without_days(text: str) -> str:
    """What the text says beside the days that it names."""
    for pattern in (ISO, DAY_MONTH, MONTH_DAY, MONTH_YEAR, MONTH, YEAR, AROUND):
        text = pattern.sub(" ", text)
    return text


def named(text: str, years: Collection[int]) -> Iterator[tuple[date, date]]:
    for found in ISO.finditer(text):
        yield from spans(found[2], found[3], [int(found[1])])
    for found in DAY_MONTH.finditer(text):
        yield from spans(found[2], found[1], [int(found[3])] if found[3] else years)
    for found in MONTH_DAY.finditer(text):
        yield from spans(found[1], found[2], [int(found[3])] if found[3] else years)
    # What is a day is not its month as well.
    rest = MONTH_DAY.sub(" ", DAY_MONTH.sub(" ", text))
    for found in (*MONTH.finditer(rest), *MONTH_YEAR.finditer(rest)):
        yield from spans(found[1], None, [int(found[2])] if found[2] else years)


def spans(month: str, day: str | None, years: Collection[int]) -> Iterator[tuple[date, date]]:
    number = int(month) if month.isdecimal() else MONTHS[month.casefold()]
    for year in sorted(years):
        try:
            yield span(year, number, int(day) if day else None)
        except ValueError:
            # 31 February names no day.
            continue


def span(year: int, month: int | None = None, day: int | None = None) -> tuple[date, date]:
    if month is None:
        return date(year, 1, 1), date(year, 12, 31)
    if day is None:
        return date(year, month, 1), date(year, month, calendar.monthrange(year, month)[1])
    return date(year, month, day), date(year, month, day)
