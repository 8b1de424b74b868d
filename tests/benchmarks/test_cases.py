"""Annotated scopes are read as they stand, or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.gates.cases import Case, Unreadable, read_case, read_cases
from compaction.domain.artifact import Section, Status
from efforts.domain.text.source_text import Part
from tests.benchmarks.case_files import put, small


def read(case: dict[str, Any], folder: Path) -> Case:
    return read_case(put(case, folder))


def test_the_scope_is_its_canonical_source_with_calls_results_and_secrets_masked(tmp_path: Path) -> None:
    source = read(small(), tmp_path).source
    assert [(part.message, part.part, part.tool) for part in source.parts] == [
        (1, Part.TEXT, ""),
        (2, Part.TEXT, ""),
        (2, Part.CALLS, ""),
        (3, Part.RESULT, "bash"),
    ]
    assert source.masked == 1
    assert "hunter2" not in source.text
    assert "stock --all" in source.by_place[2, Part.CALLS].text


def test_annotations_are_entries_with_the_sentences_that_they_quote(tmp_path: Path) -> None:
    case = read(small(), tmp_path)
    assert [(entry.id, entry.section, entry.status, entry.sentences) for entry in case.entries] == [
        ("d1", Section.DECISION, Status.ACCEPTED, ("1.1",)),
        ("w1", Section.OPEN_WORK, Status.OPEN, ("1.2",)),
        ("c1", Section.RULE, Status.IN_FORCE, ("1.3",)),
    ]


def test_a_quotation_behind_a_secret_is_found_where_it_stands_masked(tmp_path: Path) -> None:
    file = small()
    file["annotations"]["decisions"][0]["spans"] = [{"message": 3, "quote": "password=hunter2hunter2 and 12 cases"}]
    case = read(file, tmp_path)
    assert case.entries[0].sentences == ("3.1",)
    assert "password=[masked] and 12 cases" in case.source.by_sentence["3.1"].text


def test_what_an_agent_finds_by_searching_what_was_said_is_no_source(tmp_path: Path) -> None:
    file = small()
    file["messages"][1]["tool_calls"][0]["name"] = "search_messages"
    assert [part.message for part in read(file, tmp_path).source.parts] == [1, 2]


WRONG: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "an annotation that quotes other words": (
        lambda file: file["annotations"]["decisions"][0]["spans"][0].update(quote="We take the leather case."),
        "d1 quotes what message 1 does not say: 'We take the leather case.'",
    ),
    "an annotation of no message": (
        lambda file: file["annotations"]["open_work"][0]["spans"][0].update(message=9),
        "w1 quotes what message 9 does not say",
    ),
    "an annotation without a span": (
        lambda file: file["annotations"]["decisions"][0].update(spans=[]),
        "d1 has no span",
    ),
    "a status of another kind": (
        lambda file: file["annotations"]["decisions"][0].update(status="open"),
        "d1: decision cannot be open",
    ),
    "a rule in other words": (
        lambda file: file["annotations"]["constraints"][0].update(text="Do not touch the old stock"),
        "c1 is not word for word what a message says",
    ),
    "two annotations of one id": (
        lambda file: file["annotations"]["open_work"][0].update(id="d1"),
        "two annotations have one id",
    ),
    "an artifact that quotes other words": (
        lambda file: file["artifact"]["items"][0]["quotes"][0].update(quote="We take the leather case."),
        "i1 quotes what message 1 does not say",
    ),
    "an artifact that is none": (lambda file: file["artifact"].pop("headline"), "artifact.headline: Field required"),
    "a key that nobody knows": (lambda file: file.update(note="?"), "note: Extra inputs are not permitted"),
    "a trait that nobody knows": (lambda file: file.update(traits=["funny"]), "no traits: funny"),
    "an id that the file has not": (lambda file: file.update(id="large"), "it calls itself dev/large"),
    "messages that go back": (lambda file: file["messages"][0].update(id=5), "the ids of messages do not rise"),
    "turns that go back": (lambda file: file["messages"][0].update(turn=2), "the turns are not in order"),
    "a result of no call": (
        lambda file: file["messages"][2].update(tool_call_id="c9"),
        "message 3 is no result of a call before it",
    ),
    "a message of nobody": (lambda file: file["messages"][0].update(role="system"), "messages.0.role"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_file_is_named_with_what_is_wrong(name: str, tmp_path: Path) -> None:
    spoil, says = WRONG[name]
    path = put(small(), tmp_path)
    file = small()
    spoil(file)
    put(file, tmp_path / "other")
    path.write_text((tmp_path / "other/dev" / f"{file['id']}.json").read_text())
    with pytest.raises(Unreadable) as found:
        read_case(path)
    assert str(found.value).startswith(f"{path}: ")
    assert says in str(found.value)


def test_a_file_that_is_no_json_is_named(tmp_path: Path) -> None:
    path = put(small(), tmp_path)
    path.write_text("{")
    with pytest.raises(Unreadable, match=r"small\.json: not JSON"):
        read_case(path)


def test_dev_comes_before_test_each_by_name(tmp_path: Path) -> None:
    for split, name in (("test", "a"), ("dev", "c"), ("dev", "b")):
        put(small() | {"split": split, "id": name}, tmp_path)
    assert [case.id for case in read_cases(tmp_path)] == ["b", "c", "a"]
    assert [case.id for case in read_cases(tmp_path, ("dev",))] == ["b", "c"]


def test_a_folder_without_cases_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="has no cases"):
        read_cases(tmp_path)
