"""What stays in the prompt of a conversation that was played to its end, and what its questions then bring back."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from benchmarks.replay import Player, Question, Settings, Talk, moment, on_stage
from efforts.context.references import find_references
from efforts.domain.effort.states import EffortStatus
from efforts.log.timelines import branch_events
from efforts.memory.references import best
from efforts.models import EffortState, Message
from efforts.retrieval.efforts import search_efforts, states_of

from .baselines import SeedReferences
from .evidence import told_in
from .ranks import ALL

# In this order a question is counted where its evidence stood already, or came by what it says, or by a search for it.
WAYS = ("kept", "reference", "search", "missed")


@dataclass(frozen=True, kw_only=True)
class Answered:
    """One question and the efforts that it brought, by way of what."""

    question: Question
    evidence: frozenset[str]
    kept: frozenset[str]
    reference: frozenset[str]
    search: frozenset[str]

    @property
    def ways(self) -> list[str]:
        found = [way for way in WAYS[:-1] if self.evidence & getattr(self, way)]
        return found or ["missed"]


@dataclass(kw_only=True)
class Kept:
    """Of one conversation, by the ids of efforts: concluded ones, and those whose headline stands at the end, by our
    rule and by the seeds'."""

    id: str
    turns: int = 0
    concluded: list[str] = field(default_factory=list)
    standing: list[str] = field(default_factory=list)
    seed: list[str] = field(default_factory=list)
    references: list[dict[str, Any]] = field(default_factory=list)
    returns: Counter[str] = field(default_factory=Counter)
    evictions: int = 0
    answered: list[Answered] = field(default_factory=list)


def keep(talk: Talk, chosen: Settings) -> Kept:
    with on_stage(talk, chosen) as player:
        for _ in player.play():
            pass
        return kept_of(player)


def kept_of(player: Player) -> Kept:
    player.branch.refresh_from_db()
    states = EffortState.objects.filter(branch=player.branch, status=EffortStatus.CONCLUDED).select_related("effort")
    rows = list(states.order_by("concluded_turn", "pk"))
    kept = Kept(
        id=player.talk.id,
        turns=player.branch.clock,
        concluded=[row.effort.slug for row in rows],
        standing=[row.effort.slug for row in rows if row.evicted_clock is None],
        seed=sorted(by_seed(player)),
    )
    follow(kept, player)
    kept.answered = list(answer(player, frozenset(kept.standing)))
    return kept


def by_seed(player: Player) -> set[str]:
    """Over the same messages and the same headlines."""
    rule, ended = SeedReferences(), defaultdict(list)
    for state in states_of(player.branch):
        ended[state.concluded_turn].append((state.effort.slug, getattr(state, "headline", None) or ""))
    said = Message.objects.filter(session=player.session, role__in=[Message.Role.USER, Message.Role.ASSISTANT])
    texts = defaultdict(list)
    for number, text in said.order_by("id").values_list("turn__number", "text"):
        texts[number].append(text)
    for number in range(1, player.branch.head + 1):
        for text in texts[number]:
            rule.hear(text, number)
        for slug, headline in ended[number]:
            rule.conclude(slug, headline, number)
    return rule.standing(player.branch.head, player.session.eviction_threshold)


def follow(kept: Kept, player: Player) -> None:
    """What the log says of references, and by which of them a headline came back."""
    out: set[str] = set()
    for event in branch_events(player.branch).filter(kind__in=["effort.referenced", "effort.evicted"]):
        slug, how = event.data["effort"], event.data.get("how", "")
        if event.kind == "effort.evicted":
            kept.evictions += 1
            out.add(slug)
            continue
        kept.references.append(event.data)
        if slug in out:
            out.remove(slug)
            kept.returns[how] += 1


def answer(player: Player, standing: frozenset[str]) -> Iterator[Answered]:
    """Each question as the next message: nothing of it is kept."""
    opened = branch_events(player.branch).filter(kind="effort.opened").order_by("seq")
    slugs = [event.data["effort"] for event in opened]
    told, efforts = told_in(player.talk), dict(zip(player.talk.numbers, slugs, strict=False))
    today = (moment(player.talk.dates[-1]) or timezone.now()).date()
    for question in player.talk.questions:
        sessions = told.session_targets(told.targets(question))
        evidence = frozenset(efforts[number] for target in sessions for number in target if number in efforts)
        if not evidence:
            continue
        named = find_references(player.branch, question.text)
        found = search_efforts(player.branch, question.text, before=player.number + 1, today=today)
        top = best([{"id": hit.slug, "score": hit.score} for hit in found.hits])
        yield Answered(
            question=question,
            evidence=evidence,
            kept=standing,
            reference=frozenset(one.effort.slug for one in named),
            search=frozenset(hit["id"] for hit in top),
        )


@dataclass(kw_only=True)
class KeepingReport:
    name: str
    most: float
    least: float
    conversations: list[Kept] = field(default_factory=list)
    samples: list[dict[str, Any]] = field(default_factory=list)

    def add(self, talk: Talk, chosen: Settings, *, sample: int = 0) -> None:
        kept = keep(talk, chosen)
        self.conversations.append(kept)
        found = [one for one in kept.references if one["how"] == "keywords"]
        shown = [found[place * len(found) // sample] for place in range(min(sample, len(found)))]
        self.samples += [sampled(kept.id, one) for one in shown]

    @property
    def share(self) -> float:
        return share_of([one.standing for one in self.conversations], [one.concluded for one in self.conversations])

    @property
    def brought(self) -> float | None:
        asked = [answered for one in self.conversations for answered in one.answered]
        return round(sum(answered.ways != ["missed"] for answered in asked) / len(asked), 4) if asked else None

    @property
    def holds(self) -> bool:
        return self.share <= self.most and (self.brought is None or self.brought >= self.least)

    def as_json(self) -> dict[str, Any]:
        every = [answered for one in self.conversations for answered in one.answered]
        categories = sorted({answered.question.category for answered in every})
        return {
            "name": self.name,
            "share": self.share,
            "seed_share": share_of(
                [one.seed for one in self.conversations], [one.concluded for one in self.conversations]
            ),
            "conversations": [conversation_json(one) for one in self.conversations],
            "questions": {
                category: ways_of([one for one in every if category in (ALL, one.question.category)])
                for category in (ALL, *categories)
                if every
            },
            "missed": [
                {"id": one.question.id, "question": one.question.text, "evidence": sorted(one.evidence)}
                for one in every
                if one.ways == ["missed"]
            ],
            "sample": self.samples,
        }


def sampled(conversation: str, event: dict[str, Any]) -> dict[str, Any]:
    return {"conversation": conversation, **{key: event[key] for key in ("turn", "by", "message", "effort", "words")}}


def share_of(some: list[list[str]], every: list[list[str]]) -> float:
    return round(sum(map(len, some)) / max(sum(map(len, every)), 1), 4)


def ways_of(answered: list[Answered]) -> dict[str, Any]:
    """Of how many questions the evidence came in each way; one may count in several. `right`: of all that the questions
    refer to by what they say, the share that is evidence."""
    met = Counter(way for one in answered for way in one.ways)
    brought = round(1 - met["missed"] / len(answered), 4)
    referred = sum(len(one.reference) for one in answered)
    right = round(sum(len(one.reference & one.evidence) for one in answered) / referred, 4) if referred else None
    return {"questions": len(answered), "brought": brought, **{way: met[way] for way in WAYS}, "right": right}


def conversation_json(kept: Kept) -> dict[str, Any]:
    return {
        "id": kept.id,
        "turns": kept.turns,
        "headlines": len(kept.concluded),
        "standing": len(kept.standing),
        "share": share_of([kept.standing], [kept.concluded]),
        "seed": len(kept.seed),
        "evicted": kept.evictions,
        "returned": sum(kept.returns.values()),
        "references": dict(sorted(Counter(one["how"] for one in kept.references).items())),
        "returns": dict(sorted(kept.returns.items())),
        **({"questions": ways_of(kept.answered)} if kept.answered else {}),
    }
