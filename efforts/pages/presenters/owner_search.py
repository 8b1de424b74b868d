"""Search for people: in all that is theirs, what was said as well as efforts, their summaries and rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from django.db.models import Q

from efforts.domain.effort.states import ConstraintState, PointerState
from efforts.domain.text.ranking import Ranked, Ranking
from efforts.domain.text.terms import marks, terms_of
from efforts.models import Branch, Constraint, ContextPointer, EffortState, Message, Session
from efforts.retrieval.candidates import Candidates, Scope
from efforts.retrieval.search import Query, Search, found, look, statistics_of
from efforts.standins import seen

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST = 50
# Of a word's rarity, so that a name goes before what was only said.
IN_NAME, IN_SUMMARY, IN_RULE = 2.0, 1.0, 1.5


class HitKind(StrEnum):
    """What can be found."""

    EFFORT = "effort"
    MESSAGE = "message"
    SUMMARY = "summary"
    RULE = "rule"


@dataclass(frozen=True, kw_only=True)
class OwnerHit:
    """`text` is the passage, `marks` spans of its characters that have a word of the query; a rule for all
    conversations has neither session nor branch. `artifact` and `word` are of a summary."""

    kind: HitKind
    text: str
    marks: tuple[tuple[int, int], ...]
    score: float
    why: tuple[str, ...]
    said_on: str
    session: Session | None = None
    branch: Branch | None = None
    turn: int = 0
    effort: str = ""
    rule: int = 0
    role: str = ""
    artifact: str = ""
    word: seen.Word | None = None


@dataclass(frozen=True, kw_only=True)
class OwnerResults:
    """`found`: of each kind, of which the best are `hits`."""

    hits: tuple[OwnerHit, ...] = ()
    found: int = 0


@dataclass(frozen=True, kw_only=True)
class Filters:
    """`since` and `until` bound the time of a hit; `session` must be the owner's."""

    kinds: Collection[HitKind] = tuple(HitKind)
    session: Session | None = None
    since: datetime | None = None
    until: datetime | None = None

    def has(self, at: datetime) -> bool:
        return (self.since is None or self.since <= at) and (self.until is None or at < self.until)

    def times(self, name: str) -> Q:
        bounds = {f"{name}__gte": self.since, f"{name}__lt": self.until}
        return Q(**{key: value for key, value in bounds.items() if value})


def search_owner(owner: User, text: str, filters: Filters = Filters(), *, most: int = MOST) -> OwnerResults:  # frozen
    scope = Scope(
        owner=owner.pk,
        session=filters.session.pk if filters.session else None,
        since=filters.since,
        until=filters.until,
    )
    # People see results while they type.
    query, candidates = look(scope, text, (), None, typing=not text.endswith(" "))
    if not query.terms:
        return OwnerResults()
    search = searched(query, candidates, most)
    hits: list[OwnerHit] = []
    if HitKind.MESSAGE in filters.kinds:
        hits += message_hits(search, most)
    hits += text_hits(owner, search, filters)
    ranked = sorted(hits, key=lambda hit: (-hit.score, hit.kind, hit.said_on, hit.turn, hit.text))
    others = sum(hit.kind != HitKind.MESSAGE for hit in hits)
    messages = search.found if HitKind.MESSAGE in filters.kinds else 0
    return OwnerResults(hits=tuple(ranked[:most]), found=messages + others)


def searched(query: Query, candidates: Candidates, most: int) -> Search:
    statistics = statistics_of(query, candidates)
    ranking = Ranking(statistics=statistics)
    # Each turn in the branch that it was said in.
    ranking.add(found(row, str(row.branch)) for row in candidates.rows)
    ranked = ranking.ranked(ranking.best_turns(most))
    return Search(query=query, ranked=tuple(ranked), statistics=statistics, found=len(candidates.rows))


def message_hits(search: Search, most: int) -> Iterator[OwnerHit]:
    best = [one for one in search.ranked if one.own][:most]
    said = Message.objects.select_related("session", "turn__branch").in_bulk([one.found.message for one in best])
    for one in best:
        yield message_hit(search, one, said[one.found.message])


def message_hit(search: Search, one: Ranked, row: Message) -> OwnerHit:
    text = row.text[one.found.start : one.found.end]
    return OwnerHit(
        kind=HitKind.MESSAGE,
        text=text,
        marks=tuple(marks(text, search.query.terms)),
        score=one.score,
        why=search.why(one),
        said_on=one.found.said_on,
        session=row.session,
        branch=row.turn.branch,
        turn=one.found.number,
        effort=one.found.effort,
        role=one.found.role,
    )


@dataclass(frozen=True, kw_only=True)
class Document:
    """A short text that is not a message."""

    kind: HitKind
    text: str
    share: float
    at: datetime
    where: str
    session: Session | None = None
    branch: Branch | None = None
    turn: int = 0
    effort: str = ""
    rule: int = 0
    artifact: str = ""
    word: seen.Word | None = None


def text_hits(owner: User, search: Search, filters: Filters) -> Iterator[OwnerHit]:
    readers = {HitKind.EFFORT: efforts, HitKind.SUMMARY: summaries, HitKind.RULE: rules}
    for kind, read in readers.items():
        if kind in filters.kinds:
            yield from (hit for document in read(owner, filters) if (hit := text_hit(search, document)))


def text_hit(search: Search, document: Document) -> OwnerHit | None:
    terms = search.query.terms
    there = distinct_terms(document.text)
    places = [place for place, term in enumerate(terms) if term in there]
    if not places:
        return None
    rarities = search.statistics.rarities
    words = ", ".join(search.query.words(places))
    return OwnerHit(
        kind=document.kind,
        text=document.text,
        marks=tuple(marks(document.text, terms)),
        score=round(document.share * sum(rarities[place] for place in places), 6),
        why=(f"Its {document.where} has {len(places)} of {len(terms)} words: {words}.",),
        said_on=document.at.date().isoformat(),
        session=document.session,
        branch=document.branch,
        turn=document.turn,
        effort=document.effort,
        rule=document.rule,
        artifact=document.artifact,
        word=document.word,
    )


# Of names, summaries and rules there are few enough to read them all; taking them apart is what would cost.
@lru_cache(maxsize=1 << 14)
def distinct_terms(text: str) -> frozenset[str]:
    return frozenset(terms_of(text))


def efforts(owner: User, filters: Filters) -> Iterator[Document]:
    states = EffortState.objects.filter(filters.times("effort__created_at"), branch__session__owner=owner)
    if filters.session:
        states = states.filter(branch__session=filters.session)
    told: set[int] = set()
    for state in states.select_related("effort", "branch__session").order_by("effort", "branch__created_at"):
        # A fork has the efforts of its parent: one place to go to is enough.
        if state.effort_id not in told:
            told.add(state.effort_id)
            yield Document(
                kind=HitKind.EFFORT,
                text=f"{state.effort.name} ({state.effort.slug})",
                share=IN_NAME,
                at=state.effort.created_at,
                where="name",
                session=state.branch.session,
                branch=state.branch,
                turn=state.concluded_turn or state.active_turn,
                effort=state.effort.slug,
            )


def summaries(owner: User, filters: Filters) -> Iterator[Document]:
    """Those that stand, then those that do not."""
    active = ContextPointer.objects.filter(state=PointerState.ACTIVE, branch__session__owner=owner)
    if filters.session:
        active = active.filter(branch__session=filters.session)
    rows = active.filter(filters.times("created_at")).select_related("effort", "branch__session").order_by("pk")
    told: set[tuple[int | None, str]] = set()
    for row in rows:
        if (row.effort_id, row.text) not in told:
            told.add((row.effort_id, row.text))
            yield Document(
                kind=HitKind.SUMMARY,
                text=row.text,
                share=IN_SUMMARY,
                at=row.created_at,
                where="summary",
                session=row.branch.session,
                branch=row.branch,
                effort=row.effort.slug if row.effort else "",
                artifact=row.artifact,
                word=seen.Word.STANDS,
            )
    for draft in seen.drafts(owner, filters.session.pk if filters.session else None):
        if filters.has(draft.at):
            yield Document(
                kind=HitKind.SUMMARY,
                text=draft.text,
                share=IN_SUMMARY,
                at=draft.at,
                where="draft",
                session=draft.session,
                branch=draft.branch,
                effort=draft.effort,
                artifact=draft.artifact,
                word=draft.word,
            )


def rules(owner: User, filters: Filters) -> Iterator[Document]:
    """Those in force and those that wait for a yes."""
    rows = Constraint.objects.filter(filters.times("created_at"), owner=owner).exclude(state=ConstraintState.REVOKED)
    if filters.session:
        rows = rows.filter(session=filters.session)
    for row in rows.select_related("session", "source__turn__branch").order_by("pk"):
        source = row.source.turn if row.source else None
        yield Document(
            kind=HitKind.RULE,
            text=row.text,
            share=IN_RULE,
            at=row.created_at,
            where="text",
            session=row.session,
            branch=source.branch if source else None,
            turn=source.number if source else 0,
            rule=row.pk,
        )
