"""What older versions of the planner stored is rendered as it was."""

from __future__ import annotations

from efforts.domain.prompt.layers import Fragments
from efforts.domain.prompt.rendering import Sources, join_parts, render
from efforts.domain.prompt.toolbox import TOOLS
from efforts.domain.text.canonical import canonical_json, sha256


def test_schemas_stored_one_by_one_and_all_in_one_are_the_same_request() -> None:
    each, whole = [canonical_json(tool) for tool in TOOLS], canonical_json(list(TOOLS))
    fragments = {sha256(text): text for text in (*each, whole)}
    sources = Sources(fragments=fragments, messages={}, turns={})
    before = render([], {"model": "any", "tools": [sha256(text) for text in each]}, sources)
    now = render([], {"model": "any", "tools": sha256(whole)}, sources)
    assert canonical_json(before) == canonical_json(now)
    assert len(now["tools"]) == len(TOOLS)
    assert "tools" not in render([], {"model": "any", "tools": []}, sources)


def test_lines_stored_one_by_one_and_as_a_list_are_the_same_text() -> None:
    lines = ["First.", "Second.", "", "Last."]
    fragments = Fragments()
    parts = [fragments.add(line) for line in lines]
    listed = fragments.add_lines(lines)
    sources = Sources(fragments=fragments.texts, messages={}, turns={})
    assert join_parts([listed], sources) == join_parts(parts, sources) == "First.\nSecond.\nLast."
