"""The page of an artifact: works, says why, and is nobody else's."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import drafting
from compaction.domain.artifact import Draft
from compaction.domain.extractive import extract
from compaction.models import Artifact
from efforts import actions, summaries
from tests.efforts.logs import WEBHOOK
from tests.efforts.talk import Talk

SLUG = "payment-webhook"


@pytest.fixture
def talk(alice: User) -> Talk:
    talk = Talk(actions.create_session(alice))
    actions.open_effort(talk.place, SLUG)
    for said, _ in WEBHOOK:
        talk.ask(said)
    actions.close_effort(talk.place, SLUG)
    return talk


def page_of(client: Client, artifact: str) -> str:
    response = client.get(reverse("artifact", args=[artifact]))
    assert response.status_code == 200
    return response.content.decode()


def test_it_shows_what_is_kept_where_it_comes_from_and_what_the_gates_say(talk: Talk, as_alice: Client) -> None:
    summaries.summarise_now(talk.state(SLUG))
    row = Artifact.objects.get()
    page = page_of(as_alice, row.pk)
    assert (row.source_start, row.source_end) == (1, 3)
    assert "We decided on a retry limit of 3." in page
    assert 'href="/s/' in page
    assert "#turn-3" in page
    assert "In the prompt" in page
    for words in ("Structure", "Sources", "Retention", "Contradictions", "Cost and size"):
        assert words in page


def test_what_failed_says_which_gate_and_why(talk: Talk, as_alice: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def of_the_moon(*args: object, **more: object) -> Draft:
        found = extract(*args, **more)  # type: ignore[arg-type]
        return Draft(headline="Nothing was said about the moon.", headline_items=(), items=found.items)

    monkeypatch.setattr(drafting, "extract", of_the_moon)
    summaries.summarise_now(talk.state(SLUG))
    state = talk.state(SLUG)
    assert (state.summary, state.draft[:7]) == ("failed", "Gate B:")
    page = page_of(as_alice, state.artifact)
    assert "Blocked: a gate fails" in page
    assert "moon" in page
    assert "In the prompt" not in page
    checkpoint = page_of(as_alice, Artifact.objects.get(kind="fallback").pk)
    assert f"Checkpoint of {SLUG}" in checkpoint
    assert "To read only" in checkpoint
    assert "the log itself stays in the prompt" in checkpoint


def test_it_says_when_what_it_was_judged_by_has_changed(talk: Talk, as_alice: Client) -> None:
    summaries.summarise_now(talk.state(SLUG))
    artifact = Artifact.objects.get().pk
    assert "have changed since it was judged" not in page_of(as_alice, artifact)
    talk.ask("And one more thing about it: never log card numbers.")
    actions.move_turn(talk.place, talk.branch.head, SLUG)
    assert "have changed since it was judged" in page_of(as_alice, artifact)


def test_others_find_nothing(talk: Talk, as_bob: Client) -> None:
    summaries.summarise_now(talk.state(SLUG))
    assert as_bob.get(reverse("artifact", args=[Artifact.objects.get().pk])).status_code == 404


def test_there_is_none_of_an_unknown_id(as_alice: Client) -> None:
    assert as_alice.get(reverse("artifact", args=["cmp_0"])).status_code == 404


def test_it_is_read_with_get_only(talk: Talk, as_alice: Client) -> None:
    summaries.summarise_now(talk.state(SLUG))
    assert as_alice.post(reverse("artifact", args=[Artifact.objects.get().pk])).status_code == 405
