"""The digest: a card of quotations that stands for turns where no summary does. It claims nothing but what was said.

Every line is labelled with its speaker and turn, entries of the ledger come first, and none of them is cut; what there
is no room for is told by its number (design.md section 8, "Without a model").
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from efforts.domain.effort.notices import span_said
from efforts.domain.text.source_text import Part, Source, SourcePart

from .artifact import SCHEMA_VERSION, Artifact, Evidence, Excerpt, Kind, Section, SourceRef, with_id
from .ledger import Entry
from .rendering import digest_text

Count = Callable[[str], int]

# Tokens: this share of the source, but so many in any case, and never more than the last.
SHARE, LEAST, MOST = 0.2, 60, 200
NAMES = {Section.RULE: "Rule", Section.OPEN_WORK: "To do", Section.DECISION: "Decision"}
LEFT_OUT = "{title} {entries} of your list did not fit."


def digest_limit(source_tokens: int) -> int:
    """Smaller than its source in any case: what is not replaces nothing (gate E)."""
    return min(max(LEAST, int(source_tokens * SHARE)), MOST, source_tokens - 1)


def digest(
    source: Source,
    ref: SourceRef,
    *,
    name: str,
    entries: Sequence[Entry],
    evidence: tuple[Evidence, ...],
    count: Count,
) -> Artifact | None:
    """Equal for equal inputs. None where it has no room even for its title, or the source no words."""
    limit = digest_limit(ref.source_tokens)
    title = title_of(source, ref, name, evidence)
    if not any(part.part == Part.TEXT for part in source.parts):
        return None
    kept: list[Excerpt] = []
    retained = [entry for entry in entries if entry.is_retained and not entry.in_system]
    left = 0
    for entry in sorted(retained, key=lambda one: list(NAMES).index(one.section)):
        line = of_entry(entry, source)
        # Room for the words that tell how many were left out, as long as any may be.
        told = LEFT_OUT.format(title=title, entries=len(retained))
        if fits([*kept, line], told, limit, count):
            kept.append(line)
        else:
            left += 1
    if left:
        title = LEFT_OUT.format(title=title, entries=left)
    first, last = ends_of(source)
    opening = opening_of(first, kept, title, half=last is not None, limit=limit, count=count)
    if opening:
        kept.append(opening)
    if last and (closing := longest(last, lambda line: fits([*kept, line], title, limit, count), back=True)):
        kept.append(closing)
    if not fits(kept, title, limit, count):
        return None
    return with_id(
        Artifact(
            schema_version=SCHEMA_VERSION,
            artifact_id="",
            kind=Kind.DIGEST,
            source=ref,
            claims=(),
            short=(),
            opening=opening.text if opening else name,
            title=title,
            excerpts=tuple(kept),
            evidence=evidence,
            redactions=source.masked,
            warnings=(),
        )
    )


def opening_of(
    first: SourcePart, kept: Sequence[Excerpt], title: str, *, half: bool, limit: int, count: Count
) -> Excerpt | None:
    """In `half` of the room that is left; but all of it where no sentence fits there: the card is known by this."""
    most = (limit + tokens_of(kept, title, count)) // 2 if half else limit
    found = longest(first, lambda line: fits([*kept, line], title, most, count))
    return found or longest(first, lambda line: fits([*kept, line], title, limit, count))


def longest(part: SourcePart, fits: Callable[[Excerpt], bool], *, back: bool = False) -> Excerpt | None:
    """As many whole sentences of it as fit, from its beginning, or from its end back; None where not even one does."""
    found = None
    for number in range(1, len(part.sentences) + 1):
        shown = part.sentences[-number:] if back else part.sentences[:number]
        text = " ".join(part.text[shown[0].start : shown[-1].end].split())
        line = Excerpt(label=f"[{label(part)}]", text=text, cites=tuple(sentence.id for sentence in shown))
        if not fits(line):
            return found
        found = line
    return found


def fits(lines: Sequence[Excerpt], title: str, limit: int, count: Count) -> bool:
    return tokens_of(lines, title, count) <= limit


def tokens_of(lines: Sequence[Excerpt], title: str, count: Count) -> int:
    return count(digest_text(Artifact.model_construct(title=title, excerpts=tuple(lines))))


def title_of(source: Source, ref: SourceRef, name: str, evidence: Sequence[Evidence]) -> str:
    dates = sorted({part.said_on for part in source.parts if part.said_on})
    when = f", {dates[0]}{f' to {dates[-1]}' if dates[1:] else ''}" if dates else ""
    turns = span_said(ref.start, ref.end)
    files = sum(one.type == "path" for one in evidence)
    commands = sum(one.type == "command" for one in evidence)
    more = [plural(len(ref.turns), "turn"), plural(files, "file"), plural(commands, "command")]
    # Chosen turns have no other name.
    named = name if name.casefold() == turns else f"{name}, {turns}"
    return f"{named}{when} ({', '.join(filter(None, more))}: expand)."


def plural(number: int, one: str) -> str:
    return f"{number} {one}{'' if number == 1 else 's'}" if number else ""


def of_entry(entry: Entry, source: Source) -> Excerpt:
    where = [source.part_of(id) for id in entry.sentences if id in source.by_sentence]
    at = f" ({label(where[0])})" if where else ""
    return Excerpt(label=f"{NAMES[entry.section]}{at}", text=" ".join(entry.text.split()), cites=entry.sentences)


def label(part: SourcePart) -> str:
    return f"turn {part.turn}, {part.who}"


def ends_of(source: Source) -> tuple[SourcePart, SourcePart | None]:
    """What was asked first, and what was said last."""
    said = [part for part in source.parts if part.part == Part.TEXT and part.sentences]
    first = next((part for part in said if part.role == "user"), said[0])
    return first, None if said[-1] is first else said[-1]
