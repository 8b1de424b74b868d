"""What recall brings, judged by a strong reader who does not know how it was chosen: does a passage help to answer?

The requests are files for whoever answers them (`gates/pending.py` does it alike). What was answered is kept by message
and passage, in hashes: a rule that brings fewer passages is measured by what was judged before. Of a message only what
recall brings within its guaranteed share.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from benchmarks.gates.pending import said_by
from benchmarks.replay import Talk
from efforts.domain.prompt.conversation import Recalled
from efforts.domain.text.canonical import canonical_json, sha256

from .asking import Chosen, Stage, next_plan, staged
from .remarks import WINDOW, Spoken, brought_at, fitting, spoken_in, window

T = TypeVar("T")
# A message and a passage, as hashes: what was said is not to be copied.
Pair = tuple[str, str]
Verdicts = dict[Pair, bool]
# In the folder of the requests: which passages each of them asks about.
ASKED = "passages.jsonl"
ORDINARY, QUESTION = "ordinary message", "question"
# Turns before the message that the reader sees, and characters of each side: whether something is known already.
BEFORE, OF_EACH = 2, 600
# So many times as many ordinary messages are tried as are judged: at most of them nothing is recalled.
TRIED = 6


@dataclass(frozen=True, kw_only=True)
class Brought:
    """What recall brings at one message; nothing where it does not fire. `before`: what was said just before."""

    kind: str
    text: str
    before: Sequence[Spoken]
    passages: Sequence[str]

    @property
    def messages(self) -> list[dict[str, str]]:
        before = [f"A: {one.said[:OF_EACH]}\nB: {one.reply[:OF_EACH]}".strip() for one in self.before]
        numbered = [f"{number}. {text}" for number, text in enumerate(self.passages, 1)]
        parts = {
            "Just before": "\n\n".join(before) or "(nothing is shown)",
            "The message": self.text,
            "Passages": "\n\n".join(numbered),
        }
        said = "\n\n".join(f"## {title}\n{text}" for title, text in parts.items())
        return [{"role": "system", "content": task()}, {"role": "user", "content": said}]

    @property
    def key(self) -> str:
        return sha256(canonical_json(self.messages))

    @property
    def pairs(self) -> list[Pair]:
        """The message with each of its passages, by which verdicts are kept."""
        before = [(one.said, one.reply) for one in self.before]
        message = sha256(canonical_json([self.text, before]))
        return [(message, sha256(text)) for text in self.passages]


def task() -> str:
    return (Path(__file__).parent / "judge.md").read_text(encoding="utf-8").strip()


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Of one kind of talk: how many ordinary messages were tried, at how many something was recalled, and what is
    judged of these and of the questions."""

    name: str
    tried: int
    fired: int
    brought: tuple[Brought, ...]


def sample(name: str, talks: Sequence[Talk], chosen: Chosen, *, messages: int, questions: int) -> Sample:
    """`messages`, `questions`: about how many of each are judged, evenly over the conversations."""
    tried, ordinary, asked = 0, list[Brought](), list[Brought]()
    for talk in talks:
        with staged(talk, chosen) as stage:
            met = list(at_messages(stage, TRIED * -(-messages // len(talks))))
            tried += len(met)
            ordinary += [one for one in met if one.passages]
            asked += at_questions(stage, -(-questions // len(talks)))
    return Sample(
        name=name,
        tried=tried,
        fired=len(ordinary),
        brought=(*evenly(ordinary, messages), *evenly([one for one in asked if one.passages], questions)),
    )


def at_messages(stage: Stage, most: int) -> Iterator[Brought]:
    turns = spoken_in(stage.talk)
    step = max(-(-len(turns) // max(most, 1)), 1)
    for place in range(step, len(turns) - 1, step):
        turn = turns[place]
        shown = window(turns[:place], turn.session, int(stage.chosen.budget * WINDOW))
        brought = brought_at(stage, turn, shown)
        yield Brought(
            kind=ORDINARY, text=turn.said, before=list(reversed(shown[:BEFORE])), passages=list(map(quoted, brought))
        )


def at_questions(stage: Stage, most: int) -> Iterator[Brought]:
    for question in evenly(stage.talk.questions, most):
        brought = fitting(next_plan(stage, question.text).recalled, int(stage.chosen.budget * stage.chosen.cap))
        yield Brought(kind=QUESTION, text=question.text, before=(), passages=list(map(quoted, brought)))


def quoted(one: Recalled) -> str:
    return f"({one.said_on}, {one.message.role}) {one.text}"


def evenly(rows: Sequence[T], most: int) -> list[T]:
    return list(rows) if len(rows) <= most else [rows[place * len(rows) // most] for place in range(most)]


def export(samples: Sequence[Sample], folder: Path, known: Verdicts) -> int:
    """Of what brings a passage that nobody has judged."""
    folder.mkdir(parents=True, exist_ok=True)
    every = [one for some in samples for one in some.brought if not known.keys() >= {*one.pairs}]
    for one in every:
        parts = (said_by(said["role"], said["content"]) for said in one.messages)
        (folder / f"{one.key}.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    rows = (json.dumps({"request": one.key, "pairs": one.pairs}) + "\n" for one in every)
    (folder / ASKED).write_text("".join(rows), encoding="utf-8")
    return len(every)


def answered(folder: Path, answers: Mapping[str, str]) -> Verdicts:
    """Of the requests in the folder. Raises `ValueError` where an answer is none to its request, `OSError`."""
    asked = [json.loads(line) for line in (folder / ASKED).read_text(encoding="utf-8").splitlines()]
    found: Verdicts = {}
    for row in asked:
        if row["request"] in answers:
            said = verdicts(row["request"], len(row["pairs"]), answers[row["request"]])
            found |= {(message, passage): is_so for (message, passage), is_so in zip(row["pairs"], said, strict=True)}
    return found


def verdicts(request: str, passages: int, answer: str) -> list[bool]:
    given = json.loads(answer)
    numbers = [str(number) for number in range(1, passages + 1)]
    if not isinstance(given, dict) or sorted(given) != sorted(numbers) or not set(given.values()) <= {"yes", "no"}:
        raise ValueError(f"The answer to {request} does not say yes or no of each passage.")
    return [given[number] == "yes" for number in numbers]


def read_verdicts(file: Path) -> Verdicts:
    """Nothing where there is no such file yet. Raises `ValueError`."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    rows = [json.loads(line) for line in lines]
    return {(row["message"], row["passage"]): bool(row["helps"]) for row in rows}


def write_verdicts(file: Path, known: Verdicts) -> None:
    rows = ({"message": message, "passage": passage, "helps": helps} for (message, passage), helps in known.items())
    lines = sorted(json.dumps(row) + "\n" for row in rows)
    file.write_text("".join(lines), encoding="utf-8")


def judged(some: Sample, known: Verdicts, kind: str) -> dict[str, float | int]:
    """Of the messages of which every passage was judged."""
    of_kind = [one for one in some.brought if one.kind == kind]
    rows = [[known[pair] for pair in one.pairs] for one in of_kind if known.keys() >= {*one.pairs}]
    passages = [helps for row in rows for helps in row]
    return {
        "judged": len(rows),
        "unanswered": len(of_kind) - len(rows),
        "passages": len(passages),
        "helpful": round(sum(passages) / len(passages), 4) if passages else 0.0,
        "any": round(sum(any(row) for row in rows) / len(rows), 4) if rows else 0.0,
    }
