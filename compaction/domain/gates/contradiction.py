"""Gate D: nothing that an artifact says is contradicted by its source, by the ledger or by itself.

What a reader doubts counts, and exact detectors compare claims with the ledger, the log and each other, by values and
states.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import combinations

from compaction.domain.artifact import Artifact, Claim, Kind, Section, Status
from compaction.domain.check.answers import Entailment as Said
from compaction.domain.evidence import exit_status_in, results_after
from compaction.domain.gates.judging import finding_id, not_judged, shortened, verdict
from compaction.domain.ledger import Entry
from compaction.domain.values import Type, Value, content, is_same, stands, values_of
from compaction.domain.verdicts import Failure, Gate, GateVerdict, Judged, Measure, Outcome
from efforts.domain.text.counting import counted
from efforts.domain.text.source_text import Part, Sentence, Source, SourcePart
from efforts.domain.text.terms import STOPWORDS, folded, stem

# What a reader doubts; whether the claim is wrong, a person says. All other findings are code's.
DOUBTED = "read"
LAST_CALLED_WRONG, CALLED_WRONG = 6, re.compile(r"\bclaim (\S+) is wrong\b")
UNREAD = "Not judged: {why}. By values, states and exit statuses there is no contradiction."


def judge(judged: Judged) -> GateVerdict:
    """Gate D: fails where a reader or code found a claim wrong and nobody set that aside; not judged while claims
    are unread."""
    artifact = judged.artifact
    if artifact is None:
        return not_judged(Gate.CONTRADICTION, judged)
    found = list(found_in(artifact, judged))
    counting = [failure for failure in found if failure.id not in judged.set_aside]
    aside = [failure for failure in found if failure.id in judged.set_aside]
    measures = [Measure(name="contradiction_count", value=len(counting), threshold=0)]
    if not counting and (why := unread(artifact, judged)):
        return not_judged(Gate.CONTRADICTION, judged, UNREAD.format(why=why), measures)
    return verdict(
        Gate.CONTRADICTION,
        judged,
        failures=counting,
        outcome=Outcome.FAIL if counting else Outcome.PASS,
        says=says(counting, aside),
        measures=measures,
    )


def unread(artifact: Artifact, judged: Judged) -> str:
    """Why nobody can say that there is none."""
    if artifact.kind == Kind.DIGEST:
        return ""
    if judged.check is None:
        return "nobody has read the claims against the log"
    if not judged.check.has_read(artifact.claims):
        return "not every claim has been read against the log"
    return ""


def found_in(artifact: Artifact, judged: Judged) -> Iterator[Failure]:
    claims = artifact.by_id
    for claim in artifact.claims:
        for doubt in judged.check.doubts_on(claim) if judged.check else ():
            if doubt.verdict == Said.CONTRADICTED:
                phrase, other, why = shortened(doubt.phrase), doubt.sentence, shortened(doubt.why)
                yield Failure(
                    rule=DOUBTED,
                    about=claim.id,
                    text=f"the checker doubts claim {claim.id}{f', at “{phrase}”' if doubt.phrase else ''}"
                    f"{f'; {other} says otherwise' if other else ': no sentence of the log says so'}"
                    f"{f': {why}' if doubt.why else ''}",
                    id=finding_id(DOUBTED, claim),
                    told=f"claim {claim.id} is wrong{f' in “{phrase}”' if doubt.phrase else ''}"
                    f"{f'; {other} says otherwise' if other else ''}{f': {why}' if doubt.why else ''}",
                )
    told = told_ids(artifact, judged)
    for one in contradictions(artifact.claims, judged.source, judged.entries, told):
        yield replace(one, id=finding_id(one.rule, claims[one.about]))


def told_ids(artifact: Artifact, judged: Judged) -> dict[str, tuple[str, ...]]:
    if judged.check is None:
        return {}
    ids = {claim.content: claim.id for claim in artifact.claims}
    return {
        entry: tuple(ids[content] for content in contents if content in ids)
        for entry, contents in judged.check.told.items()
    }


def worded(text: str, evaluator: str) -> str:
    """A text of this gate as it was stored: up to version 6 it called a claim wrong that a reader doubts."""
    if int(evaluator) > LAST_CALLED_WRONG:
        return text
    told = CALLED_WRONG.sub(r"the checker doubts claim \1", text, count=1)
    if told == text:
        return text
    one = re.sub(r"^1 contradiction: t", "T", told)
    return re.sub(r"^(\d+) contradictions: ", r"\1 doubts or contradictions: ", one)


def says(counting: list[Failure], aside: list[Failure]) -> str:
    found = found_says(counting) if counting else "No contradiction"
    return f"{found}; {counted(len(aside), 'finding')} set aside by a person." if aside else f"{found}."


def found_says(found: list[Failure]) -> str:
    first = found[0].text
    if not any(one.rule == DOUBTED for one in found):
        return f"{counted(len(found), 'contradiction')}: {first}"
    number = len(found)
    return f"{number} doubts or contradictions: {first}" if number > 1 else f"{first[0].upper()}{first[1:]}"


Told = Mapping[str, tuple[str, ...]]

# What excludes what within a section; of others nothing does.
STATES: dict[Status, str] = {
    Status.ACCEPTED: "holds",
    Status.PROPOSED: "is only proposed",
    Status.REJECTED: "does not hold",
    Status.SUPERSEDED: "does not hold",
    Status.OPEN: "is to be done",
    Status.BLOCKED: "is to be done",
    Status.DONE: "is done",
    Status.DROPPED: "is dropped",
    Status.IN_FORCE: "is in force",
    Status.REVOKED: "is revoked",
}
# Sections whose claims can tell an entry of the ledger.
WORK = {Section.OPEN_WORK, Section.NEXT_STEP, Section.CHANGED}
GONE = {Status.SUPERSEDED, Status.REJECTED, Status.REVOKED, Status.DROPPED}
# Of the words of both so many are the same where they speak of the same.
SAME_WORDS, FEWEST_WORDS = 0.8, 3
# Values that can change while their matter stays the same.
CHANGING = {Type.NUMBER, Type.DATE, Type.TIME, Type.VERSION}
# A comma or "and" between a word and a value is as far as so many words.
BREAK = 4
COUNT = re.compile(r"(?<![\w.])(\d+) (passed|failed|skipped|errors?|warnings?|deselected|xfailed|xpassed)\b")
TOKEN = re.compile(r"[^\W\d_]+(?:['’-]\w+)*|[.,;:)!?\n]|—|–")
# In such words no value is beside a word.
FARTHEST = 3
PUNCTUATION = frozenset(".,;:)!?\n—–")
CONJUNCTIONS = {"and", "or", "und", "oder", "et", "ou", "y", "o"}
ASKED = re.compile(r"[?？][\"'”’)\]*_\s]*$")


def contradictions(claims: Sequence[Claim], source: Source, entries: Sequence[Entry], told: Told) -> Iterator[Failure]:
    """By code, each of one claim. `entries`: also those that are done or superseded. `told`: which claims tell which,
    where a check says so."""
    yield from against_ledger(claims, entries, told)
    valued = valued_sentences(source)
    for claim in claims:
        yield from exit_status_differs(claim, source)
        yield from counts_differ(claim, source)
        yield from order_differs(claim, source)
        yield from later_value(claim, valued)
    yield from against_each_other(claims)


# The ledger


def against_ledger(claims: Sequence[Claim], entries: Sequence[Entry], told: Told) -> Iterator[Failure]:
    """A claim has another status than the entry that it tells, and no other claim tells it with the right one."""
    for entry in entries:
        telling = [claim for claim in claims if tells(claim, entry, told)]
        stated = [(claim, STATES[claim.status]) for claim in telling if claim.status in STATES]
        if any(state == STATES.get(entry.status) for _, state in stated) or entry.status not in STATES:
            continue
        for claim, state in stated:
            listed = STATES[entry.status]
            text = f"claim {claim.id} {state}; by the ledger “{shortened(entry.text)}” {listed}"
            yield Failure(rule="status", about=claim.id, text=text)


def tells(claim: Claim, entry: Entry, told: Told) -> bool:
    """As the check found or the claim says; of decisions, which also tell what they stand in place of, by the words."""
    if not (claim.section == entry.section or {claim.section, entry.section} <= WORK):
        return False
    named = claim.id in told[entry.id] if entry.id in told else claim.ledger_ref == entry.id
    if named and entry.section != Section.DECISION:
        return True
    shares = named or bool(set(claim.cites) & set(entry.sentences))
    same = is_same_matter(content(claim.text), content(entry.text))
    return shares and same and not differing(claim.text, entry.text)


# Commands


def exit_status_differs(claim: Claim, source: Source) -> Iterator[Failure]:
    """The claim names an exit status, and each command that it cites ended with another."""
    status = exit_status_in(claim.text)
    ended = {found for part in outputs(claim, source) if (found := exit_status_in(part)) is not None}
    if status is not None and ended and status not in ended:
        text = f"claim {claim.id} says exit {status}; the cited output has {' and '.join(map(str, sorted(ended)))}"
        yield Failure(rule="exit_status", about=claim.id, text=text)


def counts_differ(claim: Claim, source: Source) -> Iterator[Failure]:
    """The claim has "12 passed", and the cited outputs have other numbers of passed, and no 12."""
    given = {(word.rstrip("s"), number) for text in outputs(claim, source) for number, word in COUNT.findall(text)}
    for number, word in COUNT.findall(claim.text):
        others = sorted(other for known, other in given if known == word.rstrip("s"))
        if others and number not in others:
            text = f"claim {claim.id} says {number} {word}; the cited output has {' and '.join(others)}"
            yield Failure(rule="count", about=claim.id, text=text)


def outputs(claim: Claim, source: Source) -> tuple[str, ...]:
    """What the cited commands returned, and the cited sentences themselves where people tell it."""
    cites = [id for id in claim.cites if id in source.by_sentence]
    parts = dict.fromkeys(source.part_of(id) for id in cites)
    results = dict.fromkeys(result.text for part in parts for result in results_of(part, source))
    return (*results, *(source.by_sentence[id].text for id in cites if source.part_of(id).part == Part.TEXT))


def results_of(part: SourcePart, source: Source) -> list[SourcePart]:
    if part.part == Part.RESULT:
        return [part]
    return results_after(source, source.parts.index(part)) if part.part == Part.CALLS else []


# The order of values


def order_differs(claim: Claim, source: Source) -> Iterator[Failure]:
    """A word stands beside one value in the claim, and beside another of its values in a cited sentence."""
    mine = beside(claim.text)
    for id in claim.cites:
        text = source.by_sentence[id].text if id in source.by_sentence else ""
        theirs = beside(text)
        for key in mine.keys() & theirs.keys():
            (word, one), (_, other) = mine[key], theirs[key]
            # Each text has both values, so that neither is just another way to tell it.
            both = stands(other, (claim.text,)) and stands(one, (text,))
            if one.unit == other.unit and not is_same(one, other) and both:
                mine_has, theirs_has = one.shown, other.shown
                told = f"“{word}” goes with {mine_has} in claim {claim.id}, with {theirs_has} in {id}"
                yield Failure(rule="order", about=claim.id, text=told)
                return


@lru_cache(maxsize=1 << 13)
def beside(text: str) -> Mapping[tuple[str, Type], tuple[str, Value]]:
    """Of each word or value that stands once, as it stands, the value of each type that is nearest to it."""
    text = text.replace("()", "  ")
    values = [value for value in values_of(text) if not value.loose]
    kinds = {kind for kind, number in Counter(value.type for value in values).items() if number > 1}
    if not kinds:
        return {}
    places, labels = placed(text, values)
    found = {}
    for key, (word, at) in labels.items():
        for kind in kinds:
            near = sorted((abs(place - at), i) for i, place in enumerate(places) if values[i].type == kind)
            # What is counted ("three nights and four") goes with every number.
            is_label = all(key not in (values[i].of, values[i].value) for _, i in near)
            if is_label and near[0][0] < min(near[1][0], FARTHEST):
                found[key, kind] = (word, values[near[0][1]])
    return found


def placed(text: str, values: Sequence[Value]) -> tuple[list[int], dict[str, tuple[str, int]]]:
    """Where values stand, and the words and values by which they are told apart; counted in words."""
    starts = {value.start: value for value in values}
    places: list[int] = []
    labels: dict[str, tuple[str, int]] = {}
    twice: set[str] = set()
    at = 0
    for start, word in pieces(text, values):
        at += BREAK if word in PUNCTUATION or word.casefold() in CONJUNCTIONS else 1
        value = starts.get(start)
        if value:
            places.append(at)
        key = value.value if value else stem(folded(word))
        if key in labels:
            twice.add(key)
        if key.isalnum() and folded(word) not in STOPWORDS and key not in STOPWORDS:
            labels[key] = (word, at)
    return places, {key: label for key, label in labels.items() if key not in twice}


def pieces(text: str, values: Sequence[Value]) -> Iterator[tuple[int, str]]:
    """Its values, and the words and marks between them."""
    end = 0
    for value in values:
        yield from ((end + found.start(), found[0]) for found in TOKEN.finditer(text[end : value.start]))
        yield value.start, value.shown
        end = value.end
    yield from ((end + found.start(), found[0]) for found in TOKEN.finditer(text[end:]))


# The latest value


def later_value(claim: Claim, valued: Sequence[tuple[int, Sentence]]) -> Iterator[Failure]:
    """A later sentence says the same as a cited one but for one value, and the claim has the earlier value."""
    if claim.status in GONE:
        return
    for order, cited in valued:
        if cited.id not in claim.cites:
            continue
        for later, sentence in valued:
            if later > order and sentence.id not in claim.cites:
                changed = only_change(cited.text, sentence.text)
                if changed and stands(changed[0], (claim.text,)) and not stands(changed[1], (claim.text,)):
                    before, now, words = changed[0].shown, changed[1].shown, shortened(sentence.text)
                    text = f"claim {claim.id} has {before}; it is {now} later, in {sentence.id}: “{words}”"
                    yield Failure(rule="later_value", about=claim.id, text=text)
                    return


def valued_sentences(source: Source) -> list[tuple[int, Sentence]]:
    """What people and model said with values that can change; what programs print repeats itself with others."""
    return [
        (order, sentence)
        for order, sentence in enumerate(source.by_sentence.values())
        if sentence.part == Part.TEXT
        and not ASKED.search(sentence.text)
        and any(value.type in CHANGING and not value.loose for value in values_of(sentence.text))
    ]


def only_change(one: str, other: str) -> tuple[Value, Value] | None:
    """The value of `one` and that of `other` in its place, where they say the same but for it."""
    if not is_same_matter(content(one), content(other)):
        return None
    mine = [value for value in values_of(one) if not value.loose]
    theirs = [value for value in values_of(other) if not value.loose]
    if len(mine) != len(theirs):
        return None
    changed = [(a, b) for a, b in zip(mine, theirs, strict=True) if not is_same(a, b)]
    if len(changed) != 1:
        return None
    a, b = changed[0]
    alike = a.type == b.type and a.type in CHANGING and a.unit == b.unit and a.of == b.of
    return changed[0] if alike else None


def is_same_matter(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= max(FEWEST_WORDS, SAME_WORDS * len(one | other))


# Claims


def against_each_other(claims: Sequence[Claim]) -> Iterator[Failure]:
    """Two claims of a section say the same with another value, or with a status that excludes the other's."""
    for one, other in combinations(claims, 2):
        if one.section != other.section:
            continue
        changed = only_change(one.text, other.text)
        if changed and not GONE & {one.status, other.status}:
            told = f"claim {other.id} has {changed[1].shown} where claim {one.id} has {changed[0].shown}"
            yield Failure(rule="claims_differ", about=other.id, text=told)
        elif is_repeated(one, other) and STATES.get(one.status) != STATES.get(other.status):
            told = f"claims {one.id} and {other.id} say the same, one {marked(one)}, one {marked(other)}"
            yield Failure(rule="claims_differ", about=other.id, text=told)


def marked(claim: Claim) -> str:
    return claim.status.replace("_", " ")


def is_repeated(one: Claim, other: Claim) -> bool:
    """In the same words, with the same values."""
    words = content(one.text)
    return len(words) >= FEWEST_WORDS and words == content(other.text) and not differing(one.text, other.text)


def differing(one: str, other: str) -> bool:
    both = ((one, other), (other, one))
    return any(not value.loose and not stands(value, (text,)) for text, told in both for value in values_of(told))
