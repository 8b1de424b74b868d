"""Summaries of the first build keep their texts: they stand, go and come back; they are not judged or edited again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from compaction import review
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.models import Acceptance, Artifact, ClaimVerdict, GateRun
from compaction.standing.accepting import accept_compaction, rollback_compaction
from efforts import actions
from efforts.domain.errors import Refused
from efforts.models import Branch, ContextPointer, EffortState, Event, PointerMove
from tests.compaction.artifacts import LongTalk, accept, of_effort, of_turns, roll_back, standing

pytestmark = [pytest.mark.usefixtures("first_build"), pytest.mark.long]

Act = Callable[[Artifact, User], Any]
ACTS: dict[str, Act] = {
    "accepted": lambda row, user: accept_compaction(
        row.pk, row.session_id, row.source_start, row.source_end, actor=user, unchecked=True
    ),
    "judged again": lambda row, user: review.judge_again(row, actor=user),
    "edited": lambda row, user: review.decide(row, "1", Say.EDITED, reviewer=user, text="Other words."),
}


def counted() -> list[int]:
    return [model.objects.count() for model in (Event, PointerMove, Acceptance, GateRun, ClaimVerdict, Artifact)]


@pytest.mark.parametrize("act", ACTS)
def test_what_does_not_stand_is_not(act: str) -> None:
    active = ContextPointer.objects.filter(state="active").values("artifact")
    rows = list(Artifact.objects.exclude(pk__in=active).select_related("session", "branch"))
    assert len(rows) > 10
    before = counted()
    codes = {code_of(ACTS[act], row) for row in rows}
    assert codes == {"earlier"}
    assert counted() == before


def code_of(act: Act, row: Artifact) -> str:
    try:
        act(row, row.session.owner)
    except Refused as refused:
        return refused.code
    return "done"


@pytest.mark.parametrize("act", [act for act in ACTS if act != "accepted"])
def test_nor_is_what_stands(act: str) -> None:
    active = ContextPointer.objects.filter(state="active").exclude(artifact="").values("artifact")
    rows = list(Artifact.objects.filter(pk__in=active).select_related("session", "branch"))
    assert rows
    assert {code_of(ACTS[act], row) for row in rows} == {"earlier"}


def test_verdicts_that_were_never_submitted_make_no_version() -> None:
    draft = ClaimVerdict.objects.filter(submitted_at=None).select_related("artifact", "reviewer").first()
    assert draft is not None
    with pytest.raises(Refused) as refused:
        review.submit(draft.artifact, reviewer=draft.reviewer)
    assert refused.value.code == "earlier"
    draft.refresh_from_db()
    assert draft.submitted_at is None


def test_all_that_stand_are_rolled_back() -> None:
    pointers = ContextPointer.objects.filter(state="active").exclude(artifact="")
    for pointer in list(pointers.select_related("branch__session__owner").order_by("-pk")):
        if ContextPointer.objects.filter(pk=pointer.pk, state="active").exists():
            rollback_compaction(pointer.artifact, actor=pointer.branch.session.owner, branch=pointer.branch)
            pointer.refresh_from_db()
            assert pointer.state == "rolled back"


def talk_of(title: str) -> LongTalk:
    branch = Branch.objects.select_related("session").get(session__title=title, name="main")
    return LongTalk(branch.session, branch)


def texts_of(talk: LongTalk) -> list[tuple[str, str, str]]:
    active = ContextPointer.objects.filter(branch=talk.branch_id, state="active").order_by("pk")
    return list(active.values_list("text", "body", "artifact"))


def test_one_comes_back_when_reopening_its_effort_is_taken_back() -> None:
    talk = talk_of("Summary of a model")
    slug = EffortState.objects.get(branch=talk.branch_id, status="concluded").effort.slug
    before = texts_of(talk)
    actions.reopen_effort(talk.place, slug)
    assert texts_of(talk) == []
    actions.undo(talk.place, Event.objects.filter(session=talk.session, kind="effort.reopened").latest("seq").seq)
    assert texts_of(talk) == before


def test_a_new_summary_of_an_effort_takes_over_and_gives_way_to_it_again() -> None:
    talk = talk_of("Demo: a week with several pieces of work")
    before = texts_of(talk)
    first = ContextPointer.objects.filter(branch=talk.branch_id).select_related("effort").order_by("pk")[0]
    assert first.effort is not None
    again = of_effort(talk, first.effort.slug, "It came to an end.")
    accept(again)
    assert "It came to an end." in [text for text, _ in standing(talk)]
    assert roll_back(again) == [first]
    assert texts_of(talk) == before


def test_summaries_of_chosen_turns_come_back_when_what_took_over_from_them_is_rolled_back() -> None:
    talk = talk_of("Chosen turns")
    before = texts_of(talk)
    wide = of_turns(talk.branch, range(1, 10), "All of it.")
    accept(wide)
    assert standing(talk) == [("All of it.", list(range(1, 10)))]
    roll_back(wide)
    assert (len(before), texts_of(talk)) == (2, before)


# Draft again


@pytest.mark.parametrize("title", ["Failed draft", "Rolled back to the log", "Waits for a yes"])
def test_the_turns_of_an_effort_are_drafted_again(title: str) -> None:
    row = Artifact.objects.filter(session__title=title, kind="conclusion").select_related("session", "branch")[0]
    review.redraft(row, actor=row.session.owner)
    assert row.effort is not None
    assert talk_of(title).state(row.effort.slug).summary == "due"


def test_chosen_turns_are_drafted_again() -> None:
    rolled_back = ContextPointer.objects.get(
        branch__session__title="Chosen turns", branch__name="main", state="rolled back"
    )
    row = Artifact.objects.select_related("session", "branch").get(pk=rolled_back.artifact)
    review.redraft(row, actor=row.session.owner)
    draft = row.run.scope
    assert draft is not None
    assert (draft.state, draft.turns) == ("due", [10, 11, 12])
