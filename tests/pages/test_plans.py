"""The page of one context plan."""

from __future__ import annotations

from collections.abc import Callable
from uuid import uuid4

from django.test import Client

from efforts.models import ContextPlan, Message

from .conftest import HTMX, Scene

Address = Callable[..., str]


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
