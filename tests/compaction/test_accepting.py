"""A summary comes to stand by one function and goes by one; what stood before is kept, and comes back."""

from __future__ import annotations

import zlib
from typing import Any

import pytest
from django.contrib.auth.models import User

from compaction.domain.artifact import Section
from compaction.models import Acceptance, Artifact
from compaction.review import judge_again
from compaction.standing.accepting import accept_compaction, rollback_compaction
from efforts import actions
from efforts.actions import efforts as actions_of_efforts
from efforts.context.courses import course_at
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.context.sources import read_summary_log
from efforts.domain.effort.states import EntryKind, RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.domain.text.source_text import POLICY_VERSION
from efforts.models import ContextPointer, EffortState, Event, Message, PointerMove, PointerTurn, Turn
from efforts.turns import recording
from efforts.turns.recording import STOPPED, Ending
from tests.compaction.artifacts import (
    LongTalk,
    accept,
    claim,
    concluded,
    digest_of_effort,
    digest_of_turns,
    numbers,
    of_effort,
    of_turns,
    roll_back,
    standing,
    summaries,
)
from tests.efforts.talk import Talk


@pytest.fixture
def talk(alice: User) -> Talk:
    return LongTalk(actions.create_session(alice))


def spoken(talk: Talk, count: int) -> None:
    for number in range(1, count + 1):
        talk.ask(f"Message {number} about the harbour.")


def states(artifact: Artifact) -> list[str]:
    return list(ContextPointer.objects.filter(artifact=artifact.pk).order_by("pk").values_list("state", flat=True))


def history(talk: Talk) -> list[tuple[str, str]]:
    moves = PointerMove.objects.filter(branch=talk.branch_id).select_related("pointer")
    return [(move.kind, move.pointer.text) for move in moves]


def events(talk: Talk, kind: str) -> list[dict[str, Any]]:
    return list(Event.objects.filter(session=talk.session, kind=kind).order_by("seq").values_list("data", flat=True))


def refused(act: Any, *args: Any, **more: Any) -> Refused:
    with pytest.raises(Refused) as found:
        act(*args, **more)
    return found.value


def next_request(talk: Talk) -> str:
    inputs = plan_inputs(talk.branch, chosen_settings(talk.session), current=draft_turn(talk.branch, "And now?"))
    return plan(inputs).request_sha256


# What is kept


def test_all_that_a_rollback_needs_is_on_rows(talk: Talk, alice: User, bob: User) -> None:
    """Seed 004, "Data retained for rollback"."""
    spoken(talk, 3)
    before = of_turns(talk.branch, [1, 2], "Before.")
    artifact = of_turns(talk.branch, [1, 2, 3], "After.")
    earlier = accept(before)
    pointer = accept(artifact, actor=bob, note="It is shorter.")
    kept = Acceptance.objects.select_related("artifact__run", "gate_run").get(pointer=pointer)
    assert (kept.artifact_id, kept.artifact.session_id) == (artifact.pk, talk.session.pk)
    assert (kept.artifact.source_start, kept.artifact.source_end) == (1, 3)
    judged = kept.gate_run
    assert (judged.artifact, judged.policy_version, judged.passed) == (artifact, POLICY_VERSION, True)
    assert kept.created_at is not None
    assert (kept.actor, kept.via, pointer.actor) == (bob, "review", bob)
    assert list(pointer.previous.all()) == [earlier]
    move = PointerMove.objects.get(pointer=pointer)
    assert (move.kind, move.before, move.after, move.actor) == ("accepted", [earlier.pk], [pointer.pk], bob)


def test_accepting_tells_the_log_who_and_what(talk: Talk, alice: User) -> None:
    spoken(talk, 2)
    artifact = of_turns(talk.branch, [1, 2])
    accept(artifact, note="It is shorter.")
    told = Event.objects.get(kind="compaction.accepted")
    assert told.actor == alice
    named = {name: told.data[name] for name in ("artifact", "first", "last", "text", "took_over", "note")}
    assert named == {
        "artifact": artifact.pk,
        "first": 1,
        "last": 2,
        "text": "Of chosen turns.",
        "took_over": [],
        "note": "It is shorter.",
    }


def test_of_chosen_turns_the_body_stands_and_of_an_effort_the_short_form(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    talk.ask("Something else.")
    facts = [claim("2", Section.FACT, "It is something else.", "1.1")]
    chosen = accept(of_turns(talk.branch, [2], claims=facts))
    assert (chosen.effort, chosen.headline, chosen.text) == (None, "Of chosen turns.", "Of chosen turns.")
    assert chosen.body == "Of chosen turns.\nAsked: “Something else.”\nFacts:\n- It is something else."
    of_bug = ContextPointer.objects.get(effort__slug=slug)
    assert (of_bug.headline, of_bug.text, of_bug.body) == ("All about bug.", artifact.standing, "")
    assert talk.state(slug).summary == "stands"


def test_a_digest_stands_for_an_effort_or_for_chosen_turns_as_excerpts(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    talk.ask("It crashes.")
    actions.close_effort(talk.place, slug)
    actions.stop_summary(talk.place, slug)
    talk.ask("Something else.")
    for digest in (digest_of_effort(talk, slug), digest_of_turns(talk.branch, [2])):
        pointer = accept(digest)
        assert (pointer.digest, pointer.text, pointer.body) == (True, digest.standing, "")
        assert pointer.text.startswith("Excerpts, not a summary.")
    assert talk.state(slug).summary == "digest"


def test_a_summary_takes_over_from_the_digest_of_the_same_turns_and_gives_way_to_it(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    talk.ask("It crashes.")
    actions.close_effort(talk.place, slug)
    excerpts = accept(digest_of_effort(talk, slug))
    summary = of_effort(talk, slug)
    accept(summary)
    assert (standing(talk), summaries(talk)) == ([("All about bug.", [1])], {slug: "stands"})
    assert roll_back(summary) == [excerpts]
    assert summaries(talk) == {slug: "digest"}


def test_what_nobody_has_checked_stands_where_a_person_says_so_and_is_kept_as_such(talk: Talk) -> None:
    spoken(talk, 2)
    unread = of_turns(talk.branch, [1, 2], check=False)
    assert refused(accept, unread).code == "unchecked"
    accept(unread, unchecked=True)
    assert standing(talk) == [("Of chosen turns.", [1, 2])]
    judged = Acceptance.objects.get().gate_run
    assert {verdict["gate"] for verdict in judged.verdicts if verdict["outcome"] == "not judged"} == {"C", "D"}


def test_accepted_twice_it_is_one(talk: Talk) -> None:
    spoken(talk, 2)
    artifact = of_turns(talk.branch, [1, 2])
    told = Event.objects.count()
    first = accept(artifact)
    assert accept(artifact, via="admin") == first
    assert (Acceptance.objects.count(), PointerMove.objects.count(), Event.objects.count()) == (1, 1, told + 1)


def test_what_was_rolled_back_can_be_accepted_again_and_each_time_is_on_record(talk: Talk) -> None:
    spoken(talk, 2)
    artifact = of_turns(talk.branch, [1, 2])
    first = accept(artifact)
    roll_back(artifact)
    again = accept(artifact)
    assert (again.pk != first.pk, states(artifact)) == (True, ["rolled back", "active"])
    assert [kind for kind, _ in history(talk)] == ["accepted", "rolled back", "accepted"]


# What is refused, with nothing changed


@pytest.fixture
def chosen(talk: Talk) -> Artifact:
    spoken(talk, 3)
    return of_turns(talk.branch, [1, 2])


def check_refused(artifact: Artifact, code: str) -> str:
    told = Event.objects.count()
    error = refused(accept, artifact)
    assert error.code == code
    assert not ContextPointer.objects.exists()
    assert not PointerMove.objects.exists()
    assert Event.objects.count() == told
    return error.text


@pytest.mark.parametrize(("start", "end", "elsewhere"), [(1, 3, False), (2, 2, False), (1, 2, True)])
def test_another_scope_than_the_artifact_s_is_refused(
    talk: Talk, chosen: Artifact, start: int, end: int, elsewhere: bool
) -> None:
    session = actions.create_session(talk.session.owner) if elsewhere else talk.session
    error = refused(accept_compaction, chosen.pk, session.pk, start, end, actor=talk.session.owner)
    assert (error.code, "turns 1-2" in error.text) == ("scope", True)
    assert not ContextPointer.objects.exists()


def test_an_artifact_that_is_not_there_is_refused(talk: Talk) -> None:
    assert refused(accept_compaction, "cmp_no", talk.session.pk, 1, 2, actor=None).code == "unknown"
    assert refused(rollback_compaction, "cmp_no", actor=None).code == "unknown"


def test_what_a_gate_does_not_pass_is_refused_though_it_passed_before(talk: Talk, chosen: Artifact) -> None:
    confirmed(talk, "1")
    judge_again(chosen, actor=talk.session.owner)
    check_refused(chosen, "gates")


@pytest.mark.parametrize("unchecked", [False, True])
def test_what_a_reader_found_wrong_is_refused_whoever_takes_it_unchecked(talk: Talk, unchecked: bool) -> None:
    spoken(talk, 2)
    wrong = of_turns(talk.branch, [1, 2], doubted="Of chosen")
    assert refused(accept, wrong, unchecked=unchecked).code == "gates"


def test_what_was_never_judged_is_refused(chosen: Artifact) -> None:
    chosen.gate_runs.all().delete()
    check_refused(chosen, "gates")


@pytest.mark.parametrize("state", ["draft", "unchecked", "advisory", "rejected"])
def test_what_may_not_replace_anything_is_refused(chosen: Artifact, state: str) -> None:
    Artifact.objects.filter(pk=chosen.pk).update(state=state)
    check_refused(chosen, "unchecked" if state == "unchecked" else "gates")


def test_another_ledger_than_it_was_judged_by_is_refused_until_it_is_judged_again(talk: Talk) -> None:
    spoken(talk, 2)
    decided = [claim("2", Section.DECISION, "It is about the harbour.", "1.1")]
    chosen = of_turns(talk.branch, [1, 2], claims=decided)
    confirmed(talk, "1")
    check_refused(chosen, "stale")
    judge_again(chosen, actor=talk.session.owner)
    assert accept(chosen).state == "active"


def confirmed(talk: Talk, number: str) -> None:
    """What the person said in that turn is a decision."""
    said = Message.objects.get(turn__number=number, role="user")
    actions.note_entry(talk.place, said.pk, EntryKind.DECISION, "", words=said.text)


def test_another_log_than_it_was_judged_by_is_refused(chosen: Artifact) -> None:
    Message.objects.filter(turn__number=2, role="user").update(text="Other words.")
    check_refused(chosen, "stale")


@pytest.mark.parametrize("version", ["policy_version", "evaluator_version"])
def test_other_rules_than_it_was_judged_by_bar_it_until_it_is_judged_again(chosen: Artifact, version: str) -> None:
    inputs = chosen.gate_runs.get().inputs
    key = version.removesuffix("_version")
    chosen.gate_runs.update(**{version: "0", "inputs": {**inputs, key: "0"}})
    assert "Judge it again" in check_refused(chosen, "stale")
    judge_again(chosen, actor=chosen.session.owner)
    assert accept(chosen).state == "active"


def test_damaged_bytes_are_refused(chosen: Artifact) -> None:
    other = chosen.document.replace("Of chosen turns.", "Of other turns.")
    Artifact.objects.filter(pk=chosen.pk).update(packed=zlib.compress(other.encode()))
    check_refused(chosen, "damaged")


def test_bytes_that_are_no_document_at_all_are_refused(chosen: Artifact) -> None:
    Artifact.objects.filter(pk=chosen.pk).update(packed=b"\x00 not compressed")
    check_refused(chosen, "damaged")


def test_another_whole_document_in_its_place_is_refused(talk: Talk, chosen: Artifact) -> None:
    other = of_turns(talk.branch, [1, 2], "Another.")
    Artifact.objects.filter(pk=chosen.pk).update(packed=other.packed)
    check_refused(chosen, "damaged")


def test_a_text_that_is_not_that_of_its_document_is_refused(chosen: Artifact) -> None:
    Artifact.objects.filter(pk=chosen.pk).update(standing="Of other turns.")
    check_refused(chosen, "damaged")


def test_the_summary_of_an_effort_that_was_opened_again_is_refused(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    actions.reopen_effort(talk.place, slug)
    assert refused(accept, artifact).code == "open"
    assert standing(talk) == []


def test_an_older_summary_of_an_effort_is_refused_while_a_turn_of_it_is_running(talk: Talk) -> None:
    """The model has just concluded it: of what the turn comes to nothing would be in the prompt."""
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    actions.reopen_effort(talk.place, slug)
    lease = talk.begin("On Mondays too. It is fixed.")
    talk.call(lease, "close_effort", id=slug)
    error = refused(accept, artifact)
    assert (error.code, "has not ended" in error.text, standing(talk)) == ("unfinished", True, [])
    talk.finish(lease)
    assert refused(accept, artifact).code == "stale"


def test_a_stage_of_what_another_conversation_starts_from_never_stands(chosen: Artifact) -> None:
    Artifact.objects.filter(pk=chosen.pk).update(kind="stage")
    check_refused(chosen, "stage")


def test_what_shares_only_some_turns_with_others_is_refused_with_their_names(talk: Talk) -> None:
    concluded(talk, "Bug", "It crashes.", "Always.")
    talk.ask("Something else.")
    talk.ask("And more.")
    accept(of_turns(talk.branch, [3, 4]))
    before = standing(talk)
    error = refused(accept, of_turns(talk.branch, [2, 3]))
    assert error.code == "clash"
    assert "bug (turns 1-2); chosen turns (turns 3-4)" in error.text
    assert "Roll these back first." in error.text
    assert standing(talk) == before


def test_turns_inside_of_what_stands_are_refused(talk: Talk) -> None:
    spoken(talk, 4)
    accept(of_turns(talk.branch, [1, 2, 3, 4]))
    assert refused(accept, of_turns(talk.branch, [2, 3])).code == "clash"


# Taking over, and back


def test_all_turns_of_one_are_taken_over_and_come_back(talk: Talk) -> None:
    spoken(talk, 3)
    small, large = of_turns(talk.branch, [1, 2], "Small."), of_turns(talk.branch, [1, 2, 3], "Large.")
    earlier = accept(small)
    later = accept(large)
    assert (standing(talk), states(small)) == ([("Large.", [1, 2, 3])], ["superseded"])
    assert events(talk, "compaction.accepted")[-1]["took_over"] == [small.pk]
    assert roll_back(large, reason="It lacks the date.") == [earlier]
    assert (standing(talk), states(large)) == ([("Small.", [1, 2])], ["rolled back"])
    move = PointerMove.objects.latest("pk")
    assert (move.kind, move.before, move.after, move.reason) == (
        "rolled back",
        [later.pk],
        [earlier.pk],
        "It lacks the date.",
    )


def test_several_are_taken_over_in_one_step_and_back_together(talk: Talk) -> None:
    bug, _ = concluded(talk, "Bug", "It crashes.")
    trip, _ = concluded(talk, "Trip", "To Graz.")
    talk.ask("Something else.")
    accept(of_turns(talk.branch, [3], "Else."))
    before = standing(talk)
    over_all = of_turns(talk.branch, [1, 2, 3], "All.")
    accept(over_all)
    assert standing(talk) == [("All.", [1, 2, 3])]
    assert summaries(talk) == {bug: "covered", trip: "covered"}
    roll_back(over_all)
    assert standing(talk) == before
    assert summaries(talk) == {bug: "stands", trip: "stands"}


def test_what_was_taken_over_comes_back_whatever_of_it_was_accepted_last(talk: Talk) -> None:
    """The summary of the effort leaves one of its turns to chosen ones, which were widened after it."""
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    spoken(talk, 3)
    actions.close_effort(talk.place, slug)
    talk.ask("Something else.")
    talk.ask("And more.")
    accept(of_turns(talk.branch, [3, 4], "Narrow."))
    accept(of_effort(talk, slug))
    accept(of_turns(talk.branch, [3, 4, 5], "Wider."))
    before = standing(talk)
    everything = of_turns(talk.branch, [1, 2, 3, 4, 5], "Everything.")
    accept(everything)
    roll_back(everything)
    assert standing(talk) == before == [("All about bug.", [1, 2]), ("Wider.", [3, 4, 5])]
    assert summaries(talk) == {slug: "stands"}


def test_of_three_on_top_of_each_other_each_rollback_lands_on_the_next(talk: Talk) -> None:
    spoken(talk, 3)
    chain = [of_turns(talk.branch, range(1, end + 1), f"Up to {end}.") for end in (1, 2, 3)]
    for artifact in chain:
        accept(artifact)
    landed = [roll_back(artifact) for artifact in reversed(chain)]
    assert [[one.text for one in restored] for restored in landed] == [["Up to 2."], ["Up to 1."], []]


def test_what_no_longer_holds_is_passed_over_for_the_one_before_it(talk: Talk) -> None:
    """The effort took over from chosen turns, the wider choice from the effort; the effort was opened meanwhile."""
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    spoken(talk, 2)
    accept(of_turns(talk.branch, [1], "Chosen."))
    actions.close_effort(talk.place, slug)
    accept(of_effort(talk, slug))
    actions.open_effort(talk.place, "Trip")
    talk.ask("To Graz.")
    wide = of_turns(talk.branch, [1, 2, 3], "Wide.")
    accept(wide)
    actions.reopen_effort(talk.place, slug)
    assert standing(talk) == [("Wide.", [1, 2, 3])]
    roll_back(wide)
    assert standing(talk) == [("Chosen.", [1])]


def test_where_nothing_earlier_holds_the_log_stands(talk: Talk) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes.")
    talk.ask("Something else.")
    wide = of_turns(talk.branch, [1, 2], "Wide.")
    accept(wide)
    actions.reopen_effort(talk.place, slug)
    assert roll_back(wide) == []
    assert standing(talk) == []


def test_the_next_request_is_what_it_would_have_been(talk: Talk) -> None:
    _, artifact = concluded(talk, "Bug", "It crashes whenever the harbour is closed.", "Always, and on Mondays too.")
    roll_back(artifact)
    before = next_request(talk)
    accept(artifact)
    assert next_request(talk) != before
    roll_back(artifact)
    assert next_request(talk) == before


def test_rolled_back_twice_it_is_once(talk: Talk) -> None:
    spoken(talk, 2)
    small, large = of_turns(talk.branch, [1], "Small."), of_turns(talk.branch, [1, 2], "Large.")
    earlier = accept(small)
    accept(large)
    roll_back(large)
    told = Event.objects.count()
    assert roll_back(large) == [earlier]
    assert (Event.objects.count(), PointerMove.objects.count()) == (told, 3)
    roll_back(small)
    assert roll_back(large) == [], "what came to stand then stands no longer"


def test_what_never_stood_cannot_be_rolled_back(talk: Talk) -> None:
    spoken(talk, 2)
    error = refused(roll_back, of_turns(talk.branch, [1, 2]))
    assert (error.code, "there is nothing to roll back" in error.text) == ("not_accepted", True)


def test_what_gave_way_cannot_be_rolled_back(talk: Talk) -> None:
    spoken(talk, 3)
    small = of_turns(talk.branch, [1, 2])
    accept(small)
    accept(of_turns(talk.branch, [1, 2, 3]))
    error = refused(roll_back, small)
    assert (error.code, "it gave way to a later one" in error.text) == ("not_standing", True)
    assert states(small) == ["superseded"]


def test_what_was_made_of_another_log_cannot_be_rolled_back(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    actions.reopen_effort(talk.place, slug)
    error = refused(roll_back, artifact)
    assert (error.code, "it was made of another log" in error.text) == ("not_standing", True)


def test_of_an_effort_nothing_is_drafted_after_a_rollback_until_a_person_asks(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    roll_back(artifact, reason="It is wrong.")
    state = talk.state(slug)
    assert (state.status, state.summary, state.artifact) == ("concluded", "rolled back", artifact.pk)
    (told,) = events(talk, "effort.rolled_back")
    assert (told["effort"], told["artifact"], told["own"], told["reason"]) == (slug, artifact.pk, False, "It is wrong.")
    actions.retry_summary(talk.place, slug)
    assert talk.state(slug).summary == "due"


def test_of_two_versions_of_an_effort_the_first_stands_again(talk: Talk) -> None:
    slug, first = concluded(talk, "Bug", "It crashes.")
    second = of_effort(talk, slug, "Said better.")
    accept(second)
    assert (talk.state(slug).artifact, states(first)) == (second.pk, ["superseded"])
    roll_back(second)
    assert (talk.state(slug).summary, talk.state(slug).artifact) == ("stands", first.pk)
    assert events(talk, "effort.rolled_back")[-1]["own"] is True


# What takes a summary away by itself, and what does not


def test_reopening_takes_it_away_and_undo_brings_it_back(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    actions.reopen_effort(talk.place, slug)
    assert (standing(talk), states(artifact)) == ([], ["invalidated"])
    actions.undo(talk.place, talk.events("effort.reopened")[-1]["seq"])
    assert standing(talk) == [("All about bug.", [1])]
    assert [kind for kind, _ in history(talk)] == ["accepted", "invalidated", "restored"]


def test_a_turn_that_comes_takes_it_away(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    talk.ask("It does so on Mondays.")
    actions.move_turn(talk.place, 2, slug)
    assert (standing(talk), states(artifact), talk.state(slug).summary) == ([], ["invalidated"], "due")


def test_a_turn_that_leaves_takes_it_away(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.", "Always.")
    actions.move_turn(talk.place, 2, None)
    assert (standing(talk), states(artifact), talk.state(slug).summary) == ([], ["invalidated"], "due")


BROKEN = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")


@pytest.mark.parametrize("ending", [BROKEN, STOPPED])
def test_a_turn_that_is_tried_again_takes_away_what_stands_for_it(talk: Talk, ending: Ending) -> None:
    spoken(talk, 1)
    talk.ask("Message 2.", ending=ending)
    artifact = of_turns(talk.branch, [1, 2])
    accept(artifact)
    actions.retry_turn(Turn.objects.get(number=2), actor=talk.session.owner)
    assert (standing(talk), states(artifact)) == ([], ["invalidated"])
    assert [told["artifact"] for told in events(talk, "compaction.invalidated")] == [artifact.pk]


def test_a_turn_that_is_tried_again_brings_back_what_stood_for_the_other_turns(talk: Talk) -> None:
    slug, of_bug = concluded(talk, "Bug", "It crashes.")
    spoken(talk, 2)
    first = of_turns(talk.branch, [2, 3], "Two and three.")
    accept(first)
    talk.ask("Message 4.", ending=STOPPED)
    wide = of_turns(talk.branch, [1, 2, 3, 4], "All four.")
    accept(wide)
    assert (standing(talk), summaries(talk)) == ([("All four.", [1, 2, 3, 4])], {slug: "covered"})
    actions.retry_turn(Turn.objects.get(number=4), actor=talk.session.owner)
    assert standing(talk) == [("All about bug.", [1]), ("Two and three.", [2, 3])]
    assert (summaries(talk), talk.state(slug).artifact) == ({slug: "stands"}, of_bug.pk)
    assert (states(wide), history(talk)[-1][0]) == (["invalidated"], "invalidated")
    assert [told["restored"] for told in events(talk, "compaction.invalidated")] == [[first.pk]]
    course, _ = course_at(talk.branch, 4)
    assert set(course.scopes) == {first.pk}


@pytest.mark.parametrize("older", [[3, 4], [1, 4]])
def test_what_stood_for_the_turn_that_is_tried_again_does_not_come_back(talk: Talk, older: list[int]) -> None:
    """Also where its first attempt had said nothing, so that its log still reads the same."""
    spoken(talk, 3)
    talk.ask("Message 4.", reply="", ending=STOPPED)
    accept(of_turns(talk.branch, older, "Older."))
    accept(of_turns(talk.branch, [1, 2, 3, 4], "All four."))
    actions.retry_turn(Turn.objects.get(number=4), actor=talk.session.owner)
    assert standing(talk) == []


def test_an_effort_whose_turn_is_tried_again_is_drafted_anew_and_no_older_summary_of_it_comes_back(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    talk.ask("It crashes.")
    talk.ask("Always.", ending=STOPPED)
    actions.close_effort(talk.place, slug)
    accept(of_effort(talk, slug), via="control")
    accept(of_turns(talk.branch, [1, 2], "Both."))
    actions.retry_turn(Turn.objects.get(number=2), actor=talk.session.owner)
    assert (standing(talk), summaries(talk)) == ([], {slug: "due"})


def test_moving_a_turn_leaves_the_summary_of_chosen_turns(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    spoken(talk, 2)
    accept(of_turns(talk.branch, [1, 2]))
    actions.move_turn(talk.place, 1, None)
    actions.move_turn(talk.place, 1, slug)
    assert standing(talk) == [("Of chosen turns.", [1, 2])]


def test_names_forks_and_new_rules_leave_it_where_it_is(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    before = standing(talk)
    actions.rename_effort(talk.place, slug, "Crash")
    actions.fork(talk.branch, after=1, actor=talk.session.owner)
    monkeypatch.setattr("compaction.standing.accepting.POLICY_VERSION", "99")
    assert (standing(talk), states(artifact)[0]) == (before, "active")


def test_undoing_the_reopening_of_what_was_rolled_back_leaves_it_rolled_back(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    roll_back(artifact)
    actions.reopen_effort(talk.place, slug)
    actions.undo(talk.place, talk.events("effort.reopened")[-1]["seq"])
    assert (talk.state(slug).summary, talk.state(slug).artifact, standing(talk)) == ("rolled back", artifact.pk, [])
    assert course_at(talk.branch, 1)[0].rolled_back == {slug}


def test_undoing_a_reopening_brings_back_what_stood_and_nothing_from_before_it(talk: Talk) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes.")
    actions.reopen_effort(talk.place, slug)
    actions.close_effort(talk.place, slug)
    actions.stop_summary(talk.place, slug)
    actions.reopen_effort(talk.place, slug)
    actions.undo(talk.place, talk.events("effort.reopened")[-1]["seq"])
    assert (standing(talk), summaries(talk)) == ([], {slug: "due"})


def test_what_stood_for_no_turn_does_not_come_back_once_there_is_one(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    actions.close_effort(talk.place, slug)
    set_brief(talk.state(slug), "Brief effort: bug (too short to summarize)")
    actions.reopen_effort(talk.place, slug)
    talk.ask("It crashes.")
    actions.undo(talk.place, talk.events("effort.reopened")[-1]["seq"])
    assert (standing(talk), summaries(talk)) == ([], {slug: "due"})


def set_brief(state: EffortState, text: str) -> None:
    log = read_summary_log(state.branch, state.effort)
    actions_of_efforts.set_brief(EffortState.objects.get(pk=state.pk), log, text, None, "control")


def test_a_turn_that_comes_to_what_was_rolled_back_has_nothing_drafted_by_itself(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    roll_back(artifact)
    talk.ask("It does so on Mondays.")
    actions.move_turn(talk.place, 2, slug)
    assert talk.state(slug).summary == "rolled back"


# Forks


def fork(talk: Talk, after: int) -> Talk:
    return LongTalk(talk.session, actions.fork(talk.branch, after=after, actor=talk.session.owner))


def test_a_fork_has_what_stood_at_that_moment_if_all_its_turns_lie_before(talk: Talk) -> None:
    spoken(talk, 2)
    accept(of_turns(talk.branch, [1], "One."))
    talk.ask("Message 3.")
    accept(of_turns(talk.branch, [2, 3], "Two and three."))
    talk.ask("Message 4.")
    assert standing(fork(talk, 1)) == []
    assert standing(fork(talk, 2)) == [("One.", [1])]
    assert standing(fork(talk, 3)) == standing(fork(talk, 4)) == [("One.", [1]), ("Two and three.", [2, 3])]


def test_a_fork_from_before_a_takeover_has_what_was_taken_over(talk: Talk) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes.")
    talk.ask("Something else.")
    accept(of_effort(talk, slug, "Said better."))
    talk.ask("And more.")
    wide = of_turns(talk.branch, [1, 2], "Wide.")
    accept(wide)
    assert standing(fork(talk, 1)) == [("All about bug.", [1])]
    assert standing(fork(talk, 2)) == [("Said better.", [1])]
    there = fork(talk, 3)
    assert (standing(there), summaries(there)) == ([("Wide.", [1, 2])], {slug: "covered"})


def test_rolled_back_it_stays_rolled_back_in_a_fork_made_later_and_stands_in_one_from_before(talk: Talk) -> None:
    spoken(talk, 1)
    chosen = of_turns(talk.branch, [1], "One.")
    accept(chosen)
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    talk.ask("Something else.")
    roll_back(artifact)
    roll_back(chosen)
    talk.ask("And more.")
    later, before = fork(talk, 4), fork(talk, 2)
    assert (standing(later), summaries(later)) == ([], {slug: "rolled back"})
    assert (standing(before), summaries(before)) == ([("One.", [1]), ("All about bug.", [2])], {slug: "stands"})


def test_what_was_rolled_back_in_a_fork_is_accepted_again_there_and_only_there(talk: Talk) -> None:
    slug, of_bug = concluded(talk, "Bug", "It crashes.")
    spoken(talk, 2)
    chosen = of_turns(talk.branch, [2, 3])
    accept(chosen)
    there = fork(talk, 3)
    both = [("All about bug.", [1]), ("Of chosen turns.", [2, 3])]
    for artifact in (of_bug, chosen):
        roll_back(artifact, branch=there.branch)
        roll_back(artifact)
    assert (standing(there), standing(talk)) == ([], [])
    for artifact in (of_bug, chosen):
        pointer = accept(artifact, branch=there.branch)
        assert accept(artifact, branch=there.branch) == pointer
    assert (standing(there), standing(talk)) == (both, [])
    assert (summaries(there), summaries(talk)) == ({slug: "stands"}, {slug: "rolled back"})
    assert set(course_at(there.branch, 3)[0].scopes) == {chosen.pk}


def test_what_is_made_of_other_turns_than_a_branch_has_does_not_stand_there(talk: Talk) -> None:
    spoken(talk, 1)
    there = fork(talk, 1)
    talk.ask("This way.")
    there.ask("That way.")
    artifact = of_turns(talk.branch, [1, 2])
    assert refused(accept, artifact, branch=there.branch).code == "stale"
    assert standing(there) == []


def test_what_came_to_stand_and_was_rolled_back_later_does_not_stand_in_a_fork_from_before_both(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    talk.ask("It crashes.")
    actions.close_effort(talk.place, slug)
    talk.ask("Something else.")
    artifact = of_effort(talk, slug)
    accept(artifact)
    roll_back(artifact)
    there = fork(talk, 1)
    assert (standing(there), summaries(there)) == ([], {slug: "due"})


def test_what_was_expanded_when_it_was_covered_is_so_neither_here_nor_in_a_fork(talk: Talk) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes whenever the harbour is closed.")
    talk.ask("Something else.")
    actions.expand_effort(talk.place, slug)
    both = of_turns(talk.branch, [1, 2])
    accept(both)
    assert [told["why"] for told in events(talk, "effort.collapsed")] == ["covered"]
    roll_back(both)
    there = fork(talk, 2)
    assert standing(there) == standing(talk) == [("All about bug.", [1])]
    assert (talk.state(slug).expanded_turn, there.state(slug).expanded_turn) == (None, None)


def test_what_was_copied_is_rolled_back_in_its_branch_alone(talk: Talk) -> None:
    spoken(talk, 2)
    artifact = of_turns(talk.branch, [1], "One.")
    accept(artifact)
    there = fork(talk, 2)
    assert roll_back(artifact, branch=there.branch) == []
    assert (standing(there), standing(talk)) == ([], [("One.", [1])])
    assert standing(fork(there, 2)) == [("One.", [1])], "it goes on from the branch that owns the turn"
    there.ask("Its own.")
    assert standing(fork(there, 3)) == []
    assert [(one.via, one.pointer.branch_id) for one in Acceptance.objects.order_by("pk")][:2] == [
        ("review", talk.branch_id),
        ("fork", there.branch_id),
    ]


# Efforts of which some turns were chosen


def test_an_effort_all_of_whose_turns_were_chosen_is_covered_when_it_is_concluded(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    spoken(talk, 2)
    accept(of_turns(talk.branch, [1, 2]))
    actions.close_effort(talk.place, slug)
    assert summaries(talk) == {slug: "covered"}


def test_a_turn_that_is_running_keeps_its_effort_from_being_covered(talk: Talk) -> None:
    """Else nobody would say of it what its last turn came to."""
    talk.ask("Hello.")
    bug = actions.open_effort(talk.place, "Bug").effort.slug
    talk.ask("It crashes.")
    accept(of_turns(talk.branch, [1, 2], "First."))
    lease = talk.begin("What else?")
    actions.close_effort(talk.place, bug)
    talk.finish(lease)
    trip = actions.open_effort(talk.place, "Trip").effort.slug
    talk.ask("To Graz.")
    lease = talk.begin("And back. That is all.")
    talk.call(lease, "close_effort", id=trip)
    accept(of_turns(talk.branch, [1, 2, 4], "Second."))
    talk.finish(lease)
    assert (talk.labels()[3], talk.labels()[5], summaries(talk)) == (bug, trip, {bug: "due", trip: "due"})
    assert [numbers(accept(of_effort(talk, slug))) for slug in (bug, trip)] == [[3], [5]]


def test_an_effort_takes_over_from_some_of_its_own_turns(talk: Talk) -> None:
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    spoken(talk, 3)
    some = of_turns(talk.branch, [1, 2], "Some.")
    accept(some)
    actions.close_effort(talk.place, slug)
    whole = of_effort(talk, slug)
    assert (whole.source_start, whole.source_end) == (1, 3)
    accept(whole)
    assert standing(talk) == [("All about bug.", [1, 2, 3])]
    assert events(talk, "effort.summarised")[-1]["took_over"] == [some.pk]
    roll_back(whole)
    assert standing(talk) == [("Some.", [1, 2])]
    assert events(talk, "effort.rolled_back")[-1]["restored"] == [some.pk]


def test_turns_that_were_chosen_with_others_are_left_to_their_summary(talk: Talk) -> None:
    talk.ask("Hello.")
    slug = actions.open_effort(talk.place, "Bug").effort.slug
    talk.ask("It crashes.")
    talk.ask("Always.")
    across = of_turns(talk.branch, [1, 2], "Across.")
    accept(across)
    actions.close_effort(talk.place, slug)
    rest = accept(of_effort(talk, slug))
    assert numbers(rest) == [3]
    roll_back(across)
    assert (standing(talk), summaries(talk)) == ([], {slug: "due"}), "its summary lacks a turn now"


def test_a_covered_effort_is_not_drafted_again_where_there_is_nothing_left_to_say(talk: Talk) -> None:
    slug, artifact = concluded(talk, "Bug", "It crashes.")
    roll_back(artifact)
    talk.ask("Something else.")
    accept(of_turns(talk.branch, [1, 2]))
    assert refused(actions.retry_summary, talk.place, slug).code == "covered"
    assert talk.state(slug).summary == "rolled back"


def test_an_effort_is_covered_again_once_the_turn_that_came_has_left(talk: Talk) -> None:
    slug, _ = concluded(talk, "Bug", "It crashes.")
    talk.ask("Something else.")
    accept(of_turns(talk.branch, [1]))
    assert summaries(talk) == {slug: "covered"}
    actions.move_turn(talk.place, 2, slug)
    assert summaries(talk) == {slug: "due"}
    actions.move_turn(talk.place, 2, None)
    assert summaries(talk) == {slug: "covered"}


def test_no_turn_is_covered_twice_and_what_is_active_follows_the_pointer(talk: Talk) -> None:
    spoken(talk, 3)
    accept(of_turns(talk.branch, [1, 2]))
    accept(of_turns(talk.branch, [1, 2, 3]))
    active = PointerTurn.objects.filter(active=True)
    assert sorted(active.values_list("turn__number", flat=True)) == [1, 2, 3]
    assert set(active.values_list("pointer__state", flat=True)) == {"active"}


def test_a_waiting_run_holds_no_summary_of_finished_turns_up(talk: Talk) -> None:
    spoken(talk, 2)
    artifact = of_turns(talk.branch, [1, 2])
    lease = talk.begin("And now?")
    accept(artifact)
    recording.record_reply(lease, recording.CallReply(call=99, text="Well."), recording.COMPLETED)
    assert standing(talk) == [("Of chosen turns.", [1, 2])]
