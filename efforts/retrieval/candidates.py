"""What could answer a query: of a scope some hundred passages, those with its rarest words first."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from functools import lru_cache
from itertools import accumulate, islice
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, F, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import OF_PERSON
from efforts.domain.text.spelling import near_terms
from efforts.log.exclusions import is_left_out
from efforts.log.timelines import in_timeline
from efforts.models import Branch, Frequency, Message, Passage, Session, TurnLabel

from .index import ALL, PER_MESSAGE, owner_token, session_token
from .postings import Wanted, newest

# With 300 the same is found as with 1,000 (docs/recall.md), and each costs time.
MOST = 300
# A word in so many passages of a scope finds none by itself, unless the query has only such words; it still counts in
# the scores.
COMMON = 10_000
# So many passages are counted here; of more the database counts.
FEW = 50
LAST_ID = (1 << 63) - 1


@dataclass(frozen=True, kw_only=True)
class Narrowed:
    """To what was said from `since` to before `until`, by a role (a person's files are the person's), in turns of
    efforts with these ids."""

    since: datetime | None = None
    until: datetime | None = None
    role: str = ""
    efforts: frozenset[str] | None = None

    @property
    def limits(self) -> dict[str, object]:
        limits = {
            "message__created_at__gte": self.since,
            "message__created_at__lt": self.until,
            "message__role__in": OF_PERSON if self.role == Message.Role.USER else self.role and [self.role],
        }
        efforts = {} if self.efforts is None else {"effort__in": self.efforts}
        return {**{name: value for name, value in limits.items() if value}, **efforts}


EVERYTHING = Narrowed()


def midnight(day: date) -> datetime:
    """When a day begins, as pages tell the time."""
    return timezone.make_aware(datetime.combine(day, time()))


@dataclass(frozen=True, kw_only=True)
class Scope:
    """Of one owner, one session of theirs, or one branch of it up to before a turn."""

    owner: int | None = None
    session: UUID | None = None
    branch: Branch | None = None
    before: int | None = None
    narrowed: Narrowed = EVERYTHING

    @property
    def token(self) -> str:
        if self.session:
            return session_token(self.session)
        assert self.owner is not None
        return owner_token(self.owner)

    @property
    def sessions(self) -> Q:
        """Whose frequencies count: a branch is measured by all that was said in its session."""
        return (
            Q(session=self.session)
            if self.session
            else Q(session__in=Session.objects.filter(owner=self.owner, erase_at=None))
        )

    @property
    def eligible(self) -> QuerySet[Passage]:
        """What was said and stands: not in a turn that was cancelled, or left out of the prompts of the branch, nor in
        an attempt that was made again."""
        counts = Q(message__role__in=OF_PERSON) | Q(message__run=F("message__turn__run"))
        timeline = in_timeline(self.branch, "message__turn__") if self.branch else Q()
        earlier = {"message__turn__number__lt": self.before} if self.before else {}
        rows = Passage.objects.filter(self.sessions, counts, timeline, **earlier)
        if self.branch:
            rows = rows.exclude(is_left_out(self.branch, "message__turn"))
        rows = rows.exclude(message__turn__run__state=RunState.CANCELLED).annotate(effort=self.effort)
        return rows.filter(**self.narrowed.limits)

    @property
    def effort(self) -> Subquery:
        """What the turn of a passage is about: in this branch, or in the one that it was said in."""
        labels = TurnLabel.objects.filter(turn=OuterRef("message__turn"))
        mine = labels.filter(branch=self.branch or OuterRef("message__turn__branch"))
        return Subquery(mine.values("effort__slug")[:1])


def of_branch(branch: Branch, *, before: int | None = None, narrowed: Narrowed = EVERYTHING) -> Scope:
    return Scope(session=branch.session_id, branch=branch, before=before, narrowed=narrowed)


class PassageRow(NamedTuple):
    """A passage; `effort`: id of what its turn is about, if anything; `counts`: how often each term of the query stands
    in it."""

    passage: int
    message: int
    session: UUID
    turn: int
    number: int
    branch: UUID
    role: str
    created_at: datetime
    start: int
    end: int
    length: int
    effort: str
    turn_tokens: int
    counts: tuple[int, ...]


# Identifiers and moments as text: hundreds of each are converted faster here than by their fields.
FIELDS = (
    "id",
    "message_id",
    Cast("session_id", TextField()),
    "message__turn_id",
    "message__turn__number",
    Cast("message__turn__branch_id", TextField()),
    "message__role",
    Cast("message__created_at", TextField()),
    "start",
    "end",
    "length",
    "effort",
    "message__turn__tokens",
    "terms",
)
known_uuid = lru_cache(maxsize=1 << 12)(UUID)


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """How many passages the session or owner has, in how many of them each term stands, and what was found."""

    passages: int
    frequencies: Mapping[str, int]
    rows: tuple[PassageRow, ...]  # the newest first


def find(scope: Scope, terms: Sequence[str], *, snapshot: int | None = None, most: int = MOST) -> Candidates:
    """`snapshot`: id of the last message that could be found; None where all could."""
    below = below_of(snapshot)
    frequencies = frequencies_below(scope, terms, below)
    passages = frequencies.pop(ALL)
    rows = gathered(scope, frequencies, terms, below, most)
    return Candidates(
        passages=passages, frequencies=frequencies, rows=tuple(sorted(rows, key=lambda row: -row.passage))
    )


def below_of(snapshot: int | None) -> int:
    return LAST_ID if snapshot is None else (snapshot + 1) * PER_MESSAGE


def frequencies_below(scope: Scope, terms: Sequence[str], below: int) -> dict[str, int]:
    """What is counted now less what came after the snapshot."""
    rows = Frequency.objects.filter(scope.sessions, term__in=[ALL, *terms])
    now = dict(rows.values_list("term").annotate(Sum("passages")))
    later = counted_from(scope, terms, below) if below < LAST_ID else {}
    return {term: now.get(term, 0) - later.get(term, 0) for term in [ALL, *terms]}


def counted_from(scope: Scope, terms: Sequence[str], first: int) -> dict[str, int]:
    """Nothing or one message, unless a search is made again: then the database counts."""
    rows = Passage.objects.filter(scope.sessions, pk__gte=first)
    few = list(rows.values_list("terms", flat=True)[: FEW + 1])
    if len(few) > FEW:
        return counted(rows, terms)
    return {ALL: len(few), **{term: sum(f" {term} " in text for text in few) for term in terms}}


def counted(rows: QuerySet[Passage], terms: Sequence[str]) -> dict[str, int]:
    holding = {f"n{place}": Count("pk", filter=Q(terms__contains=f" {term} ")) for place, term in enumerate(terms)}
    found = rows.aggregate(all=Count("pk"), **holding)
    return {ALL: found["all"], **{term: found[f"n{place}"] for place, term in enumerate(terms)}}


def gathered(
    scope: Scope, frequencies: Mapping[str, int], terms: Sequence[str], below: int, most: int
) -> Collection[PassageRow]:
    """The first `most` that count, in the order of the steps; their rows are read at once, when there may be enough."""
    found: dict[int, PassageRow] = {}
    # In this order, each once.
    waiting: dict[int, None] = {}
    seen: set[int] = set()
    for ids in holding(scope.token, frequencies, below, most):
        waiting |= dict.fromkeys(id for id in ids if id not in seen)
        seen |= waiting.keys()
        if len(found) + len(waiting) >= most:
            found |= first_of(scope, waiting, terms, most - len(found))
            waiting = {}
        if len(found) == most:
            break
    return (found | first_of(scope, waiting, terms, most - len(found))).values()


def holding(token: str, frequencies: Mapping[str, int], below: int, most: int) -> Iterator[list[int]]:
    """The ids of the passages of each step, the newest first, at most so many at a time."""
    for wanted in steps(token, frequencies, most):
        bound = below
        while bound:
            ids = newest(wanted, below=bound, most=most)
            yield ids
            # Not by how many there ought to be: of an owner those of conversations to be erased are not counted.
            bound = ids[-1] if len(ids) == most else 0


def first_of(scope: Scope, ids: Collection[int], terms: Sequence[str], most: int) -> dict[int, PassageRow]:
    """Of passages those that count, in this order."""
    if not ids:
        return {}
    rows = {row.passage: row for row in rows_of(scope.eligible.filter(pk__in=ids), terms)}
    return {id: rows[id] for id in islice((id for id in ids if id in rows), most)}


def steps(token: str, frequencies: Mapping[str, int], most: int) -> Iterator[Wanted]:
    """The rarest words first; of one that does not fit any more the passages first that hold another word too."""
    by_rarity = sorted((term for term, passages in frequencies.items() if passages), key=lambda t: (frequencies[t], t))
    telling = [term for term in by_rarity if frequencies[term] <= COMMON] or by_rarity[:1]
    sums = list(accumulate(frequencies[term] for term in telling))
    if fitting := bisect(sums, most):
        yield Wanted(every=(token,), some=tuple(telling[:fitting]), passages=sums[fitting - 1])
    for place, term in enumerate(telling[fitting:], fitting + 1):
        if others := tuple(by_rarity[place:]):
            yield Wanted(every=(token, term), some=others, passages=frequencies[term])
        yield Wanted(every=(token, term), passages=frequencies[term])


def rows_of(passages: QuerySet[Passage], terms: Sequence[str]) -> Iterator[PassageRow]:
    wanted = [f" {term} " for term in terms]
    for fields in passages.values_list(*FIELDS):
        id, message, session, turn, number, branch, role, said, start, end, length, effort, tokens, text = fields
        counts = tuple([text.count(term) for term in wanted])
        turned = (known_uuid(session), turn, number, known_uuid(branch), role, moment(said))
        yield PassageRow(id, message, *turned, start, end, length, effort or "", tokens, counts)


def moment(text: str) -> datetime:
    """SQLite keeps no time zone; it is always UTC."""
    found = datetime.fromisoformat(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def some_rows(scope: Scope, passages: Collection[int], terms: Sequence[str]) -> list[PassageRow]:
    """Those of the scope that stand; the oldest first."""
    return list(rows_of(scope.eligible.filter(pk__in=passages).order_by("pk"), terms)) if passages else []


def effort_rows(scope: Scope, slug: str, terms: Sequence[str], *, below: int, most: int) -> list[PassageRow]:
    """Of the newest `most` passages of an effort of the branch those with one of the terms, the newest first."""
    labels = TurnLabel.objects.filter(branch=scope.branch, effort__slug=slug)
    said = scope.eligible.filter(message__turn__in=labels.values("turn"), pk__lt=below).order_by("-pk")
    return [row for row in rows_of(said[:most], terms) if any(row.counts)]


def turns_rows(branch: Branch, numbers: Collection[int], terms: Sequence[str]) -> list[PassageRow]:
    """All passages of these turns of the branch, in the order of the log."""
    passages = of_branch(branch).eligible.filter(message__turn__number__in=numbers)
    return list(rows_of(passages.filter(message__turn__session=branch.session_id).order_by("pk"), terms))


def near_words(scope: Scope, term: str, *, snapshot: int | None = None) -> tuple[str, ...]:
    """Terms of the scope that are `term` but for one wrong letter, the commonest first; none for a short term."""
    # First whoever said them: one look at each of hundreds of terms, and not one in every session.
    said = Frequency.objects.filter(term__in=near_terms(term)).values_list("term", flat=True).distinct()
    frequencies = frequencies_below(scope, list(said), below_of(snapshot))
    near = [word for word, passages in frequencies.items() if word != ALL and passages]
    return tuple(sorted(near, key=lambda word: (-frequencies[word], word)))


def completed(scope: Scope, beginning: str) -> str:
    """The commonest term of the scope that begins so; empty where none does."""
    rows = Frequency.objects.filter(scope.sessions, term__startswith=beginning).values_list("term")
    found = rows.annotate(n=Sum("passages")).filter(n__gt=0).order_by("-n", "term").first()
    return str(found[0]) if found else ""
