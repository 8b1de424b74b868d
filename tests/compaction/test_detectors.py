"""What contradicts the ledger, the log or another claim, by values and states alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from compaction.domain.artifact import Claim, Section, Status
from compaction.domain.gates.contradiction import contradictions
from compaction.domain.ledger import Entry
from efforts.domain.text.source_text import Source
from tests.compaction.logs import claim, log, run

REPORT = log("The report mail is still missing, I finish the report mail myself.", "Fine.")


def rules(
    claims: Sequence[Claim], source: Source, entries: Sequence[Entry] = (), told: Mapping[str, tuple[str, ...]] = {}
) -> list[tuple[str, str]]:
    return [(found.rule, found.about) for found in contradictions(claims, source, tuple(entries), told)]


def entry(text: str, *sentences: str, section: str = "open_work", status: str = "open") -> Entry:
    return Entry(id="e1", section=Section(section), status=Status(status), text=text, sentences=sentences)


# The ledger


@pytest.mark.parametrize(
    ("section", "claimed", "ledger", "clashes"),
    [
        ("open_work", "done", "open", True),
        ("open_work", "open", "done", True),
        ("open_work", "dropped", "open", True),
        ("open_work", "blocked", "open", False),
        ("open_work", "done", "done", False),
        ("rule", "revoked", "in_force", True),
        ("rule", "in_force", "in_force", False),
    ],
)
def test_a_claim_with_a_status_that_excludes_the_ledgers(
    section: str, claimed: str, ledger: str, clashes: bool
) -> None:
    told = claim("The report mail.", "1.1", section=section, status=claimed)
    known = entry("Finish the report.", "1.1", section=section, status=ledger)
    assert rules([told], REPORT, [known], {"e1": ("c1",)}) == ([("status", "c1")] if clashes else [])


def test_open_work_told_as_a_change_that_was_made() -> None:
    told = claim("The report mail was finished.", "1.1", section="changed")
    assert rules([told], REPORT, [entry("Finish the report mail.", "1.1")], {"e1": ("c1",)}) == [("status", "c1")]


def test_without_a_mapping_the_claim_says_which_entry_it_keeps() -> None:
    told = claim("The report mail.", "1.1", section="open_work", status="done", ledger_ref="e1")
    assert rules([told], REPORT, [entry("Finish the report.", "1.1")]) == [("status", "c1")]


def test_or_it_shares_a_sentence_and_the_words() -> None:
    known = entry("The user finishes the report mail.", "1.1")
    same = claim("The user finished the report mail.", "1.1", section="open_work", status="done")
    other = claim("A template was chosen.", "1.1", section="open_work", status="done")
    elsewhere = claim("The user finished the report mail.", "2.1", section="open_work", status="done")
    assert rules([same], REPORT, [known]) == [("status", "c1")]
    assert rules([other], REPORT, [known]) == []
    assert rules([elsewhere], REPORT, [known]) == []


def test_an_entry_that_another_claim_tells_rightly_is_told() -> None:
    half = claim("Half of the report mail.", "1.1", section="open_work", status="done")
    rest = claim("The report mail is to be finished.", "1.1", section="open_work", id="c2")
    assert rules([half, rest], REPORT, [entry("Finish the report mail.", "1.1")], {"e1": ("c1", "c2")}) == []


def test_a_decision_may_tell_what_it_stands_in_place_of() -> None:
    source = log("RQ it is, not Celery.")
    told = claim("RQ is the queue instead of Celery.", "1.1", section="decision")
    known = entry("Celery is the queue for jobs.", "1.1", section="decision", status="superseded")
    assert rules([told], source, [known], {"e1": ("c1",)}) == []


# Commands


@pytest.mark.parametrize(
    ("text", "result", "expected"),
    [
        ("The tests ended with exit 0.", "2 failed\nexit status 1", ["exit_status"]),
        ("The tests ended with exit code 1.", "2 failed\nexited with 1", []),
        ("The tests passed.", "2 failed\nexit 1", []),
        ("It gave 12 passed, 0 failed.", "10 passed, 2 failed in 3 s", ["count", "count"]),
        ("It gave 10 passed.", "10 passed, 2 failed in 3 s", []),
        ("It gave 10 passed.", "collected 12 items", []),
        ("The query returned 0 rows.", "exit 1", []),
    ],
)
def test_what_a_claim_says_of_a_command_is_what_its_output_says(text: str, result: str, expected: list[str]) -> None:
    for cite in ("1.1", "2.1"):
        assert [rule for rule, _ in rules([claim(text, cite)], run("pytest -q", result))] == expected


# The order of values


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("Total churn 6.1 % in Q1, 8.7 % in Q2.", "Churn was 8.7 % in Q1 and 6.1 % in Q2."),
        ("Four nights there, three in Ljubljana.", "Bohinj for three nights and Ljubljana for four."),
        ("It sold 11,000 tickets, it would have needed 19,000.", "It sold 19,000 tickets but needed 11,000."),
        ("load_rows() outside, save_rows() inside the block.", "save_rows() runs outside and load_rows() inside."),
    ],
)
def test_paired_values_that_change_places(said: str, claimed: str) -> None:
    assert rules([claim(claimed, "1.1")], log(said)) == [("order", "c1")]


@pytest.mark.parametrize(
    ("said", "claimed"),
    [
        ("Total churn 6.1 % in Q1, 8.7 % in Q2.", "Churn rose from 6.1 % in Q1 to 8.7 % in Q2."),
        ("Four nights there, three in Ljubljana.", "Three nights in Ljubljana and four there."),
        ("Four nights there, three in Ljubljana.", "Bohinj for four nights and Ljubljana for three."),
        ("Batch size 500, the 5000 we have now blocked it.", "The batch size goes down from 5000 to 500."),
        ("7200 is not allowed, the maximum is 3600.", "7200 was given up, as the pooler allows 3600."),
        # What stands twice tells no value from the other.
        ("Hamburg answered in 3 s, Kiel answered in 5 s.", "Kiel answered in 5 s, Hamburg answered in 3 s."),
        # Nor does a mark, or a word that only holds a sentence together.
        ("It was 6.1 % in Q1, 8.7 % in Q2.", "It was 8.7 % in Q2, 6.1 % in Q1."),
        ("The pump wants 3 bar, the valve 5 bar.", "The valve wants 5 bar, the pump 3 bar."),
    ],
)
def test_other_words_for_the_same_values_are_fine(said: str, claimed: str) -> None:
    assert rules([claim(claimed, "1.1")], log(said)) == []


# The latest value


def test_a_value_that_a_later_sentence_says_otherwise() -> None:
    source = log("The read timeout of the client is 30 s.", "Fine.", "The read timeout of the client is 45 s.")
    assert rules([claim("The client's read timeout is 30 s.", "1.1")], source) == [("later_value", "c1")]
    assert rules([claim("The client's read timeout is 45 s.", "3.1")], source) == []
    for cites in (["1.1", "3.1"], ["1.1"]):
        assert rules([claim("The read timeout went from 30 s to 45 s.", *cites)], source) == []


def test_what_is_told_as_superseded_may_have_the_earlier_value() -> None:
    source = log("The read timeout of the client is 30 s.", "Fine.", "The read timeout of the client is 45 s.")
    first = claim("The client's read timeout is 30 s.", "1.1", section="decision", status="superseded")
    assert rules([first], source) == []


@pytest.mark.parametrize(
    "later",
    [
        "Is the read timeout of the client 45 s?",
        "The write timeout of our server is 45 s.",
        "The read timeout of the client is 30 s for 45 users.",
        "The read timeout of the client is 30 s.",
    ],
)
def test_a_question_or_another_matter_changes_nothing(later: str) -> None:
    source = log("The read timeout of the client is 30 s.", "Fine.", later)
    assert rules([claim("The client's read timeout is 30 s.", "1.1")], source) == []


def test_what_programs_print_again_with_other_values_changes_nothing() -> None:
    source = log("The import batch took 30 s.", ("tool", "The import batch took 45 s."))
    assert rules([claim("The import batch took 30 s.", "1.1")], source) == []


# Claims


def test_two_claims_that_say_the_same_with_another_value() -> None:
    one = claim("The read timeout of the client is 30 s.", "1.1")
    other = claim("The client's read timeout is 45 s.", "1.1", id="c2")
    source = log("First 30 s, then 45 s for the client.")
    assert rules([one, other], source) == [("claims_differ", "c2")]


def test_two_claims_that_say_the_same_with_statuses_that_exclude_each_other() -> None:
    one = claim("The report mail is finished by Ines.", "1.1", section="open_work")
    other = claim("The report mail is finished by Ines.", "1.1", section="open_work", status="done", id="c2")
    assert rules([one, other], REPORT) == [("claims_differ", "c2")]


def test_a_superseded_decision_beside_the_one_that_stands() -> None:
    one = claim("The read timeout of the client is 30 s.", "1.1", section="decision", status="superseded")
    other = claim("The read timeout of the client is 45 s.", "1.1", section="decision", id="c2")
    assert rules([one, other], log("First 30 s, then 45 s for the client.")) == []


def test_claims_about_two_things_may_have_two_values() -> None:
    one = claim("parse_row() takes 3 arguments of any type.", "1.1")
    other = claim("parse_table() takes 3 arguments of any type.", "1.1", id="c2")
    assert rules([one, other], log("parse_row() and parse_table() take 3 arguments of any type.")) == []
