"""Model statistics: what they report beside what was counted, what failed, and nobody else's."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.context.health import ModelHealth, model_health
from efforts.domain.effort.states import RunState
from efforts.models import ContextPlan, Endpoint, Session
from efforts.turns.recording import COMPLETED, Ending

from .conftest import Scene

FAILED = Ending(state=RunState.FAILED, code="rate_limited", text="Too many requests.")
Asked = Callable[..., None]


@pytest.fixture
def asked(scene: Scene) -> Asked:
    """One call with what was counted, and what the provider said of it."""

    def ask(
        counted: int = 100, reported: int | None = None, cached: int | None = None, ending: Ending = COMPLETED
    ) -> None:
        turn = scene.ask("Hello", "Hi", ending)
        figures = {"tokens": counted, "prompt_tokens": reported, "cached_tokens": cached}
        ContextPlan.objects.filter(run=turn.run_id).update(**figures)

    return ask


def use(session: Session, model: str) -> None:
    session.refresh_from_db()
    endpoint = Endpoint.objects.create(owner=session.owner, name=model, base_url="http://127.0.0.1:9/v1", model=model)
    actions.configure_session(
        session, actor=session.owner, endpoint=endpoint, model="", budget=session.budget, ambient_window=10
    )


def health(user: User) -> ModelHealth:
    [one] = model_health(user)
    return one


def test_counts_are_measured_by_reports(alice: User, asked: Asked) -> None:
    asked(100, 120, cached=60)
    asked(100, 105, cached=45)
    asked(100, 104)
    asked(100)
    found = health(alice)
    assert (found.calls, found.reported, found.corrected_by) == (4, 3, 3)
    assert found.correction == pytest.approx(1.05)
    assert found.off_share == pytest.approx(1 / 3)
    assert found.cached_share == pytest.approx(105 / 225)


def test_each_model_is_measured_alone_the_last_asked_first(alice: User, session: Session, asked: Asked) -> None:
    asked(100, 100)
    use(session, "large-1")
    asked(100, 130)
    large, standard = model_health(alice)
    assert (large.model, standard.label) == ("large-1", "Built-in engine")
    assert [large.correction, standard.correction] == pytest.approx([1.3, 1.0])


def test_failures_are_counted_by_code(alice: User, asked: Asked) -> None:
    asked(ending=FAILED)
    asked(ending=FAILED)
    asked(ending=Ending(state=RunState.INTERRUPTED, code="interrupted"))
    asked(ending=Ending(state=RunState.STOPPED))
    found = health(alice)
    assert found.failures == (("rate_limited", 2), ("interrupted", 1))
    assert (found.failed, found.runs) == (3, 4)


def test_the_page_says_it_all(as_alice: Client, asked: Asked) -> None:
    asked(100, 120, cached=60)
    asked(100, 100, ending=FAILED)
    page = as_alice.get("/settings/health/").content.decode()
    assert "Built-in engine" in page
    assert "50.0%" in page
    assert "1.100" in page
    assert "<code>rate_limited</code>" in page
    assert "1 of 2 attempts failed" in page
    assert 'href="/settings/health/"' in as_alice.get("/settings/").content.decode()


def test_a_model_that_reports_nothing_says_so(as_alice: Client, asked: Asked) -> None:
    asked()
    assert "No usage reported yet." in as_alice.get("/settings/health/").content.decode()


def test_before_any_call_the_page_says_what_it_is_for(as_alice: Client) -> None:
    assert "No model was asked yet." in as_alice.get("/settings/health/").content.decode()


def test_the_calls_of_others_are_not_counted(as_bob: Client, bob: User, asked: Asked) -> None:
    asked(100, 120)
    assert model_health(bob) == ()
    assert "No model was asked yet." in as_bob.get("/settings/health/").content.decode()


def test_only_a_signed_in_person_has_one(anyone: Client) -> None:
    assert anyone.get("/settings/health/").status_code == 302
