"""The page of what models may draft: the switch, the caps, and what each number is counted from."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client

from compaction.drafting.costs import checker_of
from compaction.models import Check, Checker, CheckerRefused, DraftingPolicy, DraftRun
from efforts.context.connections import of_endpoint
from efforts.context.planning import main_branch
from efforts.models import AccountEvent, Endpoint, Event
from tests.compaction.review import STATES, Room
from tests.efforts.logs import conversation

from .conftest import HTMX

PAGE = "/settings/drafting/"


def spent(owner: User, tokens: int, purpose: str = "compaction") -> DraftRun:
    session = conversation(owner)
    return DraftRun.objects.create(
        session=session,
        branch=main_branch(session),
        purpose=purpose,
        drafter="model",
        model=f"model-of-{owner}",
        prompt_version="1",
        ended="drafted",
        tokens=tokens,
    )


def test_settings_lead_to_the_page_and_it_shows_what_was_used(as_alice: Client, alice: User, bob: User) -> None:
    spent(alice, 1_234)
    spent(bob, 99_999)
    assert f'href="{PAGE}"' in as_alice.get("/settings/").content.decode()
    page = as_alice.get(PAGE).content.decode()
    assert "1,234</b></a> of 1,000,000 tokens used" in page
    assert "998,766 left" in page
    assert "99,999" not in page


def test_each_number_leads_to_the_drafts_it_is_counted_from(as_alice: Client, alice: User, bob: User) -> None:
    spent(alice, 1_234)
    spent(alice, 4_000, "stage")
    spent(bob, 99_999)
    page = as_alice.get(PAGE).content.decode()
    address = f"{PAGE}runs/compaction/7/"
    assert f'<a href="{address}">1,234</a>' in page
    counted = as_alice.get(address).content.decode()
    assert "1,234 tokens" in counted
    assert "model-of-alice" in counted
    assert "4,000" not in counted
    assert "bob" not in counted
    assert "5,234 tokens" in as_alice.get(f"{PAGE}runs/all/30/").content.decode()
    assert as_alice.get(f"{PAGE}runs/lunch/7/").status_code == 404
    assert as_alice.get(f"{PAGE}runs/all/8/").status_code == 404


def test_one_click_stops_all_models_and_one_allows_them_again(as_alice: Client, alice: User) -> None:
    assert "Stop all models" in as_alice.get(PAGE).content.decode()
    assert as_alice.get(f"{PAGE}stop/").status_code == 405
    stopped = as_alice.post(f"{PAGE}stop/", headers=HTMX).content.decode()
    assert "Models may not draft" in stopped
    assert "<html" not in stopped
    assert DraftingPolicy.objects.get(user=alice).stopped_at is not None
    assert as_alice.post(f"{PAGE}allow/").headers["Location"] == PAGE
    assert "Models may draft" in as_alice.get(PAGE).content.decode()
    told = AccountEvent.objects.filter(kind__startswith="drafting.").order_by("pk")
    assert list(told.values_list("kind", "actor")) == [
        ("drafting.stopped", alice.pk),
        ("drafting.allowed", alice.pk),
    ]


def test_a_cap_of_ones_own_is_kept_and_a_wrong_one_is_told(as_alice: Client, alice: User) -> None:
    wrong = as_alice.post(f"{PAGE}cap/", {"tokens": "12"}, headers=HTMX)
    assert wrong.status_code == 422
    assert "At least 1,000" in wrong.content.decode()
    assert not DraftingPolicy.objects.exists()
    assert "Saved" in as_alice.post(f"{PAGE}cap/", {"tokens": "20000"}, headers=HTMX).content.decode()
    spent(alice, 20_000)
    page = as_alice.get(PAGE).content.decode()
    assert "of 20,000 tokens used" in page
    assert "The cap is used up" in page
    as_alice.post(f"{PAGE}cap/", {"tokens": ""})
    assert DraftingPolicy.objects.get(user=alice).daily_cap is None


# Checks and exams


def test_checks_and_exams_are_counted_and_listed_by_themselves(room: Room, as_alice: Client) -> None:
    STATES["void"](room)
    checks = as_alice.get(f"{PAGE}runs/compaction_eval/1/").content.decode()
    used = sum(check.tokens for check in Check.objects.all())
    assert f"{used:,} tokens</b>" in checks
    assert checks.count("Does not count:") == Check.objects.count() > 0
    assert "Drafted" not in checks
    exams = as_alice.get(f"{PAGE}runs/exam/1/").content.decode()
    assert "Exam passed, 40 of 40" in exams
    both = as_alice.get(f"{PAGE}runs/all/1/").content.decode()
    assert "Does not count:" in both
    assert "Drafted" in both
    assert "Exam passed" in both


def test_the_page_says_who_checks_and_leads_to_how_they_do(as_alice: Client) -> None:
    page = as_alice.get(PAGE).content.decode()
    assert "The model of a conversation checks its summaries; without one nobody does." in page.replace("&#x27;", "'")
    assert 'href="/settings/checkers/"' in page


@pytest.fixture
def other(alice: User) -> Endpoint:
    return Endpoint.objects.create(owner=alice, name="Reader", base_url="http://reader.invalid/v1", model="reader-1")


def test_a_checker_is_chosen_and_the_conversations_own_again(
    room: Room, other: Endpoint, as_alice: Client, alice: User
) -> None:
    address = f"{PAGE}checker/"
    assert as_alice.get(address).status_code == 405
    chosen = {"checker-endpoint": str(other.pk), "checker-model": ""}
    panel = as_alice.post(address, chosen, headers=HTMX).content.decode()
    assert "Chosen</span>" in panel
    assert '<b dir="auto">reader-1</b> at Reader checks your summaries.' in panel
    drafter = of_endpoint(Endpoint.objects.exclude(pk=other.pk).get())
    assert checker_of(room.talk.session, drafter).base_url == other.base_url
    assert as_alice.post(address, {"checker-endpoint": "", "checker-model": ""})["Location"] == PAGE
    assert checker_of(room.talk.session, drafter).base_url == drafter.base_url
    assert AccountEvent.objects.filter(kind="checker.chosen", owner=alice).count() == 2


def test_an_address_of_somebody_else_is_no_checker(other: Endpoint, as_bob: Client) -> None:
    answer = as_bob.post(f"{PAGE}checker/", {"checker-endpoint": str(other.pk)}, headers=HTMX)
    assert answer.status_code == 422
    assert "Select a valid choice." in answer.content.decode()
    assert not Checker.objects.exists()


def test_a_conversation_refuses_to_be_sent_to_a_checker_at_another_address(
    room: Room, other: Endpoint, as_alice: Client, as_bob: Client
) -> None:
    as_alice.post(f"{PAGE}checker/", {"checker-endpoint": str(other.pk)})
    session = room.talk.session
    address = f"/s/{session.pk}/checker/"
    assert address in as_alice.get(f"/s/{session.pk}/settings/", headers=HTMX).content.decode()
    assert "May be sent elsewhere" in as_alice.get(address).content.decode()
    assert as_bob.get(address).status_code == as_bob.post(address, {"refused": "1"}).status_code == 404
    for _ in range(2):
        panel = as_alice.post(address, {"refused": "1"}, headers=HTMX).content.decode()
        assert "Not sent elsewhere" in panel
        assert "<html" not in panel
    assert CheckerRefused.objects.get().session == session
    drafter = of_endpoint(Endpoint.objects.exclude(pk=other.pk).get())
    assert checker_of(session, drafter).base_url == drafter.base_url
    assert as_alice.post(address, {"refused": "0"})["Location"] == address
    assert checker_of(session, drafter).base_url == other.base_url
    told = Event.objects.filter(session=session, kind__startswith="checker.").order_by("seq")
    assert list(told.values_list("kind", flat=True)) == ["checker.refused", "checker.allowed"]


def test_who_is_not_signed_in_sees_nothing(anyone: Client) -> None:
    assert anyone.get(PAGE).status_code == 302
    assert anyone.post(f"{PAGE}stop/").status_code == 302
