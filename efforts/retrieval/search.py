"""Search in what was said: in one timeline for models and for recall, in all of an owner's for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from itertools import islice
from typing import Any

from efforts.domain.text.dates import days_named
from efforts.domain.text.ranking import VERSION, Found, Ranked, Ranking, Statistics, rarity
from efforts.domain.text.speakers import speaker_named
from efforts.domain.text.terms import MOST_QUERY_TERMS, QUERY_LENGTH, STOPWORDS, query_terms, spelled, terms_of
from efforts.log.timelines import branch_turns, last_said_before
from efforts.models import Branch

from .candidates import (
    EVERYTHING,
    Candidates,
    Narrowed,
    PassageRow,
    Scope,
    below_of,
    completed,
    effort_rows,
    find,
    frequencies_below,
    near_words,
    of_branch,
    some_rows,
    turns_rows,
)
from .index import ALL
from .vectors import Meant, nearest

STRATEGY = f"passages/{VERSION}"
# The turns found first are read whole: what answers a word often stands beside it.
WHOLE_TURNS = 16
# And so many turns on each side of them.
AROUND = 1
# Passages of the focus that are looked through for a word of the query, the newest first.
OF_FOCUS = 1_000
# Passages nearest to what the query means, beside those with its words.
NEAREST = 100
# More steps of so many where a search is narrowed, and what is nearest to it need not count.
MOST_STEPS = 20
# Of a text that others shall be like: a word tells no more for being in it more often.
OFTEN = 3
# One wrong letter is looked for in words of at least so many.
LONG_WORD = 6
# It has every day that any year has.
LEAP_YEAR = 2000


@dataclass(frozen=True, kw_only=True)
class Query:
    """What is looked for; `corrected`: words that nobody said, and those that were taken for them."""

    text: str
    terms: tuple[str, ...]
    days: tuple[tuple[str, str], ...] = ()
    corrected: Mapping[str, str] = field(default_factory=dict)

    @property
    def params(self) -> dict[str, Any]:
        return {"terms": list(self.terms), "days": [list(day) for day in self.days]}

    def words(self, places: Iterable[int]) -> list[str]:
        """Those at these places, as they were typed."""
        typed = spelled(self.text)
        meant = {right: wrong for wrong, right in self.corrected.items()}
        terms = (self.terms[place] for place in places)
        return list(dict.fromkeys(typed[meant.get(term, term)] for term in terms))


@dataclass(frozen=True, kw_only=True)
class Search:
    """What was found, best first; `found`: passages with a word of the query; `mentions`: in how many passages of each
    effort each word stands."""

    query: Query
    ranked: tuple[Ranked, ...]
    statistics: Statistics
    found: int
    mentions: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    def why(self, one: Ranked) -> tuple[str, ...]:
        """Sentences for people."""
        own, near = self.query.words(one.own), self.query.words(one.near)
        taken = self.query.words(place for place in one.own if self.query.terms[place] in self.query.corrected.values())
        # Part of what a stored search is compared by: other words take another version of the strategy.
        sentences = (
            own and f"Has {len(one.own)} of {len(self.query.terms)} words: {', '.join(own)}.",
            near and f"Stands beside {', '.join(near)}.",
            one.dated and "Said on a day that the question names.",
            one.spoken and "Said by the one whom the question names.",
            one.focused and "Boosted: the focus is on its effort.",
            not own and one.meaning and "Means something close to it, in other words.",
            taken and f"Has a word close to {', '.join(taken)}.",
        )
        return tuple(sentence for sentence in sentences if sentence)


def search_branch(
    branch: Branch,
    text: str,
    *,
    before: int,
    today: date,
    snapshot: int | None = None,
    turns: int = WHOLE_TURNS,
    meant: Meant | None = None,
    narrowed: Narrowed = EVERYTHING,
    like: bool = False,
    focus: str = "",
) -> Search:
    """In the timeline of a branch, before the turn `before`. `today`: the day of the question; `snapshot`: id of the
    last message that can be found, without it the last one before that turn; `turns`: how many are read whole;
    `meant`: what the text means, where meanings are compared too; `narrowed`: what counts as found; `like`: the text is
    something that was said, and what is like it is looked for; `focus`: id of the effort in which is looked first."""
    if snapshot is None:
        snapshot = last_said_before(branch, before)
    scope = of_branch(branch, before=before, narrowed=narrowed)
    if like:
        query, candidates = look_alike(scope, text, snapshot)
    else:
        query, candidates = look(scope, text, days_of(branch, text, today), snapshot)
    below = below_of(snapshot)
    near = nearest(branch.session_id, meant, below=below) if meant else {}
    # Among hundreds of candidates what has a word of the query in the focus may have been crowded out.
    focused = effort_rows(scope, focus, query.terms, below=below, most=OF_FOCUS) if focus else []
    if not (candidates.rows or near or focused):
        return Search(query=query, ranked=(), statistics=statistics_of(query, candidates), found=0)
    speaker = "" if like else speaker_named(text)
    ranking = Ranking(
        statistics=statistics_of(query, candidates), days=query.days, speaker=speaker, meanings=near, focus=focus
    )
    rows = [*candidates.rows, *nearest_rows(scope, near, query, {row.passage for row in candidates.rows})]
    known = {row.passage for row in rows}
    rows += [row for row in focused if row.passage not in known]
    ranking.add(found_in(branch, rows))
    best = ranking.best_turns(turns) | ranking.meant_turns(turns) | ranking.focused_turns(turns)
    there = {row.passage for row in rows}
    wanted = {(timeline, number + step) for timeline, number in best for step in range(-AROUND, AROUND + 1)}
    said = turns_rows(branch, {number for _, number in wanted if number < before}, query.terms)
    whole = [row for row in said if row.message <= snapshot and row.passage not in there]
    ranking.add(found_in(branch, whole))
    ranked = ranking.ranked(wanted)
    if narrowed != EVERYTHING:
        # What stands beside something tells what it is about, and need not count itself.
        passages = {one.found.passage for one in ranked}
        counted = {row.passage for row in some_rows(scope, passages, ())}
        ranked = [one for one in ranked if one.found.passage in counted]
    return Search(
        query=query,
        ranked=tuple(ranked),
        statistics=ranking.statistics,
        found=len(candidates.rows),
        mentions=ranking.mentions,
    )


def look(
    scope: Scope, text: str, days: tuple[tuple[str, str], ...], snapshot: int | None, *, typing: bool = False
) -> tuple[Query, Candidates]:
    """The candidates; for a long word that nobody said, those with a word one letter from it. `typing`: the last word
    may be only begun."""
    query = Query(text=text, terms=query_terms(text), days=days)
    if not query.terms:
        return query, Candidates(passages=0, frequencies={}, rows=())
    candidates = find(scope, query.terms, snapshot=snapshot)
    unknown = [term for term in query.terms if not candidates.frequencies[term]]
    begun = unknown[-1:] if typing and query.terms[-1] in unknown else []
    meant = {term: completed(scope, term) for term in begun}
    corrected = {term: meant.get(term) or corrected_to(scope, term, snapshot) for term in unknown}
    corrected = {term: word for term, word in corrected.items() if word}
    if not corrected:
        return query, candidates
    terms = tuple(dict.fromkeys(corrected.get(term, term) for term in query.terms))
    return replace(query, terms=terms, corrected=corrected), find(scope, terms, snapshot=snapshot)


def look_alike(scope: Scope, text: str, snapshot: int | None) -> tuple[Query, Candidates]:
    """The candidates with the telling words of a text that was said."""
    query = Query(text=text, terms=telling_terms(scope, text, below_of(snapshot)))
    if not query.terms:
        return query, Candidates(passages=0, frequencies={}, rows=())
    return query, find(scope, query.terms, snapshot=snapshot)


def telling_terms(scope: Scope, text: str, below: int) -> tuple[str, ...]:
    """The rarest that others have too, in their order."""
    counts = Counter(term for term in terms_of(text[:QUERY_LENGTH]) if term not in STOPWORDS)
    frequencies = frequencies_below(scope, list(counts), below)
    passages = frequencies.pop(ALL)
    worth = {
        term: min(times, OFTEN) * rarity(frequencies[term], passages)
        for term, times in counts.items()
        if frequencies[term] > 1
    }
    best = set(sorted(worth, key=lambda term: (-worth[term], term))[:MOST_QUERY_TERMS])
    return tuple(term for term in counts if term in best)


def nearest_rows(scope: Scope, near: Mapping[int, int], query: Query, there: Collection[int]) -> list[PassageRow]:
    """Of the passages nearest in meaning those that count, without what is `there`."""
    others = (passage for passage in near if passage not in there)
    if scope.narrowed == EVERYTHING:
        return some_rows(scope, [one for one in islice(near, NEAREST) if one not in there], query.terms)
    rows: list[PassageRow] = []
    for _ in range(MOST_STEPS):
        some = list(islice(others, NEAREST))
        rows += some_rows(scope, some, query.terms)
        if len(rows) >= NEAREST or not some:
            break
    return rows


def corrected_to(scope: Scope, term: str, snapshot: int | None) -> str:
    near = near_words(scope, term, snapshot=snapshot) if len(term) >= LONG_WORD else ()
    return near[0] if near else ""


def days_of(branch: Branch, text: str, today: date) -> tuple[tuple[str, str], ...]:
    # Most questions name no day, and need not know when the conversation began.
    if not days_named(text, today, [LEAP_YEAR]):
        return ()
    first = branch_turns(branch).filter(number=1).values_list("created_at", flat=True).first()
    return days_named(text, today, range(first.year, today.year + 1)) if first else ()


def statistics_of(query: Query, candidates: Candidates) -> Statistics:
    frequencies = tuple(candidates.frequencies.get(term, 0) for term in query.terms)
    return Statistics(passages=candidates.passages, frequencies=frequencies)


def found_in(branch: Branch, rows: Iterable[PassageRow]) -> list[Found]:
    """Of one timeline, whichever branches its turns were said in."""
    timeline = str(branch.pk)
    return [found(row, timeline) for row in rows]


def found(row: PassageRow, timeline: str) -> Found:
    return Found(
        passage=row.passage,
        message=row.message,
        turn=row.turn,
        timeline=timeline,
        number=row.number,
        effort=row.effort,
        role=row.role,
        said_on=row.created_at.date().isoformat(),
        start=row.start,
        end=row.end,
        length=row.length,
        counts=row.counts,
        turn_tokens=row.turn_tokens,
    )
