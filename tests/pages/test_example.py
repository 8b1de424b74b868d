"""The example."""

from __future__ import annotations

import pytest
from django.test import Client
from django.urls import reverse

from efforts.models import Message, Session
from efforts.pages.views import start


def test_it_says_how_far_it_is_and_can_be_left(as_alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "AT_ONCE", 0)
    assert as_alice.post(reverse("example"))["Location"] == reverse("example")
    assert "1 of 34 turns" in as_alice.get(reverse("example")).content.decode()
    assert "2 of 34 turns" in as_alice.post(reverse("example"), headers={"hx-request": "true"}).content.decode()
    address = Session.objects.get().get_absolute_url()
    assert "Finish the example" in as_alice.get(address).content.decode()
    told = as_alice.post(f"{address}send/", {"text": "Hello?", "client_id": "mine"}).json()
    assert told["code"] == "example"
    assert "Press “Finish the example” first" in told["text"]
    assert not Message.objects.filter(text="Hello?").exists()
    # What is there already is only opened.
    Session.objects.update(model="")
    assert as_alice.post(reverse("example"))["Location"] == address
    assert as_alice.get(reverse("example"))["Location"] == address


def test_its_address_alone_makes_nothing_and_leads_to_the_button(as_alice: Client) -> None:
    assert as_alice.get(reverse("example"))["Location"] == reverse("start")
    assert not Session.objects.exists()
