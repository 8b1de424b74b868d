"""A log with good notes and mistakes to plant, and a reader who answers what `evaluate_gates` exports about it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from benchmarks.gates.cases import Case, read_trust
from compaction.domain.check.notes import name_of
from compaction.drafting.examining import papers
from efforts.domain.text.locating import one_line
from efforts.domain.text.source_text import Source

SAID = [
    (
        "user",
        "We need a new case for the remote control before the fair in May. Never touch the old stock of the shop.",
    ),
    ("assistant", "Rubber costs 4 euros a piece, wood costs 9 euros, and both can be here in two weeks."),
    ("user", "We take the rubber case because it survives a fall. Jo orders 40 cases by Friday and tells the shop."),
    ("assistant", "Noted. The supplier said that rubber is not available in green, so the colour is still open."),
    ("user", "Mara asks the supplier about the colours next week. The fair has moved to the hall in Kassel."),
    ("assistant", "Then the stand should be booked in Kassel as soon as the plan of the hall is there."),
]
NOTES = [
    ("1", "constraint", "in_force", "Never touch the old stock of the shop.", [(1, "Never touch the old stock")]),
    (
        "2",
        "decision",
        "accepted",
        "The case is made of rubber because it survives a fall.",
        [(3, "We take the rubber")],
    ),
    ("3", "open_work", "open", "Jo orders 40 cases by Friday.", [(3, "Jo orders 40 cases")]),
    ("4", "open_work", "open", "Mara asks the supplier about the colours.", [(5, "Mara asks the supplier")]),
    ("5", "fact", "stated", "Rubber is not available in green.", [(4, "The supplier said")]),
    ("6", "fact", "stated", "The fair has moved to the hall in Kassel.", [(5, "The fair has moved")]),
]
DEFECTS: list[dict[str, Any]] = [
    {"kind": "wrong reason", "claim": "2", "replace": "it survives a fall", "by": "it is cheaper"},
    {"kind": "negation dropped", "claim": "5", "replace": "is not available", "by": "is available"},
    {"kind": "wrong number", "claim": "3", "replace": "40", "by": "90"},
    {"kind": "omitted open work", "drop": "4"},
    {"kind": "omitted decision", "drop": "2"},
    {"kind": "wrong owner", "claim": "9", "replace": "Mara", "by": "Jo"},
    {"kind": "quote altered", "claim": "2", "quote_replace": "We take", "quote_by": "We leave"},
    {
        "kind": "fabricated item",
        "add_line": "- decision/accepted/user | The stand is built by Mara. | 6: Then the stand should be booked",
    },
    {
        "kind": "headline: meaning inverted",
        "claim": "headline",
        "replace": "is made of rubber",
        "by": "is made of wood",
    },
]
MUST_NOT_BE_LOST = ("decision", "open_work", "rule")


def trust_file() -> dict[str, Any]:
    return {
        "id": "trust-case",
        "messages": [
            {"id": n, "turn": (n + 1) // 2, "role": role, "text": text} for n, (role, text) in enumerate(SAID, start=1)
        ],
        "good": {
            "headline": "A new case was wanted, and it is made of rubber.",
            "headline_items": ["2"],
            "items": [
                {
                    "id": id,
                    "section": section,
                    "status": status,
                    "actor": "user",
                    "text": text,
                    "quotes": [{"message": message, "quote": quote} for message, quote in quotes],
                }
                for id, section, status, text, quotes in NOTES
            ],
        },
        "defects": DEFECTS,
    }


def put_trust(folder: Path) -> Case:
    path = folder / "trust" / "dev.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(trust_file()) + "\n", encoding="utf-8")
    return read_trust(path)[0]


class Reader:
    """Knows which notes are good. `notices` those that are not; if not `awake`, it does not read at all."""

    def __init__(self, case: Case, *, notices: bool = True, awake: bool = True) -> None:
        self.case, self.notices, self.awake = case, notices, awake
        cites = {id: self.cites(quotes) for id, _, _, _, quotes in NOTES}
        self.claims = [
            {"id": "r1", "section": "result", "status": "stated", "text": trust_file()["good"]["headline"]}
            | {"cites": ["1.1", *cites["2"]], "owner": "", "due": ""}
        ]
        for id, section, status, text, _ in NOTES:
            named = "rule" if section == "constraint" else section
            said = {"id": id, "section": named, "status": status, "text": text, "cites": cites[id]}
            self.claims.append(said | {"owner": "Jo" if id == "3" else "", "due": "Friday" if id == "3" else ""})

    def cites(self, quotes: list[tuple[int, str]]) -> list[str]:
        sentences = self.case.source.by_sentence.values()
        return [s.id for s in sentences for message, words in quotes if s.message == message and words in s.text]

    def answer_all(self, asked: Path, answers: Path) -> list[str]:
        """The steps that it answered."""
        answers.mkdir(parents=True)
        steps = []
        for path in sorted(asked.glob("*.md")):
            text = path.read_text(encoding="utf-8")
            step = text.removeprefix("<!-- step: ").split(" | ")[0]
            (answers / f"{path.stem}.json").write_text(json.dumps(self.answer(step, text)), encoding="utf-8")
            steps.append(step)
        return steps

    def answer(self, step: str, text: str) -> dict[str, Any]:
        match step:
            case "conversion":
                return {"claims": self.claims}
            case "inventory":
                kept = [claim for claim in self.claims if claim["section"] in MUST_NOT_BE_LOST]
                return {
                    "entries": [
                        {"kind": one["section"], "text": one["text"], "sentences": one["cites"]} for one in kept
                    ]
                }
            case "half":
                return {"verdicts": [self.verdict(line) for line in text.split("Notes:\n")[-1].strip().splitlines()]}
            case "mapping":
                return {"told": told_in(text)}
            case "exam":
                paper = next(one for one in papers() if one.source.text in text)
                wrong = paper.wrong
                return {"verdicts": [verdict(note.number, note.number not in wrong) for note in paper.notes]}
        return {"claims": [], "drop": []}

    def verdict(self, line: str) -> dict[str, Any]:
        found = re.fullmatch(r"(\d+)\. \[(\w+), (\w+)\] (.*?)(?: \((?:owner|due): .*\))? — [\d., ]*", line)
        assert found is not None
        quoted = is_quoted_right(found[4], self.case.source)
        known = any((one["section"], one["status"], one["text"]) == found.group(2, 3, 4) for one in self.claims)
        turned = " not" in found[4] or (found[2], found[3]) in (("open_work", "done"), ("decision", "rejected"))
        true = quoted if quoted is not None else known or not (self.notices or turned)
        return verdict(int(found[1]), true or not self.awake)


def verdict(note: int, true: bool) -> dict[str, Any]:
    return {"note": note, "verdict": "entailed" if true else "contradicted"}


def is_quoted_right(text: str, source: Source) -> bool | None:
    """None where it is no quotation."""
    found = re.fullmatch(r"In (\S+) (.+?) wrote: “(.*)”", text)
    if found is None:
        return None
    return one_line(source.by_sentence[found[1]].text) == found[3] and name_of(source.part_of(found[1])) == found[2]


def told_in(text: str) -> list[dict[str, Any]]:
    entries, notes = text.split("Entries:\n")[1].split("\n\nNotes:\n")
    listed = re.findall(r"^(\d+)\. \[\w+\] (.*)$", entries, re.MULTILINE)
    shown = re.findall(r"^(\d+)\. \[\w+, \w+\] (.*?)(?: \((?:owner|due): .*\))?$", notes, re.MULTILINE)
    return [
        {"entry": int(number), "notes": [int(note) for note, words in shown if words == said]}
        for number, said in listed
    ]
