"""What recall brings goes to a blind reader as files and comes back as counts; and what a rule of the ranking earns."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from benchmarks.recall.judged import ORDINARY, QUESTION, Brought, Sample, export, judged
from benchmarks.recall.kinds import RULES, without
from efforts.domain.text import ranking

from .test_measuring import talk


def brought(text: str, kind: str = QUESTION) -> Brought:
    return Brought(kind=kind, text=text, before=(), passages=("(2026-01-02, user) One.", "(2026-01-03, user) Two."))


def some(*rows: Brought) -> Sample:
    return Sample(name="kind", tried=9, fired=len(rows), brought=rows)


def test_a_request_has_the_message_its_passages_and_the_form_of_the_answer(tmp_path: Path) -> None:
    one = brought("Which one?")
    assert export([some(one)], tmp_path) == 1
    words = (tmp_path / f"{one.key}.md").read_text()
    assert "## The message\nWhich one?" in words
    assert "1. (2026-01-02, user) One.\n\n2. (2026-01-03, user) Two." in words
    assert '{"1": "yes", "2": "no"}' in words


def test_answers_are_counted_by_kind_and_what_has_none_is_told() -> None:
    first, second, third = brought("First?"), brought("Second?"), brought("Third.", ORDINARY)
    answers = {first.key: '{"1": "yes", "2": "no"}', second.key: '{"1": "no", "2": "no"}'}
    counted = judged(some(first, second, third), answers, QUESTION)
    assert counted == {"judged": 2, "unanswered": 0, "passages": 4, "helpful": 0.25, "any": 0.5}
    assert judged(some(first, second, third), answers, ORDINARY)["unanswered"] == 1


@pytest.mark.parametrize("answer", ["{}", '{"1": "yes"}', '{"1": "yes", "2": "maybe"}', "[]", "yes"])
def test_an_answer_to_something_else_is_refused(answer: str) -> None:
    one = brought("Which one?")
    with pytest.raises(ValueError, match=r"yes or no|Expecting"):
        judged(some(one), {one.key: answer}, QUESTION)


@pytest.mark.django_db
def test_the_same_file_gives_the_same_requests_and_takes_their_answers(tmp_path: Path) -> None:
    (file := tmp_path / "talk.jsonl").write_text(json.dumps(talk()))
    folder, answers = tmp_path / "asked", tmp_path / "answered"
    said = StringIO()
    call_command("recall_judged", file, "--export", folder, stdout=said)
    requests = sorted(folder.glob("*.md"))
    assert requests
    answers.mkdir()
    for path in requests:
        passages = path.read_text().split("## Passages\n")[1].split("\n\n")
        numbers = [line.partition(".")[0] for line in passages if line.partition(".")[0].isdecimal()]
        (answers / f"{path.stem}.json").write_text(json.dumps(dict.fromkeys(numbers, "yes")))
    said = StringIO()
    call_command("recall_judged", file, "--answers", answers, "--json", stdout=said)
    found: dict[str, Any] = json.loads(said.getvalue())["talk"]
    assert found[QUESTION]["judged"] + found[ORDINARY]["judged"] == len(requests)
    assert found[QUESTION]["helpful"] == 1
    with pytest.raises(CommandError, match="no answers"):
        call_command("recall_judged", file, "--answers", folder)


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
