"""The requests to drafters and checkers, as text: the log first and the task last, so that caches serve what is alike.

No request holds an id of a row: the same log gives the same bytes wherever it was said.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from compaction.domain.artifact import Claim, Draft, Repair, Strict
from compaction.domain.check.answers import HalfAnswer, InventoryAnswer, MappingAnswer, schema_of
from compaction.domain.check.mapping import Question, sentences_of
from compaction.domain.check.notes import Half
from compaction.domain.ledger import Entry
from compaction.domain.merging import OvertakenAnswer
from compaction.drafting.prompts import text_of
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.source_text import Source

LOG = "[Log]\n{log}[End of log]\n\n{task}"
AGAIN = (
    "Your notes do not hold yet:\n{findings}\n\nWrite only the claims that you change or add, with the ids of those "
    'that you change, and the ids of those that go: {{"claims": [...], "drop": []}}'
)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What is asked, before it is known of whom. `form` is that of the answer, `reply` its limit in tokens."""

    messages: tuple[dict[str, str], ...]
    form: type[Strict] = field(compare=False)
    reply: int

    @property
    def key(self) -> str:
        """The hash by which a recorded answer is found: of the words alone."""
        return sha256(canonical_json(list(self.messages)))

    def body(self, *, model: str, reply_limit: str, structured: bool) -> dict[str, Any]:
        asked = {
            "model": model,
            "stream": True,
            "stream_options": {"include_usage": True},
            reply_limit: self.reply,
            "messages": list(self.messages),
        }
        return {**asked, "response_format": schema_of(self.form)} if structured else asked


def request(user: str, form: type[Strict], reply: int) -> Request:
    messages = ({"role": "system", "content": text_of("system")}, {"role": "user", "content": user})
    return Request(messages=messages, form=form, reply=reply)


def about_log(source: Source, task: str, *more: str) -> str:
    return LOG.format(log=source.text, task="\n\n".join(filter(None, (task, *more))))


# To the drafter


def drafting(
    source: Source, *, name: str, entries: Sequence[Entry], focus: str, most: int | None, reply: int
) -> Request:
    """`most`: tokens that all claims may take; `focus`: what the person wants kept in view."""
    more = [
        f"The piece of work: {name}",
        f"All claims together take at most {most:,} tokens." if most else "",
        f"The whole reply takes at most {reply:,} tokens.",
        f"Whoever asked for these notes wants them to keep in view: {focus}" if focus else "",
        listed_for_drafter(entries, source),
    ]
    return request(about_log(source, text_of("draft"), *more), Draft, reply)


def listed_for_drafter(entries: Sequence[Entry], source: Source) -> str:
    if not entries:
        return ""
    lines = [
        f"- e{number} ({entry.section}, {entry.status}; {', '.join(entry.sentences)}): {entry.text}"
        for number, entry in enumerate(entries, start=1)
    ]
    told = "The person's own list. Each of these is a claim of its own, with its id as ledger_ref:"
    return "\n".join([told, *lines])


def drafting_again(before: Request, answer: str, findings: Iterable[str]) -> Request:
    told = AGAIN.format(findings="\n".join(f"- {finding}" for finding in findings))
    said = ({"role": "assistant", "content": answer}, {"role": "user", "content": told})
    return replace(before, messages=(*before.messages, *said), form=Repair)


def drafting_longer(before: Request) -> Request:
    """After a reply that was cut: with twice the limit."""
    reply = 2 * before.reply
    return replace(before, reply=reply, messages=(*before.messages[:-1], told_limit(before, reply)))


def told_limit(before: Request, reply: int) -> dict[str, str]:
    last = before.messages[-1]
    old, new = (f"at most {tokens:,} tokens." for tokens in (before.reply, reply))
    return {**last, "content": last["content"].replace(f"The whole reply takes {old}", f"The whole reply takes {new}")}


def overtaking(parts: Sequence[Sequence[Claim]], reply: int) -> Request:
    """`parts`: the claims of windows, in the order of time; they are numbered through."""
    lines, number = [], 0
    for place, claims in enumerate(parts, start=1):
        lines.append(f"Part {place}:")
        for claim in claims:
            number += 1
            lines.append(f"{number}. {shown(claim)}")
    return request("\n\n".join([text_of("overtaken"), "\n".join(lines)]), OvertakenAnswer, reply)


# To the checker


def inventory(source: Source, reply: int) -> Request:
    return request(about_log(source, text_of("inventory")), InventoryAnswer, reply)


def half(source: Source, notes: Half, reply: int) -> Request:
    lines = [f"{note.number}. {shown(note.claim)} — {', '.join(note.claim.cites)}" for note in notes]
    return request(about_log(source, text_of("half"), "Notes:\n" + "\n".join(lines)), HalfAnswer, reply)


def mapping(asked: Question, source: Source, reply: int) -> Request:
    entries = []
    for number, entry in enumerate(asked.entries, start=1):
        entries.append(f"{number}. [{entry.section}] {entry.text}")
        entries += [f"   {sentence}" for sentence in sentences_of(entry, source)]
    notes = [f"{number}. {shown(claim)}" for number, claim in enumerate(asked.claims, start=1)]
    parts = [text_of("mapping"), "Entries:\n" + "\n".join(entries), "Notes:\n" + "\n".join(notes)]
    return request("\n\n".join(parts), MappingAnswer, reply)


def shown(claim: Claim) -> str:
    told = [f"owner: {claim.owner}" if claim.owner else "", f"due: {claim.due}" if claim.due else ""]
    more = "; ".join(filter(None, told))
    return f"[{claim.section}, {claim.status}] {' '.join(claim.text.split())}{f' ({more})' if more else ''}"
