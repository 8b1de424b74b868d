"""What recall brings goes to a blind reader as files and comes back as counts; and what a rule of the ranking earns."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.recall.judged import (
    ORDINARY,
    QUESTION,
    Brought,
    Sample,
    Verdicts,
    answered,
    export,
    judged,
    read_verdicts,
    write_verdicts,
)
from benchmarks.recall.kinds import RULES, without
from efforts.domain.text import ranking

from .test_measuring import talk

pytestmark = pytest.mark.long

ONE, TWO = "(2026-01-02, user) One.", "(2026-01-03, user) Two."


def brought(text: str, kind: str = QUESTION, passages: tuple[str, ...] = (ONE, TWO)) -> Brought:
    return Brought(kind=kind, text=text, before=(), passages=passages)


def some(*rows: Brought) -> Sample:
    return Sample(name="kind", tried=9, fired=len(rows), brought=rows)


def known(one: Brought, *helps: bool) -> Verdicts:
    return dict(zip(one.pairs, helps, strict=True))


def test_a_request_has_the_message_its_passages_and_the_form_of_the_answer(tmp_path: Path) -> None:
    one = brought("Which one?")
    assert export([some(one)], tmp_path, {}) == 1
    words = (tmp_path / f"{one.key}.md").read_text()
    assert "## The message\nWhich one?" in words
    assert "1. (2026-01-02, user) One.\n\n2. (2026-01-03, user) Two." in words
    assert '{"1": "yes", "2": "no"}' in words


def test_only_what_nobody_has_judged_is_asked(tmp_path: Path) -> None:
    one, other = brought("First?"), brought("Second?")
    assert export([some(one, other)], tmp_path, known(one, True, False)) == 1
    assert [path.stem for path in tmp_path.glob("*.md")] == [other.key]


def test_verdicts_are_counted_by_kind_and_what_has_none_is_told() -> None:
    first, second, third = brought("First?"), brought("Second?"), brought("Third.", ORDINARY)
    said = known(first, True, False) | known(second, False, False)
    counted = judged(some(first, second, third), said, QUESTION)
    assert counted == {"judged": 2, "unanswered": 0, "passages": 4, "helpful": 0.25, "any": 0.5}
    assert judged(some(first, second, third), said, ORDINARY)["unanswered"] == 1


def test_a_rule_that_brings_less_is_measured_by_what_was_judged_before() -> None:
    said = known(brought("First?"), True, False)
    counted = judged(some(brought("First?", passages=(ONE,))), said, QUESTION)
    assert counted == {"judged": 1, "unanswered": 0, "passages": 1, "helpful": 1, "any": 1}
    more = brought("First?", passages=(ONE, "(2026-01-04, user) Three."))
    assert judged(some(more), said, QUESTION)["unanswered"] == 1


def test_verdicts_are_kept_without_a_word_of_what_was_said(tmp_path: Path) -> None:
    said = known(brought("First?"), True, False)
    write_verdicts(file := tmp_path / "judged.jsonl", said)
    assert read_verdicts(file) == said
    assert "First" not in file.read_text()
    assert read_verdicts(tmp_path / "none") == {}


@pytest.mark.parametrize("answer", ["{}", '{"1": "yes"}', '{"1": "yes", "2": "maybe"}', "[]", "yes"])
def test_an_answer_to_something_else_is_refused(answer: str, tmp_path: Path) -> None:
    one = brought("Which one?")
    export([some(one)], tmp_path, {})
    with pytest.raises(ValueError, match=r"yes or no|Expecting"):
        answered(tmp_path, {one.key: answer})


@pytest.mark.django_db
def test_the_same_file_gives_the_same_requests_and_takes_their_answers(tmp_path: Path) -> None:
    (file := tmp_path / "talk.jsonl").write_text(json.dumps(talk()))
    folder, record = tmp_path / "asked", tmp_path / "judged.jsonl"

    def called(*args: Any) -> str:
        said = StringIO()
        call_command("recall_judged", file, "--record", record, *args, stdout=said)
        return said.getvalue()

    called("--export", folder)
    with pytest.raises(CommandError, match="no answers"):
        called("--answers", folder)
    for line in (folder / "passages.jsonl").read_text().splitlines():
        asked = json.loads(line)
        answer = {str(number): "yes" for number, _ in enumerate(asked["pairs"], 1)}
        (folder / f"{asked['request']}.json").write_text(json.dumps(answer))
    found: dict[str, Any] = json.loads(called("--answers", folder, "--json"))["talk"]
    assert found[QUESTION]["judged"] + found[ORDINARY]["judged"] == len(list(folder.glob("*.md"))) > 0
    assert found[QUESTION]["helpful"] == 1
    assert json.loads(called("--json"))["talk"] == found
    assert called("--export", tmp_path / "none").startswith("0 requests")


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_taken_away_for_as_long_as_it_is_measured(rule: str) -> None:
    kept = {name: getattr(ranking, name) for name in RULES[rule]}
    with without(rule):
        assert {name: getattr(ranking, name) for name in RULES[rule]} == dict(RULES[rule]) != kept
    assert {name: getattr(ranking, name) for name in RULES[rule]} == kept


def test_every_rule_is_tried_on_each_kind_of_talk(tmp_path: Path) -> None:
    (file := tmp_path / "talk.jsonl").write_text(json.dumps(talk()))
    said = StringIO()
    call_command("recall_kinds", file, "--ablate", "--every", "2", stdout=said)
    lines = said.getvalue().splitlines()
    assert [line.split(" | ")[0].removeprefix("| ") for line in lines[2:]] == ["all rules", *RULES]
    assert "each 2. question" in lines[0]
