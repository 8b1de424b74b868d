"""How a model searches what was said: by words, by meaning, like a turn, narrowed, and page by page."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import Any

import pytest

from efforts import actions
from efforts.domain.prompt.conversation import ToolCall
from efforts.models import Message, RetrievalSet, Run
from efforts.tools import ToolContext, meaning_asked, run_tool
from efforts.tools.again import Repeated, retrieve_again
from efforts.tools.messages import MATCHES
from tests.efforts.talk import Talk
from tests.fakes.meanings import embeddings
from tests.fakes.provider import FakeProvider, Reply
from tests.retrieval.test_meaning import embed_all

pytestmark = pytest.mark.django_db


def found(talk: Talk, **asked: Any) -> dict[str, Any]:
    [result] = talk.ask("What was it?", ("search_messages", asked))
    return dict(result)


def turns(talk: Talk, **asked: Any) -> list[int]:
    return [match["turn"] for match in found(talk, **asked)["matches"]]


def asked_and_answered(talk: Talk, **asked: Any) -> dict[str, Any]:
    """As a run does it: what the words mean is asked before the tool is run."""
    lease = talk.begin("What was it?")
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    call = ToolCall(id="c1", name="search_messages", arguments=json.dumps(asked))
    result = json.loads(run_tool(call, ToolContext(run=run, asked=meaning_asked(call, run))))
    talk.finish(lease)
    return dict(result)


def test_a_match_is_an_exchange_with_its_date_and_effort(talk: Talk) -> None:
    talk.concluded("Harbour", "How many cranes has Kiel?", "It is noted.")
    talk.branch.refresh_from_db()
    [match, *_] = found(talk, query="cranes Kiel")["matches"]
    assert (match["turn"], match["effort"], match["role"]) == (1, "harbour", "user")
    assert match["text"] == "How many cranes has Kiel?"
    assert match["beside"]["role"] == "assistant"
    assert match["date"] == Message.objects.earliest("pk").created_at.date().isoformat()


def test_it_is_narrowed_by_speaker_effort_and_day(talk: Talk) -> None:
    talk.concluded("Harbour", "The oak at the harbour.")
    talk.ask("The oak of the park.", reply="An oak indeed.")
    old = Message.objects.filter(turn__number=1)
    day = old.earliest("pk").created_at - timedelta(days=10)
    old.update(created_at=day)
    assert sorted(turns(talk, query="oak")) == [1, 2]
    assert turns(talk, query="oak", speaker="assistant") == [2]
    assert turns(talk, query="oak", effort="harbour") == [1]
    assert turns(talk, query="oak", until=day.date().isoformat()) == [1]
    assert turns(talk, query="oak", since=(day + timedelta(days=1)).date().isoformat()) == [2]
    assert turns(talk, query="oak", since=day.date().isoformat(), until=day.date().isoformat()) == [1]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"query": "oak", "since": "yesterday"}, "since must be a date such as 2026-03-05."),
        ({"query": "oak", "effort": "nothing"}, "There is no effort 'nothing' here."),
        ({"query": "oak", "speaker": "system"}, "speaker must be one of"),
        ({"query": "oak", "page": 2}, "There is no page 2: there is 1."),
        ({"query": "oak", "page": -1}, "There is no page -1"),
        ({"like_turn": 99}, "There is no earlier turn 99 here."),
        ({"like_turn": -1}, "There is no earlier turn -1 here."),
        ({}, "The query is empty."),
    ],
)
def test_what_cannot_be_looked_for_is_told(talk: Talk, asked: dict[str, Any], words: str) -> None:
    talk.ask("The oak of the park.")
    assert words in found(talk, **asked)["error"]


def test_page_by_page_every_exchange_comes_once_and_a_page_is_no_repetition(talk: Talk) -> None:
    for number in range(2 * MATCHES + 1):
        talk.ask(f"Yak number {number}", reply="Noted.")
    pages = [("search_messages", {"query": "yak", "page": page}) for page in (1, 2, 3)]
    first, second, third = talk.ask("Which yaks?", *pages)
    assert (first["next_page"], second["next_page"], third.get("next_page")) == (2, 3, None)
    seen = [match["turn"] for page in (first, second, third) for match in page["matches"]]
    assert sorted(seen) == list(range(1, 2 * MATCHES + 2))
    assert {page["of"] for page in (first, second, third)} == {2 * MATCHES + 1}
    assert not any("hint" in page for page in (first, second, third))
    assert "There is no page -1" in found(talk, query="yak", page=-1)["error"]


def test_what_is_like_a_turn_is_found_without_that_turn(talk: Talk) -> None:
    talk.ask("The token refresh answers 401.", reply="Look at the gateway.")
    talk.ask("What shall we eat?", reply="Noodles.")
    talk.ask("Again 401 from the token endpoint.", reply="The gateway again.")
    assert turns(talk, like_turn=1) == [3]


def test_a_turn_that_was_left_out_is_like_nothing(talk: Talk) -> None:
    talk.ask("The token refresh answers 401.")
    talk.ask("The token again.")
    actions.leave_out(talk.place, 1)
    assert found(talk, like_turn=1)["error"] == "The user has left turn 1 out of what you are shown."


def test_all_of_a_branch_s_line_is_searched_and_no_other_s(talk: Talk) -> None:
    talk.ask("The oak of the park.")
    talk.ask("The oak that came later.")
    fork = Talk(talk.session, actions.fork(talk.branch, after=1, actor=talk.session.owner))
    fork.ask("An oak of the fork.")
    assert sorted(turns(fork, query="oak")) == [1, 2]
    texts = [match["text"] for match in found(fork, query="oak")["matches"]]
    assert "The oak that came later." not in texts


@pytest.fixture
def meanings(provider: FakeProvider, settings: Any, talk: Talk) -> FakeProvider:
    provider.otherwise = embeddings
    settings.CCM_EMBEDDINGS_URL, settings.CCM_EMBEDDINGS_MODEL = provider.url, "words"
    talk.ask("My boat lies in Kiel.", reply="How nice.")
    talk.ask("I like noodles for dinner.", reply="Good choice.")
    embed_all()
    return provider


def test_what_means_the_same_is_found_and_made_again(talk: Talk, meanings: FakeProvider) -> None:
    assert asked_and_answered(talk, query="which vessel")["matches"][0]["text"] == "My boat lies in Kiel."
    assert asked_and_answered(talk, query="which vessel", speaker="assistant")["matches"] == []
    talk.ask("A yacht is a vessel.")
    embed_all()
    rows = RetrievalSet.objects.select_related("branch__session", "run__turn").order_by("created_at")
    assert [retrieve_again(row) for row in rows] == [Repeated(same=True)] * 2


def test_like_a_turn_by_meaning_asks_no_model_and_is_made_again(talk: Talk, meanings: FakeProvider) -> None:
    talk.ask("Which yacht do I own?")
    embed_all()
    asked = len(meanings.requests)
    assert asked_and_answered(talk, like_turn=3)["matches"][0]["turn"] == 1
    assert len(meanings.requests) == asked
    row = RetrievalSet.objects.select_related("branch__session", "run__turn").get()
    assert retrieve_again(row) == Repeated(same=True)


def test_a_slow_model_of_meanings_leaves_words_alone_and_is_told(
    talk: Talk, meanings: FakeProvider, settings: Any
) -> None:
    settings.CCM_EMBEDDINGS_WAIT = 0.2
    meanings.otherwise = Reply("Late.", gate=threading.Event())
    result = asked_and_answered(talk, query="boat")
    assert result["matches"][0]["text"] == "My boat lies in Kiel."
    assert result["words_alone"] == "The model of meanings did not answer within 0.2 seconds."


@pytest.mark.parametrize("arguments", ["", "[]", "{", '{"query": 3}', '{"query": "x", "like_turn": 1}', "null", '"x"'])
def test_of_a_call_that_is_no_search_in_words_nothing_is_asked(
    talk: Talk, meanings: FakeProvider, arguments: str
) -> None:
    lease, asked = talk.begin("What was it?"), len(meanings.bodies)
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    assert meaning_asked(ToolCall(id="c1", name="search_messages", arguments=arguments), run).meant is None
    assert meaning_asked(ToolCall(id="c1", name="record", arguments='{"query": "boat"}'), run).meant is None
    assert len(meanings.bodies) == asked
