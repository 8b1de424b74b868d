"""What managing the context does, told from the events of a timeline and from what its calls were sent."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

from efforts.domain.effort.chosen import RAW
from efforts.domain.effort.reducer import Happening

# An effort that is expanded again so soon after it was auto-collapsed had faded wrongly.
FALSE_DECAY_TURNS = 2


@dataclass(frozen=True, kw_only=True)
class Sent:
    """What the last call of a turn was sent, in tokens: in all, and by layer.

    `said_before` is what all turns before it would add to a prompt, `logs_before` those of them that belong to efforts.
    """

    turn: int
    tokens: int
    sections: Mapping[str, int]
    said_before: int
    logs_before: int

    @property
    def expanded(self) -> int:
        return self.sections.get("expanded", 0)

    @property
    def naive(self) -> int:
        """With everything said so far, instead of what was chosen of it."""
        return self.always + self.said_before

    @property
    def always(self) -> int:
        return self.sections.get("system", 0) + self.sections.get("turn", 0)

    @property
    def effort_logs(self) -> int:
        """With the logs of all efforts whole, and the ambient turns that were sent."""
        return self.always + self.sections.get("ambient", 0) + self.logs_before


@dataclass(frozen=True, kw_only=True)
class Expansion:
    """`how` it ended: "decayed", "undone", or why it was collapsed; "" while it stands."""

    seq: int
    effort: str
    turn: int
    clock: int
    tokens: int
    how: str = ""
    ended_seq: int | None = None
    ended_turn: int | None = None
    ended_clock: int | None = None

    @property
    def duration(self) -> int | None:
        return None if self.ended_clock is None else self.ended_clock - self.clock


@dataclass(frozen=True, kw_only=True)
class Decay:
    """An auto-collapse, what it took from the prompt, and where the effort was expanded again."""

    seq: int
    effort: str
    turn: int
    clock: int
    tokens: int
    again_turn: int | None = None
    again_clock: int | None = None

    @property
    def is_false(self) -> bool:
        return self.again_clock is not None and self.again_clock - self.clock <= FALSE_DECAY_TURNS


@dataclass(frozen=True, kw_only=True)
class Eviction:
    """`age` in completed turns since the effort was concluded; `back_turn` is the one that referred to it again."""

    seq: int
    effort: str
    turn: int
    age: int
    back_turn: int | None = None


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What the auto-collapses before a completed turn kept out of its prompt."""

    turn: int
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What happened; every figure follows from it. Figures without a base are None."""

    sent: tuple[Sent, ...] = ()
    expansions: tuple[Expansion, ...] = ()
    decays: tuple[Decay, ...] = ()
    evictions: tuple[Eviction, ...] = ()
    saved: tuple[Saved, ...] = ()
    too_early: tuple[int, ...] = ()

    def after(self, *, turn: int, seq: int) -> Metrics:
        """What a branch has of its own: after the turn and the event that it shares with its parent."""
        return Metrics(
            sent=tuple(one for one in self.sent if one.turn > turn),
            expansions=tuple(one for one in self.expansions if (one.ended_seq or one.seq) > seq),
            decays=tuple(one for one in self.decays if one.seq > seq),
            evictions=tuple(one for one in self.evictions if one.seq > seq),
            saved=tuple(one for one in self.saved if one.turn > turn),
            too_early=tuple(of for of in self.too_early if of > seq),
        )

    @property
    def happened(self) -> bool:
        return bool(self.sent or self.expansions)

    @property
    def ended(self) -> tuple[Expansion, ...]:
        """Those that stood for a while: one that was taken back never did."""
        return tuple(one for one in self.expansions if one.how not in ("", "undone"))

    @property
    def manual(self) -> tuple[Expansion, ...]:
        return self.ended_by("asked")

    def ended_by(self, *how: str) -> tuple[Expansion, ...]:
        return tuple(one for one in self.expansions if one.how in how)

    @property
    def false_decays(self) -> tuple[Decay, ...]:
        return tuple(one for one in self.decays if one.is_false)

    @property
    def returns(self) -> tuple[Eviction, ...]:
        return tuple(one for one in self.evictions if one.back_turn is not None)

    @property
    def figures(self) -> dict[str, float | None]:
        return {**self.of_prompts, **self.of_decay, **self.of_eviction}

    @property
    def of_prompts(self) -> dict[str, float | None]:
        context, naive = [one.tokens for one in self.sent], [one.naive for one in self.sent]
        expanded, effort_logs = [one.expanded for one in self.sent], [one.effort_logs for one in self.sent]
        return {
            **spread("context_tokens", context),
            **spread("naive_tokens", naive),
            **spread("expansion_tokens", expanded),
            "expansion_overhead": share(last(expanded), last(context)),
            "expansion_overhead_all": share(sum(expanded), sum(context)),
            "savings_vs_naive": saving(last(context), last(naive)),
            "savings_vs_naive_all": saving(sum(context), sum(naive)),
            "savings_vs_effort_logs": saving(last(context), last(effort_logs)),
            "savings_vs_effort_logs_all": saving(sum(context), sum(effort_logs)),
        }

    @property
    def of_decay(self) -> dict[str, float | None]:
        auto = len(self.decays)
        return {
            "expansions": len(self.expansions),
            "auto_collapses": auto,
            "manual_collapses": len(self.manual),
            "manual_vs_auto_collapse": share(len(self.manual), auto),
            "avg_expansion_duration": mean([one.duration for one in self.ended if one.duration is not None]),
            "false_decays": len(self.false_decays),
            "false_decay_rate": share(len(self.false_decays), auto),
            "too_early": len(self.too_early),
            "tokens_saved_by_decay": sum(one.tokens for one in self.saved),
        }

    @property
    def of_eviction(self) -> dict[str, float | None]:
        return {
            "evictions": len(self.evictions),
            "returns": len(self.returns),
            "avg_eviction_age": mean([one.age for one in self.evictions]),
        }


def together(parts: Iterable[Metrics]) -> Metrics:
    """As if it were one conversation; but for the last call, of which there is none then."""
    parts = list(parts)
    return Metrics(
        **{one.name: tuple(each for part in parts for each in getattr(part, one.name)) for one in fields(Metrics)}
    )


def last(values: Sequence[int]) -> int | None:
    return values[-1] if values else None


def mean(values: Collection[int]) -> float | None:
    return sum(values) / len(values) if values else None


def share(part: float | None, whole: float | None) -> float | None:
    return part / whole if whole and part is not None else None


def saving(part: float | None, whole: float | None) -> float | None:
    left = share(part, whole)
    return None if left is None else 1 - left


def spread(name: str, values: Sequence[int]) -> dict[str, float | None]:
    return {
        name: last(values),
        f"{name}_mean": mean(values),
        f"{name}_peak": max(values, default=None),
        f"{name}_all": sum(values),
    }


def measure(events: Iterable[Happening], sent: Iterable[Sent] = ()) -> Metrics:
    """Of the events of one timeline in their order, and of its turns likewise."""
    tally = Tally()
    for event in events:
        tally.take(event)
    return Metrics(
        sent=tuple(sent),
        expansions=tuple(tally.expansions.values()),
        decays=tuple(tally.decays.values()),
        evictions=tuple(tally.evictions.values()),
        saved=tuple(Saved(turn=turn, tokens=tokens) for turn, tokens in tally.saved.items()),
        too_early=tuple(sorted(tally.too_early)),
    )


@dataclass(kw_only=True)
class Tally:
    """What was counted so far, by the number of the event that began it.

    Of efforts by their id: `standing` is the expansion that stands, `decayed` the last auto-collapse, `away` the one
    whose tokens are saved, `evicted` the eviction that lasts, `concluded` the clock at the last conclusion.
    """

    expansions: dict[int, Expansion] = field(default_factory=dict)
    decays: dict[int, Decay] = field(default_factory=dict)
    evictions: dict[int, Eviction] = field(default_factory=dict)
    saved: dict[int, int] = field(default_factory=dict)
    too_early: set[int] = field(default_factory=set)
    standing: dict[str, int] = field(default_factory=dict)
    decayed: dict[str, int] = field(default_factory=dict)
    away: dict[str, int] = field(default_factory=dict)
    evicted: dict[str, int] = field(default_factory=dict)
    concluded: dict[str, int] = field(default_factory=dict)
    ends: dict[int, int] = field(default_factory=dict)

    def take(self, event: Happening) -> None:
        if step := STEPS.get(event.kind):
            step(self, event)

    def begin(self, event: Happening, tokens: int) -> None:
        slug, clock = event.slug, event.clock
        self.expansions[event.seq] = Expansion(seq=event.seq, effort=slug, turn=event.turn, clock=clock, tokens=tokens)
        self.bring_back(event)
        self.standing[slug] = event.seq
        self.away.pop(slug, None)
        if (of := self.decayed.pop(slug, None)) is not None:
            self.decays[of] = replace(self.decays[of], again_turn=event.turn, again_clock=clock)

    def bring_back(self, event: Happening) -> None:
        """Whoever refers to an evicted effort, or does something to it, brings it back."""
        if (of := self.evicted.pop(event.slug, None)) is not None:
            self.evictions[of] = replace(self.evictions[of], back_turn=event.turn)

    def end(self, event: Happening, how: str) -> None:
        if (began := self.standing.pop(event.slug, None)) is None:
            return
        self.expansions[began] = replace(
            self.expansions[began], how=how, ended_seq=event.seq, ended_turn=event.turn, ended_clock=event.clock
        )
        self.ends[event.seq] = began


def expanded(tally: Tally, event: Happening) -> None:
    tally.begin(event, event.data["tokens"])


def words_expanded(tally: Tally, event: Happening) -> None:
    # The whole summary of chosen turns is none of what was said.
    if event.data["what"] == RAW:
        expanded(tally, event)


def collapsed(tally: Tally, event: Happening) -> None:
    tally.end(event, event.data["why"])
    if event.data["why"] == "work_session":
        tally.away.clear()


def decayed(tally: Tally, event: Happening) -> None:
    tally.end(event, "decayed")
    # Events of chosen turns from before they had it.
    tokens = event.data.get("tokens", 0)
    tally.decays[event.seq] = Decay(seq=event.seq, effort=event.slug, turn=event.turn, clock=event.clock, tokens=tokens)
    tally.decayed[event.slug] = tally.away[event.slug] = event.seq


def rolled_back(tally: Tally, event: Happening) -> None:
    tally.end(event, "rolled_back")


def resumed(tally: Tally, event: Happening) -> None:
    # It would have collapsed by now in any case.
    tally.away.clear()


def reopened(tally: Tally, event: Happening) -> None:
    tally.bring_back(event)
    tally.away.pop(event.slug, None)


def concluded(tally: Tally, event: Happening) -> None:
    tally.concluded[event.slug] = event.clock


def evicted(tally: Tally, event: Happening) -> None:
    began = tally.concluded.get(event.slug)
    age = event.data["turns"] if began is None else event.clock - began
    tally.evictions[event.seq] = Eviction(seq=event.seq, effort=event.slug, turn=event.turn, age=age)
    tally.evicted[event.slug] = event.seq


def too_early(tally: Tally, event: Happening) -> None:
    tally.too_early.add(event.data["of"])


def undone(tally: Tally, event: Happening) -> None:
    if inverse := INVERSES.get(event.data["undone"]):
        inverse(tally, event)


def unexpanded(tally: Tally, event: Happening) -> None:
    tally.end(event, "undone")


def uncollapsed(tally: Tally, event: Happening) -> None:
    """As if it had not been collapsed."""
    if (began := tally.ends.pop(event.data["of"], None)) is not None:
        whole = replace(tally.expansions[began], how="", ended_seq=None, ended_turn=None, ended_clock=None)
        tally.expansions[began], tally.standing[event.slug] = whole, began


def undecayed(tally: Tally, event: Happening) -> None:
    """The auto-collapse has been, and counts; the effort is expanded once more."""
    tally.begin(event, tally.decays[event.data["of"]].tokens)


def ended(tally: Tally, event: Happening) -> None:
    if event.data["state"] != "completed":
        return
    # Those of this very turn took nothing from its prompt.
    before = (tally.decays[of] for of in tally.away.values())
    tokens = sum(decay.tokens for decay in before if decay.turn < event.turn)
    if tokens:
        tally.saved[event.turn] = tokens


STEPS: Mapping[str, Callable[[Tally, Happening], None]] = {
    "effort.expanded": expanded,
    "effort.collapsed": collapsed,
    "effort.decayed": decayed,
    "effort.evicted": evicted,
    "effort.referenced": Tally.bring_back,
    "effort.too_early": too_early,
    "effort.concluded": concluded,
    "effort.reopened": reopened,
    "effort.rolled_back": rolled_back,
    "effort.undone": undone,
    "compaction.expanded": words_expanded,
    "compaction.collapsed": collapsed,
    "compaction.decayed": decayed,
    "compaction.too_early": too_early,
    "compaction.undone": undone,
    "session.resumed": resumed,
    "run.ended": ended,
}
INVERSES: Mapping[str, Callable[[Tally, Happening], None]] = {
    "effort.expanded": unexpanded,
    "effort.collapsed": uncollapsed,
    "effort.decayed": undecayed,
    "compaction.expanded": unexpanded,
    "compaction.collapsed": uncollapsed,
    "compaction.decayed": undecayed,
}
