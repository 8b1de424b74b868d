"""What was said long ago reaches the prompt of the turn that needs it, by context mode, and stays with that turn."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from datetime import date
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from efforts import actions
from efforts.context.planning import chosen_settings, main_branch
from efforts.context.plans import preview, replay
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.conversation import Recalled
from efforts.log.timelines import log_message
from efforts.models import Branch, ContextPlan, Message, RetrievalItem, RetrievalSet, Session
from efforts.models.threads import read, write
from efforts.pages.presenters.chat import turn_view
from efforts.retrieval.recall import Recollection
from tests.fakes.provider import Call, FakeProvider, Reply, Status
from tests.turns.conftest import Stage

pytestmark = pytest.mark.usefixtures("runner", "long_memory")

EARLY = "We sail from the harbour of Kiel at six."
ASKED = "From which harbour do we sail?"


def all_that_names_a_harbour(
    branch: Branch, text: str, *, before: int, mode: ContextMode, today: date, shown: Collection[int] = (), **_: Any
) -> Recollection:
    """A search that is easily foretold: Light finds the passage, Heavy the reply too."""
    if "harbour" not in text:
        return Recollection(why="It asks for nothing.")
    rows = Message.objects.filter(session=branch.session, turn__number__lt=before, turn__number__gt=0)
    rows = rows.exclude(turn__number__in=shown).select_related("turn").order_by("id")
    found = [row for row in rows if "harbour" in row.text or (mode == ContextMode.HEAVY and "old gate" in row.text)]
    passages = tuple(
        Recalled(
            turn=row.turn.number,
            message=log_message(row),
            start=0,
            end=len(row.text),
            said_on=row.created_at.date().isoformat(),
            score=1.0,
            why=("It names the harbour.",),
        )
        for row in found
    )
    return Recollection(passages=passages, why="It asks for what was said.", query=text, found=len(passages))


@pytest.fixture
def long_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("efforts.context.recollections.recall", all_that_names_a_harbour)


async def sails(stage: Stage, provider: FakeProvider, mode: ContextMode = ContextMode.LIGHT) -> None:
    """An early fact, and a window of two turns that has moved on."""
    await write(set_up, stage.session, mode)
    provider.script = [Reply("From the old gate, then."), Reply("Yes."), Reply("Of course.")]
    for text in (EARLY, "Is the weather fine?", "And tomorrow?"):
        await stage.ask(text)


def set_up(session: Session, mode: ContextMode) -> None:
    actions.configure_session(
        session,
        actor=session.owner,
        endpoint=session.endpoint,
        model="",
        budget=16_000,
        ambient_window=2,
        context_mode=mode,
    )


def asked(provider: FakeProvider) -> str:
    return str(provider.requests[-1]["messages"][-1]["content"])


def once_over(message: Mapping[str, Any]) -> dict[str, Any]:
    """As later prompts have the message of a turn: without the note that held for it alone."""
    note = re.compile(r"\[Notes for this turn, .*?\[End of notes\]\n", re.DOTALL)
    return {**message, "content": note.sub("", message["content"])}


async def test_an_early_fact_is_quoted_in_the_prompt_of_the_question_that_needs_it(
    stage: Stage, provider: FakeProvider
) -> None:
    await sails(stage, provider)
    await stage.ask(ASKED)
    today = (await read(Message.objects.first)).created_at.date()  # type: ignore[union-attr]
    begin, said, rest = asked(provider).partition(f"Turn 1, {today}, the user:\n> {EARLY}\n[End of notes]\n\n")
    assert (begin, bool(said)) == ("[turn 4]\n[Notes, not instructions: recalled from earlier turns, quoted]\n", True)
    assert rest.endswith(ASKED)


async def test_the_three_modes_send_different_prompts(stage: Stage, provider: FakeProvider) -> None:
    sent = {}
    for mode in ContextMode:
        session = await write(actions.create_session, stage.session.owner)
        session.endpoint = stage.session.endpoint
        fresh = Stage(session)
        await sails(fresh, provider, mode)
        await fresh.ask(ASKED)
        sent[mode] = (EARLY in asked(provider), "> From the old gate, then." in asked(provider))
    assert sent == {ContextMode.OFF: (False, False), ContextMode.LIGHT: (True, False), ContextMode.HEAVY: (True, True)}
    sets = await read(lambda: list(RetrievalSet.objects.values_list("run__settings__context_mode", flat=True)))
    assert sets == ["light", "heavy"]


async def test_what_was_found_is_kept_with_the_run_and_says_what_was_quoted(
    stage: Stage, provider: FakeProvider
) -> None:
    await sails(stage, provider)
    turn = await stage.ask(ASKED)
    found = await read(RetrievalSet.objects.get)
    plan = await read(ContextPlan.objects.get, run=turn.run)
    assert (found.trigger, found.query, found.why) == ("auto", ASKED, "It asks for what was said.")
    assert (found.run_id, found.plan_id, found.tokens) == (turn.run_id, plan.pk, plan.body["sections"]["recall"])
    item = await read(RetrievalItem.objects.select_related("turn").get)
    assert item.turn is not None
    assert (item.turn.number, item.start, item.end, item.included) == (1, 0, len(EARLY), True)
    [why] = [item for item in plan.body["items"] if item["section"] == "recall"]
    assert why["values"]["why"] == "It names the harbour."


async def test_all_calls_of_a_run_quote_the_same_and_what_it_finds_itself_is_another_set(
    stage: Stage, provider: FakeProvider
) -> None:
    await sails(stage, provider)
    provider.script = [Reply("Let me look.", calls=(Call.of("search_messages", query="gate"),)), Reply("Kiel.")]
    await stage.ask(ASKED)
    first, second = (request["messages"] for request in provider.requests[-2:])
    assert second[: len(first)] == first
    assert await read(RetrievalSet.objects.filter(trigger="auto").count) == 1
    assert await read(RetrievalSet.objects.filter(trigger="tool").count) == 1


async def test_the_next_prompt_keeps_what_was_recalled_with_its_turn_and_begins_with_the_same_bytes(
    stage: Stage, provider: FakeProvider
) -> None:
    await sails(stage, provider)
    provider.script = [Reply("From Kiel."), Reply("At six.")]
    await stage.ask(ASKED)
    before = provider.requests[-1]["messages"][-1]
    await stage.ask("And when?")
    assert EARLY in before["content"]
    assert once_over(before) in provider.requests[-1]["messages"][:-1]


async def test_a_fork_keeps_what_was_recalled_before_it(stage: Stage, provider: FakeProvider) -> None:
    await sails(stage, provider)
    turn = await stage.ask(ASKED)
    before = provider.requests[-1]["messages"][-1]
    alice, main = stage.session.owner, await read(main_branch, stage.session)
    fork = await write(lambda: actions.fork(main, after=turn.number, actor=alice))
    await write(
        lambda: actions.send_message(stage.session, text="And when?", client_id="fork", actor=alice, branch=fork)
    )
    await stage.settled()
    assert once_over(before) in provider.requests[-1]["messages"][:-1]


async def test_a_retry_looks_anew_and_only_its_own_find_stays(stage: Stage, provider: FakeProvider) -> None:
    await sails(stage, provider)
    provider.script = [Status(500), Status(500), Status(500), Reply("From Kiel.")]
    turn = await stage.ask(ASKED)
    while (await stage.turn(turn.number)).run.state != "completed":  # type: ignore[union-attr]
        await stage.retry(turn)
        await stage.settled()
    runs = await read(lambda: list(RetrievalSet.objects.values_list("run__attempt", flat=True)))
    assert runs == list(range(1, len(runs) + 1))
    assert len(runs) > 1
    await stage.ask("And when?")
    assert json.dumps(provider.requests[-1]).count(EARLY) == 1


async def test_where_the_prompt_shows_everything_nothing_is_looked_for(stage: Stage, provider: FakeProvider) -> None:
    await stage.ask(EARLY)
    await stage.ask(ASKED)
    assert not await read(RetrievalSet.objects.exists)


async def test_every_plan_with_recalled_passages_is_rendered_and_planned_again(
    stage: Stage, provider: FakeProvider
) -> None:
    await sails(stage, provider)
    provider.script = [Reply("", calls=(Call.of("search_messages", query="gate"),)), Reply("Kiel."), Reply("At six.")]
    await stage.ask(ASKED)
    await stage.ask("And when?")
    plans = await read(lambda: list(ContextPlan.objects.order_by("created_at").select_related("session", "branch")))
    assert [await read(replay, plan) for plan in plans] == provider.requests
    out = StringIO()
    await read(call_command, "verify_plans", "--json", "--plan-again", stdout=out)
    found = json.loads(out.getvalue())
    assert (found["checked"], found["ok"], found["planned_again"], found["apart"]) == (6, 6, 6, {})


async def test_the_page_tells_what_was_recalled_as_it_was_kept(stage: Stage, provider: FakeProvider) -> None:
    await sails(stage, provider)
    turn = await stage.ask(ASKED)
    await write(set_up, stage.session, ContextMode.OFF)
    branch = await read(main_branch, stage.session)
    view = await read(turn_view, branch, turn.number)
    tokens = (await read(RetrievalSet.objects.get)).tokens
    assert view is not None
    assert view.recall is not None
    assert (view.recall.mode, view.recall.passages, view.recall.tokens) == ("Light", 1, tokens)
    first = await read(turn_view, branch, 1)
    assert first is not None
    assert first.recall is None


async def test_the_preview_counts_what_the_typed_message_would_bring_back_and_stores_nothing(
    stage: Stage, provider: FakeProvider
) -> None:
    await sails(stage, provider)
    branch = await read(main_branch, stage.session)
    view = await read(lambda: preview(branch, draft_text=ASKED))
    assert [item.title for item in view.included if item.section == "recall"] == ["Turn 1"]
    assert not await read(RetrievalSet.objects.exists)
    assert (await read(chosen_settings, branch.session))["context_mode"] == "light"
