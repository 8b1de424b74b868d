"""What the page says of the calls of tools."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.toolbox import TOOLS
from efforts.pages.presenters.calls import PHRASES, readable, words_of
from tests.pages.conftest import HTMX, Scene
from workspaces.tools import TOOLS as CODE_TOOLS

CASES = [
    ("open_effort", '{"name":"Payment webhook"}', '{"name":"Payment webhook","opened":"payment-webhook"}',
     "Opened the effort Payment webhook"),
    ("open_effort", '{"name":"Gardens"}', '{"already_open":"garden","name":"Garden","note":"x"}',
     "Switched to the effort Garden"),
    ("close_effort", "{}", '{"active":"garden","concluded":"vacation","summary":"waits"}',
     "Concluded the effort vacation"),
    ("search_messages", '{"query":"deploy"}', '{"matches":[{},{},{}],"of":3}',
     "Searched messages for “deploy”: 3 found"),
    ("search_messages", '{"query":"submarine"}', '{"hint":"x","matches":[],"of":0}',
     "Searched messages for “submarine”: 0 found"),
    ("record", '{"kind":"decision","text":"We fly."}', '{"recorded":"decision","state":"proposed"}',
     "Proposed to write down: “We fly.”"),
    ("record", '{"kind":"constraint","text":"No trains."}', '{"recorded":"constraint","state":"in force"}',
     "Wrote down: “No trains.”"),
    ("read_span", '{"path":"a.py"}', '{"path":"a.py","lines":"1-20","of":90}', "Read a.py, lines 1-20"),
    ("list_folder", "{}", '{"path":"","entries":[],"of":0}', "Listed the folder /"),
    ("switch_effort", '{"id":"auth-bug"}', '{"error":"auth-bug is concluded."}',
     "Could not switch to the effort auth-bug"),
    ("read_message", '{"id":12}', "", "Asked to read message 12"),
    ("send_email", '{"to":"dana"}', '{"error":"There is no tool."}', "Could not use send_email"),
    ("send_email", '{"to":"dana"}', '{"sent":true}', "Used send_email"),
    ("read_message", "not json", '{"error":"x"}', "Could not use read_message"),
    ("search_efforts", '{"query":["a"]}', "", "Asked to use search_efforts"),
]  # fmt: skip


@pytest.mark.parametrize(("tool", "arguments", "result", "words"), CASES)
def test_a_call_is_told_in_words(tool: str, arguments: str, result: str, words: str) -> None:
    assert words_of(tool, arguments, result, failed=result.startswith('{"error"')) == words


def test_an_effort_is_called_by_its_name() -> None:
    names = {"csv-export": "The export to CSV"}
    concluded = '{"active":null,"concluded":"csv-export"}'
    told = [
        words_of("close_effort", "{}", concluded, failed=False, names=names),
        words_of("expand_effort", '{"id":"csv-export"}', '{"expanded":"csv-export"}', failed=False, names=names),
        words_of("switch_effort", '{"id":"csv-export"}', '{"error":"x"}', failed=True, names=names),
        words_of("expand_effort", '{"id":"elsewhere"}', "", failed=False, names=names),
    ]
    assert told == [
        "Concluded the effort The export to CSV",
        "Expanded The export to CSV",
        "Could not switch to the effort The export to CSV",
        "Asked to expand elsewhere",
    ]


def test_long_arguments_are_cut_and_of_one_line() -> None:
    words = words_of("search_messages", '{"query":"a\\n' + "b" * 500 + '"}', "", failed=False)
    assert words == f"Asked to search messages for “a {'b' * 78}…”"


def test_every_tool_has_its_phrase() -> None:
    offered = {tool["function"]["name"] for tool in (*TOOLS, *CODE_TOOLS)}
    assert offered <= set(PHRASES)


def test_a_call_is_folded_with_what_was_asked_and_what_came_back_inside(
    as_alice: Client, scene: Scene, address: Callable[..., str]
) -> None:
    calls = (ToolCall(id="1", name="open_effort", arguments='{"name":"<b>Garden"}'),)
    scene.ask("The garden.", "All right.", tool_calls=calls)
    page = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert "Could not open the effort &lt;b&gt;Garden" in page
    assert "<b>open_effort</b> {&quot;name&quot;:&quot;&lt;b&gt;Garden&quot;}" in page
    assert '<details class="tool" id=' in page


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ('{"query": "oak"}', '{"query": "oak"}'),
        ("no JSON\\n", "no JSON\\n"),
        ('{"input":"import csv\\nprint(5)"}', "input:\nimport csv\nprint(5)"),
        (
            '{"name":"Größe","content":"# Oak\\n\\n- tall","old":"a\\nb","last":1}',
            '{"name":"Größe","last":1}\n\ncontent:\n# Oak\n\n- tall\n\nold:\na\nb',
        ),
    ],
)
def test_texts_of_several_lines_are_shown_as_lines(arguments: str, shown: str) -> None:
    assert readable(arguments) == shown
