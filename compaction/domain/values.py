"""What a text names exactly: numbers with their units, dates, times, versions, paths, flags, names; equal however they
are written. In digits and, in English, German, French and Spanish, in words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date as Day
from decimal import Decimal
from enum import StrEnum
from functools import lru_cache

from text_to_num import find_numbers

from efforts.domain.text.terms import STOPWORDS, folded, stem, terms_of


class Type(StrEnum):
    URL = "address"
    CODE = "code"
    PATH = "path"
    FLAG = "flag"
    DATE = "date"
    TIME = "time"
    VERSION = "version"
    IDENTIFIER = "identifier"
    NUMBER = "number"
    NAME = "name"


@dataclass(frozen=True, kw_only=True)
class Value:
    """`value` is the same for all ways of writing it, `shown` as it stands from character `start`.

    `unit` is that of a number, and "am" or "pm" of a time; `of` is the word behind a number, which it may count. What
    is `loose` ("both", "one", "second") stands for a number where it is looked for, and asks for none.
    """

    type: Type
    value: str
    shown: str
    start: int
    unit: str = ""
    of: str = ""
    loose: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.shown)


URL = re.compile(r"(?:https?|ftp|wss?|file)://[^\s<>\"'`]+[^\s<>\"'`.,;:!?)\]]")
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
SUFFIXES = (
    "py|pyi|js|ts|tsx|jsx|go|rs|rb|java|kt|c|h|cc|cpp|hpp|cs|php|sh|sql|md|rst|txt|json|jsonl|ya?ml|toml|ini|cfg|conf|lock"
    "|html?|css|scss|xml|csv|tsv|log|env|db|sqlite3?|png|jpe?g|svg|gif|pdf|docx?|xlsx?|zip|gz|tar|whl|proto|tf|vue|ipynb"
)
STEP = r"[\w.@{}<>$*+~-]"
PATH = re.compile(
    rf"(?<![\w/.:-])(?:(?:~|\.{{1,2}})?/{STEP}+(?:/{STEP}*)*(?:::\w+)*"  # rooted
    rf"|{STEP}+(?:/{STEP}+){{2,}}/?(?:::\w+)*"  # three steps
    rf"|(?:{STEP}+/)*[\w@.-]*\w\.(?:{SUFFIXES})(?!\w)(?:::\w+)*"  # a file
    r"|[\w-]*\w{3}\.[a-z]{2,4}(?![\w(.])"
    rf"|(?=[\w./-]*[_\d.-])[\w.-]*\w/[\w.-]+/?"  # two steps that no words are
    r"|[A-Za-z]:\\[\w\\.-]+)"
)
FLAG = re.compile(r"(?<![\w-])--[A-Za-z][\w-]*|(?<![\w-])-[A-Za-z](?![\w-])")
# What only has its digits grouped is a number.
VERSION = re.compile(
    r"(?<![\w.])(?!\d{1,3}(?:\.\d{3})+(?![\w.]))(?:v\d+(?:\.\d+)*(?:[-+][\w.]*\w)?|\d+\.\d+\.\d+(?:[-+.]\w[\w.]*\w|[-+.]\w)?)(?![\w])"
)
# Names as programs write them.
IDENTIFIER = re.compile(
    r"(?<![\w.])(?:"
    r"\w+(?:(?:\.|::|->|#)\w+)*(?:\.|::|->)\w*_\w+"  # dotted, the last with an underscore
    r"|[A-Za-z_]\w*(?:::[A-Za-z_]\w*)+"
    r"|[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\(\)"
    r"|[A-Za-z]\w*_\w+|_\w*[A-Za-z]\w*"
    r"|[a-z]+(?:[A-Z][a-z0-9]*)+|(?:[A-Z][a-z0-9]+){2,}[A-Z]?"  # humps
    r"|[A-Za-z]+-?\d[\w-]*[A-Za-z0-9]|[A-Za-z]\d"  # letters, then digits
    r"|(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,40}"  # a hash
    r"|[A-Za-z_]\w*(?=\(\))"
    r")(?!\w)"
)
# Single letters as transcripts spell them: T_V_, L_C_D_.
SPELLED_OUT = re.compile(r"(?:[A-Za-z]_)+[A-Za-z]?s?")

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan januar jänner janvier enero",
            "february feb februar février febrero",
            "march mar märz mars marzo",
            "april apr avril abril",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet julio",
            "august aug août agosto",
            "september sept sep septembre septiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays montag montags lundi lunes",
            "tuesday tuesdays dienstag dienstags mardi martes",
            "wednesday wednesdays mittwoch mittwochs mercredi miércoles",
            "thursday thursdays donnerstag donnerstags jeudi jueves",
            "friday fridays freitag freitags vendredi viernes",
            "saturday saturdays samstag samstags sonnabend samedi sábado",
            "sunday sundays sonntag sonntags dimanche domingo",
        ),
        start=1,
    )
    for name in names.split()
}


def alternatives(words: Iterable[str]) -> str:
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))


MONTH = alternatives(MONTHS)
# "mar 5" and "may 5" are dates, "mar" and "may" alone are not; "march" is one with a capital.
WHOLE_MONTH = alternatives(name for name in MONTHS if len(name) > 4 or name in ("june", "july", "juni", "juli", "juin"))
YEAR = r"(?:19|20)\d\d"
DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?"
DATES = (
    re.compile(r"\b(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})(?=\b|T)"),
    re.compile(r"\b(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})\b"),
    re.compile(rf"\b{DAY}\s(?:of\s|de\s)?(?P<month>{MONTH})\b(?:\.?,?\s(?:de\s)?(?P<year>{YEAR})\b)?", re.IGNORECASE),
    re.compile(rf"\b(?P<month>{MONTH})\.?\s{DAY}\b(?![.,:]?\d)(?:,?\s(?P<year>{YEAR})\b)?", re.IGNORECASE),
    re.compile(
        rf"\b(?=[A-ZÀ-Þ]|[^\W\d]+\s{YEAR})(?P<month>(?i:{WHOLE_MONTH}|may(?=\s{YEAR})))\b(?:\s(?P<year>{YEAR})\b)?"
    ),
)
WEEKDAY = re.compile(rf"\b(?:{alternatives(WEEKDAYS)})\b", re.IGNORECASE)
TIME = re.compile(
    r"(?<![\w.:])(?P<hour>[01]?\d|2[0-4])"
    r"(?:[:h](?P<minute>[0-5]\d)(?::[0-5]\d)?(?![\w:])(?:\s?(?P<half>[ap])\.?m\b)?|(?:\.(?P<dotted>[0-5]\d))?"
    r"(?:\s?(?P<half_of>[ap])\.?m\b|\s?(?:Uhr|o['’]clock)\b))",
    re.IGNORECASE,
)

GROUP = "[.,'’\u202f\u00a0]"
SCALES = {
    name: size
    for size, names in {
        1_000: "k thousand tausend mille mil",
        1_000_000: "million millions millionen millones mio",
        1_000_000_000: "billion milliarden milliards mrd",
    }.items()
    for name in names.split()
}
NUMBER = re.compile(
    rf"(?<![\w.])[-+]?(?P<figures>[1-9]\d{{0,2}}(?:{GROUP}\d{{3}})+(?:[.,]\d{{1,2}}(?!\d))?"
    r"|[1-9]\d{0,2}(?: \d{3})+(?!\d)|\d+(?:[.,]\d+)?|[.]\d+)"
    rf"(?:(?P<scale>k\b|\s(?:{alternatives(SCALES)})\b))?",
    re.IGNORECASE,
)
ORDINAL = re.compile(r"(?:st|nd|rd|th|er|ème|e|º|ª)\b")
# Of each unit its names, and how many of the first unit of its kind it is.
UNITS = (
    (
        ("s sec secs second seconds sekunde sekunden seconde secondes segundo segundos", "1"),
        ("ms msec millisecond milliseconds millisekunden millisecondes milisegundos", "0.001"),
        ("min mins minute minutes minuten minuto minutos", "60"),
        ("h hr hrs hour hours std stunde stunden heure heures hora horas", "3600"),
        ("d day days tag tage tagen jour jours día días", "86400"),
        ("week weeks woche wochen semaine semaines semana semanas", "604800"),
    ),
    (
        ("month months monat monate monaten mois mes meses", "1"),
        ("year years jahr jahre jahren ans année années año años", "12"),
    ),
    (("% percent pct prozent pourcent", "1"),),
    (("points point pp punkte prozentpunkte puntos", "1"),),
    (("€ euro euros eur", "1"), ("cent cents ct céntimos", "0.01")),
    (("$ dollar dollars usd", "1"),),
    (("£ pound pounds gbp", "1"),),
    (("¥ yen jpy", "1"),),
    (("chf franken", "1"),),
    (
        ("b byte bytes", "1"),
        ("kb kib kilobyte kilobytes", "1000"),
        ("mb mib megabyte megabytes", "1000000"),
        ("gb gib gigabyte gigabytes", "1000000000"),
        ("tb tib terabyte terabytes", "1000000000000"),
    ),
    (
        ("m metre metres meter meters metern mètre mètres metro metros", "1"),
        ("mm millimeter millimetres", "0.001"),
        ("cm centimetre centimetres zentimeter", "0.01"),
        ("km kilometre kilometres kilometer kilometers kilomètres kilómetros", "1000"),
    ),
    (("m² m2 qm sqm", "1"),),
    (("mile miles mi", "1"),),
    (("g gram grams gramm grammes gramos", "1"), ("kg kilo kilos kilogramm", "1000")),
    (("l litre litres liter liters litros", "1"), ("ml milliliter", "0.001"), ("cl", "0.01")),
    (("hz", "1"), ("khz", "1000"), ("mhz", "1000000"), ("ghz", "1000000000")),
    (("w watt", "1"), ("kw", "1000"), ("mw", "1000000")),
    (("kwh", "1"),),
    (("°c °", "1"),),
    (("°f", "1"),),
    (("x times mal fois veces", "1"),),
)
UNIT_OF = {word: words.split()[0] for units in UNITS for words, _ in units for word in words.split()}
SIZE_OF = {words.split()[0]: (kind, Decimal(size)) for kind, units in enumerate(UNITS) for words, size in units}
BEHIND = re.compile(r"[\s-]{0,2}(per cent\b|pour cent\b|por ciento\b|percentage points?\b|[°]?[^\W\d_]+[²2]?|[%€$£¥°])")
TWO_WORDS = {
    "per cent": "%",
    "pour cent": "%",
    "por ciento": "%",
    "percentage point": "points",
    "percentage points": "points",
}
CURRENCY = re.compile(r"(?:[€$£¥]|\b(?:EUR|USD|GBP|CHF))\s?$")

LANGUAGES = {
    name: frozenset(words.split())
    for name, words in {
        "en": "the of and to is in for that it with are was be on not we",
        "de": "der die das und ist nicht mit zu ein eine für auf wir den im von",
        "fr": "le la les de et est pas des un une pour du dans que nous il",
        "es": "el la los las de y es no en un una para que por con se",
    }.items()
}
# No exact number, or another word as well: they stand for one and ask for none, as do those of `PAIRS`.
LOOSE = {
    "second", "seconde", "segundo", "once", "hundred", "hundreds", "thousand", "thousands", "million", "cent", "mil",
}  # fmt: skip
PAIRS = {"both": "2", "pair": "2", "couple": "2", "twice": "2", "double": "2", "doubled": "2", "triple": "3"} | {
    "half-dozen": "6", "dozen": "12", "dutzend": "12", "douzaine": "12", "docena": "12", "beide": "2", "beiden": "2",
    "zweimal": "2", "dreimal": "3", "doppelt": "2", "deux": "2", "ambos": "2", "thrice": "3", "a": "1", "an": "1",
    "single": "1", "eins": "1", "eine": "1", "einen": "1", "einem": "1", "einer": "1", "une": "1", "una": "1",
}  # fmt: skip
WORD = re.compile(r"\w+")
PIECE = re.compile(r"\w+|[^\w\s]+|\s+")
# Whole numbers up to this one may count what a text lists.
MOST_COUNTED = 12


class NumberPiece:
    """Of a text, as `find_numbers` reads it."""

    def __init__(self, written: str) -> None:
        self.written = written

    def text(self) -> str:
        return self.written

    def nt_separated(self, previous: NumberPiece) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False


@lru_cache(maxsize=1 << 14)
def values_of(text: str) -> tuple[Value, ...]:
    """In their order, loose ones too. What is part of a longer one does not count by itself; names see `names_of`."""
    return tuple(sorted(found_in(unicodedata.normalize("NFC", text)), key=lambda one: (one.start, one.value)))


def found_in(text: str) -> Iterator[Value]:
    left = text
    for kind, pattern in PATTERNS:
        for found in list(pattern.finditer(left)):
            value = value_of(kind, found)
            if value:
                yield value
                left = blanked(left, *found.span())
    for value in figures_in(left):
        yield value
        left = blanked(left, value.start, value.end)
    yield from words_in(left)


def blanked(text: str, start: int, end: int) -> str:
    return text[:start] + "\x00" * (end - start) + text[end:]


def value_of(kind: Type, found: re.Match[str]) -> Value | None:
    shown = found[0].rstrip(".") or found[0]
    is_figure = shown[0].isdecimal() and not re.search("[a-f]", shown)
    if kind == Type.IDENTIFIER and (SPELLED_OUT.fullmatch(shown) or is_figure):
        return None
    if kind == Type.CODE and (inner := retyped(code(found))):
        return replace(inner, shown=shown, start=found.start())
    if kind == Type.DATE and not is_day(found):
        return None
    unit = half_of_day(found) if kind == Type.TIME else ""
    return Value(type=kind, value=VALUES.get(kind, plain)(found), shown=shown, start=found.start(), unit=unit)


def retyped(text: str) -> Value | None:
    """What is marked as code, and is a path or a flag all the same."""
    for kind, pattern in PATTERNS:
        if kind in (Type.URL, Type.PATH, Type.FLAG) and (found := pattern.fullmatch(text)):
            return value_of(kind, found)
    return None


def plain(found: re.Match[str]) -> str:
    return found[0].removesuffix("()")


def code(found: re.Match[str]) -> str:
    return " ".join(found[1].split()).removesuffix("()")


def path(found: re.Match[str]) -> str:
    return found[0].removeprefix("./").rstrip("/.").replace("\\", "/") or found[0]


def version(found: re.Match[str]) -> str:
    return found[0].removeprefix("v")


def time(found: re.Match[str]) -> str:
    """Of twelve hours; `half_of_day` tells which half."""
    return f"{int(found['hour']) % 12}:{found['minute'] or found['dotted'] or '00'}"


def half_of_day(found: re.Match[str]) -> str:
    half = found["half"] or found["half_of"]
    if half:
        return f"{half.lower()}m"
    hour = int(found["hour"])
    return "pm" if 12 < hour < 24 else "am" if hour in (0, 24) else ""


def date(found: re.Match[str]) -> str:
    """Year, month and day, or the number of a weekday; with "*" for what is not told."""
    parts = found.groupdict()
    if "month" not in parts:
        return f"weekday {WEEKDAYS[found[0].casefold()]}"
    day, year = parts.get("day"), parts["year"]
    return f"{year or '*'}-{month_of(parts['month'])}-{int(day) if day else '*'}"


def month_of(name: str) -> int:
    return int(name) if name.isdecimal() else MONTHS[name.casefold()]


def is_day(found: re.Match[str]) -> bool:
    parts = found.groupdict()
    return int(parts.get("day") or 1) in range(1, 32) and (
        "month" not in parts or month_of(parts["month"]) in range(1, 13)
    )


VALUES = {Type.TIME: time, Type.CODE: code, Type.PATH: path, Type.VERSION: version, Type.DATE: date}
PATTERNS = (
    (Type.URL, URL),
    (Type.CODE, CODE),
    *((Type.DATE, pattern) for pattern in DATES),
    (Type.TIME, TIME),
    (Type.VERSION, VERSION),
    (Type.PATH, PATH),
    (Type.FLAG, FLAG),
    (Type.DATE, WEEKDAY),
    (Type.IDENTIFIER, IDENTIFIER),
)


def figures_in(text: str) -> Iterator[Value]:
    for found in NUMBER.finditer(text):
        number = Decimal(decimal(found["figures"]))
        scale = SCALES.get((found["scale"] or "").strip().casefold(), 1)
        # "3.10" is no "3.1" where it may be a version.
        value = decimal(found["figures"]) if scale == 1 else written(number * scale)
        unit, of, end = behind(text, found.end())
        before = CURRENCY.search(text, max(found.start() - 4, 0), found.start())
        if before and not unit:
            unit, of = UNIT_OF[before[0].strip().casefold()], ""
        yield Value(
            type=Type.NUMBER, value=value, shown=text[found.start() : end], start=found.start(), unit=unit, of=of
        )


def behind(text: str, end: int) -> tuple[str, str, int]:
    """The unit, or else what may be counted, and where the number with its unit ends."""
    found = BEHIND.match(text, end)
    if not found:
        return "", "", end
    word = found[1].casefold()
    unit = TWO_WORDS.get(word) or UNIT_OF.get(word, "")
    if unit:
        return unit, "", found.end()
    return "", "" if ORDINAL.fullmatch(word) else stem(folded(word)), end


def decimal(figures: str) -> str:
    """Without what only groups the digits; with a point before the decimals."""
    grouped = re.fullmatch(rf"([1-9]\d{{0,2}}(?:{GROUP}\d{{3}})+)([.,]\d{{1,2}})?", figures)
    if grouped:
        whole, rest = re.sub(GROUP, "", grouped[1]), (grouped[2] or "").replace(",", ".")
    else:
        whole, _, decimals = figures.replace(" ", "").replace(",", ".").partition(".")
        rest = f".{decimals}" if decimals else ""
    return f"{whole.lstrip('0') or '0'}{'' if rest.strip('.0') == '' else rest}"


def written(number: Decimal) -> str:
    return decimal(f"{number:f}")


def words_in(text: str) -> Iterator[Value]:
    """Numbers that are written out; those of other languages than the text's are loose."""
    pieces = list(PIECE.finditer(text))
    tokens = [NumberPiece(found[0]) for found in pieces]
    own = language_of(text)
    spans: set[tuple[int, int]] = set()
    for language in (own, *(name for name in LANGUAGES if name != own)):
        for number in find_numbers(tokens, language, 0):
            start, end = pieces[number.start].start(), pieces[number.end - 1].end()
            value = written(Decimal(str(number.value)))
            if not any(first < end and start < last for first, last in spans):
                spans.add((start, end))
                loose = language != own or number.is_ordinal or value == "1" or text[start:end].casefold() in LOOSE
                yield spelled(text, start, end, value, loose)
    for found in WORD.finditer(text):
        if pair := PAIRS.get(found[0].casefold()):
            yield spelled(text, found.start(), found.end(), pair, True)


def spelled(text: str, start: int, end: int, value: str, loose: bool) -> Value:
    unit, of, last = behind(text, end)
    return Value(type=Type.NUMBER, value=value, shown=text[start:last], start=start, unit=unit, of=of, loose=loose)


@lru_cache(maxsize=1 << 13)
def language_of(text: str) -> str:
    """Of those in which numbers are read; by its smallest words."""
    told = [word.casefold() for word in WORD.findall(text)]
    scores = {name: sum(word in words for word in told) for name, words in LANGUAGES.items()}
    return max(scores, key=lambda name: (scores[name], name == "en"))


def missing(claim: str, texts: Iterable[str]) -> tuple[Value, ...]:
    """The values of `claim` that stand in none of the texts."""
    given = tuple(texts)
    return tuple(value for value in values_of(claim) if not value.loose and not stands(value, given))


def stands(value: Value, texts: Iterable[str]) -> bool:
    """Of a date, day and month may stand in two texts."""
    given = tuple(texts)
    if value.type == Type.DATE:
        return stands_as_date(value, given)
    return any(stands_in(value, text) for text in given)


def stands_in(value: Value, text: str) -> bool:
    if value.type == Type.NUMBER:
        return stands_as_number(value, text)
    if any(is_same(value, other) for other in values_of(text)):
        return True
    if value.type == Type.TIME:
        hour, minutes = value.value.split(":")
        return minutes == "00" and any(hour == str(int(n) % 12) for n in whole_numbers_of(text))
    return bool(re.search(rf"(?<!\w){re.escape(value.value)}(?!\w)", " ".join(text.split())))


def stands_as_number(value: Value, text: str) -> bool:
    if any(same_number(value, other) for other in values_of(text) if other.type == Type.NUMBER):
        return True
    if value.value in numbers_within(text):
        return True
    # "3 200" is one number in one language, and two side by side in another.
    return " " in value.shown.strip() and all(
        decimal(part) in numbers_within(text) for part in (re.findall(r"\d+", value.shown) or ["none"])
    )


def same_number(one: Value, other: Value) -> bool:
    if one.unit and other.unit and one.unit != other.unit:
        return amount(one) == amount(other)
    return one.value == other.value or (bool(one.unit) and Decimal(one.value) == Decimal(other.value))


def amount(value: Value) -> tuple[int, Decimal]:
    kind, size = SIZE_OF[value.unit]
    return kind, Decimal(value.value) * size


@lru_cache(maxsize=1 << 14)
def numbers_within(text: str) -> frozenset[str]:
    """Those that stand in dates, codes and names, which have no unit."""
    inside = "\n".join(value.shown for value in values_of(text) if value.type != Type.NUMBER)
    return frozenset(decimal(part) for part in re.findall(r"\d+(?:[.,]\d+)?", inside))


def whole_numbers_of(text: str) -> Iterator[str]:
    return (
        value.value
        for value in values_of(text)
        if value.type == Type.NUMBER and not value.unit and value.value.isdecimal() and len(value.value) < 5
    )


def is_same(one: Value, other: Value) -> bool:
    """Whether they name the same; of a path its end is enough."""
    if one.type == other.type == Type.NUMBER:
        return same_number(one, other)
    if one.type == other.type == Type.TIME:
        return one.value == other.value and (one.unit == other.unit or not one.unit or not other.unit)
    mine, others = one.value, other.value
    return mine == others or (one.type == Type.PATH and others.endswith(f"/{mine.lstrip('/')}"))


def stands_as_date(value: Value, texts: tuple[str, ...]) -> bool:
    dates = [other.value for text in texts for other in values_of(text) if other.type == Type.DATE]
    if value.value.startswith("weekday"):
        return value.value in dates or any(value.value == weekday_of(other) for other in dates)
    year, month, day = value.value.split("-")
    known = [other.split("-") for other in dates if "-" in other]
    if any(agree(year, y) and month == m and (day in ("*", d)) for y, m, d in known):
        return True
    # "On the 24th" tells the day of a month that is named elsewhere, unless it is the day of another.
    elsewhere = any(d == day and m != month for _, m, d in known)
    return (
        not elsewhere and any(m == month for _, m, _ in known) and any(day in whole_numbers_of(text) for text in texts)
    )


def agree(one: str, other: str) -> bool:
    return one == other or "*" in (one, other)


def weekday_of(value: str) -> str:
    """Empty where the day, or its year, is not told."""
    if "*" in value or value.startswith("weekday"):
        return ""
    year, month, day = (int(part) for part in value.split("-"))
    try:
        return f"weekday {Day(year, month, day).isoweekday()}"
    except ValueError:
        return ""


def is_left_to_reader(value: Value, texts: Iterable[str]) -> bool:
    """Whether it may be counted or worked out from the texts, which code cannot tell from a mistake."""
    if value.type != Type.NUMBER:
        return False
    others = [other for text in texts for other in values_of(text) if other.type == Type.NUMBER]
    is_count = value.value.isdecimal() and int(value.value) <= MOST_COUNTED and value.unit in ("", "points", "x")
    # A text counts the same things, to another number.
    counted_otherwise = any(value.of and value.of == other.of and not other.loose for other in others)
    return is_worked_out(value, others) or (is_count and not counted_otherwise)


def is_worked_out(value: Value, others: Iterable[Value]) -> bool:
    """Whether it is the sum, difference or product of two of the others."""
    wanted = Decimal(value.value)
    told: dict[Decimal, set[str]] = {}
    for other in others:
        if not other.loose:
            told.setdefault(Decimal(other.value), set()).add(other.unit)

    def with_its_unit(a: Decimal, b: Decimal) -> bool:
        units = [*told[a], *told[b]]
        return (a != b or len(told[a]) > 1) and value.unit in ("", *units)

    # Of each number the one that would make it up: a long log has thousands.
    return any(
        b in told and wanted in (a + b, abs(a - b), a * b) and with_its_unit(a, b)
        for a in told
        for b in (wanted - a, wanted + a, a - wanted, wanted / a if a else max(told, key=lambda one: one != a))
    )


NAME = re.compile(r"(?<![\w.@/_-])[A-ZÀ-ÖØ-Þ][\w]*(?:[-’'][\w]+)*(?![\w@/_(])")
BEGINNING = re.compile(r"(?:^|[.!?:;…—–|(\[\"“”„«'‘*\n])[\s\"“„«'‘(*]*$")


@lru_cache(maxsize=1 << 13)
def names_of(text: str) -> tuple[Value, ...]:
    """Words with a capital that are no other value; loose at the beginning of a sentence, where any word has one."""
    taken = [(value.start, value.end) for value in values_of(text) if not value.loose]
    return tuple(
        Value(
            type=Type.NAME,
            value=bare(found[0]),
            shown=found[0],
            start=found.start(),
            loose=bool(BEGINNING.search(text, 0, found.start())),
        )
        for found in NAME.finditer(text)
        if not found[0].isupper() and not any(start < found.end() and found.start() < end for start, end in taken)
    )


def bare(word: str) -> str:
    """The word without a genitive and without case."""
    return re.sub(r"['’]s?$", "", word).casefold()


@lru_cache(maxsize=1 << 14)
def content(text: str) -> frozenset[str]:
    """The words that tell what it is about, without its values."""
    for value in values_of(text):
        if not value.loose:
            text = blanked(text, value.start, value.end)
    return frozenset(terms_of(text.replace("\x00", " "))) - STOPWORDS
