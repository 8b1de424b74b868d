"""What a gate that passes says is told in whole sentences on pages; what is stored keeps its words."""

from __future__ import annotations

import pytest
from django.utils import translation

from compaction.pages.presenters.gates import plainly
from efforts.models.said import said


@pytest.mark.parametrize(
    ("stored", "shown", "german"),
    [
        (
            "5 claims: the cited sentences are in the log, and so are all values, read by drafter-1, alice.",
            "5 claims: every cited sentence is in the log, and so is every number, date and name. Read by drafter-1, "
            "alice.",
            "5 Aussagen: Jeder zitierte Satz steht im Protokoll, ebenso jede Zahl, jedes Datum und jeder Name. Gelesen "
            "von drafter-1, alice.",
        ),
        (
            "1 claim: the cited sentences are in the log, and so are all values. Whether the sentences say what the "
            "claims say, nobody has read.",
            "1 claim: every cited sentence is in the log, and so is every number, date and name. Nobody has read "
            "whether the sentences mean the same.",
            "1 Aussage: Jeder zitierte Satz steht im Protokoll, ebenso jede Zahl, jedes Datum und jeder Name. Niemand "
            "hat gelesen, ob die Sätze dasselbe bedeuten.",
        ),
        (
            "64 tokens of text, the words of the log have 5,678; 900 to draft it and 1,200 to check it, within the "
            "caps.",
            "The text for the prompt has 64 tokens without its heading, the words of the log have 5,678. Spent: 900 to "
            "draft it and 1,200 to check it, within the caps.",
            "Der Text für den Prompt hat ohne seine Überschrift 64 Tokens, die Wörter des Protokolls haben 5.678. "
            "Verbraucht: 900 für den Entwurf und 1.200 für die Prüfung, innerhalb der Obergrenzen.",
        ),
        (
            "64 tokens of text, the words of the log have 654; no model was asked.",
            "The text for the prompt has 64 tokens without its heading, the words of the log have 654. No model was "
            "asked.",
            "Der Text für den Prompt hat ohne seine Überschrift 64 Tokens, die Wörter des Protokolls haben 654. "
            "Kein Modell wurde gefragt.",
        ),
        ("No contradiction.", "No contradiction.", "Kein Widerspruch."),
    ],
)
def test_the_words_of_a_gate_that_passes_are_whole_sentences(stored: str, shown: str, german: str) -> None:
    assert plainly(stored) == shown
    with translation.override("de"):
        assert said(shown) == german
