"""The digest: quotations with speaker and turn, entries first and whole, within its limit."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import Artifact, Kind, Section, SourceRef, Status
from compaction.domain.digest import LEAST, MOST, SHARE, digest, digest_limit
from compaction.domain.ledger import Entry
from compaction.domain.rendering import digest_text, headline_of
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage, PastTurn
from efforts.domain.text.source_text import Source, source_of
from tests.compaction.gates.cases import count, entry

DECIDED = entry("decision-1", Section.DECISION, Status.ACCEPTED, "We take the rubber case.", "1.2")
OPEN = entry("open_work-2", Section.OPEN_WORK, Status.OPEN, "Ana asks the printer.", "2.1")
RULE = entry("constraint-3", Section.RULE, Status.IN_FORCE, "Nothing above 12 euros.", "1.2")


def source(*texts: str) -> Source:
    return source_of(
        [
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
    )


def card(log: Source, *entries: Entry) -> Artifact | None:
    ref = SourceRef(
        session="s",
        branch="b",
        effort="case",
        start=1,
        end=len(log.turns),
        turns=log.turns,
        source_sha256=log.sha256,
        source_tokens=count(log.said),
    )
    return digest(log, ref, name="The case", entries=entries, evidence=(), count=count)


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
    assert [excerpt.label for excerpt in made.excerpts] == ["[turn 1, user]", "[turn 40, assistant]"]
    assert all(" ".join(excerpt.text.split()) in " ".join(LONG.said.split()) for excerpt in made.excerpts)


def test_it_is_known_by_what_was_asked_first() -> None:
    made = card(LONG, DECIDED)
    assert made is not None
    assert (
        made.opening == made.excerpts[1].text == "This is what was said in round 0. We take the rubber case and go on."
    )
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
