"""What must not be lost and no claim tells."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import review
from compaction.domain.artifact import parse_artifact
from compaction.drafting.reading import log_for
from compaction.models import Artifact, NotNeeded
from compaction.review.claims import Dropped, dropped
from efforts import actions
from efforts.domain.effort.states import EntryKind
from efforts.domain.errors import Refused
from efforts.models import Hold
from tests.fakes.provider import FakeProvider
from tests.turns.conftest import provider

from .review import BACKUPS, MODEL, Room, judged, room_of, told_by, verdict_of

__all__ = ["provider"]
HTMX = {"HX-Request": "true"}
RULE = "Never store card numbers with the orders."


@pytest.fixture
def room(alice: User, provider: FakeProvider) -> Room:
    """Its draft lacks the backups, which its checker lists."""
    room = room_of(alice, provider)
    room.claims = ("result", "postgres", "move")
    room.texts["result"] = "Postgres it is, with one table for each year."
    room.model.lists("decision", BACKUPS)
    return room


def the_one(artifact: Artifact) -> Dropped:
    (one,) = dropped(artifact)
    return one


def test_what_the_inventory_lists_and_no_claim_tells_is_dropped_with_its_sentence(room: Room) -> None:
    row = room.draft()
    one = the_one(row)
    assert (one.kind, one.text, one.turn, one.confirmed) == ("decision", BACKUPS, 2, False)
    assert one.why.startswith(f"{MODEL} listed it as a decision")
    source = log_for(row, parse_artifact(row.document)).source
    assert [source.by_sentence[cite].text for cite in one.claim.cites] == [BACKUPS]
    assert verdict_of(judged(row), "C")["outcome"] == "fail"


def test_of_what_is_told_in_part_the_missing_words_are_named(room: Room, as_alice: Client) -> None:
    room.claims, room.texts["backups"] = ("result", "postgres", "move", "backups"), "There are nightly backups."
    room.model.lacks[BACKUPS] = "that they go to the second site"
    row = room.draft()
    # It is listed twice, so that its claim is not the one that is hidden.
    assert {(one.text, one.missing) for one in dropped(row)} == {(BACKUPS, "that they go to the second site")}
    page = as_alice.get(reverse("claims", args=[row.pk]), {"show": "dropped"}, headers=HTMX).content.decode()
    assert "Only in part: no claim covers “that they go to the second site”." in page


def test_what_the_person_keeps_comes_first(room: Room) -> None:
    room.texts["move"] = "The tests took 340 ms."
    room.claims = ("result", "postgres")
    room.note(EntryKind.OPEN_WORK, "Still to do: move the old orders over before the launch.")
    kinds = [(one.kind, one.confirmed) for one in dropped(room.draft())]
    assert kinds == [("to-do", True), ("decision", False)]


def test_added_it_is_a_claim_with_its_cites_and_gate_c_passes(room: Room, alice: User) -> None:
    row = room.draft()
    one = the_one(row)
    review.add_dropped(row, one.key, reviewer=alice)
    made = review.submit(row, reviewer=alice).made
    assert made is not None
    assert BACKUPS in told_by(made).values()
    assert parse_artifact(made.document).by_id[one.claim.id].cites == one.claim.cites
    assert verdict_of(judged(made), "C")["outcome"] == "pass"
    assert dropped(made) == ()


def test_a_rule_in_force_stands_in_the_system_message_and_is_not_dropped(room: Room) -> None:
    room.talk.ask(RULE)
    actions.set_constraint(room.talk.place, RULE, turn=room.message(RULE).turn.number)
    assert "rule" not in [one.kind for one in dropped(room.draft())]


def test_what_is_not_needed_counts_no_more_and_can_be_needed_again(room: Room, alice: User) -> None:
    row = room.draft()
    key = the_one(row).key
    review.not_needed(row, key, "It is in the contract.", actor=alice)
    assert verdict_of(judged(row), "C")["outcome"] == "pass"
    assert (the_one(row).not_needed, the_one(row).reason) == (True, "It is in the contract.")
    review.needed_again(row, key, actor=alice)
    assert verdict_of(judged(row), "C")["outcome"] == "fail"
    assert not NotNeeded.objects.exists()


def test_not_needed_wants_a_reason(room: Room, alice: User) -> None:
    row = room.draft()
    with pytest.raises(Refused) as error:
        review.not_needed(row, the_one(row).key, "  ", actor=alice)
    assert error.value.code == "reason"


def test_what_is_kept_in_the_ledger_is_needed(room: Room, alice: User) -> None:
    room.note(EntryKind.DECISION, BACKUPS)
    row = room.draft()
    with pytest.raises(Refused) as error:
        review.not_needed(row, the_one(row).key, "No.", actor=alice)
    assert error.value.code == "kept"


def test_its_turn_can_be_pinned_by_the_owner_alone(room: Room, alice: User, bob: User) -> None:
    review.name_reviewer(room.talk.session, "bob", actor=alice)
    row = room.draft()
    key = the_one(row).key
    with pytest.raises(Refused) as error:
        review.pin_raw(row, key, actor=bob)
    assert error.value.code == "owner_only"
    review.pin_raw(row, key, actor=alice)
    assert Hold.objects.values_list("turn__number", flat=True).get() == 2
