"""An artifact as it stands in the prompt: its short form and its body, rendered by code, and nothing else.

These bytes are judged, accepted and sent (design.md section 8, "what was judged is what stands").
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from efforts.domain.text.locating import one_line

from .artifact import SHORT, Artifact, Claim, Kind, Section, Status

Count = Callable[[str], int]

# Tokens of a short form: as many as this or this share of the source, and in no case more than the last.
SHORT_TOKENS, SHORT_SHARE, SHORT_MOST = 320, 0.15, 600
# A body takes so much of a source of more than so many tokens.
BODY_SHARE, BODY_FROM = 0.35, 1_500

TITLES = {
    Section.RULE: "Rules",
    Section.OPEN_WORK: "Open",
    Section.NEXT_STEP: "Next",
    Section.DECISION: "Decided",
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
}
EXCERPTS = "Excerpts, not a summary"


@dataclass(frozen=True, kw_only=True)
class Rendered:
    """`headline` is one line, the result; `standing` what stands first, `body` what it is expanded to."""

    headline: str
    short: str
    body: str
    standing: str


def rendered(artifact: Artifact, *, count: Count) -> Rendered:
    """The texts of an artifact. What stands in the prompt is the short form of a conclusion where that is within
    its limit, else the body. `count`: tokens of a text."""
    headline = headline_of(artifact)
    if artifact.kind == Kind.DIGEST:
        text = digest_text(artifact)
        return Rendered(headline=headline, short=text, body="", standing=text)
    told = [artifact.by_id[id] for id in artifact.short]
    short, body = "\n".join([headline, *sections(told, SHORT)]), body_text(artifact)
    short_stands = artifact.kind == Kind.CONCLUSION and count(short) <= short_limit(artifact.source.source_tokens)
    stands = short if short_stands else body
    return Rendered(headline=headline, short=short, body=body, standing=stands)


def short_limit(source_tokens: int) -> int:
    """Tokens that the short form may have, by those of its source (design.md section 8)."""
    return min(max(SHORT_TOKENS, int(source_tokens * SHORT_SHARE)), SHORT_MOST)


def body_limit(source_tokens: int) -> int | None:
    """None where a body only has to be smaller than its source."""
    return int(source_tokens * BODY_SHARE) if source_tokens > BODY_FROM else None


def headline_of(artifact: Artifact) -> str:
    """One line: how it ended; of a digest what was asked."""
    results = [claim for claim in artifact.claims if claim.section == Section.RESULT]
    if results:
        return " ".join(one_line(claim.text) for claim in results)
    if artifact.kind == Kind.DIGEST:
        return one_line(artifact.opening) or artifact.title
    return one_line(artifact.claims[0].text)


def body_text(artifact: Artifact) -> str:
    lines = [headline_of(artifact)]
    if artifact.opening:
        lines.append(f"Asked: “{one_line(artifact.opening)}”")
    return "\n".join([*lines, *sections(artifact.claims, TITLES)])


def sections(claims: Iterable[Claim], order: Collection[Section]) -> Iterator[str]:
    told = list(claims)
    for section in order:
        if lines := [line_of(claim) for claim in told if claim.section == section]:
            yield f"{TITLES[section]}:"
            yield from (f"- {line}" for line in lines)


def line_of(claim: Claim) -> str:
    """A claim as one line, with its state, owner and date behind it."""
    mark = "" if claim.section in (Section.CHANGED, Section.REJECTED) else MARKS.get(claim.status, "")
    owner = one_line(claim.owner)
    notes = [mark, owner, f"due {one_line(claim.due)}" if claim.due else ""]
    note = ", ".join(filter(None, notes))
    return f"{one_line(claim.text)} ({note})" if note else one_line(claim.text)


def digest_text(artifact: Artifact) -> str:
    """Excerpts as they stand in the prompt: the title, then each with its speaker and turn."""
    lines = [f"{excerpt.label}: “{one_line(excerpt.text)}”" for excerpt in artifact.excerpts]
    return "\n".join([f"{EXCERPTS}. {artifact.title}", *lines])
