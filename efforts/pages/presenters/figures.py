"""Metrics as people read them: each figure with its unit and its why, three pictures, and what they are drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

from efforts.context.plans import SECTIONS
from efforts.domain.effort.metrics import FALSE_DECAY_TURNS, Expansion, Metrics, Sent
from efforts.domain.text.counting import counted
from efforts.pages.charts import Bar, BarRow, Chart, Series, bar_chart, line_chart, stacked_chart
from efforts.pages.presenters.metrics import AllMetrics

NOTHING = "–"
# Turns that a why leads to, rows of a picture, and rows of a table: the newest.
LINKED, DRAWN, LISTED = 12, 30, 100
# Higher than this many times the largest prompt, lines are cut off: the layers shall stay legible.
HEAD = 2.5
# Decimal places of a share.
PLACES = 4
HOW = {
    "": "still expanded",
    "decayed": "collapsed automatically",
    "asked": "collapsed",
    "reopened": "reopened",
    "rolled_back": "summary rolled back",
    "covered": "covered by the summary of chosen turns",
    "work_session": "work session ended",
    "undone": "taken back",
}
# Of one call, which a sum of conversations does not have.
LAST = (
    "context_tokens",
    "naive_tokens",
    "expansion_tokens",
    "expansion_overhead",
    "savings_vs_naive",
    "savings_vs_effort_logs",
)
Figures = Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class FigureView:
    """`key` is its name in the JSON, `turns` those that it comes from, the newest first; `folded` is read with its
    why."""

    key: str
    label: str
    value: str
    unit: str = ""
    more: tuple[str, ...] = ()
    folded: tuple[str, ...] = ()
    why: str
    turns: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class FigureGroup:
    title: str
    figures: tuple[FigureView, ...]


@dataclass(frozen=True, kw_only=True)
class TurnRow:
    """`layers` in the order of the columns."""

    sent: Sent
    layers: tuple[int, ...]
    saved: int
    saved_so_far: int


@dataclass(frozen=True, kw_only=True)
class MetricsView:
    """Of one timeline. Of `expansions` effort and how they ended are in words. The pictures are SVG; "" where there is
    nothing to draw."""

    groups: tuple[FigureGroup, ...]
    layers: tuple[str, ...]
    turns: tuple[TurnRow, ...]
    expansions: tuple[Expansion, ...]
    tokens_picture: str
    expansions_picture: str
    saved_picture: str

    @property
    def newest_turns(self) -> tuple[TurnRow, ...]:
        return self.turns[::-1][:LISTED]

    @property
    def saving_turns(self) -> tuple[TurnRow, ...]:
        return tuple(row for row in self.newest_turns if row.saved)


def metrics_view(metrics: Metrics, names: Mapping[str, str]) -> MetricsView:
    """`names`: of efforts, by their ids."""
    layers = [layer for layer in SECTIONS if any(one.sections.get(layer) for one in metrics.sent)]
    rows = tuple(turn_rows(metrics, layers))
    span = turn_span(metrics)
    return MetricsView(
        groups=groups_of(metrics),
        layers=tuple(SECTIONS[layer] for layer in layers),
        turns=rows,
        expansions=tuple(in_words(one, names) for one in metrics.expansions[::-1][:LISTED]),
        tokens_picture=tokens_picture(metrics, layers, span) if metrics.sent else "",
        expansions_picture=expansions_picture(metrics, span, names) if metrics.expansions else "",
        saved_picture=saved_picture(metrics, span) if metrics.decays else "",
    )


def turn_rows(metrics: Metrics, layers: Sequence[str]) -> Iterator[TurnRow]:
    saved = {one.turn: one.tokens for one in metrics.saved}
    first = metrics.sent[0].turn if metrics.sent else 0
    so_far = sum(one.tokens for one in metrics.saved if one.turn < first)
    for one in metrics.sent:
        so_far += saved.get(one.turn, 0)
        yield TurnRow(
            sent=one,
            layers=tuple(one.sections.get(layer, 0) for layer in layers),
            saved=saved.get(one.turn, 0),
            saved_so_far=so_far,
        )


def in_words(one: Expansion, names: Mapping[str, str]) -> Expansion:
    return replace(one, effort=names.get(one.effort, one.effort), how=HOW.get(one.how, one.how))


# The figures


def groups_of(metrics: Metrics, *, overall: bool = False) -> tuple[FigureGroup, ...]:
    prompts = prompts_overall(metrics) if overall else prompts_of_turns(metrics)
    return (
        FigureGroup(title="Prompts", figures=tuple(prompts)),
        FigureGroup(title="Expanded efforts", figures=tuple(of_decay(metrics))),
        FigureGroup(title="Summaries dropped from the prompt", figures=tuple(of_eviction(metrics))),
    )


def prompts_of_turns(metrics: Metrics) -> Iterator[FigureView]:
    figures, newest = metrics.figures, [one.turn for one in metrics.sent[-1:]]
    for key, label in (
        ("context_tokens", "Tokens sent"),
        ("naive_tokens", "Without context management"),
        ("expansion_tokens", "Tokens of expanded efforts"),
    ):
        more = f"mean {number(figures[f'{key}_mean'])}", f"peak {number(figures[f'{key}_peak'])}"
        turns = {*newest, *peaks(metrics, key)}
        yield figure(key, label, number(figures[key]), "tokens, last call", more=more, turns=turns)
    yield savings(
        figures, more=last_call_alone(figures), folded=(in_the_last_call(figures), against_logs(figures)), turns=newest
    )
    overhead, over_all = percent(figures["expansion_overhead"]), percent(figures["expansion_overhead_all"])
    more_overhead = (f"{over_all} over all turns",)
    yield figure(
        "expansion_overhead",
        "Share of expanded efforts",
        overhead,
        "of the last call",
        more=more_overhead,
        turns=newest,
    )


# Beside summaries each of which says what it saves.
OUTWEIGHED = "Rules, summaries, earlier passages and the notes beside turns added more than was left out."


def savings(
    figures: Figures, *, more: Iterable[str] = (), folded: Iterable[str] = (), turns: Iterable[int] = ()
) -> FigureView:
    """Headed by what it is: more that was sent is no negative saving."""
    key, unit = "savings_vs_naive_all", "against sending everything, over all turns"
    saved = figures[key]
    if saved is not None and saved < 0:
        more = (OUTWEIGHED, *more)
        return figure(key, "More sent", f"+{percent(-saved)}", unit, more=more, folded=folded, turns=turns)
    return figure(key, "Savings", percent(saved), unit, more=more, folded=folded, turns=turns)


def last_call_alone(figures: Figures) -> Iterator[str]:
    """Where the last call went the other way than all turns together, whose figure stands above it."""
    last, overall = figures["savings_vs_naive"] or 0, figures["savings_vs_naive_all"] or 0
    if last < 0 < overall:
        yield "The last call alone sent more than sending everything would have."
    elif overall < 0 < last:
        yield "The last call alone sent less than sending everything would have."


def in_the_last_call(figures: Figures) -> str:
    saved = figures["savings_vs_naive"]
    if saved is None:
        return ""
    if saved < 0:
        return f"The last call sent {percent(-saved)} more: what was added to it outweighs what was left out."
    return f"The last call sent {percent(saved)} less than everything said so far."


def against_logs(figures: Figures) -> str:
    saved = figures["savings_vs_effort_logs_all"]
    if saved is None:
        return ""
    if saved < 0:
        return f"Against the full logs of all efforts {percent(-saved)} more was sent, over all turns."
    return f"Against the full logs of all efforts {percent(saved)} less was sent, over all turns."


def peaks(metrics: Metrics, key: str) -> Iterator[int]:
    """The first turn with the most."""
    sizes = {"context_tokens": "tokens", "naive_tokens": "naive", "expansion_tokens": "expanded"}
    if metrics.sent:
        most = max(metrics.sent, key=lambda one: getattr(one, sizes[key]))
        yield most.turn


def prompts_overall(metrics: Metrics) -> Iterator[FigureView]:
    figures = metrics.figures
    for key, label in (
        ("context_tokens", "Tokens sent"),
        ("naive_tokens", "Without context management"),
        ("expansion_tokens", "Tokens of expanded efforts"),
    ):
        more = (f"peak {number(figures[f'{key}_peak'])}",)
        yield figure(
            f"{key}_mean", label, number(figures[f"{key}_mean"]), "tokens, mean of each turn’s last call", more=more
        )
    yield savings(figures, folded=(against_logs(figures),))
    overhead = percent(figures["expansion_overhead_all"])
    yield figure("expansion_overhead_all", "Share of expanded efforts", overhead, "of what those calls sent")


def of_decay(metrics: Metrics) -> Iterator[FigureView]:
    figures = metrics.figures
    decayed = [one.turn for one in metrics.decays]
    expansions = (f"of {counted(len(metrics.expansions), 'expansion', form=',')}",)
    yield figure(
        "auto_collapses", "Collapsed automatically", number(figures["auto_collapses"]), more=expansions, turns=decayed
    )
    ended = [one.ended_turn for one in metrics.ended if one.ended_turn is not None]
    duration = decimal(figures["avg_expansion_duration"])
    yield figure(
        "avg_expansion_duration",
        "Expansions last",
        duration,
        "turns, mean",
        more=(f"of {len(ended):,} that ended",),
        turns=ended,
    )
    ratio = f"{number(figures['manual_collapses'])} / {number(figures['auto_collapses'])}"
    by_hand = [one.ended_turn for one in metrics.manual if one.ended_turn is not None]
    yield figure("manual_vs_auto_collapse", "Collapsed manually / automatically", ratio, turns=by_hand)
    false = [one.again_turn for one in metrics.false_decays if one.again_turn is not None]
    apart = (f"{len(false):,} of {len(decayed):,}", f"reported too early: {number(figures['too_early'])}")
    rate = percent(figures["false_decay_rate"])
    yield figure(
        "false_decay_rate", "Collapsed too early", rate, "of those collapsed automatically", more=apart, turns=false
    )
    saved = number(figures["tokens_saved_by_decay"])
    saving = (f"in {counted(len(metrics.saved), 'later turn', form=',')}",)
    yield figure("tokens_saved_by_decay", "Saved by collapsing", saved, "tokens", more=saving, turns=decayed)


def of_eviction(metrics: Metrics) -> Iterator[FigureView]:
    figures = metrics.figures
    left = [one.turn for one in metrics.evictions]
    back = [one.back_turn for one in metrics.returns if one.back_turn is not None]
    yield figure("evictions", "Dropped", number(figures["evictions"]), turns=left)
    yield figure("returns", "Came back", number(figures["returns"]), turns=back)
    age = decimal(figures["avg_eviction_age"])
    yield figure("avg_eviction_age", "Dropped after", age, "turns, mean", turns=left)


def figure(
    key: str,
    label: str,
    value: str,
    unit: str = "",
    *,
    more: Iterable[str] = (),
    folded: Iterable[str] = (),
    turns: Iterable[int] = (),
) -> FigureView:
    newest = tuple(sorted(set(turns), reverse=True)[:LINKED])
    base = key.removesuffix("_mean").removesuffix("_all")
    unit = "" if value == NOTHING else unit
    return FigureView(
        key=key,
        label=label,
        value=value,
        unit=unit,
        more=tuple(more),
        folded=tuple(line for line in folded if line),
        why=WHY[base],
        turns=newest,
    )


WHY = {
    "context_tokens": "What the last call of a turn was sent, with system text and tools. Counted before it was sent, "
    "and stored with its plan. A turn that uses tools makes more calls than one; below its reply all of them are added "
    "up.",
    "naive_tokens": "The same call with everything said so far: system text and tools, all turns before it in full, "
    "and this turn. Counted by the same tokenizer.",
    "expansion_tokens": "The part of the prompt in which expanded efforts are shown word for word.",
    "savings_vs_naive": "1 − tokens sent / tokens without context management. The second comparison is with "
    "the full log of every effort, and those other messages that were sent. Where it is below 0, more was sent: rules, "
    "summaries and passages found earlier cost tokens too.",
    "expansion_overhead": "Tokens of expanded efforts / tokens sent.",
    "auto_collapses": "An expanded effort that no turn mentions any more is collapsed after 3 such turns, unless "
    "you set another number for the conversation.",
    "avg_expansion_duration": "Completed turns from expanding to collapsing, whoever ended it. An expansion that was "
    "taken back is left out; a turn that failed or was stopped is not counted.",
    "manual_vs_auto_collapse": "Collapses that you or the model asked for, against those that happened automatically. "
    "The end of a work session and reopening are neither.",
    "false_decay_rate": f"Collapsed automatically, and expanded again within {FALSE_DECAY_TURNS} turns: it was still "
    "needed. What you reported as too early is also counted apart, however late you said so.",
    "tokens_saved_by_decay": "What collapsing automatically took from the prompt, once for each later turn that "
    "completed, until the effort is expanded again or reopened, or the work session ends.",
    "evictions": "The summary of an effort that no turn mentions for 20 turns, unless you set another number, is "
    "dropped from the prompt. Search finds the effort as before.",
    "returns": "Dropped summaries that came back, because a later turn mentioned the effort.",
    "avg_eviction_age": "Completed turns from the conclusion of an effort until its summary was dropped.",
}


def number(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.0f}"


def decimal(value: float | None) -> str:
    return NOTHING if value is None else f"{value:,.1f}"


def percent(value: float | None) -> str:
    return NOTHING if value is None else f"{100 * value:.1f}%".replace("-", "−")


# The pictures


def turn_span(metrics: Metrics) -> range:
    """The turns of all pictures, so that what stands below each other happened at once."""
    turns = [one.turn for one in metrics.sent] or [one.turn for one in metrics.expansions]
    ends = [one.ended_turn or one.turn for one in metrics.expansions]
    return range(max(min(turns, default=1), 1), max([1, *turns, *ends]) + 1)


def tokens_picture(metrics: Metrics, layers: Sequence[str], span: range) -> str:
    at = {one.turn: one for one in metrics.sent}
    stack = [
        Series(name=SECTIONS[layer], layer=layer, values=[layer_at(at.get(turn), layer) for turn in span])
        for layer in layers
    ]
    figures = metrics.figures
    peak, highest = figures["context_tokens_peak"] or 0, figures["naive_tokens_peak"] or 0
    cut = HEAD * peak if highest > HEAD * peak else None
    name = f"Without context management (up to {highest:,.0f})" if cut else "Without context management"
    naive = Series(name=name, values=[at[turn].naive if turn in at else None for turn in span])
    logs = Series(name="With all effort logs", values=[at[turn].effort_logs if turn in at else None for turn in span])
    said = (
        f"Turns {span[0]:,} to {span[-1]:,}. Sent: mean {number(figures['context_tokens_mean'])} tokens, peak "
        f"{number(figures['context_tokens_peak'])}. Without context management: "
        f"mean {number(figures['naive_tokens_mean'])}, peak "
        f"{number(figures['naive_tokens_peak'])}."
    )
    chart = Chart(title="Tokens of each turn, by layer", desc=said, first=span[0], most=cut, id="tokens")
    return stacked_chart(stack, chart, beside=[naive, logs])


def layer_at(sent: Sent | None, layer: str) -> int | None:
    return sent.sections.get(layer, 0) if sent else None


def expansions_picture(metrics: Metrics, span: range, names: Mapping[str, str]) -> str:
    rows: dict[str, list[Bar]] = {}
    for one in metrics.expansions:
        if one.ended_turn is None or one.ended_turn >= span.start:
            rows.setdefault(one.effort, []).append(bar_of(one, span, names))
    newest = list(rows.items())[-DRAWN:]
    all_of_them = len(metrics.expansions)
    said = f"{counted(all_of_them, 'expansion', form=',')}, {number(len(metrics.decays))} collapsed automatically."
    chart = Chart(title="Expansions over time", desc=said, first=span[0], id="expansions")
    drawn = [BarRow(name=names.get(effort, effort), layer="expanded", bars=bars) for effort, bars in newest]
    return bar_chart(drawn, chart, places=len(span))


def bar_of(one: Expansion, span: range, names: Mapping[str, str]) -> Bar:
    until = "" if one.ended_turn is None else f" in turn {one.ended_turn:,}"
    told = in_words(one, names)
    words = f"{told.effort}: {one.tokens:,} tokens, expanded in turn {one.turn:,}, {told.how}{until}"
    return Bar(begin=max(one.turn, span.start), end=one.ended_turn, words=words)


def saved_picture(metrics: Metrics, span: range) -> str:
    at = {one.turn: one.tokens for one in metrics.saved}
    before = sum(tokens for turn, tokens in at.items() if turn < span.start)
    sums = list(accumulate((at.get(turn, 0) for turn in span), initial=before))[1:]
    said = f"{number(metrics.figures['tokens_saved_by_decay'])} tokens by turn {span[-1]:,}."
    chart = Chart(title="What collapsing automatically saved, all in all", desc=said, first=span[0], id="saved")
    return line_chart([Series(name="Saved by collapsing", layer="expanded", values=sums)], chart)


def all_tokens_picture(sent: Sequence[Sent]) -> str:
    """Sums, because turns of several conversations have no course in common."""
    if not sent:
        return ""
    context, naive = list(accumulate(one.tokens for one in sent)), list(accumulate(one.naive for one in sent))
    said = f"{len(sent):,} turns. Sent: {context[-1]:,} tokens. Without context management: {naive[-1]:,}."
    chart = Chart(title="Tokens, all in all", desc=said, x="turn of any conversation", id="all")
    return line_chart(
        [Series(name="Without context management", values=naive), Series(name="Sent", values=context)], chart
    )


# As data

OF_EXPANSIONS = ("effort", "turn", "clock", "tokens", "how", "ended_turn", "ended_clock", "duration")
OF_DECAYS = ("effort", "turn", "clock", "tokens", "again_turn", "again_clock")
OF_EVICTIONS = ("effort", "turn", "age", "back_turn")


def metrics_json(metrics: Metrics) -> dict[str, Any]:
    saved = {one.turn: one.tokens for one in metrics.saved}
    return {
        "figures": rounded(metrics.figures),
        "turns": [
            {
                "turn": one.turn,
                "context_tokens": one.tokens,
                "naive_tokens": one.naive,
                "effort_logs_tokens": one.effort_logs,
                "sections": dict(one.sections),
                "saved_by_decay": saved.get(one.turn, 0),
            }
            for one in metrics.sent
        ],
        "expansions": [values_of(one, OF_EXPANSIONS) for one in metrics.expansions],
        "auto_collapses": [{**values_of(one, OF_DECAYS), "false": one.is_false} for one in metrics.decays],
        "evictions": [values_of(one, OF_EVICTIONS) for one in metrics.evictions],
    }


def values_of(one: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: getattr(one, name) for name in names}


def all_metrics_json(found: AllMetrics) -> dict[str, Any]:
    return {
        "figures": overall(found.metrics),
        "sessions": [
            {"session": str(one.session.pk), "title": str(one.session), "figures": overall(one.metrics)}
            for one in found.sessions
        ],
    }


def overall(metrics: Metrics) -> dict[str, float | None]:
    return {name: value for name, value in rounded(metrics.figures).items() if name not in LAST}


def rounded(figures: Figures) -> dict[str, float | None]:
    """As far as they are read."""
    return {name: round(value, PLACES) if isinstance(value, float) else value for name, value in figures.items()}
