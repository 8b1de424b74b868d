"""What a text names exactly: numbers, versions, paths, flags, names in code; equal however they are written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache


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


@dataclass(frozen=True, kw_only=True)
class Anchor:
    """`value` is the same for all ways of writing it, `shown` as it stands. `unit` of a number, empty without one."""

    type: Type
    value: str
    shown: str
    start: int
    unit: str = ""


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
MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january januar janvier enero",
            "february februar février febrero",
            "march märz mars marzo",
            "april avril abril",
            "may mai mayo",
            "june juni juin junio",
            "july juli juillet julio",
            "august août agosto",
            "september septembre septiembre",
            "october oktober octobre octubre",
            "november novembre noviembre",
            "december dezember décembre diciembre",
        ),
        start=1,
    )
    for name in names.split()
}
ISO_DATE = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
DOTTED_DATE = re.compile(r"\b(\d{1,2})\.(\d{1,2})\.(\d{4})\b")
TIME = re.compile(r"(?<![\w.:])\d{1,2}:\d{2}(?::\d{2})?(?![\w:])")
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
GROUP = "[.,'’\u202f\u00a0]"
NUMBER = re.compile(
    rf"(?<![\w.])[-+]?(?P<figures>\d{{1,3}}(?:{GROUP}\d{{3}})+(?:[.,]\d{{1,2}}(?!\d))?|\d{{1,3}}(?: \d{{3}})+(?!\d)"
    r"|\d+(?:[.,]\d+)?|[.]\d+)"
    r"(?:\s?(?P<unit>%|€|\$|£|¥|°C?|[A-Za-zµΩ]+\b))?"
)
CURRENCY = re.compile(r"[€$£¥]\s?$")
WORDS = {
    2: "two both pair couple twice double zwei beide beiden zweimal deux dos ambos",
    3: "three thrice drei dreimal trois tres",
    4: "four vier quatre cuatro",
    5: "five fünf cinq cinco",
    6: "six sechs seis",
    7: "seven sieben sept siete",
    8: "eight acht huit ocho",
    9: "nine neun nueve",
    10: "ten zehn dix diez",
    11: "eleven elf onze",
    12: "twelve zwölf dozen dutzend douze doce",
    13: "thirteen dreizehn treize trece",
    14: "fourteen vierzehn quatorze catorce",
    15: "fifteen fünfzehn quinze quince",
    16: "sixteen sechzehn seize",
    17: "seventeen siebzehn",
    18: "eighteen achtzehn",
    19: "nineteen neunzehn",
    20: "twenty zwanzig vingt veinte",
    30: "thirty dreißig dreissig trente treinta",
    40: "forty vierzig quarante cuarenta",
    50: "fifty fünfzig cinquante cincuenta",
    60: "sixty sechzig soixante sesenta",
    70: "seventy siebzig",
    80: "eighty achtzig",
    90: "ninety neunzig",
    100: "hundred hundert cent cien",
    1000: "thousand tausend mille mil",
}
ONE = {"one", "a", "an", "single", "once", "eins", "ein", "eine", "einen", "einem", "einer", "un", "une", "una", "uno"}
ORDINALS = {"st", "nd", "rd", "th", "er", "e", "ème", "º", "ª"}
SPELLED = {word: number for number, words in WORDS.items() for word in words.split()}
# "Both" and "a pair" are two where a text says "2", but ask for no "two" in what they are taken from.
LOOSE = {
    "both",
    "pair",
    "couple",
    "twice",
    "double",
    "beide",
    "beiden",
    "ambos",
    "dozen",
    "dutzend",
    "thousand",
    "mille",
}
NUMBER_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))})(?!\w)", re.IGNORECASE)
ONE_WORD = re.compile(rf"(?<!\w)(?:{'|'.join(sorted(ONE))})(?!\w)", re.IGNORECASE)
BETWEEN_WORDS = re.compile(r"[\s-]+(?:and\s+)?")
UNITS = {
    "s": "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos",
    "ms": "ms millisecond milliseconds millisekunden millisecondes",
    "min": "min mins minute minutes minuten minuto minutos",
    "h": "h hr hrs hour hours stunde stunden heure heures hora horas",
    "d": "d day days tag tage tagen jour jours día días",
    "week": "week weeks woche wochen semaine semaines semana semanas",
    "month": "month months monat monate monaten mois mes meses",
    "year": "year years jahr jahre jahren an ans année années año años",
    "%": "% percent prozent pourcent",
    "€": "€ euro euros eur",
    "$": "$ dollar dollars usd",
    "£": "£ pound pounds gbp",
    "¥": "¥ yen jpy",
    "B": "b byte bytes",
    "KB": "kb kib",
    "MB": "mb mib megabyte megabytes",
    "GB": "gb gib gigabyte gigabytes",
    "TB": "tb tib",
    "mm": "mm",
    "cm": "cm",
    "m": "m metre metres meter meters mètre mètres",
    "km": "km",
    "g": "g gram grams gramm",
    "kg": "kg kilo kilos",
    "Hz": "hz",
    "kHz": "khz",
    "MHz": "mhz",
    "GHz": "ghz",
    "am": "am",
    "pm": "pm",
    "°C": "°c °",
    "times": "x times mal fois",
}
UNIT_OF = {word: unit for unit, words in UNITS.items() for word in words.split()}


@lru_cache(maxsize=1 << 13)
def anchors_of(text: str) -> tuple[Anchor, ...]:
    """In their order. What is part of a longer one does not count by itself."""
    return tuple(sorted(found_in(unicodedata.normalize("NFC", text)), key=lambda anchor: (anchor.start, anchor.value)))


def found_in(text: str) -> Iterator[Anchor]:
    left = text
    for kind, pattern in PATTERNS:
        for found in list(pattern.finditer(left)):
            anchor = anchor_of(kind, found)
            if anchor:
                yield anchor
                left = left[: found.start()] + "\x00" * len(found[0]) + left[found.end() :]
    yield from figures_in(left)
    yield from words_in(left)


def anchor_of(kind: Type, found: re.Match[str]) -> Anchor | None:
    shown = found[0]
    if kind == Type.IDENTIFIER and (SPELLED_OUT.fullmatch(shown) or is_figure(shown)):
        return None
    if kind == Type.CODE and (inner := retyped(code(found))):
        return replace(inner, shown=shown, start=found.start())
    return Anchor(type=kind, value=VALUES.get(kind, plain)(found), shown=shown, start=found.start())


def retyped(text: str) -> Anchor | None:
    """What is marked as code, and is a path or a flag all the same."""
    for kind in (Type.URL, Type.PATH, Type.FLAG):
        if found := dict(PATTERNS)[kind].fullmatch(text):
            return anchor_of(kind, found)
    return None


def is_figure(shown: str) -> bool:
    return shown[0].isdecimal() and not re.search("[a-f]", shown)


def plain(found: re.Match[str]) -> str:
    return found[0].removesuffix("()")


def code(found: re.Match[str]) -> str:
    return " ".join(found[1].split()).removesuffix("()")


def path(found: re.Match[str]) -> str:
    return found[0].removeprefix("./").rstrip("/.").replace("\\", "/") or found[0]


def time(found: re.Match[str]) -> str:
    return found[0].removeprefix("0")


def version(found: re.Match[str]) -> str:
    return found[0].removeprefix("v")


def date(found: re.Match[str]) -> str:
    parts = [int(part) for part in found.groups()]
    year, month, day = parts if len(found[1]) == 4 else reversed(parts)
    return f"{year:04}-{month:02}-{day:02}"


VALUES = {Type.TIME: time, Type.CODE: code, Type.PATH: path, Type.VERSION: version, Type.DATE: date}
PATTERNS = (
    (Type.URL, URL),
    (Type.CODE, CODE),
    (Type.DATE, ISO_DATE),
    (Type.DATE, DOTTED_DATE),
    (Type.TIME, TIME),
    (Type.VERSION, VERSION),
    (Type.PATH, PATH),
    (Type.FLAG, FLAG),
    (Type.IDENTIFIER, IDENTIFIER),
)


def figures_in(text: str) -> Iterator[Anchor]:
    for found in NUMBER.finditer(text):
        unit = unit_of(found["unit"] or "") or currency_before(text, found.start())
        yield Anchor(
            type=Type.NUMBER, value=decimal(found["figures"]), shown=found[0].strip(), start=found.start(), unit=unit
        )


def unit_of(word: str) -> str:
    return "" if word in ORDINALS else UNIT_OF.get(word.casefold(), "")


def currency_before(text: str, at: int) -> str:
    found = CURRENCY.search(text, max(at - 2, 0), at)
    return found[0].strip() if found else ""


def decimal(figures: str) -> str:
    """Without what only groups the digits; with a point before the decimals."""
    grouped = re.fullmatch(rf"(\d{{1,3}}(?:{GROUP}\d{{3}})+)([.,]\d{{1,2}})?", figures)
    if grouped:
        whole, rest = re.sub(GROUP, "", grouped[1]), (grouped[2] or "").replace(",", ".")
    else:
        whole, _, decimals = figures.replace(" ", "").replace(",", ".").partition(".")
        rest = f".{decimals}" if decimals else ""
    return f"{whole.lstrip('0') or '0'}{'' if rest.strip('.0') == '' else rest}"


def words_in(text: str) -> Iterator[Anchor]:
    """Numbers that are written out, neighbours together: "thirty five" is one."""
    run: list[re.Match[str]] = []
    for found in NUMBER_WORD.finditer(text):
        if run and not continues(text, run[-1], found):
            yield spelled(text, run)
            run = []
        run.append(found)
    if run:
        yield spelled(text, run)


def continues(text: str, one: re.Match[str], other: re.Match[str]) -> bool:
    first, second = SPELLED[one[0].casefold()], SPELLED[other[0].casefold()]
    together = (first >= 20 and first > second and (second < 10 or first >= 100)) or second in (100, 1000)
    return together and bool(BETWEEN_WORDS.fullmatch(text, one.end(), other.start()))


def spelled(text: str, run: list[re.Match[str]]) -> Anchor:
    total = 0
    for found in run:
        number = SPELLED[found[0].casefold()]
        total = total * number if number >= 100 and total else total + number
    after = re.match(r"[\s-]*(\w+|[%€$£¥])", text[run[-1].end() :])
    unit = unit_of(after[1]) if after else ""
    shown = text[run[0].start() : run[-1].end()]
    return Anchor(type=Type.NUMBER, value=str(total), shown=shown, start=run[0].start(), unit=unit)


def is_loose(anchor: Anchor) -> bool:
    return anchor.shown.casefold() in LOOSE


def without_anchors(text: str) -> str:
    for anchor in anchors_of(text):
        text = text.replace(anchor.shown, " ")
    return text


def missing(claim: str, texts: Iterable[str]) -> tuple[Anchor, ...]:
    """The anchors of `claim` that stand in none of the texts."""
    together = "\n".join(texts)
    return tuple(anchor for anchor in anchors_of(claim) if not is_loose(anchor) and not stands(anchor, together))


def stands(anchor: Anchor, text: str) -> bool:
    if anchor.type == Type.NUMBER:
        return stands_as_number(anchor, text)
    if any(same(anchor, other) for other in anchors_of(text)):
        return True
    return bool(re.search(rf"(?<!\w){re.escape(anchor.value)}(?!\w)", " ".join(text.split())))


def stands_as_number(anchor: Anchor, text: str) -> bool:
    values = numbers_of(text)
    if anchor.value in values or (anchor.value == "1" and ONE_WORD.search(text)):
        return True
    # "3 200" is one number in one language, and two side by side in another.
    return " " in anchor.shown and all(decimal(part) in values for part in re.findall(r"\d+", anchor.shown))


@lru_cache(maxsize=1 << 13)
def numbers_of(text: str) -> frozenset[str]:
    """Also those that stand in dates, codes and names."""
    apart = {decimal(part) for part in re.findall(r"\d+(?:[.,]\d+)?", text)}
    return frozenset(apart | {anchor.value for anchor in anchors_of(text) if anchor.type == Type.NUMBER})


def same(one: Anchor, other: Anchor) -> bool:
    """Whether they name the same; of a path its end is enough."""
    mine, others = one.value, other.value
    return mine == others or (one.type == Type.PATH and others.endswith(f"/{mine.lstrip('/')}"))
