"""Good notes as a draft of `compaction.v2`: where each claim is from is for a model to say, what it says is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from compaction.domain.artifact import Claim, Draft, Malformed, Repair, Section, parse_draft, repaired
from compaction.domain.limits import reply_limit
from compaction.drafting.requesting import Request, about_log, request
from efforts.domain.text.redaction import redact
from efforts.turns.recording import count

from .cases import Case, Unreadable

SECTIONS = {"constraint": "rule"}


def conversion(case: Case) -> Request:
    """It begins with the same log as every other request about the case."""
    task = (Path(__file__).parent / "convert.md").read_text(encoding="utf-8").strip()
    lines = [f"Headline: {said(case.notes.headline)}"]
    lines += [
        f"{note.id} [{SECTIONS.get(note.section, note.section)}, {note.status}] {said(note.text)}"
        for note in case.notes.items
    ]
    words = about_log(case.source, task, "Notes:\n" + "\n".join(lines))
    return request(words, Draft, reply_limit(count(case.source.text)))


def converted(case: Case, answer: str) -> Draft:
    """Where the answer changed a text, the old one is put back. Raises `Unreadable`."""
    try:
        draft = parse_draft(answer)
    except Malformed as error:
        raise Unreadable(f"{case.id}: its notes in the new form cannot be read. {error}") from error
    texts = {note.id: said(note.text) for note in case.notes.items}
    given = [claim.id for claim in draft.claims]
    if set(given) - {"r2"} != {"r1", *texts}:
        raise Unreadable(f"{case.id}: its notes in the new form are not the same notes.")
    return Draft(claims=tuple(with_text(claim, texts) for claim in draft.claims))


def reading_over(before: Request, answer: str, *, tokens: int, most: int | None) -> Request:
    """The drafter, who sees no gate, looks once more at what it wrote: the notes are older than this form, which wants
    every rule and all open work, and has a limit. Where their `tokens` are over it, it is told, as drafters are."""
    task = (Path(__file__).parent / "read_over.md").read_text(encoding="utf-8").strip()
    if most is not None and tokens > most:
        task += f"\n\nAll claims together take at most {most:,} tokens; yours take {tokens:,}."
    more = ({"role": "assistant", "content": answer}, {"role": "user", "content": task})
    return replace(before, messages=(*before.messages, *more), form=Repair)


def read_over(case: Case, draft: Draft, answer: str) -> Draft:
    """Raises `Unreadable`."""
    try:
        return repaired(draft, answer)
    except Malformed as error:
        raise Unreadable(f"{case.id}: its notes, read over, cannot be read. {error}") from error


def with_text(claim: Claim, texts: dict[str, str]) -> Claim:
    """A rule is told in the log's own words."""
    if claim.section == Section.RULE or claim.id not in texts:
        return claim
    return claim.model_copy(update={"text": texts[claim.id]})


def said(text: str) -> str:
    """As the log shows it: a secret of it is masked there too."""
    return " ".join(str(redact(text).value).split())
