"""What a log holds and no claim cites."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from compaction import reviewing
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.dropped import Dropped, dropped
from compaction.models import Artifact, NotNeeded
from efforts import actions, recording
from efforts.domain.canonical import canonical_json
from efforts.domain.conversation import ToolCall
from efforts.domain.lifecycle import EntryKind
from efforts.errors import Refused
from efforts.models import Hold, LedgerEntry
from efforts.recording import Reply

from .review import BACKUPS, POSTGRES, Room, judged, room_of, told_by, verdict_of

RULE = "Never store card numbers with the orders."


@pytest.fixture
def room(alice: User, monkeypatch: pytest.MonkeyPatch) -> Room:
    """Its draft lacks the backups."""
    return room_of(alice, monkeypatch, claims=("postgres", "move"), headline="Orders are stored in Postgres.")


def named(artifact: Artifact, kind: str) -> Dropped:
    (one,) = [one for one in dropped(artifact) if one.kind == kind]
    return one


def without_postgres(room: Room) -> Artifact:
    """Code appends what sounds like a decision and is quoted by no claim; here a reviewer strikes it."""
    room.claims, room.headline = ("backups", "move"), "There are nightly backups to the second site."
    row = room.draft()
    (appended,) = [item for item, text in told_by(row).items() if text == POSTGRES]
    return struck(row, room, appended)


def struck(row: Artifact, room: Room, item: str) -> Artifact:
    owner = room.talk.session.owner
    reviewing.decide(row, item, ClaimVerdictValue.STRUCK, reviewer=owner)
    made = reviewing.submit(row, reviewer=owner).made
    assert made is not None
    return made


def words_at(room: Room, one: Dropped) -> str:
    return room.message(one.link.quote).text[one.start : one.end]


def test_what_only_sounds_like_a_decision_is_listed_with_its_place(room: Room) -> None:
    row = without_postgres(room)
    one = named(row, "decision")
    assert (one.text, one.turn, one.confirmed, one.blocks) == (POSTGRES, 1, False, True)
    assert words_at(room, one) == POSTGRES
    assert one.why == "It sounds like a decision. Add it, or say that it is not needed."


def test_what_is_confirmed_comes_first_and_paths_and_numbers_last(room: Room) -> None:
    room.note(EntryKind.DECISION, BACKUPS)
    kinds = [one.kind for one in dropped(room.draft())]
    assert kinds == ["decision", "path", "number"]


def test_what_a_claim_cites_is_not_dropped(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.add_dropped(row, named(row, "path").key, reviewer=alice)
    made = reviewing.submit(row, reviewer=alice).made
    assert made is not None
    assert "The tests are in tests/orders/test_load.py and took 340 ms." in told_by(made).values()
    # Both stand in the one sentence.
    assert [one.kind for one in dropped(made) if one.kind in ("path", "number")] == []


@pytest.mark.parametrize(
    ("result", "says"),
    [
        ("1 failed\nexit status 2", "A command that was run, and ended with exit status 2."),
        ("1 passed\nexit status 0", "A command that was run, and ended with exit status 0."),
        ("1 passed", "A command that was run."),
    ],
)
def test_a_command_is_listed_with_its_exit_status(room: Room, alice: User, result: str, says: str) -> None:
    lease = room.talk.begin("Run the tests of the orders.")
    call = ToolCall(id="c1", name="bash", arguments=canonical_json({"command": "pytest -q tests/orders"}))
    recording.record_reply(lease, Reply(call=1, text="", tool_calls=(call,)))
    recording.run_and_record(lease, 1, call, lambda: result)
    room.talk.finish(lease, "They ran.")
    row = room.draft()
    one = named(row, "command")
    assert (one.text, one.turn, one.why, one.confirmed, one.blocks) == ("pytest -q tests/orders", 4, says, False, False)
    reviewing.add_dropped(row, one.key, reviewer=alice)
    made = reviewing.submit(row, reviewer=alice).made
    assert made is not None
    assert "command" not in [one.kind for one in dropped(made)]


def test_a_rule_in_force_is_listed_word_for_word(room: Room, alice: User) -> None:
    room.talk.ask(RULE)
    message = room.message(RULE)
    actions.set_constraint(room.talk.place, RULE, turn=message.turn.number)
    row = room.draft()
    one = named(row, "constraint")
    assert (one.text, one.confirmed, one.blocks) == (RULE, True, True)
    reviewing.add_dropped(row, one.key, reviewer=alice)
    made = reviewing.submit(row, reviewer=alice).made
    assert verdict_of(judged(made), "C")["outcome"] == "pass"


@pytest.mark.parametrize("proposed", [False, True])
def test_what_is_not_needed_counts_no_more_and_can_be_needed_again(room: Room, alice: User, proposed: bool) -> None:
    if not proposed:
        LedgerEntry.objects.all().delete()
    row = without_postgres(room)
    key = named(row, "decision").key
    assert verdict_of(judged(row), "C")["outcome"] == "fail"
    reviewing.not_needed(row, key, actor=alice)
    assert verdict_of(judged(row), "C")["outcome"] == "pass"
    assert LedgerEntry.objects.get(text=POSTGRES).state == "dismissed"
    assert (named(row, "decision").not_needed, named(row, "decision").key) == (True, key)
    reviewing.needed_again(row, key, actor=alice)
    assert verdict_of(judged(row), "C")["outcome"] == "fail"
    assert (named(row, "decision").not_needed, named(row, "decision").blocks) == (False, True)
    assert not NotNeeded.objects.exists()


def test_a_path_that_is_not_needed_is_in_no_version(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.not_needed(row, named(row, "path").key, actor=alice)
    assert named(row, "path").not_needed
    made = struck(row, room, "move")
    assert named(made, "path").not_needed


def test_what_is_kept_in_the_ledger_is_needed(room: Room, alice: User) -> None:
    room.note(EntryKind.DECISION, BACKUPS)
    row = room.draft()
    with pytest.raises(Refused) as error:
        reviewing.not_needed(row, named(row, "decision").key, actor=alice)
    assert error.value.code == "kept"


def test_its_turn_can_be_pinned_by_the_owner_alone(room: Room, alice: User, bob: User) -> None:
    room.note(EntryKind.DECISION, BACKUPS)
    reviewing.name_reviewer(room.talk.session, "bob", actor=alice)
    row = room.draft()
    key = named(row, "decision").key
    with pytest.raises(Refused) as error:
        reviewing.pin_raw(row, key, actor=bob)
    assert error.value.code == "owner_only"
    reviewing.pin_raw(row, key, actor=alice)
    assert Hold.objects.values_list("turn__number", flat=True).get() == 2
