"""A model that drafts and checks summaries as it is told: a step for `FakeProvider.otherwise`.

    model = Summariser()
    model.writes("decision", "We take the rubber case", owner="")      # of the sentence of the log that has these words
    model.doubts("rubber", "contradicted", phrase="rubber")            # what a check is to say of such a claim
    provider.otherwise = model

It reads each request as a model would: canaries and controls it compares with the log, claims it knows because it wrote
them. What it has not written it calls wrong, so turned claims are caught. `asleep = True` finds everything true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from compaction.domain.artifact import STATUSES, Section
from compaction.drafting.examining import papers
from compaction.drafting.requesting import shown

from .provider import Answer, Reply

HEADER = re.compile(r"^\[(\d+)\] turn (\d+) · (.*)$")
SENTENCE = re.compile(r"^(\d+\.\d+) (.*)$")
NOTE = re.compile(r"^(\d+)\. (.*?)(?: — ([\d., ]+))?$")
QUOTED = re.compile(r"In (\S+) (.+?) wrote: “(.*)”", re.DOTALL)
TASKS = {
    "Task: write down": "draft",
    "Task: list what": "inventory",
    "Task: check the notes": "half",
    "Task: below are entries": "mapping",
    "Task: below are notes": "overtaken",
    "Your notes do not hold": "repair",
}
RETAINED = ("decision", "open_work", "rule")


@dataclass(frozen=True)
class Line:
    id: str
    who: str
    text: str


@dataclass
class Summariser:
    """`script`: what it writes, by words of the sentence that a claim is of; `misses`: kinds that it leaves out of its
    inventory; `lacks`: of entries with such words it finds so much untold, though notes tell the rest; `answers`: by
    step another answer, in its turn."""

    script: list[dict[str, Any]] = field(default_factory=list)
    opinions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    listed: list[tuple[str, str]] = field(default_factory=list)
    lacks: dict[str, str] = field(default_factory=dict)
    overtakes: list[tuple[str, str, str]] = field(default_factory=list)
    repairs: Callable[[str, list[Line]], dict[str, Any]] | None = None
    known: set[str] = field(default_factory=set)
    asleep: bool = False
    exam: bool = True
    answers: dict[str, list[Any]] = field(default_factory=dict)
    steps: list[str] = field(default_factory=list)
    chat: Answer = field(default_factory=lambda: Reply("All right."))

    def writes(self, section: str, words: str, text: str = "", **more: Any) -> None:
        status = more.pop("status", STATUSES[Section(section)][0])
        self.script.append({"section": section, "status": str(status), "words": words, "text": text, **more})

    def doubts(self, words: str, verdict: str = "contradicted", **more: Any) -> None:
        self.opinions.append((words, {"verdict": verdict, **more}))

    def believes(self, section: str, text: str, **more: Any) -> None:
        """What a person has worded: it finds that in the log as it stands, and what is turned in it wrong."""
        status = more.pop("status", STATUSES[Section(section)][0])
        self.remember(claim("", {"section": section, "status": str(status), **more}, text, []))

    def lists(self, kind: str, words: str) -> None:
        """What it lists beside what it writes."""
        self.listed.append((kind, words))

    def __call__(self, request: dict[str, Any]) -> Answer:
        said = request["messages"][-1]["content"]
        step = step_of(said)
        self.steps.append(step)
        if scripted := self.answers.get(step):
            answer = scripted.pop(0)
            return Reply(answer) if isinstance(answer, str) else answer
        if step == "chat":
            return self.chat
        first = request["messages"][1]["content"]
        return Reply(json.dumps(getattr(self, step)(first, lines_of(first)), ensure_ascii=False))

    # Steps

    def draft(self, said: str, log: list[Line]) -> dict[str, Any]:
        wanted = self.script or [{"section": "result", "status": "stated", "words": log[0].text, "text": ""}]
        claims = []
        for number, one in enumerate(wanted, start=1):
            found = [line for line in log if one["words"] in line.text]
            if found:
                cites = [line.id for line in found][: one.get("most", 1)]
                text = one["text"] or found[0].text
                claims.append(claim(one.get("id", str(number)), one, text, one.get("cites") or cites))
        return {"claims": [self.remember(one) for one in claims]}

    def repair(self, said: str, log: list[Line]) -> dict[str, Any]:
        answer = self.repairs(said, log) if self.repairs else {"claims": [], "drop": []}
        answer["claims"] = [self.remember(one) for one in answer["claims"]]
        return answer

    def remember(self, made: dict[str, Any]) -> dict[str, Any]:
        self.known.add(told(made))
        return made

    def inventory(self, said: str, log: list[Line]) -> dict[str, Any]:
        wanted = [(one["section"], one["words"]) for one in self.script if one["section"] in RETAINED]
        entries = []
        for kind, words in (*wanted, *self.listed):
            found = next((line for line in log if words in line.text), None)
            if found:
                entries.append({"kind": kind, "text": found.text, "sentences": [found.id]})
        return {"entries": entries}

    def half(self, said: str, log: list[Line]) -> dict[str, Any]:
        key = exam_key()
        notes = [NOTE.match(line) for line in said.split("\nNotes:\n")[1].split("\n")]
        return {"verdicts": [{"note": int(note[1]), **self.verdict(note[2], log, key)} for note in notes if note]}

    def verdict(self, note: str, log: list[Line], key: dict[str, str]) -> dict[str, Any]:
        if note in key:
            return {"verdict": key[note] if self.exam else "entailed"}
        if self.asleep:
            return {"verdict": "entailed"}
        if quoted := QUOTED.search(note):
            holds = any((line.id, line.who, line.text) == quoted.groups() for line in log)
            return {"verdict": "entailed" if holds else "contradicted", "phrase": quoted[3], "sentence": quoted[1]}
        for words, opinion in self.opinions:
            if words in note:
                return opinion
        return {"verdict": "entailed" if note in self.known else "contradicted", "phrase": note}

    def mapping(self, said: str, log: list[Line]) -> dict[str, Any]:
        entries, notes = said.split("\nEntries:\n")[1].split("\nNotes:\n")
        texts = {int(found[1]): found[2] for line in notes.split("\n") if (found := NOTE.match(line))}
        told_by = []
        sentences: dict[int, list[str]] = {}
        number = 0
        for line in entries.strip().split("\n"):
            if found := re.match(r"^(\d+)\. \[(\w+)\] (.*)$", line):
                number = int(found[1])
                sentences[number] = [found[3]]
            else:
                sentences[number].append(line.split(": ", 1)[1])
        for entry, words in sentences.items():
            notes_by = [n for n, text in texts.items() if self.tells(text, words)]
            lacking = next((lack for said, lack in self.lacks.items() if any(said in one for one in words)), "")
            told_by.append({"entry": entry, "notes": notes_by, "missing": lacking if notes_by else ""})
        return {"told": told_by}

    def tells(self, note: str, words: list[str]) -> bool:
        """The note is what this model wrote of one of the entry's sentences."""
        if any(one in note for one in words):
            return True
        written = [one for one in self.script if one["text"] and one["text"] in note]
        return any(one["words"] in sentence for one in written for sentence in words)

    def overtaken(self, said: str, log: list[Line]) -> dict[str, Any]:
        notes = {int(found[1]): found[2] for line in said.split("\n") if (found := NOTE.match(line))}
        found_of = lambda words: next((n for n, text in notes.items() if words in text), 0)  # noqa: E731
        pairs = [(found_of(one), found_of(by), how) for one, by, how in self.overtakes]
        return {"overtaken": [{"note": one, "by": by, "how": how} for one, by, how in pairs if one and by]}


def step_of(said: str) -> str:
    return next((step for begins, step in TASKS.items() if begins in said), "chat")


def lines_of(said: str) -> list[Line]:
    found: list[Line] = []
    who = ""
    for line in said.split("[End of log]")[0].split("\n"):
        if header := HEADER.match(line):
            role, _, speaker = header[3].split(" · ")[0].partition(" ")
            speaker = "" if speaker.startswith(("calls", "result")) else speaker
            who = speaker or f"the {role}"
        elif sentence := SENTENCE.match(line):
            found.append(Line(sentence[1], who, sentence[2]))
        elif line.startswith("    ") and found:
            found[-1] = Line(found[-1].id, who, f"{found[-1].text} {line.strip()}")
    return found


def claim(id: str, one: dict[str, Any], text: str, cites: list[str]) -> dict[str, Any]:
    return {
        "id": id,
        "section": one["section"],
        "status": one["status"],
        "text": text,
        "owner": one.get("owner", ""),
        "due": one.get("due", ""),
        "cites": cites,
        "ledger_ref": one.get("ledger_ref", ""),
    }


def told(made: dict[str, Any]) -> str:
    more = "; ".join(filter(None, [made["owner"] and f"owner: {made['owner']}", made["due"] and f"due: {made['due']}"]))
    text = " ".join(made["text"].split())
    return f"[{made['section']}, {made['status']}] {text}{f' ({more})' if more else ''}"


def exam_key() -> dict[str, str]:
    return {
        shown(note.claim): "contradicted" if note.number in paper.wrong else "entailed"
        for paper in papers()
        for note in paper.notes
    }
