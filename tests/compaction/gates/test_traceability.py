"""Gate B."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.domain.verdicts import Gate, Judged, Measure, Outcome
from efforts.domain.source_text import Source
from tests.compaction.gates import cases
from tests.compaction.gates.broken import about, changed, with_headline, without_items
from tests.compaction.gates.cases import said


def measure(given: Judged) -> Measure:
    (one,) = cases.verdict(given, Gate.TRACEABILITY).measures
    return one


def passes(given: Judged) -> bool:
    return cases.verdict(given, Gate.TRACEABILITY).passed


def test_items_and_sentences_of_the_headline_are_counted() -> None:
    one = measure(cases.judged())
    assert (one.numerator, one.denominator, one.value) == (8, 8, 1.0)


def test_one_of_few_is_too_much_and_the_failing_item_is_named_with_its_rule() -> None:
    given = changed("i2", quotes=[])
    verdict = cases.verdict(given, Gate.TRACEABILITY)
    assert measure(given).numerator == 7
    assert ("no_quotation", "i2") in [(failure.rule, failure.about) for failure in verdict.failures]
    assert "i2" in verdict.says


def many(items: int, *, unlinked: int) -> Judged:
    quote = "The reports go through the proxy server of the office."
    each: list[dict[str, Any]] = [
        {
            "id": f"x{number}",
            "section": "fact",
            "status": "stated",
            "actor": "user",
            "text": "Reports go through the proxy server.",
            "quotes": [{"message": 1, "quote": quote}] if number >= unlinked else [],
        }
        for number in range(items)
    ]
    draft = {"headline": "The reports go through the proxy server.", "headline_items": [f"x{items - 1}"], "items": each}
    return cases.judged(draft, source=Source(parts=(said(1, "user", quote),)), ledger=())


def test_two_of_a_hundred_may_fail_and_are_listed_all_the_same() -> None:
    verdict = cases.verdict(many(99, unlinked=2), Gate.TRACEABILITY)
    assert verdict.outcome == Outcome.PASS
    assert [failure.about for failure in verdict.failures] == ["x0", "x1"]


def test_three_of_a_hundred_may_not() -> None:
    given = many(99, unlinked=3)
    assert cases.verdict(given, Gate.TRACEABILITY).outcome == Outcome.FAIL
    assert measure(given).value == 0.97


@pytest.mark.parametrize("headline", ["Open: +2 more open.", " "])
def test_nothing_never_passes(headline: str) -> None:
    given = without_items(headline)
    assert not passes(given)
    assert (measure(given).value, measure(given).denominator) == (None, 0)


def test_one_forged_quotation_is_not_made_good_by_a_true_one() -> None:
    given = cases.judged()
    assert given.artifact
    first, *others = given.artifact.items
    forged = first.links[0].model_copy(update={"message": 6})
    both = first.model_copy(update={"links": (*first.links, forged)})
    assert cases.rules(cases.with_artifact(given, items=(both, *others)), Gate.TRACEABILITY) == ["forged_quotation"]


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The budget is 1,000 €.", "The budget for the whole kitchen is 1000 euros."),
        ("The budget is 1.000 euros.", "The budget for the whole kitchen is 1 000 €."),
        ("The budget is €1'000.", "The budget for the whole kitchen is 1,000 euros."),
        ("There are 5 fitters.", "There are five fitters to choose from, all expensive."),
        ("There are thirty-five fitters.", "There are 35 fitters to choose from, all expensive."),
        ("There is one fitter.", "There is a fitter to choose from, and he is expensive."),
        ("Both fitters are expensive.", "Brandt and the other fitters are expensive."),
        ("The fitters come at 8:30.", "The fitters come at 08:30 and bring the worktop."),
        ("Fitters come on 2024-05-14.", "The fitters come on 14.05.2024 and bring the worktop."),
        ("The fitters edit `config/app.yaml`.", "The fitters edit /srv/kitchen/config/app.yaml by hand."),
        ("The fitters call `measure_wall()`.", "The fitters call measure_wall before each cabinet."),
        ("The fitters want version 2.4.1.", "The fitters want v2.4.1 of the drawing."),
        ("The fitters pass --dry-run.", "The fitters always pass --dry-run to the saw."),
        ("台所の予算は5000円です。", "台所の予算は5000円にします。"),
    ],
)
def test_a_value_is_the_same_however_it_is_written(text: str, quote: str) -> None:
    assert passes(about(text, quote))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("The budget is 1,100 €.", "The budget for the whole kitchen is 1000 euros."),
        ("There are six fitters.", "There are five fitters to choose from, all expensive."),
        ("The fitters want version 2.4.2.", "The fitters want v2.4.1 of the drawing."),
        ("The fitters want Python 3.1.", "The fitters want Python 3.10 for the drawing."),
        ("The fitters edit `config/web.yaml`.", "The fitters edit /srv/kitchen/config/app.yaml by hand."),
        ("The fitters call `MeasureWall`.", "The fitters call measureWall before each cabinet."),
        ("The fitters pass --force.", "The fitters always pass --dry-run to the saw."),
        ("The fitters read https://a.example/b.", "The fitters read https://a.example/c every day."),
        ("The fitters saw error E1042.", "The fitters saw error E1043 on the saw."),
    ],
)
def test_another_value_is_not_quoted(text: str, quote: str) -> None:
    assert "not_quoted" in cases.rules(about(text, quote), Gate.TRACEABILITY)


def test_values_may_be_shared_out_among_the_quotations() -> None:
    two = [{"message": 6, "quote": "The timeout of the worker must be 60 seconds."}]
    two.append({"message": 4, "quote": "Then I set the timeout of the worker to 30 seconds"})
    assert passes(changed("i2", text="The timeout of the worker goes from 30 to 60 seconds.", quotes=two))


def test_a_short_quotation_counts_where_it_is_a_whole_sentence() -> None:
    assert passes(about("The user is not moving.", "I'm not moving."))
    assert "short_quotation" in cases.rules(
        changed("i2", quotes=[{"message": 6, "quote": "timeout"}]), Gate.TRACEABILITY
    )


def test_a_headline_may_repeat_the_source_instead_of_its_items() -> None:
    assert passes(with_headline("We need a job queue for the invoices. Open: I still have to ask the database people."))
    assert passes(with_headline("Leave the retries at 5 …"))


def test_what_the_program_adds_to_a_headline_is_no_sentence_of_it() -> None:
    given = with_headline(
        "The job queue is procrastinate. Open: I still have to ask the database people for the grant on the schema; "
        "+7 more open. (details: migration, Postgres, src/queue/settings.py)"
    )
    assert passes(given)
    assert measure(given).denominator == 6 + 2 + 1


def test_of_a_source_too_short_to_summarise_it_says_no_more_than_that() -> None:
    short = Source(parts=(said(1, "user", "Hello there."),))
    draft = {"headline": "Brief effort: greeting (too short to summarize)", "headline_items": [], "items": []}
    assert passes(cases.judged(draft, source=short, ledger=()))
    assert not passes(cases.judged(draft, ledger=()))


def test_nothing_decided_is_true_where_no_item_tells_of_anything_decided() -> None:
    small = Source(parts=(said(1, "user", "Lighthouses have lenses cut into rings, and they are heavy."),))
    fact = {
        "id": "f",
        "section": "fact",
        "status": "stated",
        "actor": "user",
        "text": "Lighthouses have lenses cut into rings.",
        "quotes": [{"message": 1, "quote": "Lighthouses have lenses cut into rings"}],
    }
    draft = {"headline": "Nothing was decided and nothing is open.", "headline_items": [], "items": [fact]}
    assert passes(cases.judged(draft, source=small, ledger=()))
