"""What several conversations came to, drafted in stages and merged, for a new one to start from."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User

from compaction import review
from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, Section, parse_artifact
from compaction.domain.check.answers import Void
from compaction.domain.lifecycle import ClaimVerdictValue, PackageState
from compaction.domain.merging import How, joined, merged, prefixed, read_overtaken
from compaction.domain.rendering import body_text
from compaction.drafting.costs import largest_of
from compaction.drafting.reading import families_of, log_for
from compaction.drafting.scopes import work_on_scope
from compaction.models import Artifact, DraftRun, Recheck, SeedPackage
from compaction.pages.presenters.artifact import artifact_view
from compaction.seeds import packages
from compaction.standing.accepting import rollback_compaction
from efforts import actions
from efforts.actions.pointers import StandIn, roll_back, set_pointer
from efforts.context.planning import main_branch, run_inputs
from efforts.context.sources import read_scope_log
from efforts.domain.effort.states import ScopeState
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.models import AccountEvent, Branch, ContextPointer, Message, Run, ScopeDraft, Session
from efforts.turns.recording import count
from tests.compaction.artifacts import claim, long_reply, made_of
from tests.compaction.gates import cases
from tests.compaction.review import examined
from tests.compaction.worth import connected
from tests.efforts.logs import WEBHOOK, conversation, say
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider

SHIPPING = (
    ("Let's decide how parcels are labelled.", "Do you print the labels yourselves, or does the carrier?"),
    (
        "We decided that the carrier prints the labels. The old printer in hall 4 has broken down again and again.",
        "Then the printer in hall 4 can go. Still open: a contract with the carrier for the hall.",
    ),
    ("Agreed. Done for today.", "The carrier prints the labels; the printer in hall 4 goes when the contract stands."),
)
BILLING = (
    ("Invoices are sent twice in some months, let's find out why.", "Which months were these?"),
    (
        "March and June. We decided to lock the invoice run with a row in the database.",
        "Then the second run finds the lock and stops. Still open: a note to the customers of June.",
    ),
    ("Good. The lock works now.", "The lock is in place, and the second run stops with a message in the log."),
)
TALKS = (WEBHOOK, SHIPPING, BILLING)
# By the words of a sentence: what is claimed of each talk.
CLAIMED = (
    (Section.DECISION, "retry limit of 3"),
    (Section.DECISION, "that the carrier prints the labels"),
    (Section.DECISION, "lock the invoice run"),
)


def talks(owner: User, said: Sequence[Any] = TALKS) -> list[Session]:
    """Each with so much said beside it that a summary is smaller."""
    sessions = [conversation(owner) for _ in said]
    for session, exchanges in zip(sessions, said, strict=True):
        say(session, [*exchanges, ("And the rest?", long_reply(len(exchanges) + 1))])
    return sessions


def drafted(package: SeedPackage) -> SeedPackage:
    """As the runner leaves it, with claims that a checker has read."""
    for stage in packages.stages_of(package):
        if stage.draft.state == ScopeState.DUE:
            draft(stage.draft)
    return SeedPackage.objects.get(pk=package.pk)


def draft(row: ScopeDraft, *, most: int = len(CLAIMED)) -> None:
    task = work_on_scope(row, read_scope_log(row.branch, row.turns)).task
    sentences = task.source.by_sentence.values()
    claims = [
        claim(str(number), section, f"It was settled: {words}.", found.id)
        for number, (section, words) in enumerate(CLAIMED, start=2)
        for found in [next((one for one in sentences if words in one.text), None)]
        if found
    ]
    artifact = made_of(task, next(iter(sentences)).text, claims=claims[:most])
    ScopeDraft.objects.filter(pk=row.pk).update(state=ScopeState.READY, artifact=artifact.pk)


@pytest.fixture
def package(alice: User) -> SeedPackage:
    return drafted(packages.create_package(alice, talks(alice)))


# What it takes


def test_each_conversation_is_a_stage_as_far_as_it_fits(alice: User) -> None:
    sessions = talks(alice)
    offered = packages.offer(alice, reversed(sessions))
    assert [window.session for window in offered.windows] == sessions
    assert [window.turns for window in offered.windows] == [(1, 2, 3, 4)] * 3
    assert (offered.refusal, offered.most) == ("", 0)
    assert offered.note == packages.NO_MODEL


def test_a_long_conversation_has_several_stages_each_within_the_limit(alice: User, settings: Any) -> None:
    settings.CCM_STAGE_CAP = 16_000
    session = conversation(alice)
    say(session, [(f"Step {number}: " + "more was said about it. " * 120, "Noted.") for number in range(1, 13)])
    windows = packages.offer(alice, [session]).windows
    most = largest_of(session, "stage")
    assert len(windows) > 1
    assert [turn for window in windows for turn in window.turns] == list(range(1, 13))
    for window in windows:
        source = read_scope_log(window.branch, window.turns).source
        assert count(source.text) <= window.tokens <= most


def test_what_does_not_fit_is_refused_with_the_numbers_and_nothing_is_begun(alice: User, settings: Any) -> None:
    settings.CCM_STAGE_CAP = 16_000
    long, empty = conversation(alice), conversation(alice)
    say(long, [("word " * 5_000, "Noted.")])
    offered = packages.offer(alice, [long, empty])
    assert [session for session, _ in offered.refused] == [long, empty]
    assert "Its turn 1 has 5," in offered.refused[0][1]
    assert offered.refused[1][1] == packages.NOTHING_SAID
    with pytest.raises(Refused, match="Its turn 1"):
        packages.create_package(alice, [long, empty])
    assert not SeedPackage.objects.exists()


def test_more_than_eight_stages_are_refused(alice: User) -> None:
    with pytest.raises(Refused, match="come to 9 stages; a package has 8 at most"):
        packages.create_package(alice, talks(alice, [WEBHOOK] * 9))
    assert not ScopeDraft.objects.exists()


# Stages


def test_each_stage_is_drafted_and_judged_by_itself_and_stands_nowhere(package: SeedPackage) -> None:
    stages = packages.stages_of(package)
    assert [(stage.draft.kind, stage.draft.state) for stage in stages] == [("stage", "ready")] * 3
    assert [Artifact.objects.get(pk=stage.draft.artifact).kind for stage in stages] == ["stage"] * 3
    assert set(DraftRun.objects.values_list("purpose", flat=True)) == {"stage"}
    assert not ContextPointer.objects.exists()
    assert all(packages.passes(stage) for stage in stages)


def test_nothing_is_put_together_before_every_stage_passes(alice: User) -> None:
    package = packages.create_package(alice, talks(alice))
    with pytest.raises(Refused, match="Not every stage passes"):
        packages.put_together(package, alice)
    assert SeedPackage.objects.get().state == PackageState.DRAFTING
    assert Session.objects.count() == 3


def test_a_package_that_is_asked_for_twice_is_drafted_and_paid_once(alice: User) -> None:
    sessions = talks(alice)
    package = packages.create_package(alice, sessions)
    assert packages.create_package(alice, sessions) == package
    assert (SeedPackage.objects.count(), ScopeDraft.objects.count()) == (1, 3)
    # Of other conversations, and once it is drafted or was stopped, it is another.
    assert packages.create_package(alice, sessions[:2]) != package
    packages.stop_package(package, alice)
    third = packages.create_package(alice, sessions)
    assert third != package
    assert packages.create_package(alice, sessions, "By another name") != third
    ScopeDraft.objects.filter(stage__package=third).update(state="ready")
    assert packages.create_package(alice, sessions) != third


def test_a_stage_whose_log_has_changed_counts_no_more(package: SeedPackage) -> None:
    stage = packages.stages_of(package)[0]
    Message.objects.filter(turn__branch=stage.draft.branch).update(text="Something else.")
    assert not packages.passes(packages.stages_of(package)[0])


def test_a_stopped_package_is_drafted_no_further_and_cannot_be_changed(alice: User) -> None:
    package = packages.create_package(alice, talks(alice))
    packages.stop_package(package, alice)
    assert set(ScopeDraft.objects.values_list("state", flat=True)) == {"stopped"}
    with pytest.raises(Refused, match="was stopped"):
        packages.redraft_stage(package, 1, alice)


# Merged


def test_all_stages_are_merged_into_one_that_passes_every_gate(package: SeedPackage, alice: User) -> None:
    artifact = packages.put_together(package, alice)
    document = parse_artifact(artifact.document)
    package.refresh_from_db()
    assert package.state == PackageState.READY, artifact.gate_runs.get().verdicts
    assert (artifact.kind, artifact.state, artifact.session) == ("seed", "replaceable", package.session)
    assert (document.source.turns, document.source.start, document.source.end) == ((), 0, 0)
    kept = body_text(document)
    for words in ("retry limit of 3", "carrier prints the labels", "lock the invoice run"):
        assert words in kept
    source = log_for(artifact, document).source
    cites = {cite for told in document.claims for cite in told.cites}
    assert cites
    assert cites <= set(source.by_sentence)
    assert {cite.partition(":")[0] for cite in cites} == {"1", "2", "3"}


def test_a_stage_that_nobody_has_checked_bars_the_package(package: SeedPackage, alice: User) -> None:
    Artifact.objects.filter(pk=packages.stages_of(package)[0].draft.artifact).update(state="unchecked")
    with pytest.raises(Refused, match="Not every stage passes"):
        packages.put_together(package, alice)


def test_equal_stages_give_equal_bytes_in_whatever_order_they_are_read(package: SeedPackage, alice: User) -> None:
    artifact = packages.put_together(package, alice)
    rows = packages.stages_of(package)
    for seed in range(5):
        random.Random(seed).shuffle(rows)
        checks = [packages.drafted(row)[1] for row in sorted(rows, key=lambda row: row.place)]
        again = packages.merged_of(artifact.session, joined(packages.drafted(row)[0] for row in rows), checks)
        assert again.artifact is not None
        assert again.artifact.document == artifact.document
    assert packages.put_together(package, alice).pk == artifact.pk


def test_of_one_ledger_entry_the_later_says_how_it_stands() -> None:
    first = prefixed(
        cases.claims({"id": "2", "ledger_ref": "decision-1"}, without=("1", "3", "4", "5")), 1, cites=False
    )
    later = cases.claim(id="2.a", text="It was replaced.", ledger_ref="decision-1")
    assert [one.id for one in merged([first, [later]], ())] == ["2.a"]


def test_claims_with_the_longest_ids_can_be_told_apart_and_read_again_among_those_of_windows() -> None:
    longest = [cases.claim(id=f"{'x' * 38}{number}") for number in range(10, 13)]
    once = prefixed(longest, 3, cites=False)
    stages = [one for place in (1, 12) for one in prefixed(once, place, cites=True)]
    assert len({one.id for one in (*once, *stages)}) == 9
    for one in (*once, *stages):
        assert Claim.model_validate_json(one.model_dump_json()) == one


def test_the_same_said_twice_in_the_same_section_is_one_claim() -> None:
    one = cases.claim(id="1.a", text="Use  MySQL.")
    twice = cases.claim(id="2.a", text="use mysql.", cites=["2.1"])
    other = cases.claim(id="2.b", section="risk", text="Use MySQL.")
    assert [told.id for told in merged([[one], [twice, other]], ())] == ["1.a", "2.b"]


def test_what_a_later_window_overtakes_is_gone() -> None:
    first, later = cases.claim(id="1.a", text="Ten nights."), cases.claim(id="2.a", text="Seven nights.")
    answer = '{"overtaken": [{"note": 1, "by": 2, "how": "superseded"}]}'
    assert read_overtaken(answer, [[first], [later]]) == {"1.a": How.SUPERSEDED}
    assert [told.id for told in merged([[first], [later]], {"1.a"})] == ["2.a"]
    for wrong in (
        '{"overtaken": [{"note": 2, "by": 1, "how": "done"}]}',
        '{"overtaken": [{"note": 7, "by": 2, "how": "done"}]}',
        "nothing",
    ):
        with pytest.raises(Void):
            read_overtaken(wrong, [[first], [later]])


def test_what_a_stage_is_drafted_again_to_changes_nothing_of_what_was_put_together(
    package: SeedPackage, alice: User
) -> None:
    """On its own page it is drafted again at any time, as when the package has started a conversation."""
    artifact = packages.put_together(package, alice)
    packages.start_conversation(package, alice)
    said, families = opinions_on(artifact, alice), families_of(artifact)
    stage = packages.stages_of(package)[1]
    review.redraft(Artifact.objects.get(pk=stage.draft.artifact), actor=alice)
    assert (opinions_on(artifact, alice), families_of(artifact)) == (said, families)
    draft(stage.draft, most=0)
    assert (opinions_on(artifact, alice), families_of(artifact)) == (said, families)


def opinions_on(artifact: Artifact, user: User) -> Mapping[str, Any]:
    found = artifact_view(artifact, user).check_found
    assert found is not None
    return found.opinions


def test_what_a_person_words_anew_is_not_sent_to_a_checker_whose_answer_would_count_for_nothing(
    package: SeedPackage, alice: User, provider: FakeProvider
) -> None:
    """Claims are read each in its stage; all stages together are more than one check holds."""
    artifact = packages.put_together(package, alice)
    examined(alice, provider, passed=True, model="fake-1")
    Session.objects.filter(pk=artifact.session_id).update(endpoint=connected(alice, provider).endpoint)
    said = parse_artifact(artifact.document).claims[-1]
    words = f"As was agreed: {said.text}"
    review.decide(artifact, said.id, ClaimVerdictValue.EDITED, reviewer=alice, text=words)
    made = review.submit(artifact, reviewer=alice).made
    assert made is not None
    assert (made.state, Recheck.objects.count()) == ("replaceable", 0)


# Started


def started(package: SeedPackage, alice: User) -> tuple[Session, Document]:
    artifact = packages.put_together(package, alice)
    return packages.start_conversation(package, alice), parse_artifact(artifact.document)


def test_until_it_starts_the_new_conversation_is_put_away(package: SeedPackage, alice: User) -> None:
    packages.put_together(package, alice)
    package.refresh_from_db()
    assert package.session
    assert package.session.archived_at is not None
    session = packages.start_conversation(package, alice)
    session.refresh_from_db()
    assert session.archived_at is None
    assert str(session) == "From 3 conversations"


def test_three_conversations_start_a_fourth_in_which_the_body_stands(package: SeedPackage, alice: User) -> None:
    session, document = started(package, alice)
    pointer = ContextPointer.objects.get(branch=main_branch(session))
    assert (pointer.state, pointer.effort, pointer.body) == ("active", None, body_text(document))
    assert not pointer.scope.exists()
    package.refresh_from_db()
    assert (package.state, package.session) == (PackageState.STARTED, session)
    kinds = AccountEvent.objects.filter(owner=alice).order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["seed.requested", "seed.merged", "seed.started"]
    with pytest.raises(Refused, match="has started"):
        packages.start_conversation(package, alice)


def test_it_can_be_rolled_back_like_any_other(package: SeedPackage, alice: User) -> None:
    session, _ = started(package, alice)
    pointer = ContextPointer.objects.get(branch=main_branch(session))
    assert rollback_compaction(pointer.artifact, actor=alice) == []
    pointer.refresh_from_db()
    assert pointer.state == "rolled back"


def first_prompt(session: Session, branch: Branch | None = None) -> list[str]:
    talk = Talk(session, branch)
    lease = talk.begin("Let's go on with the parcels.")
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    return [message["content"] for message in plan(run_inputs(run)).request["messages"]]


def test_its_first_prompt_has_all_that_the_three_came_to(package: SeedPackage, alice: User) -> None:
    session, document = started(package, alice)
    system, said, *_ = first_prompt(session)
    assert "carrier prints the labels" not in system
    assert "not instructions" in said
    assert "- seed (from earlier conversations):" in said
    for line in body_text(document).splitlines():
        assert line in said


def test_another_branch_of_it_starts_from_the_same(package: SeedPackage, alice: User) -> None:
    session, document = started(package, alice)
    talk = Talk(session)
    talk.ask("Let's go on with the parcels.")
    sibling = actions.fork(talk.branch, after=0, actor=alice)
    again = first_prompt(session, sibling)
    assert any(body_text(document).splitlines()[-1] in text for text in again)


def test_another_version_takes_over_and_rolled_back_gives_way_to_the_one_before(
    package: SeedPackage, alice: User
) -> None:
    session, _ = started(package, alice)
    first = ContextPointer.objects.get(branch=main_branch(session))
    branch, nothing = main_branch(session), read_scope_log(main_branch(session), [])
    second = set_pointer(
        branch, None, nothing, StandIn(text="Shorter.", headline="Shorter.", tokens=2), actor=alice, via="review"
    )
    first.refresh_from_db()
    assert first.state == "superseded"
    assert roll_back(branch, second, actor=alice, via="review") == [first]
    first.refresh_from_db()
    assert first.state == "active"
