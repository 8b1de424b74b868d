"""What a claim names stands in the sentences that it cites, or code says what does not, and where it does."""

from __future__ import annotations

from typing import Any

import pytest

from compaction.domain.artifact import Claim
from compaction.domain.gates.traceability import faults, with_cites
from efforts.domain.text.source_text import Source
from tests.compaction.gates import cases
from tests.compaction.logs import claim, log

TALK = log(
    "The import times out. Jonas says the pooler allows 3600 s at most.",
    "I would set the timeout to 1800 s. The job runs in imports/prices.py at 02:30.",
    "Deploy is on Thursday after closing. Never restart the worker without telling Ines, she closes the month.",
    "Agreed. I moved the matrix, 37 rows were skipped.",
)


def rules(claim: Claim, source: Source) -> list[str]:
    return [fault.rule for fault in faults(claim, source)]


@pytest.mark.parametrize(
    "true",
    [
        claim("The pooler allows one hour at most.", "1.2"),
        claim("The pooler allows 3,600 seconds at most, says Jonas.", "1.2"),
        claim("The job in prices.py starts at 2:30 a.m.", "2.2"),
        claim("37 rows were skipped.", "4.2"),
        claim("The user decides on the deploy.", "3.1", owner="the user", due="Thursday after closing"),
        claim("Deploy is on Thursday.", "3.1", owner="user"),
    ],
)
def test_what_the_cited_sentences_have_is_no_fault(true: Claim) -> None:
    assert rules(true, TALK) == []


@pytest.mark.parametrize(
    ("wrong", "rule"),
    [
        (claim("It cites nothing."), "no_cites"),
        (claim("It cites what is not there.", "1.2", "9.1"), "unknown_cite"),
        (claim("The pooler allows 7200 s at most.", "1.2"), "number_not_cited"),
        (claim("The pooler allows 3600 minutes at most.", "1.2"), "number_not_cited"),
        (claim("Deploy is on Friday.", "3.1"), "date_not_cited"),
        (claim("The job starts at 03:30.", "2.2"), "time_not_cited"),
        (claim("The job runs in imports/models/prices.py.", "2.2"), "path_not_cited"),
        (claim("The pooler is as Farid says.", "1.2"), "name_not_cited"),
        (claim("Deploy after closing.", "3.1", due="Friday"), "due_not_cited"),
        (claim("Deploy after closing.", "3.1", due="end of sprint"), "due_not_cited"),
        (claim("Deploy after closing.", "3.1", owner="Farid"), "owner_not_cited"),
        (claim("Deploy after closing.", "3.1", owner="logistics"), "owner_not_cited"),
    ],
)
def test_what_they_do_not_have_is_a_fault(wrong: Claim, rule: str) -> None:
    assert rules(wrong, TALK) == [rule]


def test_a_fault_tells_where_the_value_does_stand() -> None:
    [fault] = faults(claim("The deploy skipped 37 rows.", "3.1"), TALK)
    assert fault.text == "“37” stands in 4.2, but in no cited sentence"
    assert fault.text == "“37” stands in 4.2, but in no cited sentence"
    [fault] = faults(claim("The deploy skipped 73 rows.", "3.1"), TALK)
    assert fault.text == "“73” stands nowhere in the log"


def test_what_stands_in_one_other_sentence_that_speaks_of_it_is_cited_by_code() -> None:
    mended = with_cites(claim("After the matrix was moved, 37 rows were skipped.", "1.1"), TALK)
    assert mended.cites == ("1.1", "4.2")
    assert rules(mended, TALK) == []


def test_no_cite_is_added_for_what_stands_in_two_sentences() -> None:
    source = log("Use 40 workers. Later 40 more workers.", "The workers are slow.")
    slow = claim("The 40 workers are slow.", "2.1")
    assert with_cites(slow, source) == slow
    assert rules(slow, source) == ["number_not_cited"]


def test_no_cite_is_added_where_a_cited_sentence_has_another_value_in_its_place() -> None:
    source = log("Further rounds at 65 EUR an hour.", "Further rounds are 80 EUR an hour then.")
    first = claim("Further rounds are 65 EUR an hour.", "2.1")
    assert with_cites(first, source) == first
    assert rules(first, source) == ["number_not_cited"]


def test_no_cite_is_added_that_speaks_of_something_else() -> None:
    source = log("Dinner is for 90 people.", "The import is slow.")
    slow = claim("The import takes 90 minutes.", "2.1")
    assert with_cites(slow, source) == slow


def test_a_name_may_stand_in_the_message_before() -> None:
    source = log("What about Ljubljana?", "Two hotels fit, both with parking.", "Take the cheaper one.")
    assert rules(claim("In Ljubljana two hotels fit.", "2.1"), source) == []
    assert rules(claim("In Ljubljana they take the cheaper one.", "3.1"), source) == ["name_not_cited"]


def test_a_name_may_stand_in_the_message_that_is_cited() -> None:
    source = log("Fine.", "Fine.", "Fine.", "We go to Ljubljana. Two hotels fit, both with parking.")
    assert rules(claim("In Ljubljana two hotels fit.", "4.2"), source) == []


def test_who_speaks_is_named_by_the_header() -> None:
    source = log(
        *(("user", text) for text in ("Ana: I write the text.", "Ben: Fine.", "Cleo: I book it.", "Ben: Good."))
    )
    assert rules(claim("A text is written by Ana.", "1.1", owner="Ana"), source) == []
    assert rules(claim("A text is written by Cleo.", "1.1", owner="Cleo"), source) == [
        "name_not_cited",
        "owner_not_cited",
    ]


def test_nouns_of_a_language_with_capitals_are_no_names() -> None:
    source = log("Wir nehmen die Fähre am Morgen, weil der Zug am Abend zu spät in der Stadt ist.", "Gut.")
    assert rules(claim("Die Entscheidung fiel auf die Fähre.", "1.1"), source) == []


def test_a_word_that_the_log_has_in_small_letters_is_no_name() -> None:
    source = log("We take the night train.", "Good, the staircase is for later.")
    assert rules(claim("They take the Night Train.", "2.1"), source) == []


@pytest.mark.parametrize(
    ("said", "changes", "expected"),
    [
        ("I finish it tomorrow.", {"due": "2026-03-06"}, []),
        ("I finish it tomorrow.", {"due": "Friday"}, []),
        ("I finish it on Friday.", {"due": "6 March"}, []),
        ("I finish it on Friday.", {"due": "7 March"}, ["due_not_cited"]),
        ("I finish it on 12 March.", {"due": "6 March"}, ["due_not_cited"]),
        ("I finish it tomorrow.", {"due": "6 June"}, ["due_not_cited"]),
    ],
)
def test_a_day_may_be_reckoned_from_the_one_on_which_it_was_said(
    said: str, changes: dict[str, Any], expected: list[str]
) -> None:
    assert rules(claim("They finish it.", "1.1", **changes), log(said, said_on="2026-03-05")) == expected


@pytest.mark.parametrize(
    ("text", "word_for_word"),
    [
        ("never restart the worker without telling Ines, she closes the month", True),
        ("Never restart the worker  without telling Ines, she closes the month!", True),
        ("Never restart the worker without telling Ines", True),
        ("Deploy is on Thursday after closing. Never restart the worker without telling Ines.", True),
        ("Never restart the worker without asking Ines.", False),
        ("Restart the worker without telling Ines.", True),
        ("Avoid restarting the worker without telling Ines.", False),
        ("ever restart the worker without telling Ines", False),
    ],
)
def test_a_rule_stands_word_for_word(text: str, word_for_word: bool) -> None:
    rule = claim(text, "3.1", "3.2", section="rule")
    assert ("not_word_for_word" not in rules(rule, TALK)) == word_for_word


def test_quotation_marks_of_a_rule_may_differ() -> None:
    source = log("Rule: never call it ‘final’.")
    assert rules(claim('never call it "final"', "1.1", section="rule"), source) == []


@pytest.mark.parametrize("owner", ["assistant", "the assistant", "user"])
def test_a_role_as_owner_is_the_readers_matter_whoever_is_cited(owner: str) -> None:
    told = cases.claim(section="open_work", status="open", text="Please find out why.", owner=owner, cites=["1.2"])
    assert list(faults(told, cases.source())) == []
