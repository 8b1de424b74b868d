"""Providers and checkers that do not do as they are asked: whatever comes back is kept and told, nothing is lost."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import OperationalError, transaction
from hypothesis import HealthCheck, Phase, given
from hypothesis import settings as limits
from hypothesis import strategies as st

from compaction.domain.lifecycle import Ended
from compaction.domain.limits import THINKING
from compaction.drafting import costs, storing
from compaction.drafting.scopes import MadeSummary
from compaction.models import Artifact, Check, DraftRun, Exam, ModelRequest, Planted, Reserved
from efforts.domain.effort.states import SummaryState
from efforts.models import Endpoint
from efforts.standins.compacting import Summary
from efforts.turns import drafts
from efforts.turns.recording import count
from efforts.turns.summaries import SUMMARIES, Summaries
from tests.fakes.provider import CUT, INVALID_JSON, NO_FINISH, Answer, Ending, NoAnswer, Reply, Status
from tests.fakes.summariser import step_of

from .review import document_of, examined, run
from .worth import ORDER, Bench

Request = dict[str, Any]
Change = Callable[[Request, Reply], Answer]
THOUGHT = "<think>" + "So, what did they say about it? " * 500 + "</think>"


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """Its model has passed its exam."""
    examined(bench.session.owner, bench.provider, passed=True, model="fake-1")
    return bench


def step(request: Request) -> str:
    return step_of(request["messages"][-1]["content"])


def to(bench: Bench, change: Change, *steps: str) -> None:
    """The model's answers to these steps, or to all, come back changed."""
    model = bench.model

    def answer(request: Request) -> Answer:
        reply = model(request)
        of_these = not steps or step(request) in steps
        return change(request, reply) if of_these and isinstance(reply, Reply) else reply

    bench.provider.otherwise = answer


def within_limit(request: Request, reply: Reply) -> Reply:
    """Cut where a provider that counts as we do cuts it."""
    most = request["max_tokens"]
    if count(reply.text) <= most:
        return Reply(reply.text, usage=None)
    low, high = 0, len(reply.text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(reply.text[:middle]) <= most else (low, middle - 1)
    return Reply(reply.text[:low], finish_reason="length", usage=None)


def thinking(request: Request, reply: Reply) -> Reply:
    return Reply(THOUGHT + reply.text, usage=None)


def requests(bench: Bench, name: str) -> list[ModelRequest]:
    return list(ModelRequest.objects.filter(run__session=bench.session, step=name).order_by("pk"))


def assert_nothing_is_lost(bench: Bench) -> None:
    """Something stands, which the gates judged; where it is not the draft, it says so, and why."""
    state, pointer = bench.state(), bench.pointer()
    assert pointer is not None
    stands = Artifact.objects.get(pk=pointer.artifact)
    assert stands.gate_runs.latest("pk").passed
    assert bench.sends(stands.standing)
    if pointer.digest:
        assert (state.summary, bool(state.draft)) == (SummaryState.DIGEST, True)
    else:
        assert (state.summary, state.draft, stands.state) == (SummaryState.STANDS, "", "replaceable")


# Limits of a reply


def test_a_draft_that_is_cut_at_its_limit_is_asked_for_once_more_with_twice_the_room(bench: Bench) -> None:
    to(bench, lambda request, reply: within_limit(request, thinking(request, reply)), "draft")
    assert bench.conclude().summary == SummaryState.STANDS
    cut, whole = requests(bench, "draft")
    assert (cut.stop_reason, cut.answer, cut.limit) == ("length", "", 3_000)
    assert (whole.stop_reason, whole.limit) == ("stop", 10_000)
    assert "The whole reply takes at most 3,000 tokens." in cut.messages[-1]["content"]
    assert "The whole reply takes at most 6,000 tokens." in whole.messages[-1]["content"]
    assert count(THOUGHT) < (whole.usage or {})["output"] < 10_000


def test_a_draft_that_is_cut_twice_is_none_and_both_are_kept(bench: Bench) -> None:
    to(bench, lambda request, reply: within_limit(request, Reply(THOUGHT * 4 + reply.text)), "draft")
    state = bench.conclude()
    assert state.draft == "The draft failed. The reply was cut at its limit of 10,000 tokens."
    assert (bench.run().ended, len(requests(bench, "draft"))) == (Ended.TRUNCATED, 2)
    assert_nothing_is_lost(bench)


def test_a_model_that_thinks_first_and_is_not_cut_drafts_and_checks_like_any_other(bench: Bench) -> None:
    to(bench, thinking)
    assert bench.conclude().summary == SummaryState.STANDS
    asked = ModelRequest.objects.exclude(exam__isnull=False)
    assert not asked.filter(answer__contains="think").exists()
    assert all((one.usage or {})["output"] > count(THOUGHT) for one in asked)


def test_a_checker_that_thinks_until_it_is_cut_is_asked_once_more_with_room_to_think(bench: Bench) -> None:
    to(bench, lambda request, reply: within_limit(request, thinking(request, reply)), "inventory", "half", "mapping")
    assert bench.conclude().summary == SummaryState.STANDS
    cut, valid = Check.objects.filter(run__session=bench.session).order_by("pk")
    assert (cut.void, valid.void) == ("Its answer was cut at its limit.", "")
    limits = [max(one.limit for one in made.requests.all()) for made in (cut, valid)]
    assert limits[1] - limits[0] == THINKING


def test_a_model_that_thinks_first_has_room_for_it_in_its_exam(bench: Bench) -> None:
    Exam.objects.all().delete()
    to(bench, lambda request, reply: within_limit(request, thinking(request, reply)), "half")
    assert bench.conclude().summary == SummaryState.STANDS


def test_a_checker_that_is_cut_twice_proves_nothing_and_that_is_told(bench: Bench) -> None:
    to(bench, lambda request, reply: within_limit(request, Reply(THOUGHT * 4 + reply.text)), "half")
    state = bench.conclude()
    assert state.draft.endswith("The check by fake-1 does not count. Its answer was cut at its limit.")
    assert_void(bench)


def test_a_reply_beyond_its_limit_counts_as_what_it_is_and_over_the_cap_its_gate_fails(
    bench: Bench, settings: Any
) -> None:
    dear = {"prompt_tokens": 1_000, "completion_tokens": settings.CCM_DRAFT_CAP}
    to(bench, lambda request, reply: Reply(reply.text, usage=dear), "draft")
    state = bench.conclude()
    assert state.draft == "Gate E: Its compaction used 41,000 tokens of at most 40,000."
    assert (bench.run().tokens, len(requests(bench, "draft"))) == (41_000, 1)
    assert_nothing_is_lost(bench)


# A database that does not answer


def as_runner(bench: Bench) -> None:
    (job,) = drafts.claim_from([SUMMARIES], "here:1:a", 4)
    run(drafts.Drafts([SUMMARIES], "here:1:a", asyncio.Event()).work(job))


def test_a_draft_that_cannot_be_stored_at_once_is_kept_and_stored_then(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, faults = MadeSummary.keep, [OperationalError("database is locked"), OperationalError("no connection")]

    def locked(made: MadeSummary) -> Summary:
        kept = keep(made)
        if faults:
            raise faults.pop()
        return kept

    monkeypatch.setattr(MadeSummary, "keep", locked)
    bench.conclude_later()
    as_runner(bench)
    assert (bench.state().summary, bench.steps().count("draft"), faults) == (SummaryState.STANDS, 1, [])
    assert (DraftRun.objects.filter(drafter="model").count(), Reserved.objects.count()) == (1, 0)
    assert_nothing_is_lost(bench)


def test_a_draft_whose_steps_could_not_be_told_stands_all_the_same(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: Any) -> None:
        raise OperationalError("database is locked")

    monkeypatch.setattr(Summaries, "tell_step", locked)
    bench.conclude_later()
    as_runner(bench)
    assert bench.state().summary == SummaryState.STANDS


def test_what_was_stored_though_its_connection_broke_counts_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    settle, faults = drafts.settle, [OperationalError("the server closed the connection")]

    def broken(*given: Any) -> None:
        settle(*given)
        if faults:
            raise faults.pop()

    monkeypatch.setattr(drafts, "settle", broken)
    bench.conclude_later()
    as_runner(bench)
    assert (bench.state().summary, faults) == (SummaryState.STANDS, [])
    assert DraftRun.objects.filter(drafter="model").count() == 1


# Forms and counts


def test_a_provider_without_a_form_for_answers_is_asked_again_without_one_and_not_again_with_it(bench: Bench) -> None:
    model, refused = bench.model, []

    def answer(request: Request) -> Answer:
        if "response_format" in request:
            refused.append(step(request))
            return Status(400, "response_format is not supported")
        return model(request)

    bench.provider.otherwise = answer
    assert bench.conclude().summary == SummaryState.STANDS
    assert refused == ["draft"]
    assert not ModelRequest.objects.filter(structured=True, exam=None).exists()
    bench.conclude(name="another")
    assert refused == ["draft"]


def test_what_a_provider_refuses_whatever_its_form_is_told_in_its_words(bench: Bench) -> None:
    to(bench, lambda request, reply: Status(400, "no such model"))
    state = bench.conclude()
    assert "no such model" in state.draft
    assert (bench.run().ended, [one.stop_reason for one in requests(bench, "draft")]) == (Ended.FAULT, ["refused"])
    assert_nothing_is_lost(bench)


def test_usage_that_is_not_reported_is_counted_here_and_marked(bench: Bench) -> None:
    to(bench, lambda request, reply: Reply(reply.text, usage=None))
    bench.conclude()
    (draft,) = requests(bench, "draft")
    used = draft.usage or {}
    assert (used["source"], used["output"]) == ("counted", count(draft.answer))
    assert used["input"] > count(draft.messages[-1]["content"])
    assert bench.run().tokens == draft.tokens
    (check,) = bench.checks()
    assert check.tokens == sum(one.tokens or 0 for one in check.requests.all()) > 4 * 900


@pytest.mark.parametrize("down", [Status(503, "overloaded"), Status(401, "no such key"), None])
def test_what_is_not_answered_at_all_is_not_charged(bench: Bench, down: Answer | None) -> None:
    if down is None:
        Endpoint.objects.filter(owner=bench.session.owner).update(base_url="http://127.0.0.1:9/v1")
    to(bench, lambda request, reply: down or reply)
    assert bench.conclude().draft.startswith("The draft failed. ")
    (draft,) = requests(bench, "draft")
    assert (draft.tokens, bench.run().tokens, bench.run().ended) == (0, 0, Ended.FAULT)
    assert costs.used_today(bench.session.owner) == 0


@pytest.mark.parametrize(
    "said", [Status(500, "No \x00 and no \ud800 today"), Reply("Here it is.", finish_reason="odd\x00\ud800")]
)
def test_words_of_a_provider_that_no_database_takes_lose_no_draft(bench: Bench, said: Answer) -> None:
    to(bench, lambda request, reply: said, "draft")
    state = bench.conclude()
    assert state.draft.startswith("The draft failed. ")
    told = [one.error + one.stop_reason for one in requests(bench, "draft")]
    assert told
    assert not any(bad in "".join([state.draft, *told]) for bad in ("\x00", "\ud800"))
    assert_nothing_is_lost(bench)


def test_a_model_that_never_answers_its_whole_exam_is_not_asked_for_it_for_ever(bench: Bench) -> None:
    Exam.objects.all().delete()
    to(bench, lambda request, reply: Reply(reply.text[:40], ending=CUT), "half")
    for name in ("one", "two", "three", "four", "five"):
        why = bench.conclude(name=name).draft
    assert Exam.objects.count() == costs.MOST_VOID
    assert "fake-1 may not check summaries: its exam could not be read. " in why
    # Chosen again, or where a person has it take its exam, it may show what it can.
    storing.choose_checker(bench.session.owner, None, "")
    to(bench, lambda request, reply: reply)
    assert bench.conclude(name="six").summary == SummaryState.STANDS


@pytest.mark.parametrize("ending", [CUT, NO_FINISH])
def test_what_breaks_off_is_charged_as_far_as_it_came(bench: Bench, ending: Ending) -> None:
    to(bench, lambda request, reply: Reply(reply.text[:200], ending=ending), "draft")
    bench.conclude()
    assert costs.used_today(bench.session.owner) > 1_000


# Cut anywhere

ENDINGS: dict[str, tuple[Ending | None, str]] = {
    "at its limit": (None, "length"),
    "by a filter": (None, "content_filter"),
    "by a lost connection": (CUT, ""),
    "without an end": (NO_FINISH, ""),
    "by what is no answer": (INVALID_JSON, ""),
}
# Each example is a whole draft and check: shrinking one would take longer than reading it.
few = limits(
    max_examples=6,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
)
PLACES = st.one_of(st.just(0.0), st.just(1.0), st.floats(0, 1))


@pytest.mark.parametrize("at_step", ["draft", "inventory", "half", "mapping"])
@few
@given(place=PLACES, how=st.sampled_from(list(ENDINGS)))
def test_wherever_an_answer_breaks_off_it_is_kept_and_told_and_nothing_is_lost(
    bench: Bench, at_step: str, place: float, how: str
) -> None:
    ending, reason = ENDINGS[how]

    def cut(request: Request, reply: Reply) -> Reply:
        return Reply(reply.text[: int(len(reply.text) * place)], ending=ending, finish_reason=reason)

    with transaction.atomic():
        to(bench, cut, at_step)
        bench.conclude()
        assert_nothing_is_lost(bench)
        run = bench.run()
        assert run.ended in (Ended.DRAFTED, Ended.TRUNCATED, Ended.UNPARSEABLE, Ended.REFUSED, Ended.FAULT, Ended.EMPTY)
        assert run.requests.exists()
        assert at_step == "draft" or bench.checks()
        transaction.set_rollback(True)


# Checkers that are not to be believed


def everything(verdict: str) -> Change:
    def change(request: Request, reply: Reply) -> Reply:
        said = [{**one, "verdict": verdict} for one in json.loads(reply.text)["verdicts"]]
        return Reply(json.dumps({"verdicts": said}))

    return change


def changed(key: str, change: Callable[[list[Any]], Any]) -> Change:
    return lambda request, reply: Reply(json.dumps({key: change(json.loads(reply.text)[key])}))


def of_first(field: str, value: Any) -> Callable[[list[Any]], list[Any]]:
    return lambda all: [{**all[0], field: value}, *all[1:]]


UNBELIEVABLE: dict[str, tuple[str, Change, str]] = {
    "finds everything true": ("half", everything("entailed"), "made wrong on purpose to test it."),
    "finds everything wrong": ("half", everything("contradicted"), "It doubted a sentence that stands in the log"),
    "finds nothing supported": ("half", everything("unsupported"), "It doubted a sentence that stands in the log"),
    "skips a claim": ("half", changed("verdicts", lambda all: all[1:]), "without an answer"),
    "answers one twice": ("half", changed("verdicts", lambda all: [*all, all[0]]), "twice"),
    "names a sentence that is not there": (
        "half",
        changed("verdicts", of_first("sentence", "99.9")),
        "It names a sentence 99.9, which does not exist.",
    ),
    "answers another request": (
        "half",
        changed("verdicts", lambda all: [{**one, "note": one["note"] + 40} for one in all]),
        "which was not asked",
    ),
    "writes prose": ("half", lambda request, reply: Reply("They all look fine to me."), "Its answer can't be read"),
    "invents verdicts": ("half", changed("verdicts", of_first("verdict", "plausible")), "Its answer can't be read"),
    "lists what is not there": (
        "inventory",
        changed("entries", of_first("sentences", ["99.9"])),
        "It names a sentence 99.9, which does not exist.",
    ),
    "lists facts": ("inventory", changed("entries", of_first("kind", "fact")), "an entry of another kind"),
    "finds told what is hidden": (
        "mapping",
        changed("told", lambda all: [{**one, "notes": [1]} for one in all]),
        "It found something told that had been left out.",
    ),
    "maps to notes that are not there": (
        "mapping",
        changed("told", of_first("notes", [77])),
        "It names a note 77, which does not exist.",
    ),
    "leaves out an entry": ("mapping", changed("told", lambda all: all[1:]), "without an answer"),
}


@pytest.mark.parametrize("name", UNBELIEVABLE)
def test_a_check_that_does_not_prove_itself_is_void_and_says_why_and_nothing_is_lost(bench: Bench, name: str) -> None:
    at_step, change, why = UNBELIEVABLE[name]
    to(bench, change, at_step)
    state = bench.conclude()
    assert state.draft.startswith("Nobody has checked this summary. The check by fake-1 does not count. ")
    assert why in state.draft
    assert all(why in check.void for check in bench.checks())
    assert_void(bench)


def assert_void(bench: Bench) -> None:
    checks = bench.checks()
    assert [check.attempt for check in checks] == [1, 2]
    assert all(check.void and check.requests.exists() for check in checks)
    draft = bench.draft()
    assert (draft.state, bench.state().artifact) == ("unchecked", draft.pk)
    assert draft.gate_runs.latest("pk").checks == []
    assert_nothing_is_lost(bench)


def test_asked_once_more_a_checker_gets_other_canaries_and_may_prove_itself_then(bench: Bench) -> None:
    change = everything("entailed")
    asleep = [True, True]
    to(bench, lambda request, reply: change(request, reply) if asleep and asleep.pop() else reply, "half")
    assert bench.conclude().summary == SummaryState.STANDS
    void, valid = bench.checks()
    assert (bool(void.void), valid.void) == (True, "")
    assert [one.step for one in valid.requests.order_by("place")] == ["half", "half", "mapping"]
    planted = [
        set(check.planted_rows.filter(role="canary").values_list("claim__text", flat=True)) for check in (void, valid)
    ]
    assert planted[0] != planted[1]


def test_a_checker_that_does_not_answer_in_time_is_void_and_told(bench: Bench) -> None:
    owner = bench.session.owner
    late = Endpoint.objects.create(
        owner=owner, name="late", base_url=f"{bench.provider.url}/", model="slow-1", draft_seconds=1
    )
    storing.choose_checker(owner, late, "")
    wrong = Exam.objects.get()
    Exam.objects.create(
        owner=owner, provider=late.base_url, model="slow-1", version=wrong.version, passed=True,
        caught=20, wrong=20, doubted=0, true=20,
    )  # fmt: skip
    bench.model.answers = dict.fromkeys(("inventory", "half"), [NoAnswer()] * 6)
    state = bench.conclude()
    assert "The check by slow-1 does not count. It did not answer within 1 seconds." in state.draft
    assert_void(bench)


# What is planted


@few
@given(names=st.lists(st.sampled_from(ORDER), min_size=2, unique=True), asleep=st.booleans())
def test_nothing_that_is_planted_is_ever_stored_in_a_summary_or_sent_in_a_prompt(
    bench: Bench, names: list[str], asleep: bool
) -> None:
    with transaction.atomic():
        bench.writes(*names).asleep = asleep
        bench.conclude()
        assert_nothing_planted_is_told(bench)
        transaction.set_rollback(True)


def assert_nothing_planted_is_told(bench: Bench) -> None:
    planted = Planted.objects.exclude(role="hidden").filter(check_made__run__session=bench.session)
    texts = set(planted.values_list("claim__text", flat=True))
    assert len(texts) >= 3
    for artifact in Artifact.objects.all():
        claims = [claim.model_dump(mode="json", exclude={"id", "ledger_ref"}) for claim in document_of(artifact).claims]
        for row in planted:
            assert {key: value for key, value in row.claim.items() if key not in ("id", "ledger_ref")} not in claims
    quoted = {text for text in texts if "wrote: “" in text}
    assert quoted
    assert not [text for text in quoted if bench.sends(text)]
    for artifact in Artifact.objects.all():
        said = json.dumps([artifact.document, artifact.standing, artifact.body, artifact.headline], ensure_ascii=False)
        assert not [text for text in quoted if text in said]
    # What was hidden for the mapping is a claim of the draft, and stays one.
    for row in Planted.objects.filter(role="hidden"):
        assert row.claim["text"] in {claim.text for claim in document_of(bench.draft()).claims}
