"""From chosen turns to a summary that waits for a review, with a model and without; and what no one draft holds."""

from __future__ import annotations

from typing import Any

import pytest

from compaction import review
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.domain.limits import largest_source
from compaction.domain.merging import How
from compaction.drafting import costs, scopes, summaries
from compaction.drafting.reading import checked_of, log_for
from compaction.drafting.scopes import MOST_REQUESTS
from compaction.drafting.summaries import Task
from compaction.models import Artifact, Check, DraftRun, ModelRequest, Recheck
from compaction.pages.presenters.usage import asked_for
from compaction.review.rechecking import RECHECKS
from compaction.standing import blockers
from compaction.standing.accepting import accept_compaction
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.sources import read_scope_log
from efforts.domain.effort.states import PointerState, ScopeKind, ScopeState, SummaryState
from efforts.domain.errors import Refused
from efforts.models import ContextPointer, ScopeDraft, Session
from efforts.models.threads import read, write
from efforts.turns.recording import count
from efforts.turns.runner import Runner
from efforts.turns.scopes import SCOPES
from tests.efforts.logs import say
from tests.fakes.provider import FakeProvider, NoAnswer, Reply, Status

from .conftest import Stage
from .review import document_of, examined, judged, told_by, verdict_of
from .worth import BACKUPS, LOG, ORDER, POSTGRES, TEXTS, Bench, summariser, work


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """The turns are said, and its model has passed its exam."""
    examined(bench.session.owner, bench.provider, passed=True, model="fake-1")
    say(bench.session, LOG)
    return bench


def test_a_checked_summary_of_chosen_turns_waits_for_a_review_and_stands_once_it_is_accepted(bench: Bench) -> None:
    draft = bench.choose()
    artifact = bench.draft()
    told = bench.told("compaction.drafted")
    assert (draft.state, draft.artifact, draft.why) == (ScopeState.READY, artifact.pk, "")
    assert (told["artifact"], told["drafter"], told["text"], told["note"]) == (
        artifact.pk,
        "fake-1",
        TEXTS["result"],
        "",
    )
    assert (artifact.kind, artifact.state, artifact.effort_id) == ("range", "replaceable", None)
    assert (artifact.source_start, artifact.source_end, artifact.run.purpose) == (1, 6, "compaction")
    assert not ContextPointer.objects.exists()
    pointer = accept_compaction(artifact.pk, bench.session.pk, 1, 6, actor=bench.session.owner)
    assert (pointer.state, pointer.effort, pointer.digest) == (PointerState.ACTIVE, None, False)
    assert pointer.body == artifact.body
    assert all(bench.sends(line) for line in artifact.body.splitlines())
    # The body first, later the short form: the facts are in the first alone.
    assert TEXTS["times"] in pointer.body
    assert TEXTS["times"] not in pointer.text


def test_a_summary_that_only_lacks_a_check_waits_too_and_says_so(bench: Bench) -> None:
    bench.model.asleep = True
    draft = bench.choose()
    assert (draft.state, bench.draft().state) == (ScopeState.READY, "unchecked")
    assert bench.told("compaction.drafted")["note"].startswith("Nobody has checked this summary. ")


def test_without_a_model_excerpts_of_them_wait(bench: Bench) -> None:
    Session.objects.filter(pk=bench.session.pk).update(endpoint=None, model="builtin")
    draft = bench.choose()
    digest = bench.digest()
    assert (draft.state, draft.artifact, bench.provider.requests) == (ScopeState.READY, digest.pk, [])
    assert document_of(digest).source.turns == (1, 2, 3, 4, 5, 6)
    pointer = accept_compaction(digest.pk, bench.session.pk, 1, 6, actor=bench.session.owner)
    assert (pointer.digest, pointer.body, bench.sends(digest.standing)) == (True, "", True)


def test_what_a_gate_fails_can_be_opened_and_says_why(bench: Bench) -> None:
    bench.writes(*(name for name in ORDER if name != "backups")).lists("decision", BACKUPS)
    draft = bench.choose()
    told = bench.told("compaction.drafted")
    assert (draft.state, draft.artifact, told["passed"]) == (ScopeState.FAILED, bench.draft().pk, False)
    assert draft.why.startswith("Gate C: Missing: 1 decision.")


def test_where_no_draft_comes_of_it_that_is_told_and_excerpts_are_there(bench: Bench) -> None:
    bench.model.answers["draft"] = [Status(404, "gone")] * 2
    draft = bench.choose()
    assert (draft.state, draft.artifact) == (ScopeState.READY, bench.digest().pk)
    assert bench.told("compaction.drafted")["note"].startswith("The draft failed. ")


@pytest.mark.parametrize("kind", list(ScopeKind))
def test_each_kind_counts_as_a_cost_of_its_own(bench: Bench, kind: ScopeKind) -> None:
    bench.choose(kind=kind)
    kinds = {ScopeKind.INTENTIONAL: "range", ScopeKind.ROLLING: "rolling", ScopeKind.STAGE: "stage"}
    purpose = "compaction" if kind == ScopeKind.INTENTIONAL else kind
    assert (bench.draft().kind, bench.run().purpose) == (kinds[kind], purpose)


# In windows

# Of a window with so few claims that are so alike none can be hidden.
NOT_PROVEN = "; whether that list is complete was not tested."
REVERSED = "We changed our minds on Monday: the orders go to MariaDB, and the other database is not used at all."
AGAIN = "The orders go to MariaDB, and the other database is not used."
LONG = (
    *LOG,
    (
        f"{REVERSED} The hosting company has stopped looking after the other one, which nobody had told us before. "
        "The tables were copied on Sunday night, and the sums of all months were compared on Monday morning.",
        "Then the connection of the shop has to be changed as well, and the old server can be switched off in May. "
        "I compared the plans of the two slow queries, and both are as quick as they were before the change. "
        "The monthly totals are the same to the cent, and the report of the warehouse opens at once as before.",
    ),
)


@pytest.fixture
def windows(bench: Bench, settings: Any) -> Bench:
    """Of which one draft, with its check, holds half at most; its last turn reverses a decision."""
    settings.CCM_CHECK_CAP = 12_800
    say(bench.session, LONG[-1:])
    bench.model.writes("decision", REVERSED, AGAIN, id="mariadb")
    bench.model.overtakes.append((TEXTS["postgres"], AGAIN, How.SUPERSEDED))
    return bench


def parts_of(bench: Bench) -> list[list[int]]:
    """Turns of the drafts that were checked, in their order."""
    turns = Check.objects.filter(run__session=bench.session).order_by("pk").values_list("turns", flat=True)
    return [list(one) for one in dict.fromkeys(map(tuple, turns))]


def test_what_is_longer_than_one_draft_holds_is_drafted_in_windows_and_none_is_cut(windows: Bench) -> None:
    draft = windows.choose(last=7)
    most = largest_source(cap=40_000, check_cap=12_800, window=None)
    parts = parts_of(windows)
    assert (draft.state, windows.draft().state) == (ScopeState.READY, "replaceable")
    assert len(parts) > 1
    assert [turn for part in parts for turn in part] == [1, 2, 3, 4, 5, 6, 7]
    branch = main_branch(windows.session)
    assert all(count(read_scope_log(branch, part).source.text) <= most for part in parts)
    runs = DraftRun.objects.filter(session=windows.session).order_by("pk")
    assert [run.drafter for run in runs] == ["model"] * len(parts) + ["merge", "digest"]
    (asked,) = runs.get(drafter="merge").requests.all()
    assert (asked.step, "[Log]" in asked.messages[-1]["content"]) == ("overtaken", False)
    assert (windows.draft().kind, document_of(windows.draft()).source.turns) == ("range", (1, 2, 3, 4, 5, 6, 7))


def test_a_decision_that_a_later_window_reverses_is_gone_and_is_missed_no_more(windows: Bench) -> None:
    windows.choose(last=7)
    whole = windows.draft()
    told = told_by(whole).values()
    assert AGAIN in told
    assert TEXTS["postgres"] not in told
    kept = verdict_of(judged(whole), "C")
    # Of backups, the move, the rule and MariaDB; the first window's inventory had Postgres too.
    assert (kept["outcome"], kept["says"]) == (
        "pass",
        f"Kept: 4 of 4 in the list that fake-1 made of the log{NOT_PROVEN}",
    )
    listed = [one.answer for one in ModelRequest.objects.filter(step="inventory").order_by("pk")]
    assert POSTGRES in listed[0]


def test_what_no_later_window_reverses_is_not_gone(windows: Bench) -> None:
    windows.model.overtakes.clear()
    windows.choose(last=7)
    assert {AGAIN, TEXTS["postgres"]} <= set(told_by(windows.draft()).values())
    assert (
        verdict_of(judged(windows.draft()), "C")["says"]
        == f"Kept: 5 of 5 in the list that fake-1 made of the log{NOT_PROVEN}"
    )


def test_of_windows_the_first_result_tells_what_was_wanted_and_the_last_how_it_ended(windows: Bench) -> None:
    wanted = "The spreadsheet of the office is to be replaced as the place of the orders."
    windows.model.writes("result", "Let's find out where the orders should live", wanted, id="wanted")
    windows.choose(last=7)
    assert windows.draft().headline == f"{wanted} {TEXTS['result']}"


def test_a_concluded_effort_in_windows_stands_by_itself_like_any_other(windows: Bench) -> None:
    state = windows.conclude(LONG, name="again")
    assert (state.summary, len(parts_of(windows)) > 1) == (SummaryState.STANDS, True)
    pointer = windows.pointer()
    assert pointer is not None
    assert (AGAIN in pointer.text, TEXTS["postgres"] in pointer.text) == (True, False)


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ("Nothing is overtaken.", "what a later part overtakes can't be read"),
        ('{"overtaken": [{"note": 99, "by": 1, "how": "done"}]}', "It names a note that does not exist"),
        ('{"overtaken": [{"note": 1, "by": 1, "how": "done"}]}', "which is no earlier"),
        (Status(404, "gone"), "gone"),
    ],
)
def test_windows_that_cannot_be_merged_leave_excerpts_and_say_why(windows: Bench, answer: Any, why: str) -> None:
    windows.model.answers["overtaken"] = [answer, answer]
    draft = windows.choose(last=7)
    assert (draft.state, draft.artifact) == (ScopeState.READY, windows.digest().pk)
    note = windows.told("compaction.drafted")["note"]
    assert note.startswith("The draft failed. ")
    assert why in note
    assert DraftRun.objects.filter(drafter="model").count() == len(parts_of(windows))


def test_a_window_of_which_no_draft_comes_ends_it_and_asks_no_further(windows: Bench) -> None:
    windows.model.answers["draft"] = [Reply('{"claims": [', finish_reason="length")] * 2
    draft = windows.choose(last=7)
    assert draft.artifact == windows.digest().pk
    assert windows.steps() == ["draft", "draft"]


def test_what_a_person_words_anew_is_read_beside_its_own_window(windows: Bench, settings: Any) -> None:
    """Beside the whole log a check of it would cost more than it may."""
    windows.choose(last=7)
    settings.CCM_CHECK_CAP = 3_400
    row, words, last = windows.draft(), "The orders go to MariaDB now.", parts_of(windows)[-1]
    item = next(id for id, text in told_by(row).items() if text == AGAIN)
    alice = windows.session.owner
    review.decide(row, item, ClaimVerdictValue.EDITED, reviewer=alice, text=words)
    made = review.submit(row, reviewer=alice).made
    assert made is not None
    windows.model.believes("decision", words)
    before = {check.pk for check in windows.checks()}
    work(RECHECKS)
    again = Recheck.objects.get(artifact=made)
    assert (again.state, again.why) == ("done", "")
    (check,) = [one for one in windows.checks() if one.pk not in before]
    assert check.turns == last
    # What a later window has overtaken is missed no more than before.
    assert verdict_of(judged(made), "C")["says"] == f"Kept: 4 of 4 in the list that fake-1 made of the log{NOT_PROVEN}"
    document = document_of(made)
    known, _ = checked_of(made, document, log_for(made, document).source)
    assert known is not None
    assert {one.by for one in known.opinions[document.by_id[item].content]} == {"alice", "fake-1"}


def test_windows_whose_check_is_void_wait_unchecked(windows: Bench) -> None:
    windows.model.asleep = True
    windows.choose(last=7)
    assert windows.draft().state == "unchecked"
    note = windows.told("compaction.drafted")["note"]
    assert note.startswith("Nobody has checked this summary. The check by fake-1 does not count. ")


def test_judged_again_windows_are_read_anew_from_their_stored_answers_with_the_same_verdicts(windows: Bench) -> None:
    windows.choose(last=7)
    whole = windows.draft()
    before, asked = judged(whole), len(windows.provider.requests)
    after = review.judge_again(whole, actor=windows.session.owner)
    after.refresh_from_db()
    assert [bare(one) for one in after.verdicts] == [bare(one) for one in before.verdicts]
    assert (after.passed, after.checks) == (True, [check.pk for check in windows.checks()])
    assert len(windows.provider.requests) == asked
    document = document_of(whole)
    check, _ = checked_of(whole, document, log_for(whole, document).source)
    assert check is not None
    assert set(check.opinions) >= {claim.content for claim in document.claims}


def bare(verdict: dict[str, Any]) -> dict[str, Any]:
    """Without the hashes of what it was judged by, and how many runs there have been since."""
    measures = [one for one in verdict["measures"] if one["name"] != "elapsed_ms_p95"]
    return {**verdict, "inputs": None, "measures": measures}


def test_the_price_of_windows_is_told_first_and_is_not_exceeded(windows: Bench) -> None:
    look = actions.look_at_turns(main_branch(windows.session), 1, 7)
    windows.choose(last=7)
    used = sum(one.tokens or 0 for one in ModelRequest.objects.all())
    assert 0 < used <= look.estimate.most
    assert (look.estimate.model, look.refusal) == ("fake-1", "")


def test_what_a_summary_has_cost_has_the_drafts_of_all_its_windows(windows: Bench) -> None:
    windows.choose(last=7)
    used = sum(one.tokens or 0 for one in ModelRequest.objects.filter(exam=None))
    assert costs.spent_on(windows.draft().family) == used > 0
    # One by one as in their sum, what merged them included.
    assert sum(one.tokens or 0 for one in asked_for(windows.session.owner, "", 1, 99)) == used


def test_what_a_summary_has_cost_has_windows_that_nobody_checked(windows: Bench) -> None:
    examined(windows.session.owner, windows.provider, passed=False, model="fake-1")
    windows.choose(last=7)
    used = sum(one.tokens or 0 for one in ModelRequest.objects.filter(exam=None))
    assert (Check.objects.count(), windows.draft().state) == (0, "unchecked")
    assert DraftRun.objects.filter(drafter="model").count() > 1
    assert costs.spent_on(windows.draft().family) == used > 0


def test_excerpts_cost_what_the_drafts_cost_that_came_to_nothing(windows: Bench) -> None:
    windows.model.answers = {"overtaken": ["nothing that could be read"]}
    windows.choose(last=7)
    used = sum(one.tokens or 0 for one in ModelRequest.objects.filter(exam=None))
    assert costs.spent_on(windows.digest().family) == used > 0
    # Whoever has read the windows has not read the excerpts.
    assert blockers.seen([windows.digest().pk])[windows.digest().pk].read_by == ()


def test_windows_are_worked_out_where_nobody_waits_to_write(windows: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    writing, found, windows_of = [False], list[bool](), summaries.windows_of

    async def writes(*given: Any) -> Any:
        writing[0] = True
        try:
            return await write(*given)
        finally:
            writing[0] = False

    def works_out(task: Task) -> list[list[int]]:
        found.append(writing[0])
        return windows_of(task)

    asked = actions.compact_turns(windows.place, 1, 7)
    monkeypatch.setattr(scopes, "write", writes)
    for module in (scopes, summaries):
        monkeypatch.setattr(module, "windows_of", works_out)
    work(SCOPES)
    assert ScopeDraft.objects.get(pk=asked.pk).state == ScopeState.READY
    # Once for the day's tokens, once to draft.
    assert found == [False, False]


def test_what_windows_may_need_is_kept_free_until_the_last_can_have_ended(
    windows: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    until: list[float] = []

    def reserve(session: Session, tokens: int, seconds: float) -> tuple[int | None, str]:
        until.append(seconds)
        return None, ""

    monkeypatch.setattr(scopes, "reserve", reserve)
    windows.choose(last=7)
    assert windows.session.endpoint is not None
    requests, each = len(windows.steps()), windows.session.endpoint.draft_seconds
    assert until[0] >= MOST_REQUESTS * len(parts_of(windows)) * each > requests * each


def test_one_turn_that_is_too_large_by_itself_is_refused_before_anything_is_asked(bench: Bench, settings: Any) -> None:
    settings.CCM_CHECK_CAP = 10_500
    with pytest.raises(Refused, match="One of these turns has more than the"):
        actions.compact_turns(bench.place, 1, 6)
    assert (ScopeDraft.objects.count(), bench.provider.requests) == (0, [])


# The runner


async def chosen(stage: Stage, provider: FakeProvider, **answers: Any) -> ScopeDraft:
    provider.otherwise = model = summariser()
    model.answers = answers
    await write(lambda: examined(stage.session.owner, provider, passed=True, model="fake-1"))
    await write(say, stage.session, LOG)
    place = await read(lambda: actions.here(stage.session, actor=stage.session.owner))
    return await write(actions.compact_turns, place, 1, 6)


async def test_a_runner_that_goes_down_leaves_its_draft_to_the_next(
    stage: Stage, provider: FakeProvider, layer: Any
) -> None:
    draft = await chosen(stage, provider, draft=[NoAnswer()])
    runner = Runner()
    await runner.drafts.sweep()
    await read(provider.wait_for_requests, 1)
    await runner.go_down()
    await read(draft.refresh_from_db)
    assert (draft.state, draft.owner_key, runner.drafts.jobs) == (ScopeState.DUE, "", {})


async def test_what_a_killed_runner_was_drafting_is_drafted_by_the_next(
    stage: Stage, provider: FakeProvider, layer: Any
) -> None:
    draft = await chosen(stage, provider)
    dead = {"state": ScopeState.DRAFTING, "owner_key": "nowhere:1:a/b"}
    await write(lambda: ScopeDraft.objects.filter(pk=draft.pk).update(**dead))
    runner = Runner()
    await runner.drafts.recover(lambda owner: owner == "nowhere:1:a")
    await runner.drafts.sweep()
    await stage.logged("compaction.drafted")
    await runner.go_down()
    await read(draft.refresh_from_db)
    assert (draft.state, (await read(Artifact.objects.get, kind="range")).state) == (ScopeState.READY, "replaceable")
