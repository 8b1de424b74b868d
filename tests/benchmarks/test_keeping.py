"""`manage.py salience`: what stands in the prompt at the end of a conversation, and what its questions bring back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from benchmarks.recall import KeepingReport
from benchmarks.recall.baselines import SeedReferences
from benchmarks.recall.keeping import Answered, Kept
from benchmarks.replay import Question, Settings, read_talks
from efforts.domain.effort.policy import ContextMode
from tests.house.process import ROOT

pytestmark = pytest.mark.long

TOLD = {
    1: "My sister plays the clarinet in the harbour orchestra, and the orchestra travels.",
    2: "We booked the cabin at Lake Mirin for August, and the cabin has a stove.",
    3: "The dentist in Elm Street pulled a wisdom tooth, and the tooth was crooked.",
}
# In the sixth session somebody comes back to the second.
AGAIN = "Is there firewood for the stove of the cabin?"
# Long enough for excerpts of a session to be smaller than the session.
REPLY = "I see, and I will keep it in mind for when we talk again."
SMALL_TALK = ("Good morning.", "It rains.", "It is late.", "Never mind.")
QUESTIONS = (
    ("Is the clarinet in the orchestra?", "word for word", 1),
    ("Does the cabin have a stove?", "word for word", 2),
    ("Where is the dentist?", "other words", 3),
    ("Which king was tall?", "nobody knows", 1),
)


def said() -> Iterator[tuple[int, str]]:
    for session in range(1, 10):
        yield from ((session, text) for text in (TOLD.get(session), AGAIN if session == 6 else None) if text)
        yield from ((session, text) for text in SMALL_TALK)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = [
        {"id": f"m{number}-{role}", "session": session, "role": role, "text": text if role == "user" else REPLY}
        for number, (session, text) in enumerate(said())
        for role in ("user", "assistant")
    ]
    questions = [
        {"id": f"q{n}", "question": text, "answer": "never read", "category": category, "evidence_sessions": [session]}
        for n, (text, category, session) in enumerate(QUESTIONS)
    ]
    path = tmp_path_factory.mktemp("talk") / "talk.jsonl"
    path.write_text(
        json.dumps({"id": "talk", "source": "test", "messages": messages, "sessions": [], "questions": questions})
    )
    return path


def run(file: Path, *more: str) -> tuple[int, dict[str, Any]]:
    command = [sys.executable, "manage.py", "salience", str(file), "--json", "--sample", "1", *more]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    return done.returncode, json.loads(done.stdout)


@pytest.fixture(scope="module")
def found(file: Path) -> dict[str, Any]:
    code, found = run(file, "--most", "0.7", "--least", "0.7")
    assert (code, found["holds"]) == (0, True)
    return found


def test_what_was_come_back_to_stands_at_the_end_and_the_rest_as_long_as_the_rule_says(found: dict[str, Any]) -> None:
    (one,) = found["conversations"]
    # The sixth speaks of the cabin of the second; the first, the third and the fourth ended 20 turns ago and more.
    assert (one["turns"], one["headlines"], one["standing"], one["evicted"]) == (40, 9, 6, 3)
    assert found["share"] == pytest.approx(6 / 9, abs=1e-4)
    [sample] = found["sample"]
    assert (sample["effort"], sample["by"], sorted(sample["words"])) == ("session-2", "user", ["cabin", "stove"])


def test_of_each_question_it_is_told_how_the_headline_of_its_evidence_comes(found: dict[str, Any]) -> None:
    # The cabin is spoken of in the sixth too, where nobody looks for the answer.
    right = round(2 / 3, 4)
    counts = {"questions": 4, "brought": 0.75, "kept": 1, "reference": 2, "search": 3, "missed": 1, "right": right}
    assert found["questions"]["all"] == counts
    assert found["questions"]["other words"]["search"] == 1
    assert [one["question"] for one in found["missed"]] == ["Which king was tall?"]


@pytest.mark.slow
def test_it_prints_the_same_again_and_fails_where_too_much_stands(file: Path, found: dict[str, Any]) -> None:
    code, again = run(file, "--most", "0.6")
    assert code == 1
    assert again == {**found, "holds": False}


@pytest.mark.parametrize(("most", "least"), [(0.4, 0.0), (1.0, 0.6)])
def test_both_shares_must_be_as_asked_for(most: float, least: float) -> None:
    kept = Kept(id="talk", concluded=["a", "b"], standing=["a"], answered=[answered("a"), answered("b")])
    report = KeepingReport(name="talk", most=0.5, least=0.5, conversations=[kept])
    assert report.holds
    assert not replace(report, most=most, least=least).holds


def answered(evidence: str) -> Answered:
    nothing = frozenset[str]()
    question = Question(id="q", text="?", category="any")
    return Answered(
        question=question, evidence=frozenset({evidence}), kept=frozenset({"a"}), reference=nothing, search=nothing
    )


def test_the_seeds_rule_takes_any_two_words_and_ids_inside_of_words() -> None:
    rule = SeedReferences()
    rule.conclude("ui", "Caroline really liked the painting class", 1)
    assert rule.referenced("We are building it") == ["ui"]
    assert rule.referenced("I really liked that") == ["ui"]
    assert rule.referenced("I liked that") == []
    rule.hear("I really liked that", 9)
    assert (rule.standing(28, 20), rule.standing(29, 20)) == ({"ui"}, set())


@pytest.mark.slow
@pytest.mark.skipif("CCM_DATA" not in os.environ, reason="CCM_DATA is not set: no conversations to measure")
@pytest.mark.django_db(transaction=True)
def test_real_talk_forgets_and_finds(tmp_path: Path) -> None:
    report = KeepingReport(name="locomo-dev", most=0.6, least=0.9)
    (talk,) = read_talks(Path(os.environ["CCM_DATA"]) / "locomo-dev.jsonl", 1)
    report.add(talk, Settings(budget=4_000, mode=ContextMode.OFF))
    assert report.holds, report.as_json()["questions"]
