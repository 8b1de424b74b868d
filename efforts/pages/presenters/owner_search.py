"""Search for people: in all that is theirs, what was said as well as efforts, their summaries and rules."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet
from django.utils import timezone

from efforts.actions.names import slug_of
from efforts.context.presence import Presence, presences_of
from efforts.domain.effort.states import ConstraintState, PointerState
from efforts.domain.prompt.need import NEAR
from efforts.domain.text.locating import one_line
from efforts.domain.text.ranking import Ranked, Ranking
from efforts.domain.text.sentences import sentence_places
from efforts.domain.text.snippets import plainly, unquoted
from efforts.domain.text.terms import marks, terms_of
from efforts.models import Branch, Constraint, ContextPointer, Effort, EffortState, Message, Passage, Session
from efforts.pages.presenters.arriving import InMessage
from efforts.retrieval.candidates import MOST as CANDIDATES
from efforts.retrieval.candidates import Candidates, Narrowed, Scope
from efforts.retrieval.search import NEAREST, Query, Search, found, look, look_alike, nearest_rows, statistics_of
from efforts.retrieval.vectors import Meant, nearest_of_all
from efforts.standins import seen

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST = 50
# Passages whose meaning is nearest, before filters take some of them out.
MOST_NEAR = 20 * NEAREST


class HitKind(StrEnum):
    """What can be found."""

    EFFORT = "effort"
    MESSAGE = "message"
    SUMMARY = "summary"
    RULE = "rule"


# Of a word's rarity, so that a name goes before what was only said; and where it stands.
WORTH = {HitKind.EFFORT: 2.0, HitKind.SUMMARY: 1.0, HitKind.RULE: 1.5}
WHERE = {HitKind.EFFORT: "name", HitKind.SUMMARY: "summary", HitKind.RULE: "text"}


@dataclass(frozen=True, kw_only=True)
class OwnerHit:
    """`text` is the passage, `marks` spans of its characters that have a word of the query; a rule for all
    conversations has neither session nor branch. `artifact` and `word` are of a summary, or of excerpts (`quotes`);
    `presence` of what stands."""

    kind: HitKind
    text: str
    said_on: str
    marks: tuple[tuple[int, int], ...] = ()
    score: float = 0.0
    why: tuple[str, ...] = ()
    session: Session | None = None
    branch: Branch | None = None
    turn: int = 0
    effort: str = ""
    rule: int = 0
    role: str = ""
    passage: int = 0
    place: InMessage | None = None
    artifact: str = ""
    word: seen.Word | None = None
    quotes: bool = False
    presence: Presence | None = None


@dataclass(frozen=True, kw_only=True)
class OwnerResults:
    """`found`: how many there are, of which `hits` are some; `has_more`: more messages have the words than are
    ranked."""

    hits: tuple[OwnerHit, ...] = ()
    found: int = 0
    has_more: bool = False


@dataclass(frozen=True, kw_only=True)
class Filters:
    """`since` and `until` bound the time of a hit; `session` must be the owner's; `effort` is a part of a name or id,
    `speaker` a role: what it did not say is no hit."""

    kinds: Collection[HitKind] = tuple(HitKind)
    session: Session | None = None
    since: datetime | None = None
    until: datetime | None = None
    effort: str = ""
    speaker: str = ""

    def has(self, at: datetime) -> bool:
        return (self.since is None or self.since <= at) and (self.until is None or at < self.until)

    def times(self, name: str) -> Q:
        bounds = {f"{name}__gte": self.since, f"{name}__lt": self.until}
        return Q(**{key: value for key, value in bounds.items() if value})

    @property
    def wanted(self) -> frozenset[HitKind]:
        """The kinds that can meet all of this: rules belong to no effort, and only messages have a speaker."""
        possible = {HitKind.MESSAGE} if self.speaker else set(HitKind)
        return frozenset(self.kinds) & possible - ({HitKind.RULE} if self.effort else set())

    def efforts_of(self, owner: User) -> frozenset[str] | None:
        """Their ids; None where all will do."""
        if not self.effort:
            return None
        named = Q(slug__icontains=self.effort) | Q(name__icontains=self.effort)
        rows = Effort.objects.filter(named, session__in=self.sessions_of(owner))
        return frozenset(rows.values_list("slug", flat=True))

    def sessions_of(self, owner: User) -> QuerySet[Session]:
        sessions = Session.objects.owned_by(owner)
        return sessions.filter(pk=self.session.pk) if self.session else sessions


ANYWHERE = Filters()


def search_owner(
    owner: User,
    text: str,
    filters: Filters = ANYWHERE,
    *,
    most: int = MOST,
    page: int = 1,
    meant: Sequence[Meant] = (),
    like: Passage | None = None,
) -> OwnerResults:
    """The best of what has the words, `most` on each page. `meant`: what the text means by each model that compares
    some of these conversations; `like`: instead of the text what is like this passage, which is the owner's."""
    efforts = filters.efforts_of(owner)
    narrowed = Narrowed(since=filters.since, until=filters.until, role=filters.speaker, efforts=efforts)
    scope = Scope(owner=owner.pk, session=filters.session.pk if filters.session else None, narrowed=narrowed)
    if like:
        query, candidates = look_alike(scope, text_of(like), None)
    else:
        # People see results while they type.
        query, candidates = look(scope, text, (), None, typing=not text.endswith(" "))
    if not query.terms:
        return OwnerResults()
    search, most_by_words = searched(scope, query, candidates, filters.sessions_of(owner), meant)
    wanted = filters.wanted & {HitKind.MESSAGE} if like else filters.wanted
    ranked: list[Ranked | OwnerHit] = []
    if HitKind.MESSAGE in wanted:
        ranked += [one for one in search.ranked if tells(one) and not (like and one.found.message == like.message_id)]
    texts = text_hits(owner, search, replace(filters, kinds=wanted), efforts)
    # Beside meanings the words of a message count up to 1.
    ranked += [replace(hit, score=round(hit.score / most_by_words, 6)) for hit in texts] if meant else texts
    ranked.sort(key=order)
    shown = ranked[(page - 1) * most : page * most]
    return OwnerResults(
        hits=tuple(with_messages(search, shown)), found=len(ranked), has_more=len(candidates.rows) == CANDIDATES
    )


def text_of(passage: Passage) -> str:
    return passage.message.text[passage.start : passage.end]


def tells(one: Ranked) -> bool:
    return bool(one.own) or one.meaning >= NEAR


def order(one: Ranked | OwnerHit) -> tuple[float, str, str, int, int, str]:
    if isinstance(one, Ranked):
        return -one.score, HitKind.MESSAGE, one.found.said_on, one.found.number, one.found.passage, ""
    return -one.score, one.kind, one.said_on, one.turn, 0, one.text


def searched(
    scope: Scope, query: Query, candidates: Candidates, sessions: QuerySet[Session], meant: Sequence[Meant]
) -> tuple[Search, float]:
    """And what the best message has by its words alone."""
    statistics = statistics_of(query, candidates)
    there = {row.passage for row in candidates.rows}
    near: dict[int, int] = {}
    for one in meant:
        near |= nearest_of_all(sessions.filter(by_meaning=True), one, most=MOST_NEAR, also=there)
    nearest = dict(sorted(near.items(), key=lambda item: (-item[1], item[0])))
    ranking = Ranking(statistics=statistics, meanings=nearest)
    rows = [*candidates.rows, *nearest_rows(scope, nearest, query, there)]
    # Each turn in the branch that it was said in.
    ranking.add(found(row, str(row.branch)) for row in rows)
    by_words = max((one.total for one in ranking.said.values()), default=0.0) or max(statistics.weight, 1.0)
    ranked = tuple(ranking.ranked())
    return Search(query=query, ranked=ranked, statistics=statistics, found=len(candidates.rows)), by_words


def with_messages(search: Search, shown: Sequence[Ranked | OwnerHit]) -> Iterator[OwnerHit]:
    ids = [one.found.message for one in shown if isinstance(one, Ranked)]
    said = Message.objects.select_related("session", "turn__branch").in_bulk(ids)
    for one in originals_first(shown, said):
        yield message_hit(search, one, said[one.found.message]) if isinstance(one, Ranked) else one


def originals_first(shown: Sequence[Ranked | OwnerHit], said: Mapping[int, Message]) -> list[Ranked | OwnerHit]:
    """What a person wrote goes before replies that quote it, where the same words of the query stand in both."""
    found: list[Ranked | OwnerHit] = []
    for one in shown:
        place = len(found)
        if isinstance(one, Ranked) and one.found.role == Message.Role.USER:
            written = said[one.found.message].text[one.found.start : one.found.end]
            quoted = [one_line(written[start:end]) for start, end in sentence_places(written)]
            place = next((at for at, other in enumerate(found) if quotes(other, one, quoted, said)), place)
        found.insert(place, one)
    return found


def quotes(other: Ranked | OwnerHit, one: Ranked, sentences: Collection[str], said: Mapping[int, Message]) -> bool:
    if not isinstance(other, Ranked) or other.found.role != Message.Role.ASSISTANT or set(other.own) != set(one.own):
        return False
    text = one_line(unquoted(said[other.found.message].text))
    return any(sentence in text for sentence in sentences)


def message_hit(search: Search, one: Ranked, row: Message) -> OwnerHit:
    text = plainly(row.text, one.found.start, one.found.end)
    return OwnerHit(
        kind=HitKind.MESSAGE,
        text=text,
        marks=tuple(marks(text, search.query.terms)),
        score=one.score,
        why=search.why(one),
        said_on=day_of(row.created_at),
        session=row.session,
        branch=row.turn.branch,
        turn=one.found.number,
        effort=one.found.effort,
        role=one.found.role,
        passage=one.found.passage,
        place=InMessage.of(row, one.found.start, one.found.end),
    )


def text_hits(owner: User, search: Search, filters: Filters, among: frozenset[str] | None = None) -> Iterator[OwnerHit]:
    """`among`: ids of efforts, where others are not asked for."""
    readers = {HitKind.EFFORT: efforts, HitKind.SUMMARY: summaries, HitKind.RULE: rules}
    for kind, read in readers.items():
        if kind in filters.kinds:
            there = (one for one in read(owner, filters) if among is None or one.effort in among)
            yield from (hit for one in there if (hit := text_hit(search, one)))


def text_hit(search: Search, one: OwnerHit) -> OwnerHit | None:
    """With what it has of the query; None where that is nothing."""
    terms = search.query.terms
    there = distinct_terms(one.text)
    places = [place for place, term in enumerate(terms) if term in there]
    if not places:
        return None
    rarities = search.statistics.rarities
    words = ", ".join(search.query.words(places))
    where = "draft" if one.kind == HitKind.SUMMARY and one.presence is None else WHERE[one.kind]
    return replace(
        one,
        marks=tuple(marks(one.text, terms)),
        score=round(WORTH[one.kind] * sum(rarities[place] for place in places), 6),
        why=(f"Its {where} has {len(places)} of {len(terms)} words: {words}.",),
    )


# Of names, summaries and rules there are few enough to read them all; taking them apart is what would cost.
@lru_cache(maxsize=1 << 14)
def distinct_terms(text: str) -> frozenset[str]:
    return frozenset(terms_of(text))


def efforts(owner: User, filters: Filters) -> Iterator[OwnerHit]:
    states = EffortState.objects.filter(
        filters.times("effort__created_at"), branch__session__in=Session.objects.owned_by(owner)
    )
    if filters.session:
        states = states.filter(branch__session=filters.session)
    told: set[int] = set()
    for state in states.select_related("effort", "branch__session").order_by("effort", "branch__created_at"):
        # A fork has the efforts of its parent: one place to go to is enough.
        if state.effort_id not in told:
            told.add(state.effort_id)
            yield OwnerHit(
                kind=HitKind.EFFORT,
                text=called(state.effort),
                said_on=day_of(state.effort.created_at),
                session=state.branch.session,
                branch=state.branch,
                turn=state.concluded_turn or state.active_turn,
                effort=state.effort.slug,
            )


def day_of(moment: datetime) -> str:
    """As pages tell the time, by which one also asks for the days between which something was said."""
    return timezone.localdate(moment).isoformat()


def called(effort: Effort) -> str:
    """Its name, with its id where that has other words, as it keeps the one that it began with."""
    return effort.name if slug_of(effort.name) == effort.slug else f"{effort.name} ({effort.slug})"


def summaries(owner: User, filters: Filters) -> Iterator[OwnerHit]:
    """Those that stand, then those that do not."""
    active = ContextPointer.objects.filter(
        state=PointerState.ACTIVE, branch__session__in=Session.objects.owned_by(owner)
    )
    if filters.session:
        active = active.filter(branch__session=filters.session)
    rows = active.filter(filters.times("created_at")).select_related("effort", "branch__session").order_by("pk")
    present = presences_of(rows)
    told: set[tuple[int | None, str]] = set()
    for row in rows:
        if (row.effort_id, row.text) not in told:
            told.add((row.effort_id, row.text))
            yield OwnerHit(
                kind=HitKind.SUMMARY,
                text=row.text,
                said_on=day_of(row.created_at),
                session=row.branch.session,
                branch=row.branch,
                effort=row.effort.slug if row.effort else "",
                artifact=row.artifact,
                word=seen.Word.STANDS,
                quotes=row.digest,
                presence=present[row.pk],
            )
    for draft in seen.drafts(owner, filters.session.pk if filters.session else None):
        if filters.has(draft.at):
            yield OwnerHit(
                kind=HitKind.SUMMARY,
                text=draft.text,
                said_on=day_of(draft.at),
                session=draft.session,
                branch=draft.branch,
                effort=draft.effort,
                artifact=draft.artifact,
                word=draft.word,
                quotes=draft.quotes,
            )


def rules(owner: User, filters: Filters) -> Iterator[OwnerHit]:
    """Those in force and those that wait for a yes."""
    rows = (
        Constraint.objects.filter(filters.times("created_at"), owner=owner)
        .exclude(state=ConstraintState.REVOKED)
        .exclude(session__erase_at__isnull=False)
    )
    if filters.session:
        rows = rows.filter(session=filters.session)
    for row in rows.select_related("session", "source__turn__branch").order_by("pk"):
        source = row.source.turn if row.source else None
        yield OwnerHit(
            kind=HitKind.RULE,
            text=row.text,
            said_on=day_of(row.created_at),
            session=row.session,
            branch=source.branch if source else None,
            turn=source.number if source else 0,
            rule=row.pk,
        )
