"""Rules on the page: the panel, the form, what is noted in the log, and standing rules in the settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from efforts import actions
from efforts.actions import Place
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.domain.effort.states import Via
from efforts.models import Constraint, Session

from .conftest import HTMX, Scene

Address = Callable[..., str]
RULE = "Never touch the production database."


def place(session: Session) -> Place:
    return actions.here(session, actor=session.owner)


def record(session: Session, text: str) -> Constraint:
    """As the model's tool does it, after the last turn."""
    branch = main_branch(session)
    return actions.record_constraint(Place(branch=branch, turn=branch.head, via=Via.MODEL), text)


def in_force() -> list[str]:
    return list(Constraint.objects.filter(state="in force").order_by("pk").values_list("text", flat=True))


def shown(client: Client, where: str) -> str:
    answer = client.get(where, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_conversation_without_rules_says_what_one_does(as_alice: Client, address: Address) -> None:
    assert "A rule is sent word for word with every call until you take it back." in shown(
        as_alice, address("context/")
    )


def test_the_panel_lists_rules_in_their_order_with_their_source(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask(RULE, "Noted.")
    scene.ask("Go on.", "Yes.")
    actions.set_standing_rule(scene.session.owner, "Be <brief>.")
    actions.set_constraint(place(scene.session), RULE, turn=1)
    record(scene.session, "Ask before deleting.")
    panel = shown(as_alice, address("context/"))
    texts = ("Be &lt;brief&gt;.", RULE, "Suggested", "Ask before deleting.")
    places = [panel.index(text) for text in texts]
    assert places == sorted(places)
    assert f'href="{address("log/")}?around=1#turn-1" data-turn-link>turn 1</a>' in panel
    assert "For all conversations." in panel
    assert "the model" in panel


def test_the_meter_and_the_list_of_the_next_call_show_the_rules(as_alice: Client, session: Session) -> None:
    actions.set_constraint(place(session), RULE)
    section = next(one for one in preview(main_branch(session)).sections if one.key == "constraint")
    assert (section.label, section.items) == ("Rules", 1)
    assert section.tokens > 10
    page = as_alice.get(session.get_absolute_url()).content.decode()
    assert "A rule of yours: sent word for word until you take it back." in page


@pytest.mark.parametrize("headers", [HTMX, {}])
def test_a_rule_is_added_by_a_form(as_alice: Client, address: Address, headers: dict[str, str]) -> None:
    assert 'name="text"' in shown(as_alice, address("rules/new/"))
    answer = as_alice.post(address("rules/new/"), {"text": f" {RULE}\n"}, headers=headers)
    assert answer.status_code == (204 if headers else 302)
    assert in_force() == [RULE]


def test_a_message_is_made_a_rule_by_what_is_selected_or_all_of_it(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask(f"Fix the bug. {RULE} Thanks.", "Done.")
    scene.ask("Short answers,\nplease.", "Yes.")
    page = as_alice.get(address()).content.decode()
    assert f'{address("rules/new/")}?turn=1"' in page
    form = shown(as_alice, address("rules/new/?turn=1"))
    assert f">\nFix the bug. {RULE} Thanks.</textarea>" in form
    assert '<input type="hidden" name="turn" value="1">' in form
    assert ">\nFix the bug.</textarea>" in shown(as_alice, address("rules/new/?turn=1&text=Fix the bug."))
    assert ">\nShort answers, please.</textarea>" in shown(as_alice, address("rules/new/?turn=2"))
    as_alice.post(address("rules/new/"), {"text": "Short answers, please.", "turn": "2"})
    row = Constraint.objects.select_related("source__turn").get(state="in force")
    assert row.source is not None
    assert row.source.turn.number == 2


@pytest.mark.parametrize(
    ("text", "told"),
    [("", "required"), ("x" * 1_001, "1000 characters"), ("a\x00b", "Null characters"), (RULE, "in force already")],
)
def test_what_is_no_rule_is_refused_in_the_form(
    as_alice: Client, session: Session, address: Address, text: str, told: str
) -> None:
    actions.set_constraint(place(session), RULE)
    answer = as_alice.post(address("rules/new/"), {"text": text}, headers=HTMX)
    assert answer.status_code == 422
    assert told in answer.content.decode()
    assert as_alice.post(address("rules/new/"), headers=HTMX).status_code == 422


def test_a_rule_is_edited_and_taken_back(as_alice: Client, session: Session, address: Address) -> None:
    pk = actions.set_constraint(place(session), RULE).pk
    assert RULE in shown(as_alice, address(f"rules/{pk}/edit/"))
    assert as_alice.post(address(f"rules/{pk}/edit/"), {"text": "Be brief."}).status_code == 302
    assert in_force() == ["Be brief."]
    assert as_alice.post(address(f"rules/{pk}/revoke/")).status_code == 200
    assert in_force() == []
    late = as_alice.post(address(f"rules/{pk}/revoke/"), headers={"Accept": "application/json"})
    assert (late.status_code, late.json()["code"]) == (409, "changed")
    edited = as_alice.post(address(f"rules/{pk}/edit/"), {"text": "Be quick."}, headers=HTMX)
    assert edited.status_code == 422
    assert "changed elsewhere" in edited.content.decode()


def test_a_suggestion_is_asked_about_below_its_turn_until_it_is_answered(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask("Mind the database.", "Noted.")
    first = record(scene.session, RULE)
    scene.ask("Bitte auf Deutsch.", "Ja.")
    second = record(scene.session, "Answer in German.")
    turn = shown(as_alice, address("turns/1/"))
    assert f"Make this a rule? {RULE}" in turn
    assert f'data-about="rule:{first.pk}"' in turn
    as_alice.post(address(f"rules/{first.pk}/set/"))
    as_alice.post(address(f"rules/{second.pk}/dismiss/"))
    assert in_force() == [RULE]
    assert "Make this a rule?" not in shown(as_alice, address("turns/1/"))
    later = shown(as_alice, address("turns/2/"))
    assert "Make this a rule?" not in later
    assert f"Rule set: {RULE}" in later
    assert "Undo" not in later


def test_what_the_model_set_can_be_undone_from_its_notice(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Answer in German.", "Ja.")
    record(scene.session, "Answer in German.")
    seq = scene.session.events.get(kind="constraint.set").seq
    undo = address(f"efforts/undo/{seq}/")
    assert undo in shown(as_alice, address("turns/1/"))
    assert as_alice.post(undo).status_code == 200
    turn = shown(as_alice, address("turns/1/"))
    assert "taken back" in turn
    assert undo not in turn
    assert turn.count("Answer in German.</span>") == 1
    assert in_force() == []


def test_nobody_else_reaches_a_rule(as_bob: Client, as_alice: Client, session: Session, bob: User) -> None:
    pk = actions.set_constraint(place(session), RULE).pk
    theirs = actions.create_session(bob).get_absolute_url()
    assert as_bob.get(f"{session.get_absolute_url()}rules/new/").status_code == 404
    assert as_bob.post(f"{session.get_absolute_url()}rules/{pk}/revoke/").status_code == 404
    for rest in ("edit/", "revoke/", "set/", "dismiss/"):
        assert as_bob.post(f"{theirs}rules/{pk}/{rest}", {"text": "x"}).status_code == 404
    assert as_alice.post(f"{session.get_absolute_url()}rules/{pk}/burn/").status_code == 404
    assert as_alice.get(f"{session.get_absolute_url()}rules/{pk}/revoke/").status_code == 405
    assert as_alice.get(f"{session.get_absolute_url()}rules/new/?turn=9").status_code == 404
    assert in_force() == [RULE]


# In the settings


def test_a_standing_rule_is_set_edited_and_taken_back_in_the_settings(as_alice: Client) -> None:
    assert "None. A rule given here" in as_alice.get("/settings/").content.decode()
    assert as_alice.post("/settings/rules/new/", {"text": RULE}).status_code == 302
    pk = Constraint.objects.get().pk
    assert RULE in as_alice.get("/settings/").content.decode()
    answer = as_alice.post(f"/settings/rules/{pk}/edit/", {"text": "Be brief."}, headers=HTMX)
    assert (answer.status_code, answer["HX-Redirect"]) == (204, "/settings/")
    assert in_force() == ["Be brief."]
    for _ in range(2):
        assert as_alice.post(f"/settings/rules/{pk}/revoke/").status_code == 302
    assert in_force() == []


def test_a_standing_rule_is_its_owner_s_alone(as_alice: Client, as_bob: Client, session: Session) -> None:
    actions.set_standing_rule(session.owner, RULE)
    pk = Constraint.objects.get().pk
    assert RULE not in as_bob.get("/settings/").content.decode()
    assert as_bob.get(f"/settings/rules/{pk}/edit/").status_code == 404
    assert as_bob.post(f"/settings/rules/{pk}/revoke/").status_code == 404
    assert as_alice.post(f"{session.get_absolute_url()}rules/{pk}/revoke/").status_code == 404
    assert in_force() == [RULE]


def test_rules_are_listed_in_the_admin_to_read(as_alice: Client, session: Session) -> None:
    User.objects.filter(pk=session.owner_id).update(is_staff=True, is_superuser=True)
    row = actions.set_constraint(place(session), RULE)
    actions.set_standing_rule(session.owner, "Be brief.")
    listed = as_alice.get(reverse("admin:efforts_constraint_changelist")).content.decode()
    assert RULE in listed
    assert "Be brief." in listed
    change = reverse("admin:efforts_constraint_change", args=[row.pk])
    assert as_alice.get(change).status_code == 200
    assert as_alice.post(change, {"text": "x"}).status_code == 403
    assert in_force() == [RULE, "Be brief."]
