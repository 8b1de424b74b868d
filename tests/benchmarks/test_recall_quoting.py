"""What a ranking would bring into prompts; and vectors that are asked for once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.recall.kinds import BUDGETS, PRODUCT, Hit, figures_of, focused_methods, index, quoted
from benchmarks.recall.ranks import Table
from benchmarks.recall.remembered import Remembered
from benchmarks.replay.conversations import talk_of
from efforts.llm.embeddings import Embedded


def hit(id: str, tokens: int, score: float = 1.0) -> Hit:
    return Hit(holds=(id,), stands=(id,), tokens=tokens, score=score)


def test_the_guaranteed_room_is_filled_by_rank_and_free_room_until_one_does_not_fit_or_adds_little() -> None:
    found = [hit("a", 700), hit("b", 600, 0.9), hit("c", 90, 0.4), hit("d", 500, 0.45), hit("e", 50, 0.1)]
    assert [one.holds[0] for one in quoted(found, 4_000)] == ["a", "c", "b"]
    assert quoted([], 4_000) == []


def test_evidence_is_what_stands_and_not_what_is_only_touched() -> None:
    touched = Hit(holds=("a", "b"), stands=("b",), tokens=100)
    row = figures_of([frozenset({"a"}), frozenset({"b"})], [touched])
    assert (row["recall@5"], row["evidence@4000"], row["tokens@4000"]) == (1, 0.5, 100)
    table = Table()
    for tokens in (100, 300, 200):
        table.add("kind", figures_of([frozenset({"a"})], [hit("a", tokens)]))
    assert table.median(f"tokens@{BUDGETS[-1]}") == 200


def test_the_focus_is_put_where_the_evidence_is_and_elsewhere() -> None:
    said = [("a", "The harbour has a crane."), ("b", "The harbour has a ferry."), ("c", "A crane of paper.")]
    messages = [
        {"id": id, "session": number, "role": "user", "speaker": "Ann", "text": text}
        for number, (id, text) in enumerate(said, 1)
    ]
    sessions = [{"n": number, "date": "2026-03-05"} for number in (1, 2, 3)]
    question = {"id": "q", "question": "What of the harbour?", "answer": "", "category": "x", "evidence": ["b"]}
    row = {"id": "talk", "source": "test", "messages": messages, "sessions": sessions, "questions": [question]}
    talk = index(talk_of(row))
    methods = focused_methods(talk)
    [asked] = talk.talk.questions
    best = {name: rank(talk, asked)[0] for name, rank in methods.items()}
    # Of equals the one said first, where nothing is boosted; elsewhere is the session after, which has no such word.
    assert {name: one.holds for name, one in best.items()} == {
        PRODUCT: ("a",),
        "focus where the first evidence is": ("b",),
        "focus elsewhere": ("a",),
    }
    assert best["focus where the first evidence is"].score > best[PRODUCT].score


class Counting:
    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str], *, seconds: float) -> Embedded:
        self.asked += texts
        return Embedded(vectors=np.array([[len(text), 1] for text in texts], dtype=np.float32), tokens=None)


def test_a_text_is_embedded_once_however_often_it_is_measured(tmp_path: Path) -> None:
    first, again = Counting(), Counting()
    asked = Remembered(first, tmp_path / "new" / "vectors").embed(["one", "three", "one"], seconds=1)
    assert first.asked == ["one", "three"]
    kept = Remembered(again, tmp_path / "new" / "vectors").embed(["three", "one", "three"], seconds=1)
    assert again.asked == []
    assert asked.vectors.tolist() == [[3, 1], [5, 1], [3, 1]]
    assert kept.vectors.tolist() == [[5, 1], [3, 1], [5, 1]]
