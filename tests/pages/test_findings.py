"""What a checker doubts wrongly is set aside on its gate's page; and what is offered once a summary is done with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction import review
from compaction.domain.lifecycle import ClaimVerdictValue as Say
from compaction.models import Artifact, SetAside
from compaction.standing.accepting import accept_compaction
from efforts import actions
from efforts.models import EffortState
from tests.compaction.review import MODEL, SLUG, STATES, Room, judged, room_of, verdict_of
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider
from tests.pages.conftest import HTMX

WHY = "It is only worded badly."
OF_GATE = {"B": "unsupported", "D": "contradicted"}
ASKS = {"B": "The log does say it…", "D": "This is not a contradiction…"}

Doubted = Callable[[str], Artifact]


@pytest.fixture
def doubted(room: Room) -> Doubted:
    """The checker doubts one claim, which fails that gate and no other."""

    def of_gate(gate: str) -> Artifact:
        room.model.doubts("Nightly backups to the second site", OF_GATE[gate], phrase="Nightly")
        return STATES["reviewed"](room)

    return of_gate


def finding_of(row: Artifact, gate: str) -> str:
    return str(verdict_of(judged(row), gate)["failures"][0]["id"])


def post(client: Client, row: Artifact, finding: str, *, status: int = 200, **fields: str) -> str:
    response = client.post(reverse("finding", args=[row.pk, finding]), fields, headers=HTMX)
    assert response.status_code == status
    return response.content.decode()


@pytest.mark.parametrize("gate", OF_GATE)
def test_a_finding_is_set_aside_with_a_reason_and_stays_in_sight(doubted: Doubted, as_alice: Client, gate: str) -> None:
    row = doubted(gate)
    key = finding_of(row, gate)
    panel = post(as_alice, row, key, reason=WHY)
    assert f"Gate {gate} ·" in panel
    assert f"alice: “{WHY}”" in panel
    assert verdict_of(judged(row), gate)["outcome"] == "pass"
    panel = post(as_alice, row, key, back="1")
    assert WHY not in panel
    assert ASKS[gate] in panel
    assert verdict_of(judged(row), gate)["outcome"] == "fail"


@pytest.mark.parametrize("gate", OF_GATE)
def test_a_claim_whose_doubt_was_set_aside_says_by_whom_and_is_doubted_no_more(
    doubted: Doubted, as_alice: Client, gate: str
) -> None:
    row = doubted(gate)
    page = as_alice.get(row.get_absolute_url()).content.decode()
    assert 'id="show-doubted"' in page
    assert f"{MODEL} doubts" in page
    post(as_alice, row, finding_of(row, gate), reason=WHY)
    page = as_alice.get(row.get_absolute_url()).content.decode()
    assert 'id="show-doubted"' not in page
    assert 'class="claim doubted' not in page
    assert f"alice set aside the doubt of {MODEL}" in page
    assert WHY in page
    # The suggestion of a checker that doubts it is not to keep it.
    assert page.count('data-suggested=""') == 1


def test_of_two_doubts_the_top_counts_the_one_that_was_not_set_aside(room: Room, as_alice: Client) -> None:
    room.model.doubts("Nightly backups to the second site", "contradicted", phrase="Nightly")
    room.model.doubts("Move the old orders over", "contradicted", phrase="old")
    row = STATES["reviewed"](room)
    top = reverse("review_top", args=[row.pk])
    assert "doubts 2 claims" in as_alice.get(top, headers=HTMX).content.decode()
    post(as_alice, row, finding_of(row, "D"), reason=WHY)
    assert "doubts 1 claim:" in as_alice.get(top, headers=HTMX).content.decode()


def test_without_a_reason_the_form_says_what_to_do(doubted: Doubted, as_alice: Client) -> None:
    row = doubted("D")
    panel = post(as_alice, row, finding_of(row, "D"), status=422, reason="  ")
    assert "Say in a few words why." in panel
    assert "<details open" in panel
    assert not SetAside.objects.exists()


def test_what_is_gone_meanwhile_is_said_so_where_it_was_asked(doubted: Doubted, as_alice: Client) -> None:
    row = doubted("D")
    assert "put back already" in post(as_alice, row, finding_of(row, "D"), status=422, back="1")
    assert "do not find this any more" in post(as_alice, row, "gone", status=422, reason=WHY)


def test_without_scripts_the_page_of_the_gate_says_it(doubted: Doubted, as_alice: Client) -> None:
    row = doubted("D")
    address = reverse("finding", args=[row.pk, finding_of(row, "D")])
    response = as_alice.post(address, {"reason": ""})
    assert response.status_code == 422
    assert "Say in a few words why." in response.content.decode()
    assert as_alice.post(address, {"reason": WHY})["Location"] == row.get_absolute_url()


def test_nobody_else_sets_aside(doubted: Doubted, as_bob: Client) -> None:
    row = doubted("D")
    address = reverse("finding", args=[row.pk, finding_of(row, "D")])
    assert as_bob.post(address, {"reason": WHY}).status_code == 404


# What comes next


def desk(client: Client, row: Artifact) -> str:
    return client.get(reverse("review_desk", args=[row.pk]), headers=HTMX).content.decode()


@pytest.fixture
def three(alice: User, provider: FakeProvider) -> list[Artifact]:
    return [STATES["reviewed"](room_of(alice, provider)) for _ in range(3)]


def test_the_next_is_offered_once_a_summary_is_accepted(three: list[Artifact], as_alice: Client, alice: User) -> None:
    first, second, third = three
    assert "Next:" not in desk(as_alice, first)
    accept_compaction(first.pk, first.session_id, 1, 3, actor=alice)
    offered = desk(as_alice, first)
    assert f'href="{second.get_absolute_url()}"' in offered
    assert f"Next: {SLUG} · in the conversation {second.session}" in offered
    for row in (second, third):
        accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    assert "No other summary waits for you." in desk(as_alice, third)


def test_the_next_one_of_a_fork_is_named_with_its_branch(alice: User, as_alice: Client, provider: FakeProvider) -> None:
    first = STATES["reviewed"](room_of(alice, provider))
    room = room_of(alice, provider)
    branch = actions.fork(room.talk.branch, after=3, actor=alice)
    room.talk = Talk(room.talk.session, branch)
    STATES["reviewed"](room)
    assert EffortState.objects.get(branch=branch, effort__slug=SLUG).summary == "waiting"
    accept_compaction(first.pk, first.session_id, 1, 3, actor=alice)
    offered = f"Next: {SLUG}, in the branch {branch.name} · in the conversation {room.talk.session}</span>"
    assert offered in desk(as_alice, first)
    assert f"in the branch {branch.name}" in as_alice.get(reverse("reviews")).content.decode()


def test_or_its_verdicts_are_submitted_whether_they_make_a_version_or_not(
    three: list[Artifact], as_alice: Client, alice: User
) -> None:
    first, second, third = three
    review.decide(first, "move", Say.KEPT, reviewer=alice)
    assert "Next:" not in desk(as_alice, first)
    review.submit(first, reviewer=alice)
    assert second.get_absolute_url() in desk(as_alice, first)
    review.decide(second, "move", Say.STRUCK, reviewer=alice)
    made = review.submit(second, reviewer=alice).made
    assert made is not None
    assert third.get_absolute_url() in desk(as_alice, made)


def test_or_it_is_turned_down_but_not_where_a_gate_fails(
    three: list[Artifact], doubted: Doubted, as_alice: Client, alice: User
) -> None:
    assert "Next:" not in desk(as_alice, doubted("D"))
    review.reject(three[0], actor=alice, reason="Too vague.")
    assert three[1].get_absolute_url() in desk(as_alice, three[0])
