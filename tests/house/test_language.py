"""Pages in other languages: every text is in the catalogue and translated, and English stays what it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

import polib
import pytest
from django.contrib.auth.models import User
from django.template.loader import render_to_string
from django.test import Client, override_settings
from django.utils import translation

from ccmweb.models import ChosenLanguage
from efforts.domain.effort.notices import with_notice
from efforts.models.said import said
from efforts.pages.presenters.figures import FigureView
from efforts.templatetags import look
from efforts.turns.recording import BROKEN, INTERRUPTED, Ending, said_of_continue
from tests.conftest import signed_in
from tests.house.catalogue import Text, catalogue_of, texts
from tests.house.process import ROOT

PLACE = re.compile(r"%\(\w+\)s|\{\w+(?::said|:each)?\}|%s")
TAG = re.compile(r"</?\w+")
GERMAN = catalogue_of("de")


@pytest.fixture(scope="module")
def german() -> polib.POFile:
    return polib.pofile(str(GERMAN))


def key(one: polib.POEntry) -> Text:
    return one.msgctxt or "", one.msgid, one.msgid_plural


def forms(one: polib.POEntry) -> list[str]:
    return list(one.msgstr_plural.values()) if one.msgid_plural else [one.msgstr]


def test_every_text_is_in_the_catalogue_and_no_other(german: polib.POFile) -> None:
    assert {key(one) for one in german} == set(texts()), "run python -m tests.house.catalogue, and translate"


def test_every_text_is_translated(german: polib.POFile) -> None:
    assert [one.msgid for one in german if one.fuzzy or not all(forms(one))] == []


# Names are the same in every language.
NAMES = {"CCM Web", "Markdown", "HTML", "JSON"}
TRANSLATED = re.compile(r"{% blocktrans(?:late)?\b.*?{% endblocktrans(?:late)? %}", re.DOTALL)
# What is shown as it was typed, and the blocks that hold classes and data.
LEFT_OUT = re.compile(
    r"{#.*?#}|<(script|style|code|kbd)\b.*?</\1>|{% block shell_(?:class|data) %}.*?{% endblock %}|{%.*?%}|{{.*?}}",
    re.DOTALL,
)
READ_OUT = re.compile(r'\b(?:title|aria-label|placeholder|alt)="([^"]*)"')


def bare_words(template: str) -> list[str]:
    """What a page says in English whoever reads it."""
    text = LEFT_OUT.sub("", TRANSLATED.sub("", template))
    pieces = [*READ_OUT.findall(text), *re.split(r"<[^>]*>", text)]
    words = [piece.strip(" \n·:") for piece in pieces if re.search("[A-Za-z]{2,}", piece)]
    return [piece for piece in words if piece not in NAMES]


def test_no_page_says_anything_that_is_in_no_catalogue() -> None:
    assert bare_words('<p title="{{ n }} tokens">{% translate "In" %} <b>Out</b></p>') == ["tokens", "Out"]
    paths = list((ROOT / "templates").rglob("*.html"))
    assert len(paths) > 100
    found = {path.relative_to(ROOT).as_posix(): bare_words(path.read_text()) for path in paths}
    assert {name: words for name, words in found.items() if words} == {}


def places(text: str) -> set[str]:
    return {re.sub(":said|:each", "", found) for found in PLACE.findall(text)}


def mismatched(german: polib.POFile) -> Iterator[tuple[str, str]]:
    for one in german:
        for words in forms(one):
            # A verb that English needs in the middle of a sentence may have no place of its own.
            same = places(words) == places(one.msgid) or one.msgid == "{capitalize} {verb} being summarised."
            if not same or Counter(TAG.findall(words)) != Counter(TAG.findall(one.msgid)):
                yield one.msgid, words


def test_a_translation_has_the_same_places_and_tags(german: polib.POFile) -> None:
    assert list(mismatched(german)) == []


def test_what_is_read_is_what_is_written(german: polib.POFile) -> None:
    compiled = polib.mofile(str(GERMAN.with_suffix(".mo")))
    assert {key(one): forms(one) for one in compiled} == {key(one): forms(one) for one in german}


def test_german_speaks_to_nobody_as_a_friend(german: polib.POFile) -> None:
    wrong = re.compile(r"\b(du|dich|dir|dein\w*)\b", re.IGNORECASE)
    assert [words for one in german for words in forms(one) if wrong.search(re.sub(r"<[^>]*>", "", words))] == []


def test_a_stored_notice_stays_english_and_is_read_in_german() -> None:
    stored = with_notice("effort.concluded", {"effort": "boiler"})["notice"]
    assert stored == "--- Concluded effort: boiler ---"
    shown = stored.removeprefix("--- ").removesuffix(" ---")
    assert said(shown) == shown
    with translation.override("de"):
        assert said(shown) == "Vorhaben abgeschlossen: boiler"
        rolled_back = said("Rolled back: the log of boiler is in the prompt.")
        assert rolled_back == "Zurückgerollt: Das Protokoll von boiler ist im Prompt."
        assert said("Words of a person.") == "Words of a person."


@pytest.mark.parametrize("ending", [INTERRUPTED, BROKEN])
def test_what_breaks_off_again_is_said_in_german_with_its_own_button(ending: Ending) -> None:
    with translation.override("de"):
        first, again = said(ending.text), said(said_of_continue(ending.text))
    assert again == first.replace("„Noch einmal versuchen“", "„Fortsetzen“") != first


def test_figures_have_the_signs_of_the_language() -> None:
    figures = look.number(12_345), look.signed(-1_200), look.percent(0.125), look.duration(1_500)
    assert figures == ("12,345", "−1,200", "12.5%", "1.5 s")
    with translation.override("de"):
        assert (look.number(12_345), look.signed(-1_200), look.percent(0.125)) == ("12.345", "−1.200", "12,5 %")


def test_each_figure_of_the_metrics_has_the_signs_of_the_language_once() -> None:
    more = ("1.9% over all turns", "mean 3,532")
    values = ("6,152", "6.2%", "−1,234.5%", "4.5", "3 / 2")
    shown = [
        FigureView(key=value, label="Savings", value=value, unit="", more=more, why="", turns=()) for value in values
    ]
    with translation.override("de"):
        page = render_to_string("metrics/figures.html", {"group": {"figures": shown}})
    assert re.findall("<b>(.*?)</b>", page) == ["6.152", "6,2 %", "−1.234,5 %", "4,5", "3 / 2"]
    assert re.findall('quiet">(.*?)</p>', page)[:2] == ["1,9 % über alle Runden", "Mittel 3.532"]


def test_what_is_too_long_is_told_part_by_part() -> None:
    parts = "system text and tools 1,348, rules 22, your message 37,723"
    with translation.override("de"):
        assert said(f"Nothing was sent. Too long: 39,093 of 16,000 tokens ({parts}).") == (
            "Nichts wurde gesendet. Zu lang: 39.093 von 16.000 Tokens (Systemtext und Werkzeuge 1.348, Regeln 22, "
            "Ihre Nachricht 37.723)."
        )


def test_a_list_and_the_figures_and_turns_of_a_text_are_in_the_readers_language() -> None:
    kinds = ["efforts", "messages", "rules"]
    assert (look.listed(kinds), look.either(kinds)) == ("efforts, messages and rules", "efforts, messages or rules")
    assert (look.listed(["rules"]), look.day("2026-03-02")) == ("rules", "2026-03-02")
    with translation.override("de"):
        assert look.listed(kinds) == "Vorhaben, Nachrichten und Regeln"
        assert look.either(kinds) == "Vorhaben, Nachrichten oder Regeln"
        assert look.day("2026-03-02") == "02.03.2026"
        assert said("At least 4,000. Prompts never exceed it.") == "Mindestens 4.000. Prompts überschreiten es nie."
        assert said("csv-export: turns 2-6, 9") == "csv-export: Runden 2-6, 9"
        assert said("Turns out it was the cache") == "Turns out it was the cache"
        # Django has the word too, for something else.
        assert said("Messages") == "Nachrichten"


@pytest.mark.django_db
def test_the_browsers_language_is_spoken_to_who_is_not_signed_in() -> None:
    page = Client(headers={"accept-language": "de-AT,de;q=0.9"}).get("/sign-in/").content.decode()
    assert '<html lang="de"' in page
    assert "Anmelden" in page
    assert '<html lang="en"' in Client().get("/sign-in/").content.decode()


@pytest.mark.django_db
def test_an_error_page_is_in_the_readers_language(alice: User) -> None:
    client = Client(headers={"accept-language": "de"})
    client.force_login(alice)
    assert "Seite nicht gefunden" in client.get("/s/nothing-here/").content.decode()


def test_a_chosen_language_is_kept_with_its_person(alice: User) -> None:
    client = signed_in(alice)
    assert client.post("/settings/language/", {"language": "de"}).status_code == 302
    assert "Einstellungen" in client.get("/settings/").content.decode()
    # Another browser, that speaks English.
    assert "Einstellungen" in signed_in(alice).get("/settings/").content.decode()
    client.post("/settings/language/", {"language": ""})
    assert "Einstellungen" not in client.get("/settings/").content.decode()
    assert not ChosenLanguage.objects.exists()
    client.post("/settings/language/", {"language": "tlh"})
    assert not ChosenLanguage.objects.exists()


@pytest.mark.django_db
@override_settings(LANGUAGES=[("en", "English"), ("ar", "Pseudo")])
def test_a_language_that_runs_to_the_left_turns_the_page_round() -> None:
    page = Client(headers={"accept-language": "ar"}).get("/sign-in/").content.decode()
    assert '<html lang="ar" dir="rtl"' in page
