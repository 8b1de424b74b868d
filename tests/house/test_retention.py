"""What is kept for a time only goes when its time is over, is told to whom it concerns, and is never talk."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from ccmweb import sign_in
from ccmweb.models import SignInLink
from compaction.models import ModelRequest
from compaction.standing.export import damaged
from efforts.models import AccountEvent, Message
from tests.compaction.review import Room
from tests.pages.conftest import provider, room

__all__ = ["provider", "room"]

pytestmark = pytest.mark.django_db


def tidy(*arguments: str) -> dict[str, int]:
    said = io.StringIO()
    call_command("tidy", "--json", *arguments, stdout=said)
    told: dict[str, int] = json.loads(said.getvalue())
    return told


def aged(days: int) -> None:
    AccountEvent.objects.update(created_at=timezone.now() - timedelta(days=days))


def test_expired_links_and_sign_ins_go_and_those_in_use_stay(alice: User, as_alice: Client) -> None:
    sign_in.make_link(alice)
    sign_in.make_link(alice)
    old = SignInLink.objects.first()
    assert old
    SignInLink.objects.filter(pk=old.pk).update(expires_at=timezone.now() - timedelta(days=2))
    told = tidy("--dry-run")
    assert (told["expired sign-in links"], told["expired sign-ins"]) == (1, 0)
    assert SignInLink.objects.count() == 2
    tidy()
    assert SignInLink.objects.count() == 1
    assert as_alice.get("/settings/").status_code == 200


def test_records_are_kept_unless_a_setting_ends_them_and_their_person_is_told(
    alice: User, as_alice: Client, settings: Any
) -> None:
    aged(400)
    assert "records of sign-ins and of looks by staff" not in tidy()
    assert AccountEvent.objects.filter(owner=alice, kind="signed in").count() == 1
    assert "are kept for" not in as_alice.get("/settings/").text
    settings.CCM_KEEP_AUDIT_DAYS = 90
    assert "Lines here are kept for 90 days." in as_alice.get("/settings/").text
    assert tidy()["records of sign-ins and of looks by staff"] == 1
    (told,) = AccountEvent.objects.filter(owner=alice)
    assert (told.kind, told.data) == ("old records removed", {"records": 1, "older_than_days": 90})
    # On their page too, which does not say that nobody has ever looked.
    page = as_alice.get("/settings/").text
    assert (
        f"Removed on {date_format(timezone.now(), 'j M Y')}: 1 older record of a sign-in or of a look by staff." in page
    )
    assert "Nobody else, as far as these records go back." in page
    # Which stays.
    aged(400)
    assert tidy()["records of sign-ins and of looks by staff"] == 0


def test_requests_lose_their_text_and_summaries_nothing_of_what_they_stand_on(room: Room, settings: Any) -> None:
    room.draft()
    said = set(Message.objects.values_list("pk", "text"))
    answers = list(ModelRequest.objects.values_list("pk", "answer", "key"))
    assert answers
    assert all(row.messages for row in ModelRequest.objects.all())
    ModelRequest.objects.update(created_at=timezone.now() - timedelta(days=31))
    settings.CCM_KEEP_REQUESTS_DAYS = 30
    assert tidy()["texts of requests about summaries"] == len(answers)
    assert [row.messages for row in ModelRequest.objects.all()] == [[]] * len(answers)
    assert list(ModelRequest.objects.values_list("pk", "answer", "key")) == answers
    assert set(Message.objects.values_list("pk", "text")) == said
    # Nor does the check of what stands miss anything.
    assert list(damaged(room.talk.session)) == []
