"""What gates and checks say is stored in English, with figures and names in it, and read in German on German pages."""

from __future__ import annotations

import ast
import html
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.urls import reverse
from django.utils import translation

from compaction.domain.artifact import Malformed, parse_draft
from compaction.models import Artifact, Check, GateRun
from efforts.models.said import PLACE, said
from tests.compaction.review import STATES, Room
from tests.house.catalogue import QUOTED, ROOT, SENTENCE, of_module

GERMAN = {"accept-language": "de"}
GATES = [*sorted((ROOT / "compaction/domain/gates").glob("*.py")), ROOT / "tests/house/earlier.py"]
CHECKS = [
    ROOT / "compaction/domain/artifact.py",
    ROOT / "compaction/domain/check/answers.py",
    ROOT / "compaction/domain/check/result.py",
    ROOT / "compaction/drafting/checking.py",
]
# What stands in a place where not any name can.
SAMPLES = {"number": "12", "tokens": "1,234", "claim": "c7", "matter": "rule", "number2": "34"}
WORDS = re.compile(r"[A-Za-z]{2,}(?:[ '’][A-Za-z]{2,})+|[a-z]{5,}")


def sentences_of(paths: list[Any]) -> list[str]:
    """All that the modules say, with names for what stands in it."""
    said_there = (text for path in paths for text in of_module(ast.parse(path.read_text())))
    return [text for text in dict.fromkeys(said_there) if SENTENCE.search(text)]


def told(template: str) -> str:
    """As it is stored: a name in each of its places."""
    return PLACE.sub(lambda place: SAMPLES.get(place[1], "Xyz"), template)


def english_of(template: str) -> list[str]:
    """What it says itself in English."""
    return [words for piece in PLACE.sub("\n", template).split("\n") for words in WORDS.findall(piece)]


def in_german(text: str) -> str:
    with translation.override("de"):
        return str(said(text))


@pytest.mark.parametrize("template", dict.fromkeys([*sentences_of(GATES), *sentences_of(CHECKS), *QUOTED]))
def test_each_sentence_of_gates_and_checks_has_german(template: str) -> None:
    text = told(template)
    shown = in_german(text)
    assert shown != text
    # What code calls so is called so in both languages.
    assert [
        words for words in english_of(template) if words in shown and words not in ("exit", "claims", "artifact")
    ] == []
    assert said(text) == text


def test_in_every_gate_sentences_are_found() -> None:
    found = {path.stem for path in GATES if len(sentences_of([path])) > 3}
    assert found >= {"structure", "traceability", "retention", "contradiction", "cost", "earlier"}


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        (
            "The checker doubts claim 2, at “foo, bar”: no sentence of the log says so: It is wrong.",
            "Der Prüfer bezweifelt Aussage 2, bei „foo, bar“: kein Satz des Protokolls sagt es: It is wrong.",
        ),
        (
            "2 doubts or contradictions: the checker doubts claim 2; 3.1 says otherwise; "
            "1 finding set aside by a person.",
            "2 Zweifel oder Widersprüche: der Prüfer bezweifelt Aussage 2; 3.1 sagt etwas anderes; "
            "1 Befund wurde von Hand beiseitegelegt.",
        ),
        (
            "Missing: 2 decisions, 1 to-do. Kept: 1 of 3 on the list of this conversation; "
            "2 of 4 in the list that a, b made of the log.",
            "Es fehlt: 2 Entscheidungen, 1 Aufgabe. Behalten: 1 von 3 auf der Liste dieser Unterhaltung; "
            "2 von 4 auf der Liste, die a, b vom Protokoll gemacht hat.",
        ),
        (
            "decision “We do A. Then “B”.” (turn 1, turn 2): told by no claim that stands",
            "Entscheidung „We do A. Then “B”.“ (Runde 1, Runde 2): keine geltende Aussage nennt es",
        ),
        ("Claim 5: it cites 9.9, which the log does not have and 3 more.", None),
        ("claim 5: “3,600” stands nowhere in the log", "Aussage 5: „3,600“ steht nirgends im Protokoll"),
        ("turn 8, you", "Runde 8, Sie"),
        ("turn 8, reply", "Runde 8, Antwort"),
        ("To do (turn 3, reply)", "Aufgabe (Runde 3, Antwort)"),
        (
            "1,234 tokens of text, the words of the log have 5,678; 900 to draft it and 1,200 to check it, "
            "within the caps.",
            "1.234 Tokens Text, die Wörter des Protokolls haben 5.678; 900 für den Entwurf und 1.200 für die Prüfung, "
            "innerhalb der Obergrenzen.",
        ),
        (
            "Gate D: The checker doubts claim 2; 3.1 says otherwise: why. Gate E: Too long: 5,000 tokens, 3,000 of "
            "9,000 at most. Shorten it.",
            "Kriterium D: Der Prüfer bezweifelt Aussage 2; 3.1 sagt etwas anderes: why. Kriterium E: Zu lang: 5.000 "
            "Tokens, höchstens 3.000 von 9.000. Kürzen.",
        ),
        (
            "It believed 2 claims made wrong on purpose to test it. "
            "It doubted a sentence that stands in the log as it was quoted.",
            "Es glaubte 2 Aussagen, die zur Probe absichtlich falsch waren. "
            "Es bezweifelte einen Satz, der genau so im Protokoll steht.",
        ),
        (
            "Nobody has checked this summary. Its answer was cut at its limit.",
            "Niemand hat diese Zusammenfassung geprüft. Seine Antwort wurde an der Obergrenze abgeschnitten.",
        ),
        # What was stored by earlier versions of the rules.
        ("Kept: your list 2 of 3; inventory not proven.", "Behalten: 2 von 3 auf Ihrer Liste; ob die Liste "
         "vollständig ist, wurde nicht getestet."),
        ("It found 2 planted errors to be true.", "Es hielt 2 versteckte Fehler für wahr."),
        ("Kept: 1 of 3 on your list.", "Behalten: 1 von 3 auf Ihrer Liste."),
        ("Lost: 1 decision, 2 open. Kept: the inventory of a 1 of 4.", "Verloren: 1 Entscheidung, 2 offen. Behalten: "
         "1 von 4 auf der Liste, die a vom Protokoll gemacht hat."),
        # Words of people stay as they are.
        ("Hello. My turn 5 is here. Nothing is lost", "Hello. My turn 5 is here. Nothing is lost"),
    ],
)  # fmt: skip
def test_sentences_that_are_made_of_others_are_german_in_all_their_parts(stored: str, shown: str | None) -> None:
    expected = "Aussage 5: sie zitiert 9.9, was im Protokoll nicht vorkommt und 3 weitere." if shown is None else shown
    assert in_german(stored) == expected


def offered(text: str) -> Iterator[str]:
    try:
        parse_draft(text)
    except Malformed as error:
        yield str(error)


def claim_with(**given: Any) -> str:
    base = {"id": "1", "section": "fact", "status": "stated", "text": "A.", "cites": ["1.1"]}
    return json.dumps({"claims": [{key: value for key, value in {**base, **given}.items() if value is not None}]})


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no JSON",
        "{",
        "[1,",
        '{"claims" 1}',
        '{"claims": NaN}',
        '{"claims": [1 2]}',
        '{"claims": "abc',
        '{"claims": "a\tb"}',
        "{} {}",
        "[]",
        "{}",
        '{"claims": {}}',
        '{"claims": []}',
        '{"claims": [1]}',
        '{"claims": [], "claims": []}',
        claim_with(more=1),
        claim_with(id=None),
        claim_with(id="a/b"),
        claim_with(section="song"),
        claim_with(text=""),
        claim_with(text=5),
        claim_with(text="\x00"),
        claim_with(cites="1.1"),
        claim_with(section="decision"),
    ],
)
def test_what_is_wrong_with_an_answer_is_german_too(text: str) -> None:
    for error in offered(text):
        for stored in (f"Not in its form: {error}.", f"Its answer can't be read: {error}."):
            shown = in_german(stored)
            assert shown.startswith(("Nicht in der Form: ", "Seine Antwort ist nicht lesbar: "))
            assert re.findall(r"\b(?:the|is|not|should|be|have|has|asked|at|are|Input|Expecting|of)\b", shown) == []


# Pages


def shown_on(client: Client, row: Artifact) -> dict[str, str]:
    """What the pages of a summary show, in German, by their addresses."""
    addresses = [
        row.get_absolute_url(),
        f"{row.get_absolute_url()}?show=dropped",
        reverse("review_desk", args=[row.pk]),
        reverse("accept", args=[row.pk]),
        reverse("reviews"),
        *(f"{reverse('reviews')}?tab={tab}" for tab in ("not-checked", "blocked", "accepted", "rolled-back")),
        *(reverse("gate", args=[row.pk, letter]) for letter in "ABCDE"),
        row.session.get_absolute_url(),
    ]
    answers = {address: client.get(address, headers=GERMAN, follow=True) for address in addresses}
    assert {address: answer.status_code for address, answer in answers.items() if answer.status_code != 200} == {}
    return {
        address: re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", answer.content.decode())))
        for address, answer in answers.items()
    }


# A sentence's own English, where it is long enough to be nobody else's.
OWN = sorted(
    {
        words
        for template in [*sentences_of(GATES), *sentences_of(CHECKS), *QUOTED]
        for words in english_of(template)
        if words.count(" ") > 1
    }
)


def english_on(pages: dict[str, str]) -> list[tuple[str, str]]:
    return [(address, words) for address, page in pages.items() for words in OWN if words in page]


@pytest.mark.slow
@pytest.mark.parametrize("name", STATES)
def test_no_page_of_a_summary_shows_what_a_gate_says_in_english(room: Room, as_alice: Client, name: str) -> None:
    row = STATES[name](room)
    run = row.gate_runs.order_by("-pk").first()
    assert run is not None
    stored = json.dumps(run.verdicts)
    pages = shown_on(as_alice, row)
    assert english_on(pages) == []
    told_there = [text for one in run.verdicts for text in [one["says"], *(fault["text"] for fault in one["failures"])]]
    assert [(address, text) for address, page in pages.items() for text in told_there if text in page] == []
    # Reading it has changed nothing.
    run.refresh_from_db()
    assert json.dumps(run.verdicts) == stored


@pytest.mark.slow
@pytest.mark.parametrize("evaluator", ["5", "6", "7", "8"])
def test_whatever_a_gate_has_found_its_page_says_it_in_german(
    room: Room, alice: User, as_alice: Client, evaluator: str
) -> None:
    row = STATES["reviewed"](room)
    run = GateRun.objects.filter(artifact=row).latest("pk")
    texts = [told(template) for template in sentences_of(GATES)]
    failures = [{"rule": "x", "about": "", "text": text, "id": "", "told": ""} for text in texts]
    verdicts = [
        {**one, "outcome": "fail", "failures": failures, "evaluator_version": evaluator} for one in run.verdicts
    ]
    GateRun.objects.filter(pk=run.pk).update(verdicts=verdicts)
    assert english_on(shown_on(as_alice, row)) == []


@pytest.mark.slow
def test_why_a_check_proves_nothing_is_german_wherever_it_is_told(room: Room, as_alice: Client) -> None:
    row = STATES["void"](room)
    assert Check.objects.filter(family=row.family).exclude(void="").exists()
    for void in (told(template) for template in sentences_of(CHECKS)):
        Check.objects.filter(family=row.family).exclude(void="").update(void=void[:500], model=F("model"))
        page = html.unescape(as_alice.get(row.get_absolute_url(), headers=GERMAN).content.decode())
        assert [page[found.start() - 200 : found.end()] for found in re.finditer(re.escape(void), page)] == []
