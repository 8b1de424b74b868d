"""The digest: a card of quotations that stands for turns where no summary does. It claims nothing but what was said.

Every line is labelled with its speaker and turn, and nothing is cut in a sentence. Entries of the ledger come first,
then how the turns began, then the newest that the person said, then the newest replies, as far as there is room; what
merely opens or closes an effort is quoted where nothing else was said. What there is no room for is told by its
number (design.md section 8, "Without a model").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence

from efforts.domain.effort.notices import span_said
from efforts.domain.effort.phrases import Known, Wish, wishes
from efforts.domain.prompt.conversation import PastTurn
from efforts.domain.prompt.layers import runs_of, span_within
from efforts.domain.text.canonical import json_object
from efforts.domain.text.counting import counted
from efforts.domain.text.locating import one_line
from efforts.domain.text.source_text import Part, Sentence, Source, SourcePart

from .artifact import SCHEMA_VERSION, Artifact, Evidence, Excerpt, Kind, Section, SourceRef, with_id
from .ledger import Entry
from .rendering import digest_text

Count = Callable[[str], int]

# Tokens: this share of the source, but so many in any case, and never more than the last.
SHARE, LEAST, MOST = 0.2, 60, 200
# Quotes fill no more than so much, as in the prompt a heading stands above them; what the person keeps may take all.
FILLED = 180
NAMES = {Section.RULE: "Rule", Section.OPEN_WORK: "To do", Section.DECISION: "Decision"}
LEFT_OUT = "{title} {entries} of your list did not fit."
OPENS_OR_CLOSES = ("open_effort", "reopen_effort", "close_effort")
# With so few words beside the name of an effort, and no figure, a sentence says nothing of it.
FEW_WORDS = 6


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
    formal: Collection[str] = (),
) -> Artifact | None:
    """Equal for equal inputs. `formal`: the sentences that tell nothing of what was worked on.
    None where it has no room even for its title, or the source no words."""
    limit = digest_limit(ref.source_tokens)
    title = title_of(source, ref, name, evidence)
    if not any(part.part == Part.TEXT for part in source.parts):
        return None
    kept: list[Excerpt] = []
    retained = [entry for entry in entries if entry.is_retained and not entry.in_system]
    left = 0
    for entry in in_order(retained, source):
        line = of_entry(entry, source)
        # Room for the words that tell how many were left out, as long as any may be.
        told = LEFT_OUT.format(title=title, entries=len(retained))
        if fits([*kept, line], told, limit, count):
            kept.append(line)
        else:
            left += 1
    if left:
        title = LEFT_OUT.format(title=title, entries=left)
    if not fits(kept, title, limit, count):
        return None
    quotes = quotes_of(source, kept, title, limit=min(limit, FILLED), count=count, formal=formal)
    return with_id(
        Artifact(
            schema_version=SCHEMA_VERSION,
            artifact_id="",
            kind=Kind.DIGEST,
            source=ref,
            claims=(),
            short=(),
            opening=quotes[0].text if quotes else name,
            title=title,
            excerpts=(*kept, *in_place(quotes, source)),
            evidence=evidence,
            redactions=source.masked,
            warnings=(),
        )
    )


def in_order(entries: Iterable[Entry], source: Source) -> list[Entry]:
    """Rules before work before decisions, and of each the newest first."""
    places = {id: place for place, id in enumerate(source.by_sentence)}
    newest_first = sorted(
        entries, key=lambda one: max((places.get(id, -1) for id in one.sentences), default=-1), reverse=True
    )
    return sorted(newest_first, key=lambda one: list(NAMES).index(one.section))


def quotes_of(
    source: Source, kept: Sequence[Excerpt], title: str, *, limit: int, count: Count, formal: Collection[str]
) -> list[Excerpt]:
    """As many as there is room for, in the order in which they are chosen: first how the turns began. That takes half
    of the room at most, or all of it where no sentence fits into half: the card is known by it."""
    said = [part for part in source.parts if part.part == Part.TEXT and part.sentences]
    if not any(tells(part, formal) for part in said):
        formal = ()
    first = next((part for part in said if part.role == "user" and tells(part, formal)), said[0])
    others = [part for part in reversed(said) if part is not first]
    # What the person said has the decisions and the figures.
    others.sort(key=lambda part: part.role != "user")
    half = (limit + tokens_of(kept, title, count)) // 2 if others else limit
    found: list[Excerpt] = []

    def add(part: SourcePart, most: int) -> bool:
        """What is quoted already, or was said in the same words, is passed over."""
        lines = (*kept, *found)
        quoted = (one.id for one in part.sentences if any(one_line(one.text) in line.text for line in lines))
        over = {*formal, *quoted}
        line = longest(part, over, lambda line: fits([*lines, line], title, most, count))
        found.extend([line] if line else [])
        return line is not None

    if not add(first, half):
        add(first, limit)
    for part in (*others, first):
        add(part, limit)
    return found


def tells(part: SourcePart, formal: Collection[str]) -> bool:
    return any(sentence.id not in formal for sentence in part.sentences)


def in_place(quotes: Iterable[Excerpt], source: Source) -> list[Excerpt]:
    places = {id: place for place, id in enumerate(source.by_sentence)}
    return sorted(quotes, key=lambda one: places[one.cites[0]])


def longest(part: SourcePart, left_out: Collection[str], fits: Callable[[Excerpt], bool]) -> Excerpt | None:
    """As many whole sentences of it as fit, from the first that is not left out to the next that is; None where not
    even one does."""
    found = None
    told: list[Sentence] = []
    for sentence in part.sentences:
        if sentence.id in left_out:
            if told:
                break
            continue
        told.append(sentence)
        text = " ".join(part.text[told[0].start : sentence.end].split())
        line = Excerpt(label=f"[{label(part)}]", text=text, cites=tuple(one.id for one in told))
        if not fits(line):
            break
        found = line
    return found


def formal_in(source: Source, turns: Iterable[PastTurn], names: Collection[str]) -> frozenset[str]:
    """The sentences by which an effort was opened or concluded in these turns, and the replies to them: those that the
    model gave as the person's word for it, and those that have little but its name; and where the model did nothing,
    those in which the person says that it is done."""
    own = next(iter(names), "")
    effort = Known(active=own, open=(own,), names={own: own})
    known = {plain(name) for name in names}
    said: dict[int, str] = {}
    for turn in turns:
        for call in (call for message in turn.visible for call in message.tool_calls if call.name in OPENS_OR_CLOSES):
            given = json_object(call.arguments)
            known |= {plain(given.get("name", "")), plain(given.get("id", ""))} - {""}
            said[turn.number] = f"{said.get(turn.number, '')} {plain(given.get('said', ''))}"
    return frozenset(
        sentence.id
        for part in source.parts
        if part.part == Part.TEXT
        for sentence in part.sentences
        if is_formal(plain(sentence.text), said.get(part.turn, ""), known)
        and (part.turn in said or (part.role == "user" and concludes(sentence.text, effort)))
    )


def concludes(sentence: str, effort: Known) -> bool:
    return any(one.wish == Wish.CONCLUDE for one in wishes(sentence, effort))


def is_formal(words: str, said: str, names: Collection[str]) -> bool:
    if words and f" {words} " in f" {said} ":
        return True
    for name in names:
        before, named, after = f" {words} ".partition(f" {name} ")
        others = f"{before} {after}".split()
        if named and len(others) <= FEW_WORDS and not any(map(str.isdigit, "".join(others))):
            return True
    return False


def plain(text: object) -> str:
    """Words alone, so that an effort's name and its id are the same."""
    return " ".join(re.findall(r"\w+", str(text).casefold().replace("_", " ")))


def fits(lines: Sequence[Excerpt], title: str, limit: int, count: Count) -> bool:
    return tokens_of(lines, title, count) <= limit


def tokens_of(lines: Sequence[Excerpt], title: str, count: Count) -> int:
    return count(digest_text(Artifact.model_construct(title=title, excerpts=tuple(lines))))


def title_of(source: Source, ref: SourceRef, name: str, evidence: Sequence[Evidence]) -> str:
    dates = sorted({part.said_on for part in source.parts if part.said_on})
    when = f", {dates[0]}{f' to {dates[-1]}' if dates[1:] else ''}" if dates else ""
    # Turns of other efforts may stand in between.
    turns = span_within(runs_of(ref.turns)) if ref.turns else span_said(ref.start, ref.end)
    files = sum(one.type == "path" for one in evidence)
    commands = sum(one.type == "command" for one in evidence)
    numbers = {"turn": len(ref.turns), "file": files, "command": commands}
    more = [counted(number, what) for what, number in numbers.items() if number]
    # Chosen turns have no other name.
    named = name if name.casefold() == turns else f"{name}, {turns}"
    return f"{named}{when} ({', '.join(more)}: expand)."


def of_entry(entry: Entry, source: Source) -> Excerpt:
    where = [source.part_of(id) for id in entry.sentences if id in source.by_sentence]
    at = f" ({label(where[0])})" if where else ""
    return Excerpt(label=f"{NAMES[entry.section]}{at}", text=" ".join(entry.text.split()), cites=entry.sentences)


def label(part: SourcePart) -> str:
    return f"turn {part.turn}, {part.who}"
