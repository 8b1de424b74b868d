"""The digest: quotations with speaker and turn, entries first and whole, within its limit."""

from __future__ import annotations

import json
import re
from collections.abc import Collection
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import Artifact, Kind, Section, SourceRef, Status
from compaction.domain.digest import LEAST, MOST, SHARE, digest, digest_limit, formal_in
from compaction.domain.ledger import Entry
from compaction.domain.rendering import digest_text, headline_of
from compaction.drafting.scopes import of_the_engine
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn, ToolCall
from efforts.domain.text.source_text import Source, source_of
from efforts.llm.builtin.replies import LATER, NOTED, noted
from tests.compaction.gates.cases import count, entry

DECIDED = entry("decision-1", Section.DECISION, Status.ACCEPTED, "We take the rubber case.", "1.2")
OPEN = entry("open_work-2", Section.OPEN_WORK, Status.OPEN, "Ana asks the printer.", "2.1")
RED = entry("decision-4", Section.DECISION, Status.ACCEPTED, "We take it in red.", "1.1")
RULE = entry("constraint-3", Section.RULE, Status.IN_FORCE, "Nothing above 12 euros.", "1.2")


def source(*texts: str) -> Source:
    return source_of(past(*texts))


def past(*texts: str) -> list[PastTurn]:
    return [
        PastTurn(
            number=number + 1,
            state=RunState.COMPLETED,
            messages=(
                LogMessage(id=2 * number + 1, role="user", text=text, tokens=1),
                LogMessage(id=2 * number + 2, role="assistant", text=f"Noted. {text}", tokens=1),
            ),
        )
        for number, text in enumerate(texts)
    ]


def card(log: Source, *entries: Entry, formal: Collection[str] = ()) -> Artifact | None:
    ref = SourceRef(
        session="s",
        branch="b",
        effort="case",
        start=log.turns[0],
        end=log.turns[-1],
        turns=log.turns,
        source_sha256=log.sha256,
        source_tokens=count(log.said),
    )
    return digest(log, ref, name="The case", entries=entries, evidence=(), count=count, formal=formal)


LONG = source(*(f"This is what was said in round {number}. We take the rubber case and go on." for number in range(40)))


def test_it_is_headed_as_excerpts_and_says_how_much_there_is() -> None:
    made = card(LONG)
    assert made is not None
    assert made.kind == Kind.DIGEST
    assert made.claims == ()
    assert digest_text(made).startswith("Excerpts, not a summary. The case, turns 1-40 (40 turns: expand).\n")


def test_every_line_names_its_speaker_and_turn_and_is_word_for_word_of_the_log() -> None:
    made = card(LONG)
    assert made is not None
    assert [excerpt.label for excerpt in made.excerpts][:1] == ["[turn 1, user]"]
    # The newest of the person's, before any of the replies.
    assert sum(", user]" in excerpt.label for excerpt in made.excerpts) > 5
    assert all(" ".join(excerpt.text.split()) in " ".join(LONG.said.split()) for excerpt in made.excerpts)


def test_it_is_known_by_what_was_asked_first() -> None:
    made = card(LONG, DECIDED)
    assert made is not None
    assert made.opening == made.excerpts[1].text
    assert made.opening == "This is what was said in round 0. We take the rubber case and go on."
    assert headline_of(made) == made.opening


def test_of_a_short_log_too_it_quotes_what_was_asked() -> None:
    made = card(source("Customers say that the export of invoices stops after 10,000 rows.", "It was a limit. " * 20))
    assert made is not None
    assert [excerpt.label for excerpt in made.excerpts][:1] == ["[turn 1, user]"]


def test_where_no_sentence_of_it_fits_it_is_known_by_its_name() -> None:
    made = card(source("on and " * 80))
    assert made is not None
    assert headline_of(made) == "The case"


def test_what_the_person_keeps_comes_first_rules_before_work_before_decisions() -> None:
    made = card(LONG, DECIDED, OPEN, RULE)
    assert made is not None
    assert [excerpt.text for excerpt in made.excerpts[:3]] == [RULE.text, OPEN.text, DECIDED.text]
    assert made.excerpts[0].label == "Rule (turn 1, user)"


def test_what_is_listed_is_not_quoted_once_more() -> None:
    made = card(source("We take it in red. The printer is asked on Monday. " + "It is dull. " * 90), RED)
    assert made is not None
    assert made.opening.startswith("The printer is asked on Monday.")
    assert digest_text(made).count("We take it in red") == 1


def test_the_room_is_filled_with_the_newest_that_the_person_said() -> None:
    log = source(*(f"On day {number} the crew carried {number} barrels to the pier." for number in range(30)))
    made = card(log)
    assert made is not None
    limit = digest_limit(count(log.said))
    assert 0.85 * limit <= count(digest_text(made)) <= limit
    turns = [int(re.findall(r"\d+", one.label)[0]) for one in made.excerpts if one.label.endswith("user]")]
    assert turns == [1, *range(31 - len(turns) + 1, 31)]


def test_of_the_list_the_newest_that_fit_are_quoted_and_the_others_counted() -> None:
    log = source(*(f"Remark {number}. " + "Nobody minded the rain. " * 6 for number in range(20)))
    entries = [
        entry(
            f"decision-{n}",
            Section.DECISION,
            Status.ACCEPTED,
            f"For case {n} we take rubber {n}, " + "and so on " * 9,
            f"{n}.1",
        )
        for n in range(1, 30, 2)
    ]
    made = card(log, *entries)
    assert made is not None
    quoted = [excerpt.text for excerpt in made.excerpts if excerpt.label.startswith("Decision")]
    assert quoted
    assert quoted == [" ".join(one.text.split()) for one in reversed(entries)][: len(quoted)]
    assert f"{len(entries) - len(quoted)} of your list did not fit." in made.title


def test_turns_of_other_efforts_in_between_are_not_counted_among_its_own() -> None:
    log = LONG.between({1, 2, 3, 6})
    made = card(log)
    assert made is not None
    assert "The case, turns 1-3, 6 (4 turns: expand)." in made.title


def call(tool: str, **given: str) -> ToolCall:
    return ToolCall(id=tool, name=tool, arguments=json.dumps(given))


def with_call(turn: PastTurn, made: ToolCall, reply: str) -> PastTurn:
    user, _ = turn.messages
    called = LogMessage(id=1000 + user.id, role="assistant", text="", tokens=1, tool_calls=(made,))
    said = LogMessage(id=2000 + user.id, role="assistant", text=reply, tokens=1)
    return replace(turn, messages=(user, called, said))


def answered(turn: PastTurn, reply: str) -> PastTurn:
    user, said = turn.messages
    return replace(turn, messages=(user, replace(said, text=reply)))


def party() -> list[PastTurn]:
    turns = past(
        "Let us start with the summer party. It is on 14 July, with 65 people.",
        *(f"Table {number} gets {number} lamps and the summer party needs them by noon." for number in range(8)),
        "That was it, the party is settled.",
    )
    said = "That was it, the party is settled"
    closing = call("close_effort", id="summer-party", said=said)
    turns[0] = with_call(turns[0], call("open_effort", name="Summer party"), "Started the effort summer-party.")
    turns[-1] = with_call(turns[-1], closing, "Concluded the effort summer-party. The bill of 950 euros is paid.")
    return turns


def test_what_opens_or_concludes_an_effort_is_known_by_the_calls_of_its_turn() -> None:
    log = source_of(party())
    formal = formal_in(log, party(), ["Summer party"])
    assert [log.by_sentence[id].text for id in log.by_sentence if id in formal] == [
        "Let us start with the summer party.",
        "Started the effort summer-party.",
        "That was it, the party is settled.",
        "Concluded the effort summer-party.",
    ]


def test_where_the_model_did_nothing_it_is_known_by_the_words_of_the_person() -> None:
    turns = past(
        "The party is on 14 July.",
        "The summer party is cancelled.",
        "The party bill is paid.",
        "Done, the party is planned.",
    )
    log = source_of(turns)
    formal = formal_in(log, turns, ["party"])
    assert [log.by_sentence[id].text for id in log.by_sentence if id in formal] == ["Done, the party is planned."]


def test_it_takes_no_place_of_what_was_said() -> None:
    log = source_of(party())
    made = card(log, formal=formal_in(log, party(), ["Summer party"]))
    assert made is not None
    assert made.opening == "It is on 14 July, with 65 people."
    text = digest_text(made)
    assert "Let us start" not in text
    assert "Concluded the effort" not in text
    assert "Table 7 gets 7 lamps" in text


def test_where_nothing_else_was_said_it_quotes_that_an_effort_was_opened() -> None:
    log = source_of(past(*(f"Let us start with party {number}, which we shall never hold." for number in range(12))))
    made = card(log, formal=frozenset(log.by_sentence))
    assert made is not None
    assert made.opening == "Let us start with party 0, which we shall never hold."


def test_what_the_built_in_engine_says_of_itself_takes_no_place() -> None:
    turns = past("The movers come in June.", "They cost 4,200 euros.")
    turns[0] = answered(turns[0], noted())
    turns[1] = answered(turns[1], "You are welcome. The bill is paid.")
    log = source_of(turns)
    said = [log.by_sentence[id].text for id in log.by_sentence if id in of_the_engine(log)]
    assert said == [NOTED, LATER]


@pytest.mark.parametrize("arguments", ["[not json", "[" * 7_000, '{"name":' * 7_000])
def test_calls_that_cannot_be_read_hide_nothing(arguments: str) -> None:
    broken = ToolCall(id="1", name="open_effort", arguments=arguments)
    turns = [with_call(past("We buy lamps for the party.")[0], broken, "Started.")]
    assert formal_in(source_of(turns), turns, []) == frozenset()


def test_nothing_unconfirmed_is_sorted_under_anything() -> None:
    proposed = entry("decision-9", Section.DECISION, Status.PROPOSED, "Perhaps wood.", "1.2")
    made = card(LONG, proposed)
    assert made is not None
    assert {excerpt.label[0] for excerpt in made.excerpts} == {"["}


TEXTS = st.lists(st.text(alphabet="abc d.e", min_size=1, max_size=80), min_size=1, max_size=30)
ENTRIES = st.lists(
    st.tuples(st.sampled_from([DECIDED, OPEN, RULE]), st.text(alphabet="xyz ", min_size=1, max_size=200)), max_size=12
)


@given(texts=TEXTS, more=ENTRIES)
def test_it_is_within_its_limit_and_no_entry_in_it_is_cut(texts: list[str], more: list[tuple[Entry, str]]) -> None:
    log = source(*texts)
    entries = [
        entry(f"e{number}", one.section, one.status, f"start {text} end", "1.1")
        for number, (one, text) in enumerate(more)
    ]
    made = card(log, *entries)
    if made is None:
        return
    tokens = count(log.said)
    assert count(digest_text(made)) <= digest_limit(tokens) <= max(LEAST, min(int(tokens * SHARE), MOST))
    assert count(digest_text(made)) < tokens
    kept = [excerpt.text for excerpt in made.excerpts if not excerpt.label.startswith("[")]
    assert set(kept) <= {" ".join(one.text.split()) for one in entries}
    left = len(entries) - len(kept)
    assert (f"{left} of your list did not fit" in made.title) == bool(left)


@given(texts=TEXTS)
def test_the_same_log_gives_the_same_card(texts: list[str]) -> None:
    assert card(source(*texts)) == card(source(*texts))


def test_chosen_turns_are_named_once() -> None:
    said = source(
        "We moor at the old pier from Monday on, as the new one is being painted until the end of the month. " * 3
    )
    ref = SourceRef(
        session="", branch="", effort=None, start=1, end=1, turns=(1,), source_sha256="", source_tokens=count(said.said)
    )
    made = digest(said, ref, name="Turn 1", entries=(), evidence=(), count=count)
    assert made is not None
    assert made.title.lower().count("turn 1") == 1
