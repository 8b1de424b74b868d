"""A retrieval is made again at its snapshot, and finds the same."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from efforts import actions
from efforts.domain.effort.policy import ContextMode
from efforts.memory import traces
from efforts.models import Message, Passage, RetrievalSet, Run
from efforts.retrieval.recall import recall
from efforts.tools.again import EFFORTS_CHANGED, OTHER_VERSION, TURNS_MOVED, Repeated, retrieve_again
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db
SAME = Repeated(same=True)


@pytest.fixture
def searched(talk: Talk) -> Talk:
    """A conversation in which the model searched and something was recalled, and that went on."""
    talk.concluded("Harbour", "The harbour of Kiel has two cranes.")
    talk.ask("A letter to the harbour master.")
    lease = talk.begin("What did we say of the harbour cranes?")
    run = Run.objects.select_related("turn", "branch").get(pk=lease.run_id)
    mode, today = ContextMode.LIGHT, run.turn.created_at.date()
    found = recall(run.branch, "What did we say of the harbour cranes?", before=run.turn.number, mode=mode, today=today)
    assert found.passages
    traces.record_recall(run, found)
    talk.call(lease, "search_messages", query="harbour cranes")
    talk.call(lease, "search_efforts", query="harbour cranes")
    talk.finish(lease)
    talk.ask("More harbour cranes, harbour, cranes!")
    return talk


def again() -> list[Repeated]:
    rows = RetrievalSet.objects.select_related("branch", "run__turn").order_by("created_at")
    return [retrieve_again(row) for row in rows]


def test_whatever_was_said_since_each_finds_the_same(searched: Talk) -> None:
    assert again() == [SAME, SAME, SAME]


def test_what_changed_since_is_told_apart(searched: Talk) -> None:
    actions.rename_effort(searched.place, "harbour", "Harbour cranes")
    assert again() == [SAME, SAME, Repeated(same=False, apart=EFFORTS_CHANGED)]
    actions.move_turn(searched.place, 1, None)
    assert Repeated(same=False, apart=TURNS_MOVED) in again()
    RetrievalSet.objects.update(strategy="messages/passages/0")
    assert again() == [Repeated(same=False, apart=OTHER_VERSION)] * 3


def test_the_command_fails_where_the_log_was_tampered_with(searched: Talk) -> None:
    assert verified()["retrieved_again"] == 3
    Passage.objects.filter(message=Message.objects.earliest("id")).update(terms=" nothing ")
    with pytest.raises(SystemExit):
        verified()


def verified() -> dict[str, Any]:
    out = StringIO()
    call_command("verify_plans", "--retrieve-again", "--json", stdout=out)
    found: dict[str, Any] = json.loads(out.getvalue())
    return found
