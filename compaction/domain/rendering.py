"""How an artifact stands in the prompt: of a conclusion by its headline, of a scope that a person chose by its body."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .artifact import Artifact, Item, Kind, Link, Section, Status, is_mere_quotation

TITLES = {
    Section.CONSTRAINT: "Rules",
    Section.DECISION: "Decisions",
    Section.OPEN_WORK: "Open work",
    Section.NEXT_STEP: "Next",
    Section.CHANGED: "Changed",
    Section.FACT: "Facts",
    Section.RISK: "Risks",
    Section.REJECTED: "Rejected",
}
# What a status adds to its section; of the others the title says enough.
MARKS = {
    Status.PROPOSED: "proposed",
    Status.SUPERSEDED: "superseded",
    Status.REJECTED: "rejected",
    Status.BLOCKED: "blocked",
    Status.DONE: "done",
    Status.DROPPED: "dropped",
    Status.REVOKED: "revoked",
    Status.UNCONFIRMED: "unconfirmed",
}


# What a mere quotation may be; nobody has said that it is.
SOUNDS = {
    Section.DECISION: "decision?",
    Section.OPEN_WORK: "open?",
    Section.NEXT_STEP: "open?",
    Section.CONSTRAINT: "rule?",
    Section.REJECTED: "rejected?",
    Section.RISK: "risk?",
}


def standing_text(artifact: Artifact) -> str:
    """What would stand in for the scope."""
    return artifact.headline if artifact.kind == Kind.CONCLUSION else body_text(artifact)


def body_text(artifact: Artifact) -> str:
    return "\n".join(lines_of(artifact))


def lines_of(artifact: Artifact) -> Iterator[str]:
    yield artifact.headline
    if asked := opening_text(artifact.opening):
        yield f"Asked: “{asked}”"
    told = [item for item in artifact.items if not is_mere_quotation(item)]
    for section, title in TITLES.items():
        items = [item for item in told if item.section == section]
        if items:
            yield f"{title}:"
            yield from (f"- {line_of(item)}" for item in items)
    if quoted := quotations(artifact.items):
        yield "Said:"
        yield from (f"- {turn}: “{text}”{sounds_like(items)}" for (turn, text), items in quoted.items())


def quotations(items: Iterable[Item]) -> dict[tuple[int, str], list[Item]]:
    """What only shows what was said, by its turn: once, whatever it sounds like."""
    found: dict[tuple[int, str], list[Item]] = {}
    for item in items:
        if is_mere_quotation(item):
            found.setdefault((item.as_of_turn, " ".join(item.text.split())), []).append(item)
    return dict(sorted(found.items(), key=lambda one: one[0][0]))


def sounds_like(items: Iterable[Item]) -> str:
    marks = ", ".join(dict.fromkeys(SOUNDS[item.section] for item in items if item.section in SOUNDS))
    return f" ({marks})" if marks else ""


def opening_text(opening: tuple[Link, ...]) -> str:
    return " … ".join(link.quote.strip() for link in opening)


def line_of(item: Item) -> str:
    """A quotation is shown as one, with its turn: it says what was said then."""
    mark = "" if item.section == Section.CHANGED else MARKS.get(item.status, "")
    note = ", ".join(part for part in (mark, f"turn {item.as_of_turn}") if part)
    text = " ".join(item.text.split())
    return f"“{text}” ({note})" if item.verbatim else f"{text} ({note})"
