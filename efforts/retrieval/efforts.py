"""Which efforts a query means: by their names and summaries, and by what was said in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from django.db.models import OuterRef, Subquery

from efforts.domain.effort.states import PointerState
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.ranking import SAME_EFFORT, Ranked, by_effort, effort_scores
from efforts.domain.text.terms import terms_of
from efforts.models import Branch, ContextPointer, EffortState

from .search import Search, search_branch

# Of a word's rarity: in the id or the name; in the summary, where the best message of the effort does without it.
IN_NAME, IN_HEADLINE = 2.0, 0.5
# Of what an effort has of the query as a whole, beside its best message.
AS_A_WHOLE = 0.5
# More turns than for messages: each effort is to be seen by its best one.
WHOLE_TURNS = 60


@dataclass(frozen=True, kw_only=True)
class EffortHit:
    """`said`: the best message of the effort, where one has a word of the query; `why`: sentences for people."""

    state: EffortState
    headline: str
    score: float
    why: tuple[str, ...]
    said: Ranked | None = None

    @property
    def slug(self) -> str:
        return self.state.effort.slug


@dataclass(frozen=True, kw_only=True)
class EffortSearch:
    """All efforts that have anything of the query, open and evicted ones too, the best first."""

    search: Search
    hits: tuple[EffortHit, ...]
    states: tuple[EffortState, ...]

    @property
    def fingerprint(self) -> str:
        """Of what the ranking reads of efforts: these change without a message."""
        read = [[state.effort.slug, state.effort.name, getattr(state, "headline", None)] for state in self.states]
        return sha256(canonical_json(sorted(read, key=str)))


def search_efforts(branch: Branch, text: str, *, before: int, today: date, snapshot: int | None = None) -> EffortSearch:
    search = search_branch(branch, text, before=before, today=today, snapshot=snapshot, turns=WHOLE_TURNS)
    states, said = tuple(states_of(branch)), by_effort(search.ranked)
    whole = effort_scores(search.mentions, len(states))
    hits = (hit_of(state, search, said.get(state.effort.slug), whole.get(state.effort.slug, 0.0)) for state in states)
    best = sorted((hit for hit in hits if hit.score), key=lambda hit: (-hit.score, hit.slug))
    return EffortSearch(search=search, hits=tuple(best), states=states)


def states_of(branch: Branch) -> Iterable[EffortState]:
    """With the summary that stands as `headline`."""
    stands = ContextPointer.objects.filter(branch=branch, effort=OuterRef("effort"), state=PointerState.ACTIVE)
    states = EffortState.objects.filter(branch=branch).select_related("effort")
    return states.annotate(headline=Subquery(stands.order_by("-pk").values("headline")[:1]))


def hit_of(state: EffortState, search: Search, said: Ranked | None, whole: float) -> EffortHit:
    headline = getattr(state, "headline", None) or ""
    terms = search.query.terms
    named = in_name(terms, f"{state.effort.slug} {state.effort.name}")
    summed_up = [place for place in places(terms, headline) if not said or place not in (*said.own, *said.near)]
    # Beside a message that has other words a summary tells no more than the rest of the effort.
    share = SAME_EFFORT if said else IN_HEADLINE
    texts = [("name", named, IN_NAME), ("summary", summed_up, share)]
    rarities = search.statistics.rarities
    in_text = sum(share * rarities[place] for _, found, share in texts for place in found)
    score = in_text + AS_A_WHOLE * whole + (said.score if said else 0.0)
    told = said is not None and said.own
    return EffortHit(
        state=state,
        headline=headline,
        score=round(score, 6),
        why=(*in_texts(search, texts), *(search.why(said) if said and told else ())),
        said=said if told else None,
    )


def in_name(terms: Sequence[str], name: str) -> list[int]:
    """A number alone is no name: "Session 3" is not what "on the 3rd" means."""
    found = places(terms, name)
    only_numbers = all(terms[place].isdecimal() for place in found)
    return [] if only_numbers and not all(term.isdecimal() for term in terms_of(name)) else found


def places(terms: Sequence[str], text: str) -> list[int]:
    there = set(terms_of(text))
    return [place for place, term in enumerate(terms) if term in there]


def in_texts(search: Search, texts: Iterable[tuple[str, list[int], float]]) -> Iterator[str]:
    for where, found, _ in texts:
        if found:
            yield f"Its {where} has {', '.join(search.query.words(found))}."
