"""Turns of a conversation with code: what is sent, what is kept of it, and that all of it can be made again."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from efforts.context.planning import main_branch
from efforts.domain.effort.states import Trigger
from efforts.memory import vectors
from efforts.models import ContextPlan, RetrievalSet, Session
from efforts.models.threads import read, write
from efforts.pages.presenters.chat import turn_view
from tests.fakes.meanings import embeddings
from tests.fakes.provider import Call, FakeProvider, NoAnswer, Reply
from tests.turns.conftest import Stage
from tests.turns.test_verify_plans import verify
from tests.workspaces.test_searching import CART, MONEY
from workspaces.actions import attach_folder, detach
from workspaces.commands import running
from workspaces.indexing import meanings, worker
from workspaces.models import CodeHit, File, ProposedEdit, Workspace
from workspaces.outcomes import lines_of
from workspaces.retrieval.naming import kept_resolver

pytestmark = pytest.mark.usefixtures("runner")
ASKED = "How do we convert currency?"


@pytest.fixture
def root(tmp_path: Path, settings: Any) -> Path:
    settings.CCM_WORKSPACE_ROOTS = [tmp_path]
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "money.py").write_text(MONEY)
    (folder / "cart.py").write_text(CART.replace("shop.money", "money"))
    return folder


@pytest.fixture
def shop(session: Session, root: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """Indexed here and not by a thread, which would be at work beside the test."""
    monkeypatch.setattr(worker, "start", lambda pk: None)
    kept_resolver.cache_clear()
    workspace = attach_folder(session, str(root), actor=session.owner)
    assert worker.index(workspace)
    return workspace


async def test_a_question_about_code_is_sent_with_its_cards_and_replays(
    stage: Stage, provider: FakeProvider, shop: Workspace, root: Path, as_alice: Client
) -> None:
    provider.script = [
        Reply(calls=(Call.of("search_code", query="rate of the day"), Call.of("read_span", path="money.py"))),
        Reply("In [money.py:9-11], by [money.py:900] and [no.py:1]."),
    ]
    turn = await stage.ask(ASKED)
    first, second = provider.requests
    assert "@ money.py:9-11 function money.convert (1 caller)" in first["messages"][-1]["content"]
    assert {"search_code", "who_calls"} <= {tool["function"]["name"] for tool in first["tools"]}
    assert "14| def rate_of" in second["messages"][-1]["content"]
    rows = await read(lambda: list(RetrievalSet.objects.order_by("created_at")))
    assert [row.trigger for row in rows] == [Trigger.AUTO, Trigger.TOOL]
    shown = await read(lambda: set(CodeHit.objects.filter(included=True).values_list("qualified", flat=True)))
    assert "money.convert" in shown
    view = await read(turn_view, await read(main_branch, stage.session), turn.number)
    assert view is not None
    assert view.recall is not None
    assert (view.recall.cards, view.recall.code_tokens > 0) == (len(shown), True)
    html = "".join(str(part.html) for part in view.parts)
    assert f'href="/code/{shop.pk}/1/money.py#L9"' in html
    assert html.count("<a ") == 1
    # Whatever happens to folder and attachment afterwards, each plan is what it was.
    await write(change, stage.session, shop, root)
    later = await read(turn_view, await read(main_branch, stage.session), turn.number)
    assert later is not None
    assert "".join(str(part.html) for part in later.parts) == html
    found = await read(verify, "--plan-again", "--retrieve-again")
    assert found["status"] == 0
    plan = await read(ContextPlan.objects.order_by("created_at").first)
    assert plan is not None
    page = await read(as_alice.get, plan.get_absolute_url())
    assert "money.py:9-11" in page.text


def change(session: Session, shop: Workspace, root: Path) -> None:
    (root / "money.py").write_text("x = 1\n")
    worker.index(shop)
    detach(session, actor=session.owner)


async def test_a_proposed_edit_is_accepted_in_the_conversation_and_the_next_prompt_says_so(
    stage: Stage, provider: FakeProvider, shop: Workspace, root: Path, as_alice: Client
) -> None:
    (root / "limits.py").write_text("MOST = 8\n")
    await write(worker.index, shop)
    file = await read(File.objects.filter(workspace=shop, path="limits.py", last=None).get)
    diff = "@@ -1,1 +1,1 @@\n-MOST = 8\n+MOST = 9\n"
    provider.script = [
        Reply(calls=(Call.of("propose_edit", path="limits.py", sha256=file.sha256, diff=diff),)),
        Reply("Proposed."),
        Reply("Good."),
    ]
    turn = await stage.ask("Raise the limit.")
    view = await read(turn_view, await read(main_branch, stage.session), turn.number)
    assert view is not None
    (one,) = view.proposed
    assert one.title == "Proposed edit of limits.py"
    assert one.address in (await read(as_alice.get, stage.session.get_absolute_url())).text
    await write(as_alice.post, one.address, {"verb": "accept", "hunk": ["0"]})
    assert (root / "limits.py").read_text() == "MOST = 9\n"
    await stage.ask(ASKED)
    line = "The user accepted your edit of limits.py: whole. It is written."
    assert line in json.dumps(provider.requests[-1]["messages"])
    assert not await read(ProposedEdit.objects.exclude(told_by__state="completed").exists)
    assert (await read(verify, "--plan-again", "--retrieve-again"))["status"] == 0


async def test_what_was_shown_is_joined_to_what_came_of_it(
    stage: Stage,
    provider: FakeProvider,
    shop: Workspace,
    root: Path,
    as_alice: Client,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings.CCM_WORKSPACE_COMMANDS = {"test": [sys.executable, "-c", "import sys; sys.exit(3)"]}
    monkeypatch.setattr(running, "start", running.run)
    (root / "limits.py").write_text("MOST = 8\n")
    await write(worker.index, shop)
    file = await read(File.objects.filter(workspace=shop, path="limits.py", last=None).get)
    provider.script = [
        Reply(
            calls=(
                Call.of(
                    "propose_edit", path="limits.py", sha256=file.sha256, diff="@@ -1 +1 @@\n-MOST = 8\n+MOST = 9\n"
                ),
                Call.of("run_command", id="call_2", name="test"),
            )
        ),
        Reply("See [money.py:9-11] and [limits.py:1]."),
    ]
    turn = await stage.ask(ASKED)
    view = await read(turn_view, await read(main_branch, stage.session), turn.number)
    assert view is not None
    edit, command = view.proposed
    await write(as_alice.post, edit.address, {"verb": "reject"})
    await write(as_alice.post, command.address, {"verb": "allow"})
    text = await read(lambda: "".join(line for chunk in lines_of(stage.session) for line in chunk))
    told = json.loads(text)
    used = {card["symbol"]: card["used"] for card in told["shown"]}
    assert used["money.convert"] == ["cited"]
    assert all(not how for symbol, how in used.items() if symbol != "money.convert")
    assert told["missed"] == ["limits.py:1"]
    assert all(card["reason"] and card["remedy"] for card in told["left_out"])
    assert (told["tools"], told["mode"]) == ({"propose_edit": 1, "run_command": 1}, "light")
    assert [(one["state"], one["accepted"], one["of"]) for one in told["edits"]] == [("rejected", 0, 1)]
    assert [(one["end"], one["exit_code"]) for one in told["commands"]] == [("exit", 3)]
    assert told["estimated_tokens"] > told["code_tokens"] > 0
    page = (await read(as_alice.get, reverse("code_outcomes", args=[stage.session.pk]))).text
    for words in (
        f"used 1 of {len(used)} cards",
        "the answer cites its lines",
        "exit status 3",
        "0 of 1",
        "limits.py:1",
    ):
        assert words in page
    plan = (await read(as_alice.get, f"{stage.session.get_absolute_url()}plans/{told['plan']}/")).text
    assert ("Failed, exit status 3" in plan, "Rejected" in plan) == (True, True)


async def test_what_is_referred_to_in_two_turns_stays_in_the_next_prompts_for_a_while(
    stage: Stage, provider: FakeProvider, shop: Workspace, as_alice: Client
) -> None:
    def shown() -> bool:
        return "function money.convert" in provider.requests[-1]["messages"][-1]["content"]

    provider.script = [Reply("`convert` does [money.py:9-11]."), Reply("It is `convert`."), *[Reply("Yes.")] * 4]
    await stage.ask("What does money.convert do?")
    await stage.ask("And who calls money.convert?")
    await stage.ask("Good morning.")
    assert shown()
    page = reverse("code_pins", args=[stage.session.pk])
    assert "Turns 1 and 2 referred to it." in (await read(as_alice.get, page)).text
    await stage.ask("Good morning.")
    await stage.ask("Good morning.")
    assert shown()
    await stage.ask("Good morning.")
    assert not shown()
    assert (await read(verify, "--plan-again", "--retrieve-again"))["status"] == 0


async def test_lines_that_are_cited_below_the_name_of_the_folder_count_as_cited(
    stage: Stage, provider: FakeProvider, shop: Workspace, root: Path, as_alice: Client
) -> None:
    # A folder within of the same name: there the path is meant as it is written.
    (root / "shop").mkdir()
    (root / "shop" / "cart.py").write_text("x = 1\n")
    await write(worker.index, shop)
    # What it quotes as code cites nothing.
    text = "See [shop/money.py:8-12] and [shop/cart.py:1].\n\n> ```\n> # As in [shop/money.py:1].\n> ```"
    provider.script = [*[Reply(text)] * 2, Reply("Yes.")]
    await stage.ask("What does money.convert do?")
    first = await read(lambda: json.loads(next(line for chunk in lines_of(stage.session) for line in chunk)))
    used = {card["symbol"]: card["used"] for card in first["shown"]}
    assert used["money.convert"] == ["cited"]
    assert first["missed"] == ["shop/cart.py:1"]
    # Twice referred to, it stays.
    await stage.ask("And who calls money.convert?")
    await stage.ask("Good morning.")
    assert "function money.convert" in provider.requests[-1]["messages"][-1]["content"]
    page = reverse("code_pins", args=[stage.session.pk])
    assert "Turns 1 and 2 referred to it." in (await read(as_alice.get, page)).text
    assert (await read(verify, "--plan-again", "--retrieve-again"))["status"] == 0


async def compared(provider: FakeProvider, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By meaning, with vectors of all that is there, and without the runner's background, whose requests would come in
    between."""
    claims = [(source, source.claim_batch) for source in (vectors, meanings)]
    for source, _ in claims:
        monkeypatch.setattr(source, "claim_batch", lambda: None)
    provider.otherwise = embeddings
    settings.CCM_EMBEDDINGS_URL, settings.CCM_EMBEDDINGS_MODEL = provider.url, "words"
    for source, claim in claims:
        while batch := await write(claim):
            made = await read(batch.embedder.embed, batch.texts, seconds=5)
            await write(source.record_batch, batch, made)
    provider.bodies.clear()


async def test_a_message_is_compared_with_talk_and_code_by_one_request(
    stage: Stage,
    provider: FakeProvider,
    shop: Workspace,
    root: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await write((root / "harbour.py").write_text, 'def launch(it):\n    """Put a boat afloat."""\n    return it\n')
    assert await write(worker.index, shop)
    provider.script = [Reply("Noodles.")]
    await stage.ask("What is for dinner?")
    await compared(provider, settings, monkeypatch)
    provider.script = [embeddings, Reply(calls=(Call.of("search_code", query="yacht"),)), embeddings, Reply("There.")]
    question = "What did we say of any vessel, and where does one begin?"
    await stage.ask(question)
    asked = [request["input"] for request in provider.requests if "input" in request]
    assert asked == [[question], ["yacht"]]
    prompt = next(request for request in provider.requests if "messages" in request)["messages"][-1]["content"]
    assert "function harbour.launch" in prompt
    row = await read(lambda: RetrievalSet.objects.filter(query=question, strategy__startswith="code/").get())
    assert row.params["meaning"]["model"].endswith("#words/8")
    found = await read(verify, "--plan-again", "--retrieve-again")
    assert found["status"] == 0


async def test_where_the_model_of_meanings_is_too_slow_code_is_found_by_words(
    stage: Stage, provider: FakeProvider, shop: Workspace, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CCM_EMBEDDINGS_WAIT = 0.2
    await compared(provider, settings, monkeypatch)
    provider.script = [NoAnswer(), Reply("By the rate.")]
    await stage.ask(ASKED)
    prompt = next(request for request in provider.requests if "messages" in request)["messages"][-1]["content"]
    assert "function money.convert" in prompt
    row = await read(lambda: RetrievalSet.objects.get(strategy__startswith="code/"))
    assert ("meaning" in row.params, "0.2 seconds" in row.params["words_alone"]) == (False, True)
