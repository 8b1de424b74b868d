"""What is said is indexed in the transaction that stores it, by whatever way it comes."""

from __future__ import annotations

import asyncio
import json
import re
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction

import efforts
from efforts import actions
from efforts.context.planning import main_branch
from efforts.domain.effort.states import RunState
from efforts.models import Frequency, Message, Passage, Session
from efforts.models.threads import read, write
from efforts.retrieval.index import ALL, PER_MESSAGE, index_messages
from efforts.turns import recording
from efforts.turns.demo import open_demo
from efforts.turns.recording import Ending
from tests.efforts.talk import Talk
from tests.retrieval.index import assert_index_is_whole

pytestmark = pytest.mark.django_db

SOURCE = Path(efforts.__file__).parent
FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")


@pytest.fixture
def talk(alice: User) -> Talk:
    return Talk(actions.create_session(alice))


def indexed() -> list[tuple[str, str]]:
    rows = Passage.objects.select_related("message").order_by("pk")
    return [(row.message.role, row.message.text[row.start : row.end]) for row in rows]


def test_a_message_and_its_reply_are_indexed(talk: Talk) -> None:
    talk.ask("The webhook times out.", reply="After 30 seconds?")
    assert indexed() == [("user", "The webhook times out."), ("assistant", "After 30 seconds?")]
    assert_index_is_whole()


def test_what_a_tool_returned_is_not_and_neither_is_a_call_without_words(talk: Talk) -> None:
    talk.ask("Look.", ("search_messages", {"query": "webhook"}), reply="Nothing there.")
    assert Message.objects.filter(role="tool").count() == 1
    assert indexed() == [("user", "Look."), ("assistant", "Nothing there.")]


def test_every_attempt_at_a_turn_is(talk: Talk) -> None:
    talk.ask("And now?", reply="Half a", ending=FAILED)
    actions.retry_turn(main_branch(talk.session).turns.get(), actor=talk.session.owner)
    talk.finish(talk.claim(), "Half a sentence.")
    assert [text for _, text in indexed()] == ["And now?", "Half a", "Half a sentence."]
    assert_index_is_whole()


def test_what_a_run_had_said_before_its_process_died_is(talk: Talk) -> None:
    lease = talk.begin("And now?")
    recording.write_deltas([recording.Delta(lease=lease, call=1, offset=0, text="Half a")])
    recording.recover(lambda owner: True)
    assert [text for _, text in indexed()] == ["And now?", "Half a"]


def test_what_is_said_in_other_words_or_asked_again_is(talk: Talk) -> None:
    talk.ask("And now?", reply="This.")
    actions.edit_turn(talk.branch, 1, text="And then?", client_id="edit", actor=talk.session.owner)
    actions.regenerate(talk.branch, 1, actor=talk.session.owner)
    assert [text for _, text in indexed()] == ["And now?", "This.", "And then?", "And now?"]
    assert_index_is_whole()


def test_the_example_and_what_is_imported_are(alice: User, tmp_path: Path) -> None:
    open_demo(alice)
    said = [{"id": "a", "role": "user", "session": 1, "text": "Hello"}]
    talk = {"id": "talk", "source": "test", "messages": said, "sessions": [], "questions": []}
    (tmp_path / "talks.jsonl").write_text(json.dumps(talk))
    call_command(
        "import_conversations", str(tmp_path / "talks.jsonl"), owner="alice", stdout=StringIO(), stderr=StringIO()
    )
    assert Session.objects.filter(passages__isnull=False).distinct().count() == 2
    assert_index_is_whole()


def test_messages_are_made_where_they_are_indexed() -> None:
    makes = re.compile(r"\bMessage\.objects\.(bulk_)?create")
    makers = {str(path.relative_to(SOURCE)) for path in SOURCE.rglob("*.py") if makes.search(path.read_text())}
    assert makers == {"retrieval/index.py"}


def test_a_long_message_is_indexed_by_passages_that_cover_it(talk: Talk) -> None:
    text = " ".join(f"word{number}" for number in range(1_000))
    message = talk.say(text).messages.get()
    passages = list(Passage.objects.order_by("pk"))
    assert len(passages) > 5
    assert [row.pk for row in passages] == [message.pk * PER_MESSAGE + place for place in range(len(passages))]
    assert "".join(text[row.start : row.end] for row in passages) == text
    assert all(row.terms.count(f" {term} ") == 1 for row in passages for term in row.terms.split())


def test_of_the_longest_message_the_last_passage_takes_the_rest(talk: Talk) -> None:
    text = "a\n\n" * (actions.conversations.LARGEST_MESSAGE // 3)
    message = talk.say(text).messages.get()
    passages = list(Passage.objects.order_by("pk"))
    assert (len(passages), passages[-1].end) == (PER_MESSAGE, len(text))
    assert passages[-1].pk == (message.pk + 1) * PER_MESSAGE - 1


def test_a_term_is_counted_once_for_each_passage_that_holds_it(talk: Talk) -> None:
    talk.ask("Token, token, TOKENS!", reply="A token.")
    counts = dict(Frequency.objects.values_list("term", "passages"))
    assert (counts["token"], counts[ALL]) == (2, 2)
    [first] = Passage.objects.filter(message__role="user")
    assert (first.terms.count(" token "), first.length) == (3, 3)


def test_what_is_not_stored_is_not_indexed(talk: Talk) -> None:
    with transaction.atomic():
        talk.say("Never mind.")
        transaction.set_rollback(True)
    assert indexed() == []
    assert_index_is_whole()


def test_a_conversation_that_is_deleted_takes_its_index_with_it(alice: User, talk: Talk) -> None:
    talk.ask("The webhook times out.")
    other = Talk(actions.create_session(alice, title="Other"))
    other.ask("The webhook, too.")
    actions.erase_session(other.session, actor=alice)
    assert [text for _, text in indexed()] == ["The webhook times out.", "All right."]
    assert_index_is_whole()


def test_messages_are_indexed_in_bulk_as_one_by_one(alice: User, talk: Talk) -> None:
    talk.ask("Token, token, TOKENS!", reply="A token.")
    talk.ask("日本旅行 über auth_bug 👍", reply="word " * 500)
    one_by_one = [list(rows.order_by("pk").values()) for rows in (Passage.objects, Frequency.objects)]
    Passage.objects.all().delete()
    Frequency.objects.all().delete()
    index_messages(list(Message.objects.all()))
    assert [list(rows.order_by("pk").values()) for rows in (Passage.objects, Frequency.objects)] == one_by_one


@pytest.mark.django_db(transaction=True)
async def test_what_is_said_in_branches_at_once_is_counted_and_nobody_waits_for_ever(alice: User) -> None:
    def two_branches() -> tuple[Talk, Talk]:
        main = Talk(actions.create_session(alice))
        main.ask("oak elm")
        return main, Talk(main.session, actions.fork(main.branch, after=1, actor=alice))

    def say(talk: Talk, number: int) -> None:
        client_id = f"{number}-{talk.branch_id.hex[:8]}"
        actions.send_message(
            talk.session, text=f"oak elm {number}", client_id=client_id, actor=alice, branch=talk.branch
        )

    def say_instead(talk: Talk, number: int) -> None:
        # It holds the lock of the session before it says anything.
        actions.edit_turn(talk.branch, 1, text=f"elm oak {number}", client_id=f"edit-{number}", actor=alice)

    main, child = await write(two_branches)
    acts = [write(act, talk, n) for n in range(8) for act, talk in ((say, main), (say, child), (say_instead, main))]
    async with asyncio.timeout(60):
        await asyncio.gather(*acts)
    await read(assert_index_is_whole)
    assert await read(lambda: Frequency.objects.get(term="oak").passages) == 25
