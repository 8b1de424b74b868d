"""What is copied beside the claims: paths, commands and numbers, each with the sentence that it stands in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.evidence import MOST, calls_in, evidence_in, exit_status_in
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn, Role, ToolCall
from efforts.domain.text.source_text import Source, source_of
from tests.compaction.logs import log, run


def found(source: Source, kind: str) -> list[tuple[str, str]]:
    return [(one.value, one.cite) for one in evidence_in(source) if one.type == kind]


def test_calls_of_one_message_stand_where_each_begins() -> None:
    [part] = log("ls\n\npytest -q\nmake").parts
    assert [part.text[start:] for start, _ in calls_in(part)] == [
        part.text,
        "\npytest -q\nmake",
        "pytest -q\nmake",
        "make",
    ]
    assert [line for _, line in calls_in(part)] == ["ls", "", "pytest -q", "make"]


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("exit 0", 0),
        ("exit code: 1", 1),
        ("Process exited with status 127.", 127),
        ("exited with 2", 2),
        ("it returned 0.", 0),
        ("exit 1, then exit 0", 0),
        ("it returned 0 rows", None),
        ("the exit is on the left", None),
    ],
)
def test_an_exit_status_is_read_as_programs_and_people_write_it(text: str, status: int | None) -> None:
    assert exit_status_in(text) == status


def test_a_command_has_the_exit_status_that_its_result_tells() -> None:
    [one] = [one for one in evidence_in(run("pytest -q tests", "2 failed\nexit status 1")) if one.type == "command"]
    assert (one.value, one.exit_status, one.cite) == ("pytest -q tests", 1, "1.1")


@pytest.mark.parametrize("arguments", ["[not json", "[" * 7_000, '{"command":' * 7_000, '["ls"]', ""])
def test_a_call_that_cannot_be_read_names_no_command(arguments: str) -> None:
    call = ToolCall(id="c1", name="bash", arguments=arguments)
    said = LogMessage(id=1, role="assistant", text="The disk has 30 GB.", tokens=0, tool_calls=(call,))
    source = source_of([PastTurn(number=1, state=RunState.COMPLETED, messages=(said,))])
    assert {one.type for one in evidence_in(source)} == {"number"}


def test_without_a_status_in_the_result_none_is_told() -> None:
    [one] = [one for one in evidence_in(run("ls", "a.txt")) if one.type == "command"]
    assert one.exit_status is None


def test_paths_and_numbers_with_a_unit_stand_with_their_sentences_latest_first() -> None:
    source = log("It has 3 parts. The timeout is 30 s in src/client.go.", "Then 45 s, in src/other.go.")
    assert found(source, "path") == [("src/other.go", "2.1"), ("src/client.go", "1.2")]
    assert found(source, "number") == [("45 s", "2.1"), ("30 s", "1.2")]


def test_a_command_that_a_person_typed_is_no_file() -> None:
    assert found(log("/todo Ask about /var/log/syslog."), "path") == [("/var/log/syslog", "1.1")]
    assert found(log("/srv is full."), "path") == [("/srv", "1.1")]


def test_each_value_stands_once_and_of_many_the_latest() -> None:
    paths = found(log(*(f"See src/file_{number % 20}.py again." for number in range(60))), "path")
    assert len({value for value, _ in paths}) == len(paths) == MOST
    assert paths[0] == ("src/file_19.py", "60.1")


ROLES: list[Role] = ["user", "assistant"]


@given(st.lists(st.tuples(st.sampled_from(ROLES), st.text(max_size=200)), max_size=8))
def test_whatever_is_copied_stands_in_its_sentence(said: list[tuple[Role, str]]) -> None:
    source = log(*said)
    for one in evidence_in(source):
        assert one.value in source.by_sentence[one.cite].text
