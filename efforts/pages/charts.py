"""Charts as SVG text, from plain values. On a page its style sheets colour them (`static/css/charts.css`); standalone
they bring their colours along."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from xml.sax.saxutils import escape

from efforts.models.said import said as worded

# As in static/css/tokens.css: on light, on dark.
LAYERS = {
    "system": ("#70767f", "#8f959f"),
    "instruction": ("#a8326e", "#f29ac4"),
    "constraint": ("#b3261e", "#f08a82"),
    "pin": ("#a36a00", "#e0ad4c"),
    "summary": ("#7b4bc4", "#b798f0"),
    "body": ("#9a3fb5", "#d39af5"),
    "ambient": ("#8d7d55", "#c2b48c"),
    "expanded": ("#0f7f8c", "#58c3d0"),
    "awaiting": ("#6b7a12", "#b9c652"),
    "open": ("#3d6fd1", "#86aaf2"),
    "active": ("#1a7a48", "#5cc48d"),
    "recall": ("#b0487f", "#e58fbb"),
    "turn": ("#2b3038", "#d5d8dc"),
    "code": ("#9a5b2c", "#d9a171"),
    "reserve": ("#dcdbd5", "#3a3f45"),
}
SURFACE, QUIET, GRID = ("#ffffff", "#1a1c1f"), ("#5a5e64", "#a6abb1"), ("#e2e1dc", "#2f3338")
# Lines that are no layer: told apart by their dashes where colours are not.
LINES = (("#1c1e21", "#e7e7e4"), ("#2456c9", "#8fb2ff"), ("#855600", "#e8b65a"), ("#b3261e", "#ff9a92"))
DASHES = ("", "7 4", "2 3", "9 3 2 3")

WIDTH, PLOT = 960, 300
LEFT, RIGHT, BOTTOM, ROW = 76, 16, 46, 20
# Of one character of 12 pixels, on average.
CHARACTER = 6.6
# Of a row of bars: its height, and where in it the bar is; what is written on it stands above.
BAR_ROW, BAR_TOP, BAR_BOTTOM = 34, 17, 29


@dataclass(frozen=True, kw_only=True)
class Series:
    """`layer`: of the prompt, whose colour it has; None among the values: there is nothing at that place."""

    name: str
    values: Sequence[float | None]
    layer: str = ""


@dataclass(frozen=True, kw_only=True)
class Chart:
    """What is written on it. `x` and `y` name the axes with their units; `first` is the number of the first place;
    `most`: where the axis ends, and what is more is cut off; `id` tells it from the others of a page."""

    title: str
    desc: str
    x: str = "turn"
    y: str = "tokens"
    first: int = 1
    most: float | None = None
    id: str = "chart"


@dataclass(frozen=True, kw_only=True)
class Bar:
    """From the middle of one place to that of another, or to the edge where `end` is None."""

    begin: int
    end: int | None
    words: str


@dataclass(frozen=True, kw_only=True)
class BarRow:
    name: str
    bars: Sequence[Bar]
    layer: str = ""


@dataclass(frozen=True, kw_only=True)
class Field:
    """Where on the picture a place and a value are."""

    places: int
    step: float
    top: float
    head: int
    plot: int = PLOT

    @property
    def bottom(self) -> int:
        return self.head + self.plot

    def x(self, place: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * place / max(self.places, 1)

    def y(self, value: float) -> float:
        return self.bottom - self.plot * min(value, self.top) / self.top


def line_chart(series: Sequence[Series], chart: Chart) -> str:
    """One line a series. A line breaks where it has no value, and is cut off at `chart.most`."""
    field = field_of(series, chart, [value for one in series for value in one.values if value is not None])
    return drawn(chart, field, lines(series, field), series)


def stacked_chart(
    series: Sequence[Series], chart: Chart, *, beside: Sequence[Series] = (), standalone: bool = False
) -> str:
    """The series on top of each other, the first at the bottom; `beside` them as lines."""
    sums = [sum(value or 0 for value in at) for at in zip(*(one.values for one in series), strict=True)]
    field = field_of(
        [*series, *beside], chart, [*sums, *(value for one in beside for value in one.values if value is not None)]
    )
    marks = [*areas(series, field), *lines(beside, field)]
    return drawn(chart, field, marks, [*series, *beside], standalone=standalone)


def bar_chart(rows: Sequence[BarRow], chart: Chart, *, places: int) -> str:
    """One row a thing, with what it did from when to when; its places are counted from `chart.first`."""
    field = Field(places=places, step=1, top=1, head=4, plot=BAR_ROW * len(rows))
    marks = [mark for number, row in enumerate(rows) for mark in bars(row, number, chart, field)]
    return pictured(chart, field, [*time_axis(chart, field), *marks])


def bars(row: BarRow, number: int, chart: Chart, field: Field) -> Iterator[str]:
    y = field.head + BAR_ROW * number
    yield f'<path class="chart-grid" d="M{LEFT} {y + BAR_ROW}H{WIDTH - RIGHT}"/>'
    yield text(LEFT, y + 13, row.name, "start")
    for bar in row.bars:
        begin = field.x(bar.begin - chart.first + 0.5)
        end = WIDTH - RIGHT if bar.end is None else field.x(bar.end - chart.first + 0.5)
        # Of no length it would not be seen at all.
        shape = f'x="{begin:.1f}" y="{y + BAR_TOP}" width="{max(end - begin, 3):.1f}" height="{BAR_BOTTOM - BAR_TOP}"'
        title = escape(worded(bar.words))
        yield f'<rect class="chart-area layer-{row.layer}" {shape} rx="2"><title>{title}</title></rect>'


def field_of(series: Sequence[Series], chart: Chart, values: Sequence[float]) -> Field:
    top = chart.most or max(values, default=0) or 1
    step = round_step(top / 5)
    places = max((len(one.values) for one in series), default=0)
    head = 12 + ROW * (max((row for row, _ in legend_places(series)), default=0) + 1)
    return Field(places=places, step=step, top=step * ceil(top / step), head=head)


def round_step(least: float) -> float:
    """1, 2 or 5 of some power of ten."""
    power: float = 10 ** floor(log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * 0.999)


def areas(series: Sequence[Series], field: Field) -> Iterator[str]:
    under = [0.0] * field.places
    for one in series:
        over = [low + (value or 0) for low, value in zip(under, one.values, strict=True)]
        if over != under:
            outline = [*edge(over, field), *reversed(list(edge(under, field)))]
            yield f'<path class="chart-area {colour(one, 0)}" d="M{"L".join(outline)}Z"/>'
        under = over


def edge(values: Sequence[float], field: Field) -> Iterator[str]:
    """In steps: between two turns there is nothing."""
    for place, value in enumerate(values):
        # Of a run of equal values only the corners.
        if place == 0 or values[place - 1] != value:
            yield point(field.x(place), field.y(value))
        if place + 1 == len(values) or values[place + 1] != value:
            yield point(field.x(place + 1), field.y(value))


def lines(series: Sequence[Series], field: Field) -> Iterator[str]:
    for one, number in numbered(series):
        if path := "".join(strokes(one.values, field)):
            yield line(one, number, path)


def strokes(values: Sequence[float | None], field: Field) -> Iterator[str]:
    """Where it leaves the picture, and where it comes back, it is cut at the edge."""
    before: float | None = None
    for place, value in enumerate(values):
        inside = value is not None and value <= field.top
        if value is not None and before is not None and (value > field.top) != (before > field.top):
            crossing = place - 0.5 + (field.top - before) / (value - before)
            yield ("M" if inside else "L") + point(field.x(crossing), field.y(field.top))
        if value is not None and inside:
            yield ("M" if before is None else "L") + point(field.x(place + 0.5), field.y(value))
        before = value


def point(x: float, y: float) -> str:
    return f"{x:.1f} {y:.1f}"


def numbered(series: Sequence[Series]) -> Iterator[tuple[Series, int]]:
    """Those that are no layer are counted."""
    number = 0
    for one in series:
        yield one, number
        number += not one.layer


def colour(one: Series, number: int) -> str:
    return f"layer-{one.layer}" if one.layer else f"chart-line-{number % len(LINES) + 1}"


def line(one: Series, number: int, path: str) -> str:
    dash = "" if one.layer else DASHES[number % len(DASHES)]
    dashed = f' stroke-dasharray="{dash}"' if dash else ""
    return f'<path class="chart-line {colour(one, number)}" fill="none"{dashed} d="{path}"/>'


def drawn(
    chart: Chart, field: Field, marks: Iterator[str] | list[str], series: Sequence[Series], *, standalone: bool = False
) -> str:
    inside = [*grid(chart, field), *marks, *legend(series)]
    return pictured(chart, field, inside, standalone=standalone)


def pictured(chart: Chart, field: Field, inside: Sequence[str], *, standalone: bool = False) -> str:
    height = field.bottom + BOTTOM
    name, said = f"{chart.id}-title", f"{chart.id}-desc"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {WIDTH} {height}" role="img" '
            f'aria-labelledby="{name} {said}">',
            f'<title id="{name}">{escape(worded(chart.title))}</title>',
            f'<desc id="{said}">{escape(worded(chart.desc))}</desc>',
            *(
                [f"<style>{STYLE}</style>", f'<rect class="chart-ground" width="{WIDTH}" height="{height}"/>']
                * standalone
            ),
            *inside,
            "</svg>\n",
        ]
    )


def grid(chart: Chart, field: Field) -> Iterator[str]:
    for number in range(round(field.top / field.step) + 1):
        value = number * field.step
        y = point(0, field.y(value)).split()[1]
        yield f'<path class="chart-grid" d="M{LEFT} {y}H{WIDTH - RIGHT}"/>'
        yield text(LEFT - 8, field.y(value) + 4, figure(value, field.step), "end")
    yield from time_axis(chart, field)
    middle = field.head + field.plot / 2
    turned = f'text-anchor="middle" transform="translate(14 {middle:.1f}) rotate(-90)"'
    yield f'<text class="chart-text" {turned}>{escape(worded(chart.y))}</text>'


def time_axis(chart: Chart, field: Field) -> Iterator[str]:
    for number in ticks(chart.first, field.places):
        yield text(field.x(number - chart.first + 0.5), field.bottom + 18, f"{number:,}", "middle")
    yield text(WIDTH - RIGHT, field.bottom + 38, chart.x, "end")


def ticks(first: int, places: int) -> list[int]:
    step = max(int(round_step(max(places, 1) / 10)), 1)
    return [
        number
        for number in range(first, first + places)
        if number == first or (number % step == 0 and number > first + step // 2)
    ]


def figure(value: float, step: float) -> str:
    return f"{value:,.{max(-floor(log10(step)), 0)}f}"


def text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text class="chart-text" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(worded(words))}</text>'


def legend(series: Sequence[Series]) -> Iterator[str]:
    for (one, number), (row, x) in zip(numbered(series), legend_places(series), strict=True):
        y = 12 + ROW * row
        if one.layer:
            yield f'<rect class="chart-area {colour(one, 0)}" x="{x:.1f}" y="{y - 6}" width="12" height="12" rx="2"/>'
        else:
            yield line(one, number, f"M{x - 6:.1f} {y}h20")
        yield text(x + 18, y + 4, one.name, "start")


def legend_places(series: Sequence[Series]) -> Iterator[tuple[int, float]]:
    """The row and where in it."""
    row, x = 0, float(LEFT)
    for one in series:
        width = 34 + CHARACTER * len(worded(one.name))
        if x > LEFT and x + width > WIDTH - RIGHT:
            row, x = row + 1, float(LEFT)
        yield row, x
        x += width


def style() -> str:
    """No variables: not every viewer of pictures knows them."""
    fixed = (
        ".chart-text{font:12px system-ui,sans-serif;font-variant-numeric:tabular-nums}"
        ".chart-line{stroke-width:1.8}.chart-grid{stroke-width:1}"
    )
    return f"{fixed}{colours(0)}@media(prefers-color-scheme:dark){{{colours(1)}}}"


def colours(dark: int) -> str:
    rules = [
        f".chart-ground{{fill:{SURFACE[dark]}}}.chart-text{{fill:{QUIET[dark]}}}.chart-grid{{stroke:{GRID[dark]}}}",
        *(f".layer-{name}{{fill:{pair[dark]}}}" for name, pair in LAYERS.items()),
        *(f".chart-line.layer-{name}{{stroke:{pair[dark]}}}" for name, pair in LAYERS.items()),
        *(f".chart-line-{number}{{stroke:{pair[dark]}}}" for number, pair in enumerate(LINES, 1)),
    ]
    return "".join(rules) + ".chart-line{fill:none}"


STYLE = style()
