"""What is copied beside the items: paths, commands, numbers, errors, each where it stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.evidence import MOST, evidence_in
from efforts.domain.canonical import canonical_json
from efforts.domain.conversation import ToolCall
from efforts.domain.source_text import Part, Source, SourcePart, call_line
from tests.compaction.scopes import scope


def run(command: str, result: str) -> Source:
    call = ToolCall(id="c1", name="bash", arguments=canonical_json({"command": command}))
    return Source(
        parts=(
            SourcePart(message=1, turn=1, role="assistant", part=Part.CALLS, text=call_line(call)),
            SourcePart(message=2, turn=1, role="tool", part=Part.RESULT, text=result, tool="bash"),
        )
    )


def found(source: Source, kind: str) -> list[str]:
    return [one.value for one in evidence_in(source) if one.type == kind]


def test_a_command_is_copied_with_the_exit_status_that_its_result_tells() -> None:
    [one] = [one for one in evidence_in(run("pytest -q tests", "2 failed\nexit status 1")) if one.type == "command"]
    assert (one.value, one.exit_status) == ("pytest -q tests", 1)


def test_without_a_status_in_the_result_none_is_told() -> None:
    [one] = [one for one in evidence_in(run("ls", "a.txt")) if one.type == "command"]
    assert one.exit_status is None


def test_errors_paths_and_numbers_with_a_unit_are_copied_latest_first() -> None:
    source = scope(
        ("user", "The timeout is 30 s in src/client.go."),
        ("tool", "ok\nTypeError: no such field\n"),
        ("user", "Then 45 s, in src/other.go."),
    )
    assert found(source, "error") == ["TypeError: no such field"]
    assert found(source, "path") == ["src/other.go", "src/client.go"]
    assert found(source, "number") == ["45 s", "30 s"]


def test_each_value_stands_once_and_of_many_the_latest() -> None:
    source = scope(*(("user", f"See src/file_{number % 20}.py again.") for number in range(60)))
    paths = found(source, "path")
    assert len(paths) == len(set(paths)) == MOST
    assert paths[0] == "src/file_19.py"


@given(st.lists(st.tuples(st.sampled_from(["user", "assistant", "tool"]), st.text(max_size=200)), max_size=8))
def test_whatever_is_copied_is_what_stands_there(said: list[tuple[str, str]]) -> None:
    source = scope(*said)
    for one in evidence_in(source):
        text = source.by_place[one.link.message, one.link.part].text
        assert text[one.link.start : one.link.end] == one.link.quote == one.value
