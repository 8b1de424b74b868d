"""`manage.py demo_seed`: a conversation as a week of work would have left it."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client

from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.domain.effort.states import EffortStatus, PointerState, SummaryState
from efforts.management.demo import SCRIPT, open_demo
from efforts.models import Branch, ContextPointer, EffortState, Event, PointerTurn, Session, Turn, TurnLabel


def seed(**options: Any) -> str:
    out = StringIO()
    call_command("demo_seed", stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def demo(alice: User) -> Session:
    return open_demo(alice)[0]


def slugs(**states: Any) -> set[str]:
    return set(EffortState.objects.filter(**states).values_list("effort__slug", flat=True))


def test_a_second_run_makes_no_second_one_and_says_where_it_is(alice: User) -> None:
    first, second = (json.loads(seed(user="alice", json=True)) for _ in range(2))
    assert (first["made"], second["made"]) == (True, False)
    assert first["address"] == second["address"] == Session.objects.get().get_absolute_url()


def test_it_is_found_again_under_another_title(demo: Session, alice: User) -> None:
    actions.rename_session(demo, title="Mine now", actor=alice)
    assert "“Mine now” of alice" in seed(user="alice")


def test_it_is_the_first_superuser_s_where_nobody_is_named(alice: User) -> None:
    with pytest.raises(CommandError, match="nobody yet"):
        seed()
    User.objects.filter(pk=alice.pk).update(is_superuser=True)
    assert seed().startswith("Made: ")
    with pytest.raises(CommandError, match="no user 'eve'"):
        seed(user="eve")


def test_it_has_efforts_in_every_state(demo: Session) -> None:
    assert slugs(status=EffortStatus.CONCLUDED) == {"csv-export", "back-pain", "campaign-budget"}
    assert slugs(status=EffortStatus.OPEN) == {"mail-migration", "summer-party"}
    assert slugs(expanded_turn__isnull=False) == {"csv-export"}
    active = Branch.objects.get(session=demo).active_effort
    assert active is not None
    assert active.slug == "mail-migration"
    labelled = TurnLabel.objects.filter(branch__session=demo).count()
    assert 0 < labelled < demo.turns.count() == len(SCRIPT)


def test_of_every_conclusion_excerpts_stand_for_its_turns(demo: Session) -> None:
    assert slugs(summary=SummaryState.DIGEST) == slugs(status=EffortStatus.CONCLUDED)
    for pointer in ContextPointer.objects.filter(state=PointerState.ACTIVE):
        labelled = TurnLabel.objects.filter(effort=pointer.effort).values_list("turn_id", flat=True)
        assert set(PointerTurn.objects.filter(pointer=pointer).values_list("turn_id", flat=True)) == set(labelled)
    texts = {p.effort.slug: p.text for p in ContextPointer.objects.filter(digest=True) if p.effort}
    assert "cuts off after 10,000 rows" in texts["csv-export"]


def test_its_sums_are_those_of_its_turns(demo: Session) -> None:
    turns = list(Turn.objects.order_by("number"))
    assert [turn.tokens_before for turn in turns] == [sum(t.tokens for t in turns[:n]) for n in range(len(turns))]
    for state in EffortState.objects.all():
        mine = [label.turn.tokens for label in TurnLabel.objects.filter(effort=state.effort).select_related("turn")]
        assert (state.turns, state.tokens) == (len(mine), sum(mine))


def test_its_notices_are_in_its_log(demo: Session) -> None:
    notices = [event.data["notice"] for event in Event.objects.filter(session=demo, data__has_key="notice")]
    assert notices[0] == "--- Started effort: csv-export ---"
    assert notices.count("--- Concluded effort: csv-export ---") == 1
    assert any(notice.startswith("--- Expanded effort: csv-export (") for notice in notices)


def test_its_next_prompt_has_every_layer(demo: Session) -> None:
    sections = {section.key for section in preview(main_branch(demo)).sections if section.tokens}
    assert {"system", "summary", "ambient", "expanded", "open", "active", "turn"} <= sections


def test_its_page_opens(demo: Session, as_alice: Client) -> None:
    page = as_alice.get(demo.get_absolute_url())
    assert page.status_code == 200
    assert "41 mailboxes" in page.content.decode()
