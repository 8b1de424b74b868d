"""The table of plain phrases: each does what its example says, and nothing is done on doubt."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from efforts.domain.effort.phrases import LONGEST_SAID, TABLE, Known, Phrase, Said, Wish, plain, topic_of, wishes

BOILER = "boiler-repair"
KNOWN = (
    Known(active=BOILER, open=(BOILER,)),
    Known(active="tax", open=("tax", BOILER)),
    Known(concluded=(BOILER,)),
    Known(expanded=(BOILER,)),
    Known(),
)
WORK = Known(active="auth-bug", open=("auth-bug", "invoice-export"), concluded=("database-migration",))
PLAIN = tomllib.loads((Path(__file__).parent / "plain_requests.toml").read_text())
# What is begun may be called either.
MEANT = {kind: {kind} for kind in PLAIN} | {"open": {"open", "begin"}}


def said(text: str, known: Known = WORK) -> list[tuple[str, str]]:
    return [(one.wish.value, one.effort or one.words) for one in wishes(text, known)]


@pytest.mark.parametrize("phrase", TABLE, ids=lambda phrase: phrase.example)
def test_each_phrase_does_what_its_example_says(phrase: Phrase) -> None:
    assert phrase.pattern.fullmatch(plain(phrase.example)), "the example is none of this row"
    outright = [one for known in KNOWN for one in wishes(phrase.example, known) if one.outright]
    assert phrase.wish in [one.wish for one in outright]


def test_every_wish_has_a_phrase() -> None:
    assert {phrase.wish for phrase in TABLE} == set(Wish)


def test_of_sixty_requests_that_the_table_has_not_seen_eighty_in_a_hundred_are_understood() -> None:
    understood = [
        text for kind, texts in PLAIN.items() for text in texts if MEANT[kind] & {wish for wish, _ in said(text)}
    ]
    assert sum(map(len, PLAIN.values())) == 60
    assert len(understood) >= 48


@pytest.mark.parametrize(
    "text",
    """
    is it done?
    almost done, only the footnotes are left
    when this is done we can go
    once it's fixed I'll tell you
    it is not fixed
    that should be fixed but it still crashes
    it's done, but the logo is wrong
    not done yet
    what's done so far?
    the login part is done, next the logout
    I hope it works now
    the timeout is fixed at 30 seconds
    let's pause
    done for today
    brb
    The handler waits for the ledger. We decided to move the ledger write to a queue.
    """.strip().splitlines(),
)
def test_what_only_sounds_like_it_does_nothing(text: str) -> None:
    assert said(text.strip()) == []


def test_what_ends_an_effort_among_other_words_is_no_more_than_an_offer() -> None:
    [one] = wishes("The report comes on Friday. That's done.", WORK)
    assert (one.wish, one.effort, one.outright) == (Wish.CONCLUDE, "auth-bug", False)


def test_a_name_is_known_in_both_its_forms() -> None:
    known = Known(open=("auth-bug",), names={"auth-bug": "Login trouble"})
    assert (
        said("The login trouble is solved.", known) == said("auth-bug is solved", known) == [("conclude", "auth-bug")]
    )


def test_two_that_could_be_meant_are_asked_about_and_not_guessed() -> None:
    assert said("Back to the report.", Known(open=("tax-report", "trip-report"))) == []


def test_one_word_of_a_long_name_leads_there_and_ends_nothing() -> None:
    known = Known(active="tax", open=("tax", "summer-party-for-office"))
    assert said("Back to the party.", known) == [("switch", "summer-party-for-office")]
    assert said("The office is done.", known) == []


def test_a_topic_is_named_in_a_few_words() -> None:
    told = "Let's find out why the import of the new supplier fails on Mondays"
    assert said(told) == [("begin", "import of new supplier fails")]


def test_a_topic_keeps_the_capitals_it_was_written_with() -> None:
    assert said("Let's debug the Zahlungs-Webhook für München.") == [("begin", "Zahlungs-Webhook für München")]
    assert said("Let’s plan “Q3 Offsite”, please.") == [("begin", "Q3 Offsite")]
    assert said("Let's fix the DNS of the Straße app") == [("begin", "DNS of Straße app")]


def test_one_that_exists_by_that_name_is_gone_on_with() -> None:
    assert said("New topic: invoice export") == [("switch", "invoice-export")]
    assert said("Let's work on the database migrations") == [("reopen", "database-migration")]
    assert said("New topic: auth bug") == []


def test_the_sentence_is_copied_letter_by_letter() -> None:
    assert wishes("Puh.  It’s  SOLVED now!  Thanks.", WORK) == (
        Said(wish=Wish.CONCLUDE, effort="auth-bug", sentence="It’s  SOLVED now!", outright=True),
    )


def test_what_is_pasted_or_long_says_nothing() -> None:
    assert said("```\nIt works now.\n```") == said("It works now. " * 40) == []


def test_a_message_of_just_the_longest_length_is_read() -> None:
    assert said("It works now.".ljust(LONGEST_SAID)) == [("conclude", "auth-bug")]
    assert said("It works now.".ljust(LONGEST_SAID + 1)) == []


@pytest.mark.slow
@pytest.mark.skipif(not os.environ.get("CCM_DATA"), reason="CCM_DATA is not set")
def test_on_the_messages_of_other_people_hardly_anything_is_opened_or_concluded() -> None:
    """Nobody who wrote these has ever seen an effort: whatever is opened or concluded here is a mistake."""
    folder = Path(os.environ["CCM_DATA"])
    told = {
        message["text"]
        for name in ("longmemeval", "locomo", "trust", "swe-agent")
        for line in (folder / f"{name}-dev.jsonl").read_text().splitlines()
        for message in json.loads(line)["messages"]
        if message["role"] == "user" or name == "locomo"
    }
    wrong = {
        text
        for text in told
        for known in (WORK, Known())
        for one in wishes(text, known)
        if one.outright and one.wish in (Wish.OPEN, Wish.BEGIN, Wish.CONCLUDE)
    } | {
        # Where no effort is active, the built-in engine begins one that a message begins with.
        text
        for text in told
        for one in wishes(text, Known())
        if one.wish == Wish.BEGIN and text.lstrip().startswith(one.sentence)
    }
    assert len(told) > 3_000
    assert len(wrong) <= 5


@pytest.mark.parametrize(
    ("words", "topic"),
    [
        ("the boiler, please", "boiler"),
        ("my tax form for", "tax form"),
        ("the", ""),
        ("", ""),
        ("and what it is", ""),
    ],
)
def test_a_topic_is_the_words_that_name_something(words: str, topic: str) -> None:
    assert topic_of(words) == topic
