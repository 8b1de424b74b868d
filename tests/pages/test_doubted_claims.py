"""A claim of the short form that cites nothing for what it says, or that a reader doubts: nothing lets it stand, until
a person has set the doubt aside with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import review
from compaction.admin.changing import judge_now
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.models import Artifact
from compaction.standing.accepting import accept_compaction, rollback_compaction
from compaction.standing.blockers import standing_of
from compaction.standing.previewing import effect_of_accepting
from efforts import actions
from efforts.actions import branches
from efforts.domain.effort.states import ReviewMode
from efforts.domain.errors import Refused
from efforts.models import ContextPointer
from tests.compaction.review import CLAIMS, MODEL, SLUG, STATES, Room, claim_of, document_of, verdict_of
from tests.compaction.review import judged as judged_last
from tests.pages.conftest import HTMX

SAYS = CLAIMS["backups"][2]


def untraced(room: Room) -> None:
    room.texts["backups"] = "Nightly backups of 840 GB are decided."


def unsupported(room: Room) -> None:
    room.model.doubts(SAYS, "unsupported", phrase="Nightly")


def contradicted(room: Room) -> None:
    room.model.doubts(SAYS, "contradicted", phrase="Nightly")


# What is wrong with the claim, and the gate that says so.
WRONG: dict[Callable[[Room], None], str] = {untraced: "B", unsupported: "B", contradicted: "D"}
each_wrong = pytest.mark.parametrize("make", WRONG, ids=lambda make: make.__name__)


def reviewed(room: Room, make: Callable[[Room], None]) -> Artifact:
    """The draft, which waits for its review."""
    make(room)
    row = STATES["reviewed"](room)
    assert claim_of(row, "backups").text in row.standing
    assert "backups" in document_of(row).short
    assert verdict_of(judged_last(row), WRONG[make])["outcome"] == "fail"
    return row


def accept(row: Artifact, **more: Any) -> ContextPointer:
    actor = more.pop("actor", row.session.owner)
    return accept_compaction(row.pk, row.session_id, row.source_start, row.source_end, actor=actor, **more)


def refused(act: Callable[[], object]) -> str:
    with pytest.raises(Refused) as error:
        act()
    return error.value.code


def standing(room: Room) -> list[str]:
    active = ContextPointer.objects.filter(branch__session=room.talk.session, state="active")
    return list(active.values_list("artifact", flat=True))


@each_wrong
def test_an_untraced_or_doubted_claim_of_the_short_form_cannot_be_accepted_by_any_function(
    room: Room, alice: User, make: Callable[[Room], None]
) -> None:
    row = reviewed(room, make)
    assert refused(lambda: accept(row)) == "gates"
    assert refused(lambda: accept(row, unchecked=True)) == "gates"
    assert refused(lambda: effect_of_accepting(row, alice)) == "gates"
    assert refused(lambda: actions.use_summary(room.talk.place, SLUG)) == "gates"
    assert f"Gate {WRONG[make]}" in " ".join(one.text for one in standing_of(row, alice).blockers)
    assert standing(room) == []


@each_wrong
def test_an_untraced_or_doubted_claim_of_the_short_form_cannot_be_accepted_on_any_page(
    room: Room, as_alice: Client, make: Callable[[Room], None]
) -> None:
    row = reviewed(room, make)
    where = {"session": str(row.session_id), "first": row.source_start, "last": row.source_end}
    for more in ({}, {"unchecked": "1"}, {"unchecked": "1", "larger": "1"}):
        answer = as_alice.post(reverse("accept", args=[row.pk]), {**where, **more}, headers=HTMX)
        assert (answer.status_code, f"Gate {WRONG[make]}" in answer.content.decode()) == (422, True)
    use = reverse("effort", args=[row.session_id, SLUG, "use-summary"])
    assert as_alice.post(use, headers=HTMX).status_code == 422
    assert standing(room) == []


@each_wrong
def test_that_a_person_keeps_it_or_the_gates_judge_it_again_does_not_let_it_stand(
    room: Room, alice: User, make: Callable[[Room], None]
) -> None:
    row = reviewed(room, make)
    for claim in document_of(row).claims:
        review.decide(row, claim.id, Say.KEPT, reviewer=alice)
    review.submit(row, reviewer=alice)
    assert refused(lambda: accept(row, unchecked=True)) == "gates"
    for again in (lambda: review.judge_again(row, actor=alice), lambda: judge_now(row, alice, "")):
        again()
        assert refused(lambda: accept(row, unchecked=True)) == "gates"


@each_wrong
def test_an_edited_version_stands_and_the_one_with_the_claim_does_not_come_back_by_it(
    room: Room, alice: User, make: Callable[[Room], None]
) -> None:
    row = reviewed(room, make)
    review.decide(row, "backups", Say.EDITED, reviewer=alice, text="Backups go nightly to the second site.")
    made = review.submit(row, reviewer=alice).made
    assert made is not None
    accept(made)
    assert refused(lambda: accept(row, unchecked=True)) == "gates"
    rollback_compaction(made.pk, actor=alice)
    assert standing(room) == []
    assert refused(lambda: accept(row, unchecked=True)) == "gates"


@each_wrong
@pytest.mark.parametrize("mode", [ReviewMode.AUTOMATIC, ReviewMode.TAKE])
def test_whoever_closes_the_effort_it_does_not_stand_by_itself(
    room: Room, make: Callable[[Room], None], mode: ReviewMode
) -> None:
    room.talk.session.review_mode = mode
    room.talk.session.save(update_fields=["review_mode"])
    make(room)
    row = room.draft()
    assert [one.digest for one in ContextPointer.objects.filter(state="active")] == [True]
    assert refused(lambda: actions.use_summary(room.talk.place, SLUG)) == "gates"
    actions.reopen_effort(room.talk.place, SLUG)
    room.close_by_model()
    row = room.summarise()
    assert row.run.model == MODEL
    assert refused(lambda: accept(row, unchecked=True)) == "gates"
    assert standing(room) == []


@each_wrong
def test_no_branch_and_no_chosen_turns_let_it_stand(room: Room, alice: User, make: Callable[[Room], None]) -> None:
    make(room)
    row = STATES["chosen"](room)
    assert refused(lambda: accept(row, unchecked=True)) == "gates"
    fork = branches.fork(room.talk.branch, after=3, actor=alice)
    assert refused(lambda: accept(row, unchecked=True, branch=fork)) == "gates"
    assert standing(room) == []


@pytest.mark.parametrize("make", [unsupported, contradicted], ids=lambda make: make.__name__)
def test_a_doubt_that_was_set_aside_with_a_reason_lets_it_be_accepted_and_put_back_bars_it_again(
    room: Room, alice: User, make: Callable[[Room], None]
) -> None:
    row = reviewed(room, make)
    (finding,) = verdict_of(judged_last(row), WRONG[make])["failures"]
    assert refused(lambda: review.set_aside(row, finding["id"], " ", actor=alice)) == "reason"
    review.set_aside(row, finding["id"], "The second message says nightly.", actor=alice)
    accept(row)
    assert standing(room) != []
    rollback_compaction(row.pk, actor=alice)
    review.put_back(row, finding["id"], actor=alice)
    # It has stood before, and that does not let it come back.
    assert refused(lambda: accept(row, unchecked=True)) == "gates"


def test_what_code_finds_nowhere_in_the_log_cannot_be_set_aside_but_only_worded_anew(room: Room, alice: User) -> None:
    row = reviewed(room, untraced)
    (finding,) = verdict_of(judged_last(row), "B")["failures"]
    assert finding["id"] == ""
    assert refused(lambda: review.set_aside(row, finding["id"], "It is so.", actor=alice)) == "no_finding"
