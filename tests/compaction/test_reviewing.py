"""Verdicts of reviewers: drafts, handed in at once, and what comes of them."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from compaction import review
from compaction.domain.check.result import Checked
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.drafting.reading import checked_of, log_for
from compaction.drafting.scopes import REJECTED_AGAIN
from compaction.models import Artifact, Check, ClaimVerdict, Exam, GateRun, Recheck, SetAside
from compaction.pages.presenters.artifact import artifact_view
from compaction.review.claims import dropped
from compaction.review.rechecking import RECHECKS
from compaction.standing import accepting
from compaction.standing.blockers import seen
from efforts import actions
from efforts.domain.effort.states import ReviewMode
from efforts.domain.errors import Refused
from efforts.models import ContextPointer
from efforts.models.threads import run_here
from efforts.turns.drafts import claim_from, draft_and_settle
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from tests.efforts.logs import say

from .review import document_of, examined, judged, outcomes, run, told_by, verdict_of
from .worth import BACKUPS, LOG, ORDER, POSTGRES, RESTORE, SLUG, TEXTS, Bench, work

WORDS = "Postgres is decided on for the storage of all orders."


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """Its model has passed its exam, and every summary waits for a review."""
    examined(bench.session.owner, bench.provider, passed=True, model="fake-1")
    bench.review(ReviewMode.ALWAYS)
    return bench


def drafted(bench: Bench, *confirmed: str) -> Artifact:
    """With these words confirmed as decisions before."""
    bench.conclude_later()
    for words in confirmed:
        bench.confirm(words)
    work(SUMMARIES)
    return bench.draft()


def submitted(artifact: Artifact, reviewer: User) -> Artifact:
    made = review.submit(artifact, reviewer=reviewer).made
    assert made is not None
    return made


def edited(artifact: Artifact, reviewer: User, item: str, text: str) -> Artifact:
    review.decide(artifact, item, Say.EDITED, reviewer=reviewer, text=text)
    return submitted(artifact, reviewer)


def accept(artifact: Artifact, reviewer: User, **more: Any) -> ContextPointer:
    return accepting.accept_compaction(artifact.pk, artifact.session_id, 1, 6, actor=reviewer, **more)


def check_of(artifact: Artifact) -> Checked:
    document = document_of(artifact)
    check, _ = checked_of(artifact, document, log_for(artifact, document).source)
    assert check is not None
    return check


# Drafts


def test_after_an_edit_it_is_still_told_that_its_author_checked_it_and_nobody_read_the_rest(
    bench: Bench, alice: User
) -> None:
    row = drafted(bench)
    assert artifact_view(row, alice).is_its_authors
    made = edited(row, alice, "postgres", WORDS)
    assert artifact_view(made, alice).is_its_authors
    assert seen([made.pk])[made.pk].read_by == ("fake-1, which wrote it",)


def test_a_verdict_is_a_draft_until_it_is_submitted_and_can_be_another_meanwhile(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    review.decide(row, "move", Say.KEPT, reviewer=alice)
    again = review.decide(row, "move", Say.STRUCK, reviewer=alice)
    assert (again.verdict, again.submitted_at) == (Say.STRUCK, None)
    assert row.claim_verdicts.count() == 1
    review.undecide(row, "move", reviewer=alice)
    assert not row.claim_verdicts.exists()


def test_undo_takes_back_the_last_draft_first(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    for item in ("postgres", "move"):
        review.decide(row, item, Say.KEPT, reviewer=alice)
    taken = [review.undo_last(row, reviewer=alice) for _ in range(3)]
    assert taken == ["move", "postgres", None]


def test_what_makes_no_sense_is_refused(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    cases = [
        ("nowhere", Say.KEPT, "", "unknown_claim"),
        ("postgres", Say.ADDED, "", "unknown_claim"),
        ("postgres", Say.EDITED, "", "same"),
        ("postgres", Say.EDITED, TEXTS["postgres"] + " ", "same"),
        ("postgres", Say.EDITED, "x" * 2_001, "too_long"),
        ("result", Say.STRUCK, "", "result"),
        ("rule", Say.EDITED, "Never store card numbers.", "rule"),
    ]
    for item, verdict, text, code in cases:
        with pytest.raises(Refused) as error:
            review.decide(row, item, verdict, reviewer=alice, text=text)
        assert error.value.code == code
    assert not ClaimVerdict.objects.exists()


def test_excerpts_are_only_for_reading(bench: Bench, alice: User) -> None:
    bench.review(ReviewMode.AUTOMATIC)
    bench.model.asleep = True
    bench.conclude()
    with pytest.raises(Refused) as error:
        review.decide(bench.digest(), "postgres", Say.STRUCK, reviewer=alice)
    assert error.value.code == "excerpts"


def test_what_no_database_takes_is_not_kept(bench: Bench, alice: User) -> None:
    """Pasted from a terminal, say; only PostgreSQL would refuse it."""
    row = drafted(bench)
    typed = WORDS.replace("decided", "decided\x00")
    assert review.decide(row, "postgres", Say.EDITED, reviewer=alice, text=typed).text == WORDS
    with pytest.raises(Refused) as error:
        review.name_reviewer(bench.session, "bob\x00", actor=alice)
    assert error.value.text.startswith("There is no account with this user name.")
    made = submitted(row, alice)
    review.reject(made, actor=alice, reason="Too\x00 vague.")
    assert bench.state().draft == "alice rejected it: Too vague."
    review.judge_again(made, actor=alice)
    accept(made, alice)
    accepting.rollback_compaction(made.pk, actor=alice, reason="Too\x00 vague.")
    assert bench.told("effort.rolled_back")["reason"] == "Too vague."


def test_who_was_not_named_decides_nothing(bench: Bench, alice: User, bob: User) -> None:
    row = drafted(bench)
    with pytest.raises(Refused) as error:
        review.decide(row, "postgres", Say.KEPT, reviewer=bob)
    assert error.value.code == "not_reviewer"
    review.name_reviewer(bench.session, "bob", actor=alice)
    assert review.decide(row, "postgres", Say.KEPT, reviewer=bob).reviewer == bob


def test_there_is_nothing_to_submit_without_a_verdict(bench: Bench, alice: User) -> None:
    with pytest.raises(Refused) as error:
        review.submit(drafted(bench), reviewer=alice)
    assert error.value.code == "nothing"


# Versions


def test_what_is_only_kept_makes_no_version(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    review.decide(row, "postgres", Say.KEPT, reviewer=alice)
    review.decide(row, "move", Say.NEEDS_SOURCE, reviewer=alice)
    assert review.submit(row, reviewer=alice).made is None
    assert row.claim_verdicts.filter(submitted_at__isnull=False).count() == 2


def test_an_edit_makes_a_version_that_the_gates_judge_and_that_can_be_accepted(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    made = edited(row, alice, "postgres", WORDS)
    assert told_by(made) == {**told_by(row), "postgres": WORDS}
    assert (made.version, made.family, made.edited_from, made.edited_by) == (2, row.pk, row, alice)
    assert (made.run.drafter, made.run.tokens, made.state) == ("edit", 0, "replaceable")
    assert outcomes(judged(made)) == dict.fromkeys("ABCDE", "pass")
    pointer = accept(made, alice)
    assert (WORDS in pointer.text, pointer.text) == (True, made.standing)
    assert (bench.state().summary, bench.state().artifact) == ("stands", made.pk)


def test_words_that_are_taken_back_in_the_next_version_make_a_version_all_the_same(bench: Bench, alice: User) -> None:
    """Nothing but the number would tell it from the first one, whose id is of what it says."""
    made = row = doubted(bench)
    (finding,) = verdict_of(judged(row), "D")["failures"]
    review.set_aside(row, finding["id"], "It is only worded badly.", actor=alice)
    for version, text in enumerate((WORDS, TEXTS["postgres"], WORDS, TEXTS["postgres"]), start=2):
        made = edited(made, alice, "postgres", text)
        assert (made.version, made.state, told_by(made)["postgres"]) == (version, "replaceable", text)
        assert bench.state().artifact == made.pk
    assert review.desk.newest_of(row) == made


def test_a_result_in_other_words_is_the_headline(bench: Bench, alice: User) -> None:
    made = edited(drafted(bench), alice, "result", "All new orders are written to the database.")
    assert made.headline == "All new orders are written to the database."
    assert accept(made, alice).headline == made.headline


def test_what_was_worded_anew_counts_as_read_by_who_worded_it_and_all_else_as_read_before(
    bench: Bench, alice: User
) -> None:
    row = drafted(bench)
    asked = len(bench.provider.requests)
    made = edited(row, alice, "postgres", WORDS)
    check = check_of(made)
    readers = {claim.id: {one.by for one in check.opinions[claim.content]} for claim in document_of(made).claims}
    assert readers == {**{name: {"fake-1"} for name in ORDER}, "postgres": {"alice"}}
    assert judged(made).checks == judged(row).checks
    assert (
        verdict_of(judged(made), "B")["says"]
        == "8 claims: the cited sentences are in the log, and so are all values, read by fake-1, alice."
    )
    assert verdict_of(judged(made), "C")["says"] == "Kept: 4 of 4 in the list that fake-1 made of the log."
    assert len(bench.provider.requests) == asked


def checked_again(made: Artifact) -> Recheck:
    for job in claim_from([RECHECKS], "tests:1:a", 9):
        run(draft_and_settle(job))
    return Recheck.objects.get(artifact=made)


def test_a_check_of_a_log_that_changed_meanwhile_is_cost_alone_and_is_made_anew(bench: Bench, alice: User) -> None:
    made = edited(drafted(bench), alice, "postgres", WORDS)
    bench.model.believes("decision", WORDS)
    (job,) = claim_from([RECHECKS], "tests:1:a", 1)
    work = RECHECKS.read_work(job)
    assert work is not None

    async def say_nothing(step: str) -> None: ...

    reread = run_here(work.draft(say_nothing))
    actions.move_turn(bench.place, 2, None)
    before = Check.objects.count()
    RECHECKS.settle(job, work, reread)
    check = Check.objects.latest("pk")
    assert (Check.objects.count(), check.family, check.void) == (before + 1, "", "")
    assert check.tokens > 0
    assert Recheck.objects.get(artifact=made).state == "due"


def test_what_was_worded_anew_is_read_by_the_checker_and_nothing_else_is_read_twice(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    before = Check.objects.count()
    made = edited(row, alice, "postgres", WORDS)
    assert Recheck.objects.get(artifact=made).state == "due"
    bench.model.believes("decision", WORDS)
    assert checked_again(made).state == "done"
    check = Check.objects.latest("pk")
    assert (Check.objects.count(), check.family, check.void) == (before + 1, made.family, "")
    asked = [note for one in check.requests.filter(step="half") for note in one.notes if note["role"] == "claim"]
    assert [note["claim"]["text"] for note in asked] == [WORDS]
    opinions = check_of(made).opinions[document_of(made).by_id["postgres"].content]
    assert sorted((one.by, one.doubts) for one in opinions) == [("alice", False), ("fake-1", False)]
    assert Artifact.objects.get(pk=made.pk).state == "replaceable"
    # What was only struck has no words that anybody would read.
    review.decide(made, "restore", Say.STRUCK, reviewer=alice)
    assert not Recheck.objects.filter(artifact=submitted(made, alice)).exists()


def test_what_a_person_rejects_while_the_checker_reads_it_stays_rejected(bench: Bench, alice: User) -> None:
    made = edited(drafted(bench), alice, "postgres", WORDS)
    review.reject(made, actor=alice, reason="Too vague.")
    bench.model.believes("decision", WORDS)
    assert checked_again(made).state == "done"
    assert Artifact.objects.get(pk=made.pk).state == "rejected"
    assert (bench.state().summary, bench.state().draft) == ("failed", "alice rejected it: Too vague.")
    # What the checker has said counts once it is taken up again.
    assert len(review.judge_again(made, actor=alice).checks) == 2


def test_what_the_checker_doubts_in_a_persons_words_waits_for_the_person_again(bench: Bench, alice: User) -> None:
    made = edited(drafted(bench), alice, "postgres", WORDS)
    assert made.state == "replaceable"
    bench.model.doubts("is decided on", "contradicted", phrase="is decided on")
    checked_again(made)
    assert (Artifact.objects.get(pk=made.pk).state, outcomes(judged(made))["D"]) == ("rejected", "fail")
    assert bench.state().summary == "failed"
    assert "is decided on" in bench.state().draft


def test_a_check_of_a_persons_words_that_proves_nothing_says_so_and_changes_nothing(bench: Bench, alice: User) -> None:
    made = edited(drafted(bench), alice, "postgres", WORDS)
    bench.model.asleep = True
    again = checked_again(made)
    assert again.state == "failed"
    assert "made wrong on purpose" in again.why
    assert Artifact.objects.get(pk=made.pk).state == "replaceable"


def test_without_a_checker_that_may_a_persons_words_are_not_checked(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    Exam.objects.update(passed=False)
    made = edited(row, alice, "postgres", WORDS)
    assert not Recheck.objects.filter(artifact=made).exists()


def test_words_that_the_log_does_not_have_fail_whoever_wrote_them(bench: Bench, alice: User) -> None:
    made = edited(drafted(bench), alice, "restore", "A restore of the last three years took Klara 55 minutes.")
    assert (made.state, outcomes(judged(made))["B"]) == ("advisory", "fail")


def test_a_claim_that_was_doubted_passes_in_other_words_but_not_by_being_kept(bench: Bench, alice: User) -> None:
    bench.model.doubts(TEXTS["postgres"], "contradicted", phrase="is decided")
    row = drafted(bench)
    assert (row.state, outcomes(judged(row))["D"]) == ("rejected", "fail")
    review.decide(row, "postgres", Say.KEPT, reviewer=alice)
    review.submit(row, reviewer=alice)
    assert outcomes(review.judge_again(row, actor=alice))["D"] == "fail"
    made = edited(row, alice, "postgres", WORDS)
    assert (made.state, outcomes(judged(made))["D"]) == ("replaceable", "pass")


def test_the_effort_waits_with_the_newest_version(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    assert (bench.state().summary, bench.state().artifact) == ("waiting", row.pk)
    review.decide(row, "backups", Say.STRUCK, reviewer=alice)
    made = submitted(row, alice)
    assert (bench.state().summary, bench.state().artifact) == ("failed", made.pk)
    assert BACKUPS in bench.state().draft


def test_beside_excerpts_that_stand_the_newest_version_waits(bench: Bench, alice: User) -> None:
    bench.review(ReviewMode.AUTOMATIC)
    bench.model.doubts(TEXTS["postgres"], "contradicted", phrase="is decided")
    row = drafted(bench)
    assert (bench.state().summary, bench.state().artifact) == ("digest", row.pk)
    made = edited(row, alice, "postgres", WORDS)
    assert (bench.state().summary, bench.state().artifact) == ("digest", made.pk)
    actions.use_summary(bench.place, SLUG)
    assert (bench.state().summary, bench.sends(made.standing)) == ("stands", True)


# Read by a person


def test_every_claim_read_by_a_person_passes_though_no_model_may_check(bench: Bench, alice: User) -> None:
    bench.model.asleep = True
    row = drafted(bench)
    assert (row.state, outcomes(judged(row))["D"]) == ("unchecked", "not judged")
    for item in told_by(row):
        review.decide(row, item, Say.KEPT, reviewer=alice)
    review.submit(row, reviewer=alice)
    found = outcomes(judged(row))
    assert (found["B"], found["D"]) == ("pass", "pass")
    assert (
        verdict_of(judged(row), "B")["says"]
        == "8 claims: the cited sentences are in the log, and so are all values, read by alice."
    )


def test_who_has_read_the_claims_has_not_listed_what_must_not_be_lost(bench: Bench, alice: User) -> None:
    bench.model.asleep = True
    row = drafted(bench, POSTGRES)
    for item in told_by(row):
        review.decide(row, item, Say.KEPT, reviewer=alice)
    review.submit(row, reviewer=alice)
    kept = verdict_of(judged(row), "C")
    assert (kept["outcome"], kept["says"]) == (
        "not judged",
        "Not judged: nobody has listed what must not be lost; 1 of 1 on the list of this conversation are kept.",
    )
    with pytest.raises(Refused) as error:
        accept(row, alice)
    assert error.value.code == "unchecked"
    assert accept(row, alice, unchecked=True).artifact == row.pk


def test_a_person_who_has_read_only_some_claims_has_not_read_the_summary(bench: Bench, alice: User) -> None:
    bench.model.asleep = True
    row = drafted(bench)
    for item in list(told_by(row))[:-1]:
        review.decide(row, item, Say.KEPT, reviewer=alice)
    review.submit(row, reviewer=alice)
    assert outcomes(judged(row))["D"] == "not judged"


# What is missing


def test_a_draft_that_lacks_a_decision_is_blocked_with_its_words_and_unblocked_by_adding_it(
    bench: Bench, alice: User
) -> None:
    bench.writes(*(name for name in ORDER if name != "backups"))
    row = drafted(bench, BACKUPS)
    blocked = verdict_of(judged(row), "C")
    assert (row.state, blocked["outcome"]) == ("rejected", "fail")
    assert [BACKUPS in failure["text"] for failure in blocked["failures"]] == [True]
    (missing,) = dropped(row)
    assert (missing.kind, missing.text, missing.turn, missing.confirmed) == ("decision", BACKUPS, 3, True)
    review.add_dropped(row, missing.key, reviewer=alice)
    made = submitted(row, alice)
    assert list(told_by(made).values()) == [*told_by(row).values(), BACKUPS]
    assert (made.state, verdict_of(judged(made), "C")["outcome"]) == ("replaceable", "pass")
    assert (dropped(made), BACKUPS in made.standing) == ((), True)


# Findings and states


def doubted(bench: Bench) -> Artifact:
    bench.model.doubts(TEXTS["postgres"], "contradicted", phrase="is decided")
    return drafted(bench)


def test_a_finding_that_is_set_aside_counts_no_more_and_is_collected(bench: Bench, alice: User) -> None:
    row = doubted(bench)
    (finding,) = verdict_of(judged(row), "D")["failures"]
    run = review.set_aside(row, finding["id"], "It is only worded badly.", actor=alice)
    assert (verdict_of(run, "D")["outcome"], run.set_aside) == ("pass", [finding["id"]])
    (aside,) = SetAside.objects.all()
    assert (aside.text, aside.reason, aside.actor) == (finding["text"], "It is only worded badly.", alice)
    aside.full_clean()
    run = review.put_back(row, finding["id"], actor=alice)
    assert verdict_of(run, "D")["outcome"] == "fail"
    assert not SetAside.objects.exists()


def test_a_doubt_that_the_log_says_so_can_be_set_aside_too(bench: Bench, alice: User) -> None:
    bench.model.doubts(TEXTS["postgres"], "unsupported", phrase="is decided")
    row = drafted(bench)
    (finding,) = verdict_of(judged(row), "B")["failures"]
    run = review.set_aside(row, finding["id"], "The second sentence says it.", actor=alice)
    assert (run.passed, Artifact.objects.get(pk=row.pk).state) == (True, "replaceable")


def test_what_was_set_aside_stays_so_in_later_versions(bench: Bench, alice: User) -> None:
    row = doubted(bench)
    (finding,) = verdict_of(judged(row), "D")["failures"]
    review.set_aside(row, finding["id"], "It is only worded badly.", actor=alice)
    second = edited(row, alice, "tax", "Orders are kept for ten years for the tax office.")
    assert (judged(second).set_aside, second.state) == ([finding["id"]], "replaceable")


def test_only_what_was_found_is_set_aside_and_only_with_a_reason(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    for reason, code in (("why", "no_finding"), ("  ", "reason"), ("x" * 501, "reason")):
        with pytest.raises(Refused) as error:
            review.set_aside(row, "gone", reason, actor=alice)
        assert error.value.code == code


def test_judged_again_it_is_judged_by_stored_checks_and_by_the_ledger_as_it_is_now(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    before, asked = judged(row), len(bench.provider.requests)
    again = review.judge_again(row, actor=alice)
    again.refresh_from_db()
    assert [(one["outcome"], one["says"]) for one in again.verdicts] == [
        (one["outcome"], one["says"]) for one in before.verdicts
    ]
    assert (again.checks, again.passed) == (before.checks, True)
    bench.confirm(RESTORE)
    run = review.judge_again(row, actor=alice)
    assert [RESTORE in one["text"] for one in verdict_of(run, "C")["failures"]] == [True]
    assert (Artifact.objects.get(pk=row.pk).state, bench.state().summary) == ("rejected", "failed")
    assert GateRun.objects.filter(artifact=row).count() == 3
    assert len(bench.provider.requests) == asked


def test_what_is_rejected_does_not_stand_until_it_is_judged_again(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    review.reject(row, actor=alice, reason="Too vague.")
    assert (Artifact.objects.get(pk=row.pk).state, bench.state().draft) == (
        "rejected",
        "alice rejected it: Too vague.",
    )
    with pytest.raises(Refused):
        accept(row, alice)
    review.judge_again(row, actor=alice)
    accept(row, alice)
    with pytest.raises(Refused) as error:
        review.reject(row, actor=alice, reason="Too vague.")
    assert error.value.code == "stands"
    assert ContextPointer.objects.filter(artifact=row.pk, state="active").exists()


@pytest.mark.parametrize("mode", [ReviewMode.AUTOMATIC, ReviewMode.TAKE, ReviewMode.ALWAYS])
def test_drafted_anew_word_for_word_what_a_person_rejected_does_not_come_into_use(
    bench: Bench, alice: User, mode: ReviewMode
) -> None:
    row = drafted(bench)
    review.reject(row, actor=alice, reason="Too vague.")
    bench.review(mode)
    state = bench.again()
    pointer = bench.pointer()
    assert (state.artifact, Artifact.objects.get(pk=row.pk).is_turned_down) == (row.pk, True)
    assert pointer is None or pointer.digest
    assert state.draft.endswith(REJECTED_AGAIN) or mode == ReviewMode.ALWAYS
    # Until a person takes it up.
    assert review.judge_again(row, actor=alice).passed
    accept(row, alice)


def test_what_is_in_use_in_another_branch_is_not_rejected_before_it_is_rolled_back_there(
    bench: Bench, alice: User
) -> None:
    say(bench.session, LOG)
    row = Artifact.objects.get(pk=bench.choose().artifact)
    accept(row, alice)
    fork = actions.fork(bench.place.branch, after=6, actor=alice)
    accepting.rollback_compaction(row.pk, actor=alice)
    with pytest.raises(Refused) as error:
        review.reject(row, actor=alice, reason="Too vague.")
    assert (error.value.code, Artifact.objects.get(pk=row.pk).state) == ("stands", "replaceable")
    accepting.rollback_compaction(row.pk, actor=alice, branch=fork)
    review.reject(row, actor=alice, reason="Too vague.")
    assert Artifact.objects.get(pk=row.pk).is_turned_down


def test_chosen_turns_drafted_anew_word_for_word_as_rejected_wait_for_nobody(bench: Bench, alice: User) -> None:
    say(bench.session, LOG)
    draft = bench.choose()
    review.reject(Artifact.objects.get(pk=draft.artifact), actor=alice, reason="Too vague.")
    actions.redraft_turns(bench.place, draft)
    work(SCOPES)
    draft.refresh_from_db()
    assert (draft.state, draft.why) == ("failed", REJECTED_AGAIN)


@pytest.mark.parametrize("verdict", ["contradicted", "unsupported"])
def test_what_a_person_rejected_stays_so_whatever_is_set_aside_until_it_is_judged_again(
    bench: Bench, alice: User, verdict: str
) -> None:
    bench.model.doubts(TEXTS["postgres"], verdict, phrase="is decided")
    row = drafted(bench)
    gate = "D" if verdict == "contradicted" else "B"
    (finding,) = verdict_of(judged(row), gate)["failures"]
    if gate == "D":
        review.set_aside(row, finding["id"], "Worded badly.", actor=alice)
    review.reject(row, actor=alice, reason="Too vague.")
    if gate == "D":
        review.put_back(row, finding["id"], actor=alice)
    review.set_aside(row, finding["id"], "It is said.", actor=alice)
    assert Artifact.objects.get(pk=row.pk).is_turned_down
    assert bench.state().draft == "alice rejected it: Too vague."
    with pytest.raises(Refused) as error:
        accept(row, alice)
    assert error.value.text == accepting.REJECTED_BY_PERSON
    # What was set aside counts as soon as it is taken up again.
    assert review.judge_again(row, actor=alice).passed
    accept(row, alice)


def test_what_is_not_needed_does_not_take_up_what_a_person_rejected(bench: Bench, alice: User) -> None:
    bench.writes(*(name for name in ORDER if name != "backups")).lists("decision", BACKUPS)
    row = drafted(bench)
    (missing,) = dropped(row)
    review.not_needed(row, missing.key, "Said elsewhere.", actor=alice)
    review.reject(row, actor=alice, reason="Too vague.")
    review.needed_again(row, missing.key, actor=alice)
    review.not_needed(row, missing.key, "Said elsewhere.", actor=alice)
    assert Artifact.objects.get(pk=row.pk).is_turned_down
    assert review.judge_again(row, actor=alice).passed


def test_it_is_drafted_anew_whether_it_waits_or_failed_but_not_while_it_stands(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    review.redraft(row, actor=alice)
    assert bench.state().summary == "due"
    with pytest.raises(Refused) as error:
        review.redraft(row, actor=alice)
    assert error.value.code == "drafting"
    actions.stop_summary(bench.place, SLUG)
    review.redraft(row, actor=alice)
    assert bench.state().summary == "due"
    accept(row, alice)
    with pytest.raises(Refused) as error:
        review.redraft(row, actor=alice)
    assert error.value.code == "stands"


# Two at once


def test_of_two_who_edit_one_version_nothing_is_lost_and_both_sides_are_shown(
    bench: Bench, alice: User, bob: User
) -> None:
    review.name_reviewer(bench.session, "bob", actor=alice)
    row = drafted(bench)
    his = "For the storage of orders Postgres is decided."
    review.decide(row, "postgres", Say.EDITED, reviewer=alice, text=WORDS)
    review.decide(row, "postgres", Say.EDITED, reviewer=bob, text=his)
    review.decide(row, "move", Say.KEPT, reviewer=bob)
    second = submitted(row, alice)
    assert review.submit(row, reviewer=bob).made is None
    assert Artifact.objects.filter(family=row.family).count() == 2
    (clash,) = review.conflicts(second)
    assert clash.item == "postgres"
    assert [(side.reviewer, side.words) for side in clash.sides] == [("alice", WORDS), ("bob", his)]
    waiting = second.claim_verdicts.filter(reviewer=bob, submitted_at=None).order_by("item")
    assert list(waiting.values_list("item", "verdict", "text")) == [("move", "kept", ""), ("postgres", "edited", his)]
    third = submitted(second, bob)
    assert told_by(third)["postgres"] == his
    assert review.conflicts(third) == ()


def test_who_wanted_other_words_has_not_read_those_of_the_other(bench: Bench, alice: User, bob: User) -> None:
    review.name_reviewer(bench.session, "bob", actor=alice)
    row = drafted(bench)
    review.decide(row, "tax", Say.STRUCK, reviewer=alice)
    review.decide(row, "postgres", Say.EDITED, reviewer=bob, text=WORDS)
    second = submitted(row, alice)
    assert review.submit(row, reviewer=bob).made is None
    opinions = check_of(second).opinions[document_of(second).by_id["postgres"].content]
    assert [one.by for one in opinions] == ["fake-1"]


def test_what_the_other_struck_is_not_carried_to_a_version_without_it(bench: Bench, alice: User, bob: User) -> None:
    review.name_reviewer(bench.session, "bob", actor=alice)
    row = drafted(bench)
    review.decide(row, "move", Say.STRUCK, reviewer=alice)
    review.decide(row, "move", Say.KEPT, reviewer=bob)
    second = submitted(row, alice)
    review.submit(row, reviewer=bob)
    assert not second.claim_verdicts.exists()
    (clash,) = review.conflicts(second)
    assert [(side.verdict, side.words) for side in clash.sides] == [
        ("struck", TEXTS["move"]),
        ("kept", TEXTS["move"]),
    ]


def test_what_the_other_struck_rests_when_one_of_them_goes_on_with_the_version_without_it(
    bench: Bench, alice: User, bob: User
) -> None:
    review.name_reviewer(bench.session, "bob", actor=alice)
    row = drafted(bench)
    review.decide(row, "move", Say.STRUCK, reviewer=alice)
    review.decide(row, "move", Say.EDITED, reviewer=bob, text="The move waits for the new rack.")
    second = submitted(row, alice)
    review.submit(row, reviewer=bob)
    assert [clash.item for clash in review.conflicts(second)] == ["move"]
    review.decide(second, "postgres", Say.KEPT, reviewer=bob)
    assert [clash.item for clash in review.conflicts(second)] == ["move"]
    review.submit(second, reviewer=bob)
    assert review.conflicts(second) == ()


def test_everything_that_is_done_is_in_the_log_with_who_did_it(bench: Bench, alice: User) -> None:
    row = drafted(bench)
    review.decide(row, "move", Say.STRUCK, reviewer=alice)
    made = submitted(row, alice)
    review.reject(made, actor=alice, reason="No.")
    told = bench.session.events.filter(kind__startswith="review.").order_by("seq")
    assert list(told.values_list("kind", "actor__username")) == [
        ("review.decided", "alice"),
        ("review.submitted", "alice"),
        ("review.rejected", "alice"),
    ]
