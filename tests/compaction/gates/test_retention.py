"""Gate C."""

from __future__ import annotations

from dataclasses import replace

from compaction.domain.artifact import Section, Status
from compaction.domain.gates.judging import tags_of
from compaction.domain.ledger import Entry
from compaction.domain.verdicts import Gate, Judged, Measure, Outcome
from tests.compaction.gates import cases
from tests.compaction.gates.broken import BROKEN, changed
from tests.compaction.gates.cases import draft_with, draft_without, entry, item, judged

RETRIES = entry(
    "k1",
    Section.DECISION,
    Status.ACCEPTED,
    "Leave the retries at 5 attempts.",
    (6, "Leave the retries at 5 attempts."),
)


def lost(given: Judged) -> list[str]:
    return [failure.about for failure in cases.verdict(given, Gate.RETENTION).failures]


def measures(given: Judged) -> dict[str, Measure]:
    return {measure.name: measure for measure in cases.verdict(given, Gate.RETENTION).measures}


def test_what_is_to_be_kept_are_accepted_decisions_open_and_blocked_work_and_rules_in_force() -> None:
    given = judged()
    counts = {name: (each.numerator, each.denominator) for name, each in measures(given).items()}
    assert counts == {"decision_recall": (2, 2), "open_work_recall": (2, 2), "constraint_recall": (1, 1)}
    assert cases.verdict(given, Gate.RETENTION).says == "Kept: 2 decisions, 2 open, 1 rule."


def test_what_is_lost_is_named_with_its_text() -> None:
    verdict = cases.verdict(judged(draft_without("i2")), Gate.RETENTION)
    assert [(failure.about, failure.rule) for failure in verdict.failures] == [("d3", "lost_decision")]
    assert "The timeout of the worker is 60 seconds." in verdict.failures[0].text
    assert tags_of([verdict]) == ("insufficient_fidelity",)


def test_an_empty_ledger_passes_and_says_that_there_was_nothing_to_retain() -> None:
    verdict = cases.verdict(judged(ledger=()), Gate.RETENTION)
    assert verdict.outcome == Outcome.PASS
    assert verdict.says.startswith("Nothing to retain:")
    assert [measure.value for measure in verdict.measures] == [None, None, None]


def test_only_superseded_rejected_and_finished_entries_are_nothing_to_retain() -> None:
    given = judged(ledger=(cases.CELERY, cases.CHANGELOG))
    assert cases.verdict(given, Gate.RETENTION).says.startswith("Nothing to retain:")


def test_one_item_keeps_one_entry() -> None:
    twin = replace(cases.TIMEOUT, id="d4", text="60 seconds are the timeout of the worker.")
    given = judged(ledger=(*cases.LEDGER, twin))
    assert len(lost(given)) == 1
    assert set(lost(given)) <= {"d3", "d4"}
    both = judged(draft_with(item("i2", id="x")), ledger=(*cases.LEDGER, twin))
    assert lost(both) == []


def test_two_entries_in_one_vague_line_are_both_lost() -> None:
    vague = item("i2", text="Things about the worker were settled.")
    quotes = [*item("i1")["quotes"], *item("i2")["quotes"]]
    given = judged({**draft_without("i1"), "items": [{**vague, "quotes": quotes}, *draft_without("i1", "i2")["items"]]})
    assert {"d2", "d3"} <= set(lost(given))


def test_to_name_the_id_of_an_entry_keeps_nothing() -> None:
    assert "d3" in lost(changed("i2", text="Lunch is on the roof.", ledger="d3"))


def test_the_section_counts() -> None:
    assert "d3" in lost(changed("i2", section="fact", status="stated"))
    assert "d3" in lost(changed("i2", section="open_work", status="open"))


def test_what_was_decided_and_done_may_stand_as_a_change() -> None:
    assert lost(changed("i2", section="changed", status="done")) == []


def test_the_status_counts() -> None:
    assert "d3" in lost(changed("i2", status="proposed"))
    assert "w1" in lost(changed("i4", status="done"))
    assert "w1" in lost(changed("i4", status="dropped"))


def test_what_is_blocked_may_stand_as_open_and_as_a_next_step() -> None:
    assert lost(changed("i5", status="open")) == []
    assert lost(changed("i5", section="next_step", status="open")) == []


def test_the_polarity_counts() -> None:
    assert "d3" in lost(changed("i2", text="The worker does not have a timeout of 60 s."))


def test_the_values_of_an_entry_count() -> None:
    assert "d3" in lost(
        changed(
            "i2",
            text="The worker has a timeout of 30 seconds.",
            quotes=[{"message": 4, "quote": "Then I set the timeout of the worker to 30 seconds"}],
        )
    )


def test_a_rule_stands_word_for_word_white_space_apart() -> None:
    spaced = "Never  send an email\ntwice for the same invoice."
    assert lost(changed("i3", text=f"As they said: {spaced}")) == []
    assert lost(changed("i3", text="Never send an email twice for an invoice.")) == ["c1"]
    assert lost(changed("i3", section="fact", status="stated")) == ["c1"]


def test_a_candidate_is_met_by_whoever_quotes_its_sentence_in_whatever_section() -> None:
    given = replace(judged(), candidates=(RETRIES,))
    assert lost(given) == ["k1"]
    fact = item(
        "i2",
        id="x",
        section="fact",
        status="stated",
        text="The retries stay at 5 attempts.",
        quotes=[{"message": 6, "quote": "Leave the retries at 5 attempts"}],
    )
    assert lost(replace(judged(draft_with(fact)), candidates=(RETRIES,))) == []


def test_an_entry_of_the_ledger_that_nobody_confirmed_is_a_candidate() -> None:
    assert lost(judged(ledger=(*cases.LEDGER, replace(RETRIES, confirmed=False)))) == ["k1"]


def test_no_candidate_is_met_by_words_that_the_source_does_not_have() -> None:
    given = replace(BROKEN["forged_quotation"](), candidates=(RETRIES,))
    assert "k1" in lost(given)


def twenty(missing: int) -> Judged:
    """Twenty decisions of which so many are lost."""
    entries: list[Entry] = []
    items = []
    for number in range(20):
        entries.append(replace(cases.TIMEOUT, id=f"e{number:02}"))
        items.append(item("i2", id=f"t{number:02}"))
    draft = {**cases.GOOD, "headline_items": ["t19"], "items": items[missing:]}
    return judged(draft, ledger=tuple(entries))


def test_one_of_twenty_may_be_lost_and_is_listed() -> None:
    verdict = cases.verdict(twenty(1), Gate.RETENTION)
    assert verdict.outcome == Outcome.PASS
    assert len(verdict.failures) == 1
    assert cases.verdict(twenty(2), Gate.RETENTION).outcome == Outcome.FAIL
