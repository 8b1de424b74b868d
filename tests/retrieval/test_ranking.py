"""How a message is ranked: by its own words, and by a share of what stands beside it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.prompt.need import NOTHING_FOUND, SHOWN_BETTER, TOO_LITTLE, asks, asks_in_passing, why_not
from efforts.domain.text.dates import days_named, spans_named
from efforts.domain.text.ranking import SHORT_TURN, Days, Found, Ranked, Ranking, Statistics, by_effort
from efforts.domain.text.terms import marks, query_terms

TODAY = date(2026, 11, 20)


def rank(found: Iterable[Found], statistics: Statistics, days: Days = ()) -> list[Ranked]:
    ranking = Ranking(statistics=statistics, days=days)
    ranking.add(found)
    return ranking.ranked()


def passage(
    message: int,
    *counts: int,
    number: int = 0,
    effort: str = "",
    said_on: str = "2026-11-01",
    role: str = "user",
    turn_tokens: int = 0,
    place: int = 0,
) -> Found:
    """Passage of a message that is a turn by itself, unless its number is given."""
    return Found(
        passage=message * 10 + place,
        message=message,
        turn=number or message,
        timeline="main",
        number=number or message,
        effort=effort,
        role=role,
        said_on=said_on,
        start=0,
        end=1,
        length=20,
        counts=counts,
        turn_tokens=turn_tokens,
    )


def statistics(*frequencies: int) -> Statistics:
    return Statistics(passages=100, frequencies=frequencies)


def order(*found: Found, frequencies: tuple[int, ...], days: tuple[tuple[str, str], ...] = ()) -> list[int]:
    return [one.found.message for one in rank(found, statistics(*frequencies), days) if one.score]


def test_four_words_go_before_two_of_them() -> None:
    assert order(passage(1, 1, 1, 0, 0), passage(20, 1, 1, 1, 1), frequencies=(5, 5, 5, 5)) == [20, 1]


def test_a_rare_word_goes_before_a_frequent_one() -> None:
    assert order(passage(1, 5, 0), passage(20, 0, 1), frequencies=(60, 2)) == [20, 1]


def test_the_reply_to_a_message_with_the_word_goes_before_a_message_far_away_that_lacks_it() -> None:
    question, reply, far = passage(1, 1, number=1), passage(2, 0, number=1), passage(9, 0, number=40)
    assert order(question, reply, far, frequencies=(3,)) == [1, 2]


def test_a_word_beside_counts_less_the_further_away_it_stands_and_once_only() -> None:
    ranked = rank([passage(number, int(number in (10, 11))) for number in range(5, 17)], statistics(3))
    scores = {one.found.number: one.score for one in ranked}
    assert scores[10] == scores[11] > scores[12] == scores[9] > scores[13] > scores[14] == 0


def test_a_long_turn_gives_little_to_the_turns_beside_it() -> None:
    def beside(tokens: int) -> float:
        ranked = rank([passage(1, 1, turn_tokens=tokens), passage(2, 0)], statistics(3))
        return next(one.score for one in ranked if one.found.message == 2)

    assert beside(50) == beside(SHORT_TURN) > beside(2 * SHORT_TURN) > beside(20 * SHORT_TURN) > 0


def test_in_a_long_exchange_the_question_goes_with_half_of_what_its_reply_has() -> None:
    asked = passage(1, 1, 0, number=1, turn_tokens=6_000)
    reply = passage(2, 0, 1, number=1, role="assistant", turn_tokens=6_000)
    alone = passage(9, 1, 0, number=9, turn_tokens=6_000)
    assert order(asked, reply, alone, frequencies=(3, 3)) == [1, 2, 9]


def test_many_passages_of_a_long_reply_do_not_add_up() -> None:
    spread = [passage(1, *counts, place=at, turn_tokens=6_000) for at, counts in enumerate([(1, 0, 0), (0, 1, 0)])]
    dense = passage(5, 0, 1, 1, turn_tokens=6_000)
    one_word = passage(9, 0, 1, 0, turn_tokens=6_000)
    ranked = {one.found.message: one for one in rank([*spread, dense, one_word], statistics(5, 5, 5))}
    assert ranked[5].score > ranked[1].score == ranked[9].score
    assert ranked[1].own == (0,)


def test_beside_another_effort_nothing_is_shared() -> None:
    scores = {
        one.found.message: one.score
        for one in rank(
            [passage(1, 1, effort="a"), passage(2, 0, effort="b"), passage(3, 0, effort="a")], statistics(3)
        )
    }
    assert scores[1] > scores[3] > scores[2] == 0


def test_a_word_that_stands_everywhere_says_nothing_of_what_is_beside_it() -> None:
    assert order(passage(1, 1), passage(2, 0), frequencies=(40,)) == [1]


def test_what_was_said_on_a_day_that_the_query_names_goes_first() -> None:
    early, late = passage(1, 1, said_on="2026-05-03"), passage(30, 1, said_on="2026-08-03")
    assert order(early, late, frequencies=(5,)) == [1, 30]
    assert order(early, late, frequencies=(5,), days=(("2026-08-01", "2026-08-31"),)) == [30, 1]


counts = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(counts, st.randoms())
def test_the_order_does_not_hang_on_the_order_in_which_the_database_gave_the_rows(
    said: list[tuple[int, int]], random: object
) -> None:
    rows = [passage(number, *here) for number, here in enumerate(said, 1)]
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rank(rows, statistics(4, 9)) == rank(shuffled, statistics(4, 9))


@given(counts)
def test_one_more_mention_never_lowers_a_message(said: list[tuple[int, int]]) -> None:
    rows = [passage(number, *here) for number, here in enumerate(said, 1)]
    more = [rows[0]._replace(counts=(rows[0].counts[0] + 1, rows[0].counts[1])), *rows[1:]]
    before, after = ({one.found.message: one.score for one in rank(r, statistics(4, 9))} for r in (rows, more))
    assert after[1] >= before[1]


def test_an_effort_is_as_good_as_its_best_message() -> None:
    ranked = rank([passage(1, 1, effort="a"), passage(2, 3, effort="a"), passage(30, 2, effort="b")], statistics(3))
    assert [(slug, one.found.message) for slug, one in by_effort(ranked).items()] == [("a", 2), ("b", 30)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("What did we decide on 3 May 2026?", [("2026-05-03", "2026-05-10")]),
        ("and on May 3rd, 2026", [("2026-05-03", "2026-05-10")]),
        ("the meeting of 2026-05-03", [("2026-05-03", "2026-05-10")]),
        ("in July 2025", [("2025-07-01", "2025-08-07")]),
        ("in July", [("2025-07-01", "2025-08-07"), ("2026-07-01", "2026-08-07")]),
        ("during 2025", [("2025-01-01", "2026-01-07")]),
        ("yesterday", [("2026-11-19", "2026-11-19")]),
        ("What may we march to?", []),
        ("31 February 2026", []),
    ],
)
def test_days_are_named_in_many_ways(text: str, days: list[tuple[str, str]]) -> None:
    assert list(days_named(text, TODAY, (2025, 2026))) == days


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("all of March", [("2025-03-01", "2025-03-31"), ("2026-03-01", "2026-03-31")]),
        ("on 3 March 2026", [("2026-03-03", "2026-03-03")]),
        ("yesterday", [("2026-11-19", "2026-11-19")]),
        ("last week", [("2026-11-09", "2026-11-15")]),
        ("this month", [("2026-11-01", "2026-11-30")]),
        ("last month", [("2026-10-01", "2026-10-31")]),
        ("last year", [("2025-01-01", "2025-12-31")]),
        ("first of all", []),
    ],
)
def test_a_span_is_told_as_the_calendar_has_it(text: str, days: list[tuple[str, str]]) -> None:
    assert list(spans_named(text, TODAY, (2025, 2026))) == days


@given(st.text())
def test_no_text_names_days_that_cannot_be_read(text: str) -> None:
    assert all(
        date.fromisoformat(first) <= date.fromisoformat(last) for first, last in days_named(text, TODAY, (2026,))
    )


@pytest.mark.parametrize(
    "text", ["What did we decide?", "remind me of the retry limit", "As we said earlier, three retries", "¿Qué pasó?"]
)
def test_a_message_that_asks_or_speaks_of_the_past_may_need_recall(text: str) -> None:
    assert asks(text)


@pytest.mark.parametrize("text", ["Thanks, that works.", "Write the test now.", "The export is fixed.", ""])
def test_a_message_that_asks_nothing_needs_none(text: str) -> None:
    assert not asks(text)


@pytest.mark.parametrize(
    ("text", "in_passing"),
    [
        ("What did we decide?", False),
        ("Hi! Which cabin was booked for the second week of August?", False),
        ("The draft is finished and on its way to the printer. Do you remember the cabin?", False),
        ("The draft is finished and on its way to the printer. Which limit did we choose?", False),
        ("The draft is finished and on its way to the printer. How about you?", True),
        ("I bought a soundbar for the new television last Friday.\nCan you recommend a place for it?", True),
        ("", False),
    ],
)
def test_a_message_that_tells_more_than_it_asks_needs_little_unless_it_points_back(text: str, in_passing: bool) -> None:
    assert asks_in_passing(text) == in_passing


def test_nothing_is_recalled_where_the_prompt_answers_better_or_too_little_is_there() -> None:
    ranked = rank([passage(1, 1, 0), passage(30, 1, 1)], statistics(5, 5))
    weight = statistics(5, 5).weight
    assert why_not(ranked, {1}, weight) == ""
    assert why_not(ranked, {30}, weight) == SHOWN_BETTER
    assert why_not(ranked, {1, 30}, weight) == NOTHING_FOUND
    assert why_not(ranked, (), weight * 50) == TOO_LITTLE


def test_words_are_marked_where_they_stand() -> None:
    text = "The AuthBug of 日本旅行, fixed by Refreshing tokens"
    found = [text[start:end] for start, end in marks(text, query_terms("auth-bug 旅行 refresh token"))]
    assert found == ["AuthBug", "旅行", "Refreshing", "tokens"]
    text = "来週の京都旅行と京都"
    assert [text[start:end] for start, end in marks(text, query_terms("京都旅行"))] == ["京都旅行", "京都"]
