"""Who checks a person's summaries: exams, planted errors by kind, checks that prove nothing, and what was read."""

from __future__ import annotations

import re
from datetime import timedelta

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from compaction.drafting import storing as settings_of
from compaction.models import Check, Exam, Planted
from compaction.pages.presenters.checkers import checkers_of
from efforts.models import Endpoint
from tests.compaction.review import MODEL, STATES, Room

from .conftest import HTMX

PAGE = "/settings/checkers/"


def shown(client: Client, address: str = PAGE) -> str:
    return client.get(address).content.decode()


def test_settings_connection_drafting_and_metrics_lead_there(room: Room, as_alice: Client) -> None:
    STATES["stands"](room)
    for address in ("/settings/", "/settings/drafting/", "/metrics/"):
        assert f'href="{PAGE}' in shown(as_alice, address)


def test_a_checker_shows_its_exam_its_checks_and_what_it_noticed_of_each_kind(room: Room, as_alice: Client) -> None:
    STATES["stands"](room)
    page = shown(as_alice)
    assert "Exam passed" in page
    assert "40 of 40 right" in page
    assert "It has read 1 conversation: 1 check, 0 of which prove nothing." in page
    counted = dict(re.findall(r'<th scope="row">([^<]+)</th><td>(\d+ of \d+)</td>', page))
    kinds = {one.kind for one in Planted.objects.filter(role="canary", held__isnull=False)}
    assert kinds
    assert {kind.capitalize() for kind in kinds} <= set(counted)
    for kind in kinds:
        number = Planted.objects.filter(role="canary", kind=kind, held__isnull=False).count()
        assert counted[kind.capitalize()] == f"{number} of {number}"
    assert "What it missed" not in page


def test_what_a_check_missed_and_why_it_proves_nothing_is_listed_for_its_owner_alone(
    room: Room, as_alice: Client, as_bob: Client
) -> None:
    STATES["void"](room)
    missed = Planted.objects.filter(held=False).latest("pk")
    page = shown(as_alice)
    assert "What it missed" in page
    assert missed.claim["text"].split("“")[0].strip() in page
    assert f"Checks that prove nothing, {Check.objects.exclude(void='').count()}" in page
    other = shown(as_bob)
    assert MODEL not in other
    assert "No model is connected" in other


def test_what_was_noticed_is_counted_by_how_long_ago_it_was(room: Room, alice: User) -> None:
    STATES["stands"](room)
    Check.objects.update(created_at=timezone.now() - timedelta(days=20))
    (found,) = [one for one in checkers_of(alice).rows if one.checks]
    for kind in found.kinds:
        week, month, ever = kind.noticed
        assert (week.planted, month) == (0, ever)
        assert ever.planted > 0


def test_the_exam_is_taken_again_and_both_are_kept(room: Room, as_alice: Client, alice: User) -> None:
    STATES["unchecked"](room)
    assert "may not check summaries" in shown(as_alice)
    endpoint = Endpoint.objects.get(owner=alice)
    answer = as_alice.post(f"{PAGE}{endpoint.pk}/exam/", {"model": MODEL}, headers=HTMX)
    assert "Exam passed" in answer.content.decode()
    before, after = Exam.objects.order_by("pk")
    assert (before.passed, after.passed, after.score) == (False, True, 40)
    assert after.requests.count() == 3


def test_an_exam_is_not_taken_where_models_are_stopped_or_the_model_is_not_known(
    room: Room, as_alice: Client, as_bob: Client, alice: User
) -> None:
    endpoint = Endpoint.objects.get(owner=alice)
    address = f"{PAGE}{endpoint.pk}/exam/"
    assert as_bob.post(address, {"model": MODEL}).status_code == 404
    unknown = as_alice.post(address, {"model": "other"}, headers=HTMX)
    assert unknown.status_code == 422
    assert "This connection names no such model." in unknown.content.decode()
    settings_of.stop_models(alice)
    stopped = as_alice.post(address, {"model": MODEL}, headers=HTMX)
    assert stopped.status_code == 422
    assert "You have stopped models from drafting." in stopped.content.decode()
    assert Exam.objects.count() == 1
