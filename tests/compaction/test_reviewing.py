"""Verdicts of reviewers: drafts, handed in at once, and what comes of them."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User

from compaction import accepting, reviewing
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.dropped import dropped
from compaction.models import Artifact, ClaimVerdict, GateRun, SetAside
from efforts import actions
from efforts.domain.lifecycle import EntryKind
from efforts.errors import Refused
from efforts.models import ContextPointer

from .review import BACKUPS, CLAIMS, POSTGRES, SLUG, Room, document_of, judged, room_of, told_by, verdict_of


@pytest.fixture
def room(alice: User, monkeypatch: pytest.MonkeyPatch) -> Room:
    room = room_of(alice, monkeypatch)
    room.note(EntryKind.DECISION, POSTGRES)
    room.note(EntryKind.DECISION, BACKUPS)
    return room


def refused(error: pytest.ExceptionInfo[Refused]) -> str:
    return error.value.code


def submitted(artifact: Artifact, reviewer: User) -> Artifact:
    made = reviewing.submit(artifact, reviewer=reviewer).made
    assert made is not None
    return made


# Drafts


def test_a_verdict_is_a_draft_until_it_is_submitted_and_can_be_another_meanwhile(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.decide(row, "move", Say.KEPT, reviewer=alice)
    again = reviewing.decide(row, "move", Say.STRUCK, reviewer=alice)
    assert (again.verdict, again.submitted_at) == (Say.STRUCK, None)
    assert row.claim_verdicts.count() == 1
    reviewing.undecide(row, "move", reviewer=alice)
    assert not row.claim_verdicts.exists()


def test_undo_takes_back_the_last_draft_first(room: Room, alice: User) -> None:
    row = room.draft()
    for item in ("postgres", "move"):
        reviewing.decide(row, item, Say.KEPT, reviewer=alice)
    taken = [reviewing.undo_last(row, reviewer=alice) for _ in range(3)]
    assert taken == ["move", "postgres", None]


@pytest.mark.parametrize(
    ("item", "verdict", "text", "code"),
    [
        ("nowhere", Say.KEPT, "", "unknown_claim"),
        ("postgres", Say.ADDED, "", "unknown_claim"),
        ("postgres", Say.EDITED, "", "same"),
        ("postgres", Say.EDITED, CLAIMS["postgres"][2] + " ", "same"),
        ("postgres", Say.EDITED, "x" * 2_001, "too_long"),
        ("headline", Say.STRUCK, "", "headline"),
        ("headline", Say.EDITED, "one more word " * 60, "too_long"),
        ("x0", Say.EDITED, "The years are one table each.", "quoted"),
        ("x0", Say.NEEDS_SOURCE, "", "quoted"),
    ],
)
def test_what_makes_no_sense_is_refused(room: Room, alice: User, item: str, verdict: Say, text: str, code: str) -> None:
    room.quoted = ["Postgres it is, with one table for each year."]
    row = room.draft()
    with pytest.raises(Refused) as error:
        reviewing.decide(row, item, verdict, reviewer=alice, text=text)
    assert refused(error) == code
    assert not ClaimVerdict.objects.exists()


def test_what_no_database_takes_is_not_kept(room: Room, alice: User) -> None:
    """Pasted from a terminal, say; only PostgreSQL would refuse it."""
    row = room.draft()
    words = "Postgres is decided on for the storage of orders."
    typed = words.replace("decided", "decided\x00")
    assert reviewing.decide(row, "postgres", Say.EDITED, reviewer=alice, text=typed).text == words
    with pytest.raises(Refused) as error:
        reviewing.name_reviewer(room.talk.session, "bob\x00", actor=alice)
    assert error.value.text.startswith("There is no account with this user name.")
    made = submitted(row, alice)
    reviewing.reject(made, actor=alice, reason="Too\x00 vague.")
    assert room.talk.state(SLUG).draft == "alice rejected it: Too vague."
    reviewing.judge_again(made, actor=alice)
    accepting.accept_compaction(made.pk, made.session_id, 1, 3, actor=alice)
    accepting.rollback_compaction(made.pk, actor=alice, reason="Too\x00 vague.")
    told = room.talk.session.events.filter(kind="effort.rolled_back").get()
    assert told.data["reason"] == "Too vague."


def test_who_was_not_named_decides_nothing(room: Room, bob: User) -> None:
    row = room.draft()
    with pytest.raises(Refused) as error:
        reviewing.decide(row, "postgres", Say.KEPT, reviewer=bob)
    assert refused(error) == "not_reviewer"


def test_there_is_nothing_to_submit_without_a_verdict(room: Room, alice: User) -> None:
    with pytest.raises(Refused) as error:
        reviewing.submit(room.draft(), reviewer=alice)
    assert refused(error) == "nothing"


# Versions


def test_what_is_only_kept_makes_no_version(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.decide(row, "postgres", Say.KEPT, reviewer=alice)
    reviewing.decide(row, "move", Say.NEEDS_SOURCE, reviewer=alice)
    assert reviewing.submit(row, reviewer=alice).made is None
    assert row.claim_verdicts.filter(submitted_at__isnull=False).count() == 2


def test_an_edit_makes_a_version_that_the_gates_judge_and_that_can_be_accepted(room: Room, alice: User) -> None:
    row = room.draft()
    words = "Postgres is decided on for the storage of orders."
    reviewing.decide(row, "postgres", Say.EDITED, reviewer=alice, text=words)
    reviewing.decide(row, "headline", Say.EDITED, reviewer=alice, text="Orders are in Postgres, with nightly backups.")
    made = submitted(row, alice)
    assert told_by(made) == {**told_by(row), "postgres": words}
    assert (made.version, made.family, made.edited_from, made.edited_by) == (2, row.pk, row, alice)
    assert document_of(made).generation.drafter == "edit"
    assert (judged(made).passed, made.state) == (True, "replaceable")
    pointer = accepting.accept_compaction(made.pk, made.session_id, 1, 3, actor=alice)
    assert pointer.text == "Orders are in Postgres, with nightly backups."
    assert (room.talk.state(SLUG).summary, room.talk.state(SLUG).artifact) == ("stands", made.pk)


def test_where_the_headline_is_kept_what_stands_is_what_would_have_stood(room: Room, alice: User) -> None:
    row = room.draft()
    Artifact.objects.filter(pk=row.pk).update(standing="With details.")
    reviewing.decide(row, "move", Say.STRUCK, reviewer=alice)
    assert submitted(row, alice).standing == "With details."


def test_the_effort_waits_with_the_newest_version(room: Room, alice: User) -> None:
    row = room.draft()
    assert (room.talk.state(SLUG).summary, room.talk.state(SLUG).artifact) == ("waiting", row.pk)
    reviewing.decide(row, "backups", Say.STRUCK, reviewer=alice)
    made = submitted(row, alice)
    state = room.talk.state(SLUG)
    assert (state.summary, state.artifact) == ("failed", made.pk)
    assert BACKUPS in state.draft


def test_to_strike_what_is_quoted_of_a_message_strikes_all_of_it(room: Room, alice: User) -> None:
    room.quoted = ["Postgres it is, with one table for each year.", "with one table for each year."]
    row = room.draft()
    reviewing.decide(row, f"said:{room.message('Postgres it is').pk}:text", Say.STRUCK, reviewer=alice)
    assert set(told_by(submitted(row, alice))) == {"postgres", "backups", "move"}


def test_a_headline_that_nothing_backs_any_more_is_backed_by_what_is_left(room: Room, alice: User) -> None:
    room.quoted = ["Postgres it is, with one table for each year."]
    row = room.draft()
    for item in CLAIMS:
        reviewing.decide(row, item, Say.STRUCK, reviewer=alice)
    assert document_of(submitted(row, alice)).headline_items == ("x0",)


def test_a_checkpoint_is_only_for_reading(room: Room, alice: User) -> None:
    room.headline = "Nothing was said about the moon."
    room.draft()
    checkpoint = Artifact.objects.get(kind="fallback")
    with pytest.raises(Refused) as error:
        reviewing.decide(checkpoint, "postgres", Say.STRUCK, reviewer=alice)
    assert refused(error) == "checkpoint"


# What is missing


def test_a_draft_that_lacks_a_decision_is_blocked_with_its_words_and_unblocked_by_adding_it(
    room: Room, alice: User
) -> None:
    room.claims, room.headline = ("postgres", "move"), "Orders are stored in Postgres."
    row = room.draft()
    blocked = verdict_of(judged(row), "C")
    assert (row.state, blocked["outcome"]) == ("rejected", "fail")
    assert [BACKUPS in failure["text"] for failure in blocked["failures"]] == [True]
    (missing,) = [one for one in dropped(row) if one.blocks]
    assert (missing.kind, missing.text, missing.turn) == ("decision", BACKUPS, 2)
    reviewing.add_dropped(row, missing.key, reviewer=alice)
    made = submitted(row, alice)
    assert list(told_by(made).values()) == [CLAIMS["postgres"][2], CLAIMS["move"][2], BACKUPS]
    assert (made.state, verdict_of(judged(made), "C")["outcome"]) == ("replaceable", "pass")
    assert missing.key not in {one.key for one in dropped(made)}


# Findings and states


def test_a_finding_that_is_set_aside_counts_no_more_and_is_collected(room: Room, alice: User) -> None:
    room.texts = {"postgres": "Postgres was never decided for the storage of orders."}
    row = room.draft()
    (finding,) = verdict_of(judged(row), "D")["failures"]
    run = reviewing.set_aside(row, finding["id"], "It is only worded badly.", actor=alice)
    assert verdict_of(run, "D")["outcome"] == "pass"
    assert run.set_aside == [finding["id"]]
    (aside,) = SetAside.objects.all()
    assert (aside.text, aside.reason, aside.actor) == (finding["text"], "It is only worded badly.", alice)
    run = reviewing.put_back(row, finding["id"], actor=alice)
    assert verdict_of(run, "D")["outcome"] == "fail"
    assert not SetAside.objects.exists()


def test_what_was_set_aside_stays_so_in_later_versions_until_its_words_are_others(room: Room, alice: User) -> None:
    room.texts = {"postgres": "Postgres was never decided for the storage of orders."}
    row = room.draft()
    (finding,) = verdict_of(judged(row), "D")["failures"]
    reviewing.set_aside(row, finding["id"], "It is only worded badly.", actor=alice)
    reviewing.decide(row, "move", Say.STRUCK, reviewer=alice)
    second = submitted(row, alice)
    assert judged(second).set_aside == [finding["id"]]
    assert verdict_of(judged(second), "D")["outcome"] == "pass"
    worse = "Postgres was never decided for the storage of any orders."
    reviewing.decide(second, "postgres", Say.EDITED, reviewer=alice, text=worse)
    third = submitted(second, alice)
    assert verdict_of(judged(third), "D")["outcome"] == "fail"


def test_a_claim_whose_name_is_too_long_to_be_kept_is_refused_in_words_and_its_finding_has_a_short_name(
    room: Room, alice: User
) -> None:
    """SQLite would keep it, PostgreSQL would not."""
    long = "postgres-" + "x" * 300
    room.claims = (long, "backups", "move")
    room.monkeypatch.setitem(CLAIMS, long, CLAIMS["postgres"])
    room.texts = {long: "Postgres was never decided for the storage of orders."}
    row = room.draft()
    with pytest.raises(Refused, match=r"a name of 309 characters; 200 is the most\. Have the summary drafted again\."):
        reviewing.decide(row, long, Say.KEPT, reviewer=alice)
    (finding,) = verdict_of(judged(row), "D")["failures"]
    assert finding["about"] == long
    run = reviewing.set_aside(row, finding["id"], "It is only worded badly.", actor=alice)
    assert verdict_of(run, "D")["outcome"] == "pass"
    aside = SetAside.objects.get()
    assert len(aside.finding) <= (SetAside._meta.get_field("finding").max_length or 0)
    aside.full_clean()


@pytest.mark.parametrize(("finding", "reason", "code"), [("gone", "why", "no_finding"), ("gone", "  ", "reason")])
def test_only_what_was_found_is_set_aside_and_only_with_a_reason(
    room: Room, alice: User, finding: str, reason: str, code: str
) -> None:
    row = room.draft()
    with pytest.raises(Refused) as error:
        reviewing.set_aside(row, finding, reason, actor=alice)
    assert refused(error) == code


def test_judged_again_it_is_judged_by_the_ledger_as_it_is_now(room: Room, alice: User) -> None:
    row = room.draft()
    words = "with one table for each year"
    room.note(EntryKind.DECISION, words)
    run = reviewing.judge_again(row, actor=alice)
    assert [words in one["text"] for one in verdict_of(run, "C")["failures"]] == [True]
    assert Artifact.objects.get(pk=row.pk).state == "rejected"
    assert GateRun.objects.filter(artifact=row).count() == 2
    assert room.talk.state(SLUG).summary == "failed"


def test_what_is_rejected_does_not_stand_until_it_is_judged_again(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.reject(row, actor=alice, reason="Too vague.")
    assert Artifact.objects.get(pk=row.pk).state == "rejected"
    assert room.talk.state(SLUG).draft == "alice rejected it: Too vague."
    with pytest.raises(Refused):
        accepting.accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    reviewing.judge_again(row, actor=alice)
    accepting.accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    with pytest.raises(Refused) as error:
        reviewing.reject(row, actor=alice, reason="Too vague.")
    assert refused(error) == "stands"
    assert ContextPointer.objects.filter(artifact=row.pk, state="active").exists()


def test_it_is_drafted_anew_whether_it_waits_or_failed_but_not_while_it_stands(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.redraft(row, actor=alice)
    assert room.talk.state(SLUG).summary == "due"
    with pytest.raises(Refused) as error:
        reviewing.redraft(row, actor=alice)
    assert refused(error) == "drafting"
    actions.stop_summary(room.talk.place, SLUG)
    reviewing.redraft(row, actor=alice)
    assert room.talk.state(SLUG).summary == "due"
    accepting.accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    with pytest.raises(Refused) as error:
        reviewing.redraft(row, actor=alice)
    assert refused(error) == "stands"


# Two at once


def test_of_two_who_edit_one_version_nothing_is_lost_and_both_sides_are_shown(
    room: Room, alice: User, bob: User
) -> None:
    reviewing.name_reviewer(room.talk.session, "bob", actor=alice)
    row = room.draft()
    hers, his = "Postgres is decided for storing orders.", "For the storage of orders Postgres is decided."
    reviewing.decide(row, "postgres", Say.EDITED, reviewer=alice, text=hers)
    reviewing.decide(row, "postgres", Say.EDITED, reviewer=bob, text=his)
    reviewing.decide(row, "move", Say.KEPT, reviewer=bob)
    second = submitted(row, alice)
    assert reviewing.submit(row, reviewer=bob).made is None
    assert Artifact.objects.filter(family=row.family).count() == 2
    (clash,) = reviewing.conflicts(second)
    assert clash.item == "postgres"
    assert [(side.reviewer, side.words) for side in clash.sides] == [("alice", hers), ("bob", his)]
    waiting = second.claim_verdicts.filter(reviewer=bob, submitted_at=None).order_by("item")
    assert list(waiting.values_list("item", "verdict", "text")) == [
        ("move", "kept", ""),
        ("postgres", "edited", his),
    ]
    third = submitted(second, bob)
    assert told_by(third)["postgres"] == his
    assert reviewing.conflicts(third) == ()


def test_what_the_other_struck_is_not_carried_to_a_version_without_it(room: Room, alice: User, bob: User) -> None:
    reviewing.name_reviewer(room.talk.session, "bob", actor=alice)
    row = room.draft()
    reviewing.decide(row, "move", Say.STRUCK, reviewer=alice)
    reviewing.decide(row, "move", Say.KEPT, reviewer=bob)
    second = submitted(row, alice)
    reviewing.submit(row, reviewer=bob)
    assert not second.claim_verdicts.exists()
    (clash,) = reviewing.conflicts(second)
    assert [(side.verdict, side.words) for side in clash.sides] == [
        ("struck", CLAIMS["move"][2]),
        ("kept", CLAIMS["move"][2]),
    ]


def test_what_the_other_struck_rests_when_one_of_them_goes_on_with_the_version_without_it(
    room: Room, alice: User, bob: User
) -> None:
    reviewing.name_reviewer(room.talk.session, "bob", actor=alice)
    row = room.draft()
    reviewing.decide(row, "move", Say.STRUCK, reviewer=alice)
    reviewing.decide(row, "move", Say.EDITED, reviewer=bob, text="The move waits for the new rack.")
    second = submitted(row, alice)
    reviewing.submit(row, reviewer=bob)
    assert [clash.item for clash in reviewing.conflicts(second)] == ["move"]
    reviewing.decide(second, "postgres", Say.KEPT, reviewer=bob)
    assert [clash.item for clash in reviewing.conflicts(second)] == ["move"]
    reviewing.submit(second, reviewer=bob)
    assert reviewing.conflicts(second) == ()


def test_everything_that_is_done_is_in_the_log_with_who_did_it(room: Room, alice: User) -> None:
    row = room.draft()
    reviewing.decide(row, "move", Say.STRUCK, reviewer=alice)
    made = submitted(row, alice)
    reviewing.reject(made, actor=alice, reason="No.")
    told = room.talk.session.events.filter(kind__startswith="review.").order_by("seq")
    assert list(told.values_list("kind", "actor__username")) == [
        ("review.decided", "alice"),
        ("review.submitted", "alice"),
        ("review.rejected", "alice"),
    ]
