"""A model that searches for the same again is told so, and one that finds nothing is told what to try."""

from __future__ import annotations

import pytest

from efforts.models import RetrievalSet
from efforts.tools.repeats import FOUND_NOTHING, REPEATED
from tests.efforts.talk import Talk

# What searches code is offered only where code is attached.
SEARCHES = ("search_efforts", "search_messages")


@pytest.fixture
def told(talk: Talk) -> Talk:
    talk.concluded("Auth bug", "The token refresh answers 401.")
    return talk


@pytest.mark.parametrize("tool", SEARCHES)
@pytest.mark.parametrize("again", ["token refresh", "refreshing the Tokens", "  REFRESH,  token?"])
def test_the_same_search_again_in_a_turn_has_its_result_and_a_hint(told: Talk, tool: str, again: str) -> None:
    first, second = told.ask("What was it?", (tool, {"query": "token refresh"}), (tool, {"query": again}))
    assert "hint" not in first
    assert second["hint"] == REPEATED
    assert second["matches"]
    assert RetrievalSet.objects.count() == 2


@pytest.mark.parametrize("tool", SEARCHES)
def test_another_search_has_no_hint(told: Talk, tool: str) -> None:
    results = told.ask("What was it?", (tool, {"query": "token refresh"}), (tool, {"query": "token 401"}))
    assert not any("hint" in result for result in results)


def test_a_search_of_another_kind_is_no_repetition(told: Talk) -> None:
    results = told.ask("What was it?", *[(tool, {"query": "token refresh"}) for tool in SEARCHES])
    assert not any("hint" in result for result in results)


@pytest.mark.parametrize("tool", SEARCHES)
def test_the_next_turn_may_search_for_it_again(told: Talk, tool: str) -> None:
    for text in ("What was it?", "And now?"):
        [result] = told.ask(text, (tool, {"query": "token refresh"}))
        assert "hint" not in result


@pytest.mark.parametrize("tool", SEARCHES)
def test_a_search_that_finds_nothing_says_what_to_try(told: Talk, tool: str) -> None:
    first, second = told.ask("What was it?", (tool, {"query": "zeppelin"}), (tool, {"query": "zeppelins"}))
    assert (first["matches"], first["hint"]) == ([], FOUND_NOTHING[tool])
    assert second["hint"] == REPEATED


def test_what_is_refused_has_no_hint(told: Talk) -> None:
    [result] = told.ask("What was it?", ("search_messages", {"query": " "}))
    assert list(result) == ["error"]
