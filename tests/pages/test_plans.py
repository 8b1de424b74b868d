"""The page of one context plan."""

from __future__ import annotations

import json
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.test import Client

from efforts import actions
from efforts.context import inspection
from efforts.domain.text.canonical import request_sha256
from efforts.models import ContextPlan, Message, Session

from .conftest import HTMX, Scene

Address = Callable[..., str]


@pytest.fixture
def read(as_alice: Client, address: Address) -> Callable[[ContextPlan], str]:
    """The page of a plan."""
    return lambda plan: as_alice.get(address(f"plans/{plan.pk}/")).content.decode()


def asked(scene: Scene, text: str, reply: str = "Noted.") -> ContextPlan:
    return ContextPlan.objects.get(run=scene.ask(text, reply).run_id)


def section(page: str, title: str) -> str:
    """What of a page stands under the heading with this id."""
    return page.partition(f'id="{title}"')[2].partition("</section>")[0]


def test_a_plan_says_what_was_sent_and_why(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello <b>there</b>", "Hi")
    turn = scene.ask("And now?", "Now.")
    plan = ContextPlan.objects.get(run=turn.run_id)
    page = as_alice.get(address(f"plans/{plan.pk}/")).content.decode()
    assert plan.request_sha256 in page
    assert "Always sent." in page
    assert "Hello &lt;b&gt;there&lt;/b&gt;" in page
    assert "<html" not in as_alice.get(address(f"plans/{plan.pk}/"), headers=HTMX).content.decode()


def test_plans_lead_to_each_other(as_alice: Client, scene: Scene, address: Address) -> None:
    first, second = [ContextPlan.objects.get(run=scene.ask(text, "Noted.").run_id) for text in ("One", "Two")]
    assert (
        f'rel="next" href="{address(f"plans/{second.pk}/")}"'
        in as_alice.get(address(f"plans/{first.pk}/")).content.decode()
    )
    assert (
        f'rel="prev" href="{address(f"plans/{first.pk}/")}"'
        in as_alice.get(address(f"plans/{second.pk}/")).content.decode()
    )


def test_a_request_that_cannot_be_rebuilt_is_said(as_alice: Client, scene: Scene, address: Address) -> None:
    turn = scene.ask("Hello", "Hi")
    Message.objects.filter(turn=turn).delete()
    plan = ContextPlan.objects.get(run=turn.run_id)
    assert "It cannot be rebuilt" in as_alice.get(address(f"plans/{plan.pk}/")).content.decode()


def test_a_plan_that_is_not_there_is_not_found(as_alice: Client, scene: Scene, address: Address) -> None:
    assert as_alice.get(address(f"plans/{uuid4()}/")).status_code == 404
    plan = ContextPlan.objects.get(run=scene.ask("Hello", "Hi").run_id)
    assert as_alice.post(address(f"plans/{plan.pk}/")).status_code == 405


def test_a_first_call_has_nothing_before_it(scene: Scene, read: Callable[[ContextPlan], str]) -> None:
    assert "This is the first call of the conversation." in section(read(asked(scene, "One")), "difference-title")


def test_the_turn_before_has_come_in_with_its_price(scene: Scene, read: Callable[[ContextPlan], str]) -> None:
    first, second = asked(scene, "One"), asked(scene, "Two")
    turn = first.run.turn
    turn.refresh_from_db()
    found = section(read(second), "difference-title")
    assert '<b dir="auto">Turn 1</b>' in found
    assert f"{turn.tokens} tokens" in found
    assert "Among the last 10 turns outside any effort." in found
    assert f'<a class="xs" href="{first.get_absolute_url()}">turn 1, call 1</a>' in found
    assert f"+{second.tokens - first.tokens} tokens" in found


def test_what_left_says_why_and_what_would_bring_it_in(
    scene: Scene, session: Session, read: Callable[[ContextPlan], str]
) -> None:
    asked(scene, "One")
    asked(scene, "Two")
    session.refresh_from_db()
    actions.configure_session(
        session, actor=session.owner, endpoint=None, model="", budget=session.budget, ambient_window=1
    )
    page = read(asked(scene, "Three"))
    left = section(page, "difference-title").partition("<h3>Taken out</h3>")[2]
    assert '<b dir="auto">Turn 1</b>' in left
    assert "Older than the last turn." in left
    assert "raise the window in the settings" in left
    assert "<h3>Older than the last turn.</h3>" in section(page, "out-title")


def test_the_count_stands_beside_what_the_provider_reported(scene: Scene, read: Callable[[ContextPlan], str]) -> None:
    plan = asked(scene, "One")
    assert "The estimate was" not in read(plan), "nothing was reported"
    ContextPlan.objects.filter(pk=plan.pk).update(prompt_tokens=1_000, cached_tokens=640, tokens=950)
    page = read(plan)
    assert "~950 of" in page
    assert "1,000 tokens, 640 of them cached" in page
    assert "5.0% too low" in page
    assert "Expected" not in page
    plan.run.settings = {**plan.run.settings, "correction": 1.1}
    plan.run.save()
    assert "~1,045 by the provider’s count, which was 1.10 times ours in earlier calls" in read(plan)


def test_secrets_are_masked_on_the_page_and_the_download_is_exact(
    as_alice: Client, scene: Scene, read: Callable[[ContextPlan], str], address: Address
) -> None:
    plan = asked(scene, "It is password=hunter22, or sk-abcdefghij0123456789.")
    page = read(plan)
    assert "hunter22" not in section(page, "raw-title")
    assert "password=[masked], or sk-[masked]." in page
    assert "2 secrets masked on this page" in page
    answer = as_alice.get(address(f"plans/{plan.pk}/request.json"))
    assert "attachment" in answer["Content-Disposition"]
    request = json.loads(answer.content)
    assert "password=hunter22" in request["messages"][-1]["content"]
    assert request_sha256(request) == plan.request_sha256


def test_a_long_request_is_cut_on_the_page_and_whole_in_the_download(
    as_alice: Client,
    scene: Scene,
    read: Callable[[ContextPlan], str],
    address: Address,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(inspection, "LARGEST_SHOWN", 1_000)
    plan = asked(scene, "A long way. " * 20 + "The last word is zebra.")
    page = read(plan)
    assert "are only in the download" in page
    assert "zebra" not in section(page, "raw-title")
    assert b"zebra" in as_alice.get(address(f"plans/{plan.pk}/request.json")).content


def test_what_was_sent_is_shown_as_it_was_said(as_alice: Client, scene: Scene, address: Address) -> None:
    # Words that pages have too.
    asked(scene, "Hello.", "Choose a file first.")
    plan = asked(scene, "And now?")
    page = as_alice.get(address(f"plans/{plan.pk}/"), headers={"accept-language": "de"}).content.decode()
    assert '<span class="clip" dir="auto">Choose a file first.</span>' in section(page, "raw-title")


def test_a_request_that_cannot_be_rebuilt_has_no_download(as_alice: Client, scene: Scene, address: Address) -> None:
    plan = asked(scene, "Hello")
    Message.objects.filter(turn=plan.run.turn).delete()
    assert as_alice.get(address(f"plans/{plan.pk}/request.json")).status_code == 404


def test_others_find_no_request(as_bob: Client, scene: Scene, address: Address) -> None:
    plan = asked(scene, "Hello")
    assert as_bob.get(address(f"plans/{plan.pk}/")).status_code == 404
    assert as_bob.get(address(f"plans/{plan.pk}/request.json")).status_code == 404
