"""Gate D."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compaction.domain.artifact import Section, Status
from compaction.domain.gates.judging import tags_of
from compaction.domain.verdicts import Finding, Gate, Judged, Outcome
from tests.compaction.gates import cases
from tests.compaction.gates.broken import BROKEN, about, after, changed, with_headline
from tests.compaction.gates.cases import draft_with, entry, item, judged


def found(given: Judged) -> list[str]:
    return cases.rules(given, Gate.CONTRADICTION)


def test_a_finding_names_both_sides_and_has_an_id_that_stays() -> None:
    verdict = cases.verdict(changed("i2", text="The worker has a timeout of 90 s."), Gate.CONTRADICTION)
    (failure,) = [failure for failure in verdict.failures if failure.rule == "other_value"]
    assert (failure.about, failure.id) == ("i2", "other_value:i2:1")
    assert "90 s" in failure.text
    assert "60 seconds" in failure.text
    assert tags_of([verdict]) == ("contradiction_detected",)


def test_what_a_person_set_aside_does_not_count_and_is_still_told() -> None:
    given = BROKEN["denied"]()
    assert found(given) == ["denied"]
    aside = cases.verdict(replace(given, set_aside=frozenset({"denied:i5:1"})), Gate.CONTRADICTION)
    assert aside.outcome == Outcome.PASS
    assert [measure.value for measure in aside.measures] == [0]
    assert (
        "1 finding set aside by a person: “The migration of the invoices table does not wait for that grant”"
        in aside.says
    )


def test_to_set_aside_another_finding_changes_nothing() -> None:
    given = replace(BROKEN["denied"](), set_aside=frozenset({"denied:i4:1", "denied:i5:2"}))
    assert found(given) == ["denied"]


QUOTED = "Let's take Celery for the job queue, two of us know it already."
CELERY_ITEM = item(
    "i6",
    id="x",
    section="decision",
    status="accepted",
    actor="user",
    text="Celery is taken for the job queue.",
    quotes=[{"message": 3, "quote": QUOTED}],
)


def test_a_mere_quotation_says_what_was_said_then_and_one_that_names_its_entry_how_that_stands() -> None:
    assert found(judged(draft_with({**CELERY_ITEM, "text": QUOTED}))) == []
    assert found(judged(draft_with({**CELERY_ITEM, "text": QUOTED, "ledger": "d1"}))) == ["not_current"]


@pytest.mark.parametrize("status", ["superseded", "rejected", "proposed"])
def test_a_superseded_decision_may_be_told_as_what_it_was(status: str) -> None:
    assert found(judged(draft_with({**CELERY_ITEM, "status": status}))) == []


def test_the_headline_is_no_place_for_what_was_superseded() -> None:
    assert "not_current" in found(with_headline("The job queue of the invoices is Celery."))
    assert "not_current" not in found(with_headline("The job queue is procrastinate instead of Celery."))


def test_what_stands_is_not_told_as_rejected() -> None:
    assert "not_dropped" in found(changed("i2", status="rejected"))


@pytest.mark.parametrize(("id", "status"), [("i4", "done"), ("i4", "dropped"), ("i5", "done")])
def test_open_work_is_not_told_as_finished(id: str, status: str) -> None:
    assert "other_state" in found(changed(id, status=status))


def test_open_work_is_not_told_as_a_change() -> None:
    assert "other_state" in found(changed("i4", section="changed", status="done"))


def changelog(status: str) -> Judged:
    return judged(
        draft_with(
            item(
                "i5",
                id="x",
                status=status,
                text="Write the changelog entry.",
                quotes=[{"message": 9, "quote": "The changelog entry is written."}],
            )
        )
    )


def test_finished_work_is_not_told_as_open() -> None:
    assert found(changelog("open")) == ["other_state"]
    assert found(changelog("done")) == []


def test_open_and_blocked_are_both_unfinished() -> None:
    assert found(changed("i4", status="blocked")) == []
    assert found(changed("i5", status="open")) == []


def test_a_headline_does_not_tell_open_work_as_done() -> None:
    assert "other_state" in found(with_headline("The migration of the invoices table is done with the grant.", "i5"))


@pytest.mark.parametrize(
    ("text", "quote", "rule"),
    [
        ("The proxy takes 30 seconds.", "The proxy takes 60 seconds for each report.", "other_value"),
        ("The proxy takes 60 ms.", "The proxy takes 60 seconds for each report.", "other_value"),
        ("The proxy runs version 2.4.2.", "The proxy runs version 2.4.1 since Monday.", "other_value"),
        ("The proxy reads /etc/proxy/b.conf.", "The proxy reads /etc/proxy/a.conf at start.", "other_value"),
        ("The proxy is started with --quiet.", "The proxy is started with --verbose at night.", "other_value"),
        ("The proxy starts at 2:45.", "The proxy starts at 02:30 each night.", "other_value"),
        ("The proxy listens on port 8081.", "The proxy listens on port 8080, not on port 9090.", "other_count"),
        ("The proxy is not restarted at night.", "The proxy is restarted at night by the timer.", "denied"),
        ("The proxy is restarted at night.", "The proxy is never restarted at night, by nobody.", "denied"),
        ("The proxy cache is enabled for reports.", "The proxy cache is disabled for reports.", "denied"),
        ("Der Proxy wird nachts nicht neu gestartet.", "Der Proxy wird nachts vom Timer neu gestartet.", "denied"),
        ("Le proxy est redémarré chaque nuit.", "Le proxy n'est pas redémarré chaque nuit.", "denied"),
        ("The proxy may cache the reports.", "The proxy must cache the reports of a day.", "other_modality"),
        ("The proxy must cache the reports.", "The proxy should cache the reports of a day.", "other_modality"),
        ("Some reports pass the proxy.", "Every one of the reports, all reports, pass the proxy.", "other_scope"),
        ("All reports pass the proxy.", "Only reports of guests pass the proxy, some reports at least.", "other_scope"),
        ("Start the proxy after the login.", "You start the proxy before the login of a guest.", "other_order"),
    ],
)
def test_what_is_said_is_not_turned_round(text: str, quote: str, rule: str) -> None:
    assert rule in found(about(text, quote))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The proxy takes a minute, 60 s, for a report.", "The proxy takes 60 seconds for each report."),
        ("The proxy costs 1,100 € a year.", "The proxy costs 1.100 euros a year, paid in advance."),
        ("No guest reaches the proxy.", "The proxy is out of reach for a guest: none reaches it."),
        ("The proxy is disabled for guests.", "The proxy is not enabled for guests."),
        ("The proxy has no cache.", "We go without a cache in the proxy."),
        ("The proxy stays, and the cache goes.", "The proxy stays. The cache has to go, nobody needs it."),
        ("The proxy has to cache reports.", "The proxy should cache the reports of a day."),
        (
            "The proxy is restarted at night.",
            "Shall we restart the proxy at night, by the timer? Yes, let's restart it.",
        ),
        ("The old proxy is not used any more.", "The old proxy is out, we don't use it any more."),
        ("Use the proxy, not the cache.", "We use the proxy instead of the cache from now on."),
        ("The proxy waits for the certificate.", "We can't start the proxy until the certificate is there."),
        ("Guests reach the proxy until Friday.", "Until Friday the guests still reach the proxy."),
    ],
)
def test_what_is_said_in_other_words_contradicts_nothing(text: str, quote: str) -> None:
    assert found(about(text, quote)) == []


def test_quotations_and_what_is_told_as_past_are_held_against_the_ledger_alone() -> None:
    denied = changed("i5", text="The migration of the invoices table does not wait for that grant.")
    assert found(denied) == ["denied"]
    past = item("i2", id="x", status="superseded", text="The worker has a timeout of 90 s.")
    assert found(judged(draft_with(past))) == []


TIMEOUT_THEN = item(
    "i6",
    id="x",
    section="fact",
    status="stated",
    text="The timeout of the worker is set to 30 seconds.",
    quotes=[{"message": 4, "quote": "Then I set the timeout of the worker to 30 seconds"}],
)


def test_a_value_that_was_corrected_later_is_not_told_as_it_was() -> None:
    assert found(judged(draft_with(TIMEOUT_THEN))) == ["corrected_later"]


def test_whoever_quotes_the_correction_too_knows_of_it() -> None:
    quotes = [*TIMEOUT_THEN["quotes"], {"message": 6, "quote": "The timeout of the worker must be 60 seconds."}]
    told = {**TIMEOUT_THEN, "text": "The timeout of the worker went from 30 to 60 seconds.", "quotes": quotes}
    assert found(judged(draft_with(told))) == []


def test_another_value_of_something_else_is_no_correction() -> None:
    source = after((20, "user", "The timeout of the reader is 90 seconds."), (21, "user", "Is it 70 seconds now?"))
    assert found(judged(source=source)) == []


def with_tool(text: str, *results: str) -> Judged:
    more = ((30 + number, "tool", result) for number, result in enumerate(results))
    quote = "I have run the tests of the queue."
    given = {
        "id": "x",
        "section": "fact",
        "status": "stated",
        "actor": "assistant",
        "text": text,
        "quotes": [{"message": 20, "quote": quote}],
    }
    return judged(draft_with(given), source=after((20, "assistant", quote), *more))


def test_tests_pass_only_where_the_last_run_says_so() -> None:
    assert found(with_tool("The tests of the queue pass.")) == ["tool_says_otherwise"]
    assert found(with_tool("The tests of the queue pass.", "42 passed in 0.7s")) == []
    assert found(with_tool("The tests of the queue pass.", "42 passed", "E  KeyError\n2 failed, 40 passed")) == [
        "tool_says_otherwise"
    ]
    assert found(with_tool("The tests of the queue pass.", "0 failed, 42 passed")) == []


def test_to_tell_of_the_failure_claims_no_success() -> None:
    assert found(with_tool("The tests of the queue still fail: 1 failed.")) == []


def test_an_actor_is_one_of_those_who_are_quoted() -> None:
    assert found(changed("i2", actor="assistant")) == ["other_actor"]
    quotes = [*item("i2")["quotes"], {"message": 7, "quote": "I wrote the settings to src/queue/settings.py"}]
    assert found(changed("i2", actor="assistant", quotes=quotes)) == []


@pytest.mark.parametrize(
    "text", ["The user decided on `src/queue/settings.py`.", "`src/queue/settings.py` was asked for by the user."]
)
def test_nobody_is_said_to_have_decided_who_is_not_quoted(text: str) -> None:
    assert found(changed("i6", text=text)) == ["other_person"]


def test_what_somebody_quoted_says_of_another_is_theirs() -> None:
    assert (
        found(changed("i6", text="The settings were written, the user has decided nothing of `src/queue/settings.py`."))
        == []
    )


def test_a_judge_counts_only_with_words_that_stand_in_that_message() -> None:
    true = Finding(item="i1", message=3, quote="two of us know it already", why="It was Celery.")
    others = (
        replace(true, message=4),
        replace(true, quote="two of us know it by heart"),
        replace(true, item="i77"),
        replace(true, quote=" "),
    )
    assert found(replace(judged(), findings=(true,))) == ["judge"]
    verdict = cases.verdict(replace(judged(), findings=others), Gate.CONTRADICTION)
    assert verdict.outcome == Outcome.PASS
    assert "4 findings of a judge left out" in verdict.says


def test_a_judge_removes_nothing() -> None:
    given = BROKEN["denied"]()
    assert found(
        replace(given, findings=(Finding(item="i5", message=9, quote="nothing there", why="All is well."),))
    ) == ["denied"]


def test_an_unconfirmed_entry_of_the_ledger_contradicts_nothing() -> None:
    unsure = replace(entry("d9", Section.DECISION, Status.REJECTED, "procrastinate is the job queue."), confirmed=False)
    assert found(judged(ledger=(unsure,))) == []
    assert found(judged(ledger=(replace(unsure, confirmed=True),))) != []


def test_near_duplicates_of_different_things_are_no_conflict() -> None:
    quote = "The timeout for reads is 30 seconds. The timeout for writes is 60 seconds."
    shared = {"section": "fact", "status": "stated", "actor": "user", "quotes": [{"message": 20, "quote": quote}]}
    reads = {**shared, "id": "x1", "text": "The timeout for reads is 30 s."}
    writes = {**shared, "id": "x2", "text": "The timeout for writes is 60 s."}
    assert found(judged(draft_with(reads, writes), source=after((20, "user", quote)))) == []
