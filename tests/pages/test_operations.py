"""What whoever runs the server watches: for staff as a page, for Prometheus where a setting lets it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from ccmweb import sign_in
from ccmweb.models import SignInLink
from ccmweb.operations import ERRORS_WITHIN, figures, times
from efforts.domain.effort.states import RunState
from efforts.models import ContextPlan, Run
from efforts.turns.consumers import open_sockets
from efforts.turns.recording import Ending
from tests.conftest import signed_in

from .conftest import Scene

AT = "/operations/metrics"
TOKEN = "0123456789abcdef"
FAILED = Ending(state=RunState.FAILED, code="rate_limited", text="Too many requests of a secret plan.")


@pytest.fixture
def staff(db: None) -> Client:
    return signed_in(User.objects.create_user("olga", is_staff=True))


@pytest.fixture
def busy(scene: Scene) -> Scene:
    """One turn that was answered in three seconds, one that failed, one that has waited for a minute."""
    turn = scene.ask("The harbour is secret", "So it is.")
    now = timezone.now()
    Run.objects.filter(turn=turn).update(
        created_at=now - timedelta(seconds=5),
        started_at=now - timedelta(seconds=4),
        ended_at=now - timedelta(seconds=1),
    )
    ContextPlan.objects.filter(run=turn.run_id, call=1).update(first_token_ms=250)
    scene.ask("And the quay?", "", FAILED)
    waiting = scene.say("What now?")
    Run.objects.filter(turn=waiting).update(created_at=F("created_at") - timedelta(minutes=1))
    return scene


def samples(body: bytes) -> dict[tuple[str, str], float]:
    found = text_string_to_metric_families(body.decode())
    return {(one.name, ",".join(one.labels.values())): one.value for family in found for one in family.samples}


def test_figures_are_of_what_stands_in_the_database(busy: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(open_sockets, 7, 3)
    found = figures()
    assert (found.runs["completed"], found.runs["failed"], found.runs["queued"]) == (1, 1, 1)
    assert 60 <= found.oldest_queued < 120
    assert [(one.code, one.count) for one in found.failures] == [("rate_limited", 1)]
    assert (found.turn.count, found.turn.middle, found.wait.middle) == (1, 3.0, 1.0)
    assert found.first_token.middle == 0.25
    assert (found.sockets, found.people) == (3, 1)
    assert found.database_bytes > 100_000
    Run.objects.filter(state="failed").update(created_at=timezone.now() - ERRORS_WITHIN - timedelta(seconds=1))
    assert figures().failures == ()


def test_of_a_hundred_times_half_and_nineteen_in_twenty_are_below() -> None:
    found = times([float(value) for value in range(100, 0, -1)])
    assert (found.count, found.middle, found.late) == (100, 51.0, 96.0)


def test_staff_see_who_waits_and_what_failed_and_no_word_of_anybody(busy: Scene, staff: Client) -> None:
    body = staff.get("/operations/").content.decode()
    assert "rate_limited" in body
    assert '<td dir="auto">alice</td>' in body
    assert "has waited 6" in body
    for said in ("harbour", "quay", "What now?", "secret plan"):
        assert said not in body


def test_where_nothing_happens_the_page_says_so(staff: Client) -> None:
    body = staff.get("/operations/").content.decode()
    assert "No turn is running or waiting." in body
    assert "No turn has failed." in body


def test_staff_see_what_is_kept_longer_than_it_has_to_be(staff: Client, alice: User) -> None:
    assert "manage.py tidy" not in staff.get("/operations/").text
    sign_in.make_link(alice)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(days=2))
    page = staff.get("/operations/").text
    assert "manage.py tidy would remove now: expired sign-in links (1)." in page
    assert SignInLink.objects.exists()


def test_whoever_is_not_staff_is_refused_and_is_shown_no_way_there(as_alice: Client) -> None:
    assert as_alice.get("/operations/").status_code == 403
    assert "/operations/" not in as_alice.get("/settings/").content.decode()


def test_figures_for_prometheus_are_not_there_unless_a_setting_lets_them(busy: Scene, anyone: Client) -> None:
    assert anyone.get(AT, REMOTE_ADDR="127.0.0.1", HTTP_HOST="localhost").status_code == 404


def test_with_the_token_they_are_told(busy: Scene, anyone: Client, settings: Any) -> None:
    settings.CCM_METRICS, settings.CCM_METRICS_TOKEN = "token", TOKEN
    assert anyone.get(AT).status_code == 404
    assert anyone.get(AT, HTTP_AUTHORIZATION="Bearer " + "x" * 16).status_code == 404
    answer = anyone.get(AT, HTTP_AUTHORIZATION=f"Bearer {TOKEN}")
    assert answer["Content-Type"].startswith("text/plain")
    found = samples(answer.content)
    assert found["ccm_runs", "queued"] == 1
    assert found["ccm_failed_runs", "rate_limited"] == 1
    assert found["ccm_turn_seconds", "0.95"] == 3.0
    assert found["ccm_first_token_seconds", "0.5"] == 0.25
    assert found["ccm_queue_oldest_seconds", ""] >= 60


def test_without_a_token_no_token_opens_them(anyone: Client, settings: Any) -> None:
    settings.CCM_METRICS, settings.CCM_METRICS_TOKEN = "token", ""
    assert anyone.get(AT, HTTP_AUTHORIZATION="Bearer ").status_code == 404


@pytest.mark.parametrize(
    ("came", "status"),
    [
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost:8000"}, 200),
        ({"REMOTE_ADDR": "::1", "HTTP_HOST": "[::1]:8000"}, 200),
        ({"REMOTE_ADDR": "10.0.0.7", "HTTP_HOST": "localhost"}, 404),
        # Behind a proxy on this machine everybody comes from loopback.
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost", "HTTP_X_FORWARDED_FOR": "8.8.8.8"}, 404),
        ({"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "chat.example.org"}, 404),
    ],
)
def test_on_this_machine_they_are_told_to_this_machine_alone(
    db: None, anyone: Client, settings: Any, came: dict[str, str], status: int
) -> None:
    settings.CCM_METRICS = "loopback"
    settings.ALLOWED_HOSTS = ["localhost", "[::1]", "chat.example.org"]
    assert anyone.get(AT, **came).status_code == status  # type: ignore[arg-type]
