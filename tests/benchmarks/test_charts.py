"""Charts as SVG: what stands where, and in which colour."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from efforts.pages.charts import LAYERS, Bar, BarRow, Chart, Series, bar_chart, line_chart, stacked_chart
from tests.house.process import ROOT

SVG = "{http://www.w3.org/2000/svg}"
CHART = Chart(title="Tokens of <each> turn", desc="Grows & falls.", id="c")
STACK = [
    Series(name="System", layer="system", values=[10, 10, 10]),
    Series(name="Active", layer="active", values=[0, 5, None]),
]


def parsed(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def paths(svg: str, kind: str) -> list[tuple[str, str]]:
    found = [one for one in parsed(svg).iter(f"{SVG}path") if f"chart-{kind}" in one.attrib["class"].split()]
    return [(one.attrib["class"].split()[1], one.attrib["d"]) for one in found]


def words(svg: str) -> list[str]:
    return [one.text or "" for one in parsed(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("standalone", [False, True])
def test_a_chart_is_named_and_described_for_who_cannot_see_it(standalone: bool) -> None:
    root = parsed(stacked_chart(STACK, CHART, standalone=standalone))
    assert (root.attrib["role"], root.attrib["aria-labelledby"]) == ("img", "c-title c-desc")
    named = {one.attrib["id"]: one.text for one in root if "id" in one.attrib}
    assert named == {"c-title": "Tokens of <each> turn", "c-desc": "Grows & falls."}


def test_on_a_page_it_brings_no_style_of_its_own() -> None:
    on_page, alone = (stacked_chart(STACK, CHART, beside=STACK, standalone=alone) for alone in (False, True))
    assert "style" not in on_page
    assert "prefers-color-scheme:dark" in alone


def test_layers_lie_on_top_of_each_other_in_their_colours() -> None:
    (below, first), (above, second) = paths(stacked_chart(STACK, CHART), "area")
    assert (below, above) == ("layer-system", "layer-active")
    bottom, top = (max(re.findall(r" (\d+\.\d)", path), key=float) for path in (first, second))
    assert float(top) < float(bottom)
    # Nothing at the third turn: there the upper layer ends where the lower one does.
    assert re.findall(r" (\d+\.\d)", first)[0] in re.findall(r" (\d+\.\d)", second)


def test_a_line_breaks_where_there_is_no_value() -> None:
    [(_, path)] = paths(line_chart([Series(name="One", values=[1, 2, None, 3, 4])], CHART), "line")[:1]
    assert path.count("M") == 2


def test_a_line_is_cut_at_the_edge_and_comes_back_from_it() -> None:
    cut = Chart(title="t", desc="d", most=10)
    [(_, path)] = paths(line_chart([Series(name="One", values=[5, 15, 5])], cut), "line")[:1]
    (_, y1), (x2, y2), (x3, y3), (_, y4) = re.findall(r"[ML]([\d.]+) ([\d.]+)", path)
    assert (path.count("M"), y1 == y4, y2 == y3, float(y2) < float(y1), float(x2) < float(x3)) == (
        2,
        True,
        True,
        True,
        True,
    )


def test_lines_differ_by_their_dashes_and_axes_name_their_units() -> None:
    lines = [Series(name=name, values=[1_500, 2_500]) for name in ("Naive", "Sent")]
    svg = line_chart(lines, Chart(title="t", desc="d", x="turn", y="tokens"))
    assert svg.count("stroke-dasharray") == 2  # the line and its sample
    assert {"turn", "tokens", "Naive", "Sent", "1", "2", "2,000"} <= set(words(svg))


def test_nothing_to_draw_is_an_empty_picture() -> None:
    assert paths(line_chart([], CHART), "line") == []
    assert paths(stacked_chart([Series(name="None", layer="pin", values=[None, None])], CHART), "area") == []


def test_layers_have_the_colours_of_the_pages() -> None:
    tokens = (ROOT / "static/css/tokens.css").read_text()
    found = dict(re.findall(r"--l-(\w+): light-dark\(([^)]*)\)", tokens))
    assert {name: ", ".join(pair) for name, pair in LAYERS.items()} == found


def test_bars_stand_in_a_row_of_their_own_from_turn_to_turn_and_say_so() -> None:
    short, standing = Bar(begin=3, end=3, words="one <moment>"), Bar(begin=5, end=None, words="still there")
    rows = [
        BarRow(name="first", layer="expanded", bars=[Bar(begin=1, end=4, words="first & foremost"), standing]),
        BarRow(name="second", layer="expanded", bars=[short]),
    ]
    svg = bar_chart(rows, Chart(title="t", desc="d", first=1), places=6)
    found = [one for one in parsed(svg).iter(f"{SVG}rect") if "chart-area" in one.attrib["class"].split()]
    assert [one[0].text for one in found] == ["first & foremost", "still there", "one <moment>"]
    (x1, w1, y1), (x2, w2, y2), (x3, w3, y3) = (
        tuple(float(one.attrib[key]) for key in ("x", "width", "y")) for one in found
    )
    assert (y1 == y2, y1 < y3, x1 < x3 < x2) == (True, True, True)
    place = (x2 - x1) / 4
    assert w1 == pytest.approx(3 * place, abs=0.2)
    assert w2 == pytest.approx(1.5 * place, abs=0.2)  # to the edge
    assert 0 < w3 < place
    assert {"first", "second", "1", "6", "turn"} <= set(words(svg))
