"""The page of what models may draft: the switch, the caps, and what each number is counted from."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.test import Client

from compaction.models import DraftingPolicy, DraftRun
from efforts.models import AccountEvent
from efforts.snapshots import main_branch
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
    assert "1,234</b></a> of 500,000 tokens used" in page
    assert "498,766 left" in page
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
    assert "No model drafts for you" in stopped
    assert "<html" not in stopped
    assert DraftingPolicy.objects.get(user=alice).stopped_at is not None
    assert as_alice.post(f"{PAGE}allow/").headers["Location"] == PAGE
    assert "Models may draft for you" in as_alice.get(PAGE).content.decode()
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


def test_who_is_not_signed_in_sees_nothing(anyone: Client) -> None:
    assert anyone.get(PAGE).status_code == 302
    assert anyone.post(f"{PAGE}stop/").status_code == 302
