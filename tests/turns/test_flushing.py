"""What must be on the disk before anything goes on, and what may come to it a moment later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection

from efforts import actions
from efforts.domain.prompt.planner import plan
from efforts.log import events
from efforts.models import Event
from efforts.models.flushing import flushed_later, run
from efforts.turns import recording
from efforts.turns.orchestrator import first_inputs
from efforts.turns.recording import COMPLETED, CallReply, Delta


def is_flushed() -> bool:
    """Whether a commit waits for the disk just now."""
    return run("PRAGMA synchronous" if connection.vendor == "sqlite" else "SHOW synchronous_commit") in (2, "on")


@pytest.fixture(autouse=True)
def durable(transactional_db: None) -> Iterator[None]:
    """As people have it; tests do not wait for the disk."""
    if connection.vendor != "sqlite":
        run("SET synchronous_commit TO ON")
        yield
        run("RESET synchronous_commit")
        return
    before = run("PRAGMA synchronous")
    run("PRAGMA synchronous=FULL")
    yield
    run(f"PRAGMA synchronous={before}")


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bool]]:
    """By the kind of each event whether its transaction waits for the disk."""
    found: dict[str, bool] = {}
    append = events.append_locked

    def looked_at(rows: Any, *args: Any, **changes: Any) -> None:
        found.update({row.kind: is_flushed() for row in rows})
        append(rows, *args, **changes)

    monkeypatch.setattr(events, "append_locked", looked_at)
    yield found
    assert is_flushed()


def test_a_message_its_plan_and_its_reply_are_on_the_disk_text_on_its_way_is_soon(
    alice: User, flushed: dict[str, bool]
) -> None:
    session = actions.create_session(alice)
    actions.send_message(session, text="Hi", client_id="one", actor=alice)
    [lease] = recording.claim_runs("test", 1)
    recording.record_plan(lease, 1, plan(first_inputs(recording.claimed_run(lease))))
    recording.write_deltas([Delta(lease=lease, call=1, offset=0, text="Hello")])
    recording.record_reply(lease, CallReply(call=1, text="Hello"), COMPLETED)
    assert flushed == {
        "session.created": True,
        "turn.sent": True,
        "run.started": False,
        "plan.made": True,
        "delta": False,
        "message.stands": True,
        "run.ended": True,
    }


def test_where_it_fails_nothing_is_written_and_the_next_waits_for_the_disk(alice: User) -> None:
    session = actions.create_session(alice)
    with suppress(InterruptedError), flushed_later():
        events.append(session.pk, "note")
        raise InterruptedError
    assert is_flushed()
    assert not Event.objects.filter(kind="note").exists()
