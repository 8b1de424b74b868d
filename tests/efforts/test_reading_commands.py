"""What is a command, what is a message, and what is asked about first."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.commands import BY_NAME, COMMANDS, Doubtful, Given, Said, read_turns, read_typed, to_be_sent

DOCUMENT = Path(__file__).parents[2] / "docs" / "commands.md"


@pytest.mark.parametrize(
    ("text", "name", "argument"),
    [
        ("/effort payment webhook", "effort", "payment webhook"),
        ("/done", "done", ""),
        ("/done ", "done", ""),
        ("/Done auth-bug", "done", "auth-bug"),
        ("/rule\nNever on Fridays.", "rule", "Never on Fridays."),
        ("/aside one\n\n two ", "aside", "one\n\n two "),
        ("/summarise 3-9", "summarise", "3-9"),
        ("/summarize 3-9", "summarise", "3-9"),
        ("/pin", "pin", ""),
    ],
)
def test_a_known_name_at_the_beginning_is_a_command(text: str, name: str, argument: str) -> None:
    assert read_typed(text) == Given(command=BY_NAME[name], argument=argument)


@pytest.mark.parametrize(
    "text",
    [
        "/etc/nginx fails",
        "/etc is full",
        "/home is full",
        "/bin is gone",
        "/usr/done",
        "/done/",
        "/done: no",
        "/",
        "/ done",
        "/?",
        "/12",
        " /done",
        "done",
        "say /done",
        "/export as CSV",
        "/作業",
        "",
    ],
)
def test_all_else_is_a_message(text: str) -> None:
    assert read_typed(text) == Said(text=text)


@pytest.mark.parametrize(
    ("text", "typed", "meant"),
    [
        ("/efort x", "efort", "effort"),
        ("/Efort x", "Efort", "effort"),
        ("/dnoe", "dnoe", "done"),
        ("/rules never", "rules", "rule"),
        ("/sum 3-9", "sum", "summarise"),
        ("/side hm", "side", "aside"),
        ("/open Office move", "open", "effort"),
        ("/conclude", "conclude", "done"),
    ],
)
def test_a_slip_is_asked_about(text: str, typed: str, meant: str) -> None:
    assert read_typed(text) == Doubtful(typed=typed, meant=BY_NAME[meant])


@pytest.mark.parametrize(("text", "sent"), [("//done", "/done"), ("///", "//"), ("//", "/"), ("//efort", "/efort")])
def test_a_second_slash_sends_it_with_one(text: str, sent: str) -> None:
    assert read_typed(text) == Said(text=sent)


names = st.sampled_from(sorted(BY_NAME))
texts = st.one_of(
    st.text(),
    st.builds("/{}{}".format, names, st.text()),
    st.builds("/{}".format, st.text()),
    st.builds("//{}".format, st.text()),
    st.builds(lambda name, at: f"/{name[:at]}{name[at + 1 :]} x", names, st.integers(0, 8)),
)


@given(texts)
def test_any_text_is_a_command_or_is_asked_about_or_is_sent_byte_for_byte(text: str) -> None:
    typed = read_typed(text)
    if isinstance(typed, Said):
        assert typed.text == (text[1:] if text.startswith("//") else text)
    else:
        assert re.match(r"/\w", text)
        word, *_ = text[1:].split()
        if isinstance(typed, Given):
            assert word.lower() in (typed.command.name, typed.command.also)
            assert text.endswith(typed.argument)
        else:
            assert (word, typed.meant in COMMANDS) == (typed.typed, True)
            assert word.lower() not in BY_NAME


@pytest.mark.parametrize("text", ["3-9", "3 - 9", "3–9", "3 to 9", "turns 3-9", "Turns 3 to 9"])
def test_turns_can_be_given_in_several_ways(text: str) -> None:
    assert read_turns(text) == (3, 9)


@pytest.mark.parametrize(
    ("text", "turns"), [("3", (3, 3)), ("turn 3", (3, 3)), ("", None), ("x-9", None), ("-9", None)]
)
def test_one_turn_is_turns_too_and_words_are_none(text: str, turns: tuple[int, int] | None) -> None:
    assert read_turns(text) == turns


def test_of_a_command_nothing_is_priced_but_an_asides_words() -> None:
    written = ["Hello", "//done", "/done", "/rule Never.", "/aside Hm?", "/efort x", "/etc/x"]
    assert [to_be_sent(text) for text in written] == ["Hello", "/done", "", "", "Hm?", "/efort x", "/etc/x"]


def test_every_example_is_its_command() -> None:
    for command in COMMANDS:
        typed = read_typed(command.example)
        assert isinstance(typed, Given)
        assert typed.command == command
        assert command.help.endswith(".")


def test_the_document_has_the_table() -> None:
    rows = [f"| `/{command.name} {command.argument}` | {command.help} | `{command.example}` |" for command in COMMANDS]
    assert "\n".join(rows) in DOCUMENT.read_text()
