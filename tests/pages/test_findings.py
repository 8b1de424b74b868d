"""What a check finds wrongly is set aside on its page; and what is offered once a summary is done with."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import reviewing
from compaction.accepting import accept_compaction
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.models import Artifact, SetAside
from efforts import actions
from efforts.domain.lifecycle import EntryKind
from tests.compaction.review import POSTGRES, SLUG, judged, room_of, verdict_of
from tests.efforts.talk import Talk
from tests.pages.conftest import HTMX

WHY = "It is only worded badly."


@pytest.fixture
def contradicting(alice: User, monkeypatch: pytest.MonkeyPatch) -> Artifact:
    room = room_of(alice, monkeypatch)
    room.note(EntryKind.DECISION, POSTGRES)
    room.texts = {"postgres": "Postgres was never decided for the storage of orders."}
    return room.draft()


def finding_of(row: Artifact) -> str:
    return str(verdict_of(judged(row), "D")["failures"][0]["id"])


def post(client: Client, row: Artifact, *, status: int = 200, **fields: str) -> str:
    address = reverse("finding", args=[row.pk, finding_of(row) if not fields.get("id") else fields.pop("id")])
    response = client.post(address, fields, headers=HTMX)
    assert response.status_code == status
    return response.content.decode()


def test_a_finding_is_set_aside_with_a_reason_and_stays_in_sight(contradicting: Artifact, as_alice: Client) -> None:
    key = finding_of(contradicting)
    panel = post(as_alice, contradicting, reason=WHY)
    assert 'id="gate-D"' not in panel
    assert f"alice: “{WHY}”" in panel
    assert verdict_of(judged(contradicting), "D")["outcome"] == "pass"
    panel = post(as_alice, contradicting, id=key, back="1")
    assert WHY not in panel
    assert "This is no contradiction…" in panel
    assert verdict_of(judged(contradicting), "D")["outcome"] == "fail"


def test_without_a_reason_the_form_says_what_to_do(contradicting: Artifact, as_alice: Client) -> None:
    panel = post(as_alice, contradicting, status=422, reason="  ")
    assert "Say in a few words why." in panel
    assert "<details open" in panel
    assert not SetAside.objects.exists()


def test_what_is_gone_meanwhile_is_said_so_where_it_was_asked(contradicting: Artifact, as_alice: Client) -> None:
    key = finding_of(contradicting)
    assert "put back already" in post(as_alice, contradicting, status=422, id=key, back="1")
    assert "do not find this any more" in post(as_alice, contradicting, status=422, id="gone", reason=WHY)


def test_without_scripts_the_page_of_the_gate_says_it(contradicting: Artifact, as_alice: Client) -> None:
    address = reverse("finding", args=[contradicting.pk, finding_of(contradicting)])
    response = as_alice.post(address, {"reason": ""})
    assert response.status_code == 422
    assert "Say in a few words why." in response.content.decode()
    assert as_alice.post(address, {"reason": WHY})["Location"] == contradicting.get_absolute_url()


def test_nobody_else_sets_aside(contradicting: Artifact, as_bob: Client) -> None:
    address = reverse("finding", args=[contradicting.pk, finding_of(contradicting)])
    assert as_bob.post(address, {"reason": WHY}).status_code == 404


# What comes next


def desk(client: Client, row: Artifact) -> str:
    return client.get(reverse("review_desk", args=[row.pk]), headers=HTMX).content.decode()


@pytest.fixture
def three(alice: User, monkeypatch: pytest.MonkeyPatch) -> list[Artifact]:
    return [room_of(alice, monkeypatch).draft() for _ in range(3)]


def test_the_next_is_offered_once_a_summary_is_accepted(three: list[Artifact], as_alice: Client, alice: User) -> None:
    first, second, third = three
    assert "Next:" not in desk(as_alice, first)
    accept_compaction(first.pk, first.session_id, 1, 3, actor=alice)
    assert f'href="{second.get_absolute_url()}">Next: {SLUG}' in desk(as_alice, first)
    for row in (second, third):
        accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    assert "No other summary waits for you." in desk(as_alice, third)


def test_the_next_one_of_a_fork_is_named_with_its_branch(
    alice: User, as_alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, room = room_of(alice, monkeypatch).draft(), room_of(alice, monkeypatch)
    branch = actions.fork(room.talk.branch, after=3, actor=alice)
    room.talk = Talk(room.talk.session, branch)
    room.draft()
    accept_compaction(first.pk, first.session_id, 1, 3, actor=alice)
    assert f"Next: {SLUG}, in the branch {branch.name} <kbd>" in desk(as_alice, first)
    assert f"in the branch {branch.name}" in as_alice.get(reverse("reviews")).content.decode()


def test_or_its_verdicts_are_submitted_whether_they_make_a_version_or_not(
    three: list[Artifact], as_alice: Client, alice: User
) -> None:
    first, second, third = three
    reviewing.decide(first, "move", Say.KEPT, reviewer=alice)
    assert "Next:" not in desk(as_alice, first)
    reviewing.submit(first, reviewer=alice)
    assert second.get_absolute_url() in desk(as_alice, first)
    reviewing.decide(second, "move", Say.STRUCK, reviewer=alice)
    made = reviewing.submit(second, reviewer=alice).made
    assert made is not None
    assert third.get_absolute_url() in desk(as_alice, made)


def test_or_it_is_turned_down_but_not_where_a_check_fails(
    three: list[Artifact], contradicting: Artifact, as_alice: Client, alice: User
) -> None:
    assert "Next:" not in desk(as_alice, contradicting)
    reviewing.reject(three[0], actor=alice, reason="Too vague.")
    assert three[1].get_absolute_url() in desk(as_alice, three[0])
