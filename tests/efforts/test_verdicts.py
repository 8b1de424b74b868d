"""A person's verdict on an answer: given, changed, taken back, logged."""

from __future__ import annotations

import pytest

from efforts import actions
from efforts.domain.errors import Refused
from efforts.models import Event, Run, Verdict
from tests.efforts.talk import Talk


@pytest.fixture
def run(talk: Talk) -> Run:
    talk.ask("Where do we sail from?", reply="Hamburg.")
    return Run.objects.get()


def judged(run: Run, value: str, why: str = "") -> tuple[str, str]:
    verdict = actions.judge_run(run, value, why=why, actor=run.turn.session.owner)
    return verdict.value, verdict.why


def logged(run: Run) -> list[tuple[str | None, str]]:
    rows = Event.objects.filter(kind="run.judged").order_by("seq")
    assert all(row.actor == run.turn.session.owner for row in rows)
    assert all(row.data["run"] == str(run.pk) and row.data["turn"] == 1 for row in rows)
    return [(row.data["verdict"], row.data["why"]) for row in rows]


def test_a_verdict_is_given_changed_and_taken_back_each_on_record(run: Run) -> None:
    assert judged(run, "good") == ("good", "")
    assert judged(run, "bad", " It was Kiel. ") == ("bad", "It was Kiel.")
    assert Verdict.objects.get().run == run
    actions.take_back_verdict(run, actor=run.turn.session.owner)
    assert not Verdict.objects.exists()
    assert logged(run) == [("good", ""), ("bad", "It was Kiel."), (None, "")]


def test_the_same_again_is_no_news(run: Run) -> None:
    judged(run, "good")
    judged(run, "good")
    actions.take_back_verdict(run, actor=run.turn.session.owner)
    actions.take_back_verdict(run, actor=run.turn.session.owner)
    assert logged(run) == [("good", ""), (None, "")]


@pytest.mark.parametrize(
    ("value", "why", "code"),
    [("fine", "", "bad_verdict"), ("bad", "x" * 1_001, "too_long"), ("bad", "a\x00b", "not_text")],
)
def test_what_is_no_verdict_changes_nothing(run: Run, value: str, why: str, code: str) -> None:
    judged(run, "good", "Clear.")
    with pytest.raises(Refused) as refused:
        judged(run, value, why)
    assert refused.value.code == code
    assert (Verdict.objects.get().value, Verdict.objects.get().why) == ("good", "Clear.")
    assert logged(run) == [("good", "Clear.")]


def test_an_answer_that_has_not_ended_is_not_judged(talk: Talk) -> None:
    talk.begin("And?")
    run = Run.objects.select_related("turn__session").get()
    with pytest.raises(Refused, match="no complete answer"):
        judged(run, "good")
    with pytest.raises(Refused, match="no complete answer"):
        actions.take_back_verdict(run, actor=talk.session.owner)
    assert not Verdict.objects.exists()
