"""Cues are phrases that people use, and nobody's whole message."""

from __future__ import annotations

import re
from types import ModuleType

import pytest

from benchmarks.proofs import scripts
from efforts.domain.effort import resolution
from efforts.llm.builtin.cues import efforts, talk
from efforts.management.scenes import Exchange

SENTENCES = (
    "Hey, how's it going?",
    "Let's debug the payment webhook, it times out after 30 seconds",
    "let's debug the payment webhook",
    "help me plan my vacation",
    "my back has been hurting",
    "Done, the webhook works now",
    "What exactly did we change for the payment webhook?",
    "what exactly did we do for",
    "Actually, let's work on X instead",
    "That answers my question",
)


def said_in_proofs() -> list[str]:
    """The sentences of the people in the scripts, but for exclamations that anybody makes."""
    values = [one for value in vars(scripts).values() for one in (value if isinstance(value, tuple) else (value,))]
    told = [piece for one in values if isinstance(one, Exchange) for piece in re.split(r"[.?!:;\n]+", one.user)]
    return [sentence.strip() for sentence in told if len(sentence.split()) >= 4]


def plain(text: str) -> str:
    return re.sub(r"[^a-z' ]", "", text.casefold())


@pytest.mark.parametrize("module", [resolution, efforts, talk])
@pytest.mark.parametrize("sentence", [*SENTENCES, *said_in_proofs()])
def test_no_cue_is_a_whole_sentence_of_the_examples(module: ModuleType, sentence: str) -> None:
    patterns = [value.pattern for value in vars(module).values() if isinstance(value, re.Pattern)]
    assert patterns
    alternatives = [plain(alternative) for pattern in patterns for alternative in re.split(r"\(\?:|[|)]", pattern)]
    assert plain(sentence) not in alternatives
    assert all(plain(sentence) not in plain(pattern) for pattern in patterns)


def test_the_proofs_say_something() -> None:
    assert len(said_in_proofs()) > 20
