"""Pins of code: they follow it or say that it is gone; and what is referred to again and again stays for a while."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from efforts.context.planning import chosen_settings, main_branch, next_inputs
from efforts.domain.effort.policy import ContextMode
from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.planner import plan
from efforts.models import Event, Run, Session
from efforts.tools import ToolContext, run_tool
from tests.workspaces.conftest import indexed, write
from workspaces.actions import let_go, pin_code, suggest_code_pin, unpin_code
from workspaces.domain.activation import Kept, Signals, kept, step
from workspaces.domain.following import follow
from workspaces.indexing import worker
from workspaces.models import CodePin, Workspace
from workspaces.retrieval.pins import pins_of

TAX = "RATE = 19\n\n\ndef add_tax(net):\n    gross = net * 119\n    return gross // 100\n"
CART = "from shop.tax import add_tax\n\n\ndef total(cart):\n    return add_tax(sum(cart))\n"


@pytest.fixture
def shop(root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setattr(worker, "start", lambda pk: None)
    write(root, shop__tax_py=TAX, shop__cart_py=CART, notes_txt="one\ntwo\n")
    return indexed(workspace)


def cards(session: Session, text: str = "Good morning.", mode: ContextMode = ContextMode.LIGHT) -> dict[str, str]:
    """Of the next prompt: titles with their reasons."""
    chosen = {**chosen_settings(session), "context_mode": str(mode)}
    planned = plan(next_inputs(main_branch(session), chosen, text, None))
    return {
        item.title: item.sentence
        for item in planned.items
        if item.section == "code" and item.included and "symbol" in item.values
    }


# Following


OLD = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]


@pytest.mark.parametrize(
    ("new", "found"),
    [
        (OLD, (3, 5, True)),
        (["x", "y", *OLD], (5, 7, True)),
        (["a", "b", "c", "D", "e", "f"], (3, 5, False)),
        (["c", "d", "e", "z", "a", "b", "f", "g", "h"], (1, 3, True)),
        (["a", "b", "f", "g", "h", "i", "c", "d", "e"], (7, 9, True)),
        (["a", "b", "f", "g", "h"], None),
        (["a", "b", "c", "new", "d", "e", "f"], (3, 6, False)),
    ],
)
def test_lines_are_followed(new: list[str], found: tuple[int, int, bool] | None) -> None:
    one = follow(OLD, new, 3, 5)
    assert (one and (one.first, one.last, one.same)) == found


@given(st.lists(st.sampled_from("abcdef\n"), max_size=12), st.lists(st.sampled_from("xyz"), max_size=6), st.data())
def test_lines_above_never_lose_those_below(old: list[str], above: list[str], data: st.DataObject) -> None:
    old = [*old, "told apart"]
    first = data.draw(st.integers(1, len(old)))
    one = follow(old, [*above, *old], first, len(old))
    assert one is not None
    assert (one.first, one.last, one.same) == (first + len(above), len(old) + len(above), True)


def test_a_pinned_symbol_stands_in_each_prompt_and_follows_its_code(
    session: Session, shop: Workspace, root: Path, alice: User
) -> None:
    pin_code(session, "shop.tax.add_tax", actor=alice)
    assert "You pinned it." in cards(session)["shop.tax.add_tax"]
    assert cards(session, mode=ContextMode.OFF) == {}
    (root / "shop" / "tax.py").unlink()
    write(root, shop__taxes_py=f"# Moved here.\n{TAX}")
    worker.index(shop)
    assert "It has moved: it was at shop/tax.py:4-6." in cards(session)["shop.taxes.add_tax"]
    (root / "shop" / "taxes.py").write_text("RATE = 7\n")
    worker.index(shop)
    assert cards(session) == {}


def test_lines_that_were_moved_to_another_file_are_followed(
    session: Session, shop: Workspace, root: Path, alice: User
) -> None:
    pin_code(session, "shop/tax.py:4-6", actor=alice)
    (root / "shop" / "tax.py").rename(root / "shop" / "taxes.py")
    worker.index(shop)
    assert "You pinned it. It has moved: it was at shop/tax.py:4-6." in cards(session)["shop/taxes.py:4-6"]


def test_pinned_lines_follow_theirs_and_say_what_has_changed(
    session: Session, shop: Workspace, root: Path, alice: User, as_alice: Client
) -> None:
    pin_code(session, "shop/tax.py:4-6", actor=alice)
    (root / "shop" / "tax.py").write_text(f"# One.\n# Two.\n{TAX.replace('119', '107')}")
    shop.refresh_from_db()
    worker.index(shop)
    shop.refresh_from_db()
    sentence = cards(session)["shop/tax.py:6-8"]
    assert "You pinned it. It has moved: it was at shop/tax.py:4-6. It has changed since." in sentence
    (root / "shop" / "tax.py").write_text("x = 1\n")
    worker.index(shop)
    shown = as_alice.get(reverse("code_pins", args=[session.pk])).text
    assert "The folder no longer holds it" in shown
    shop.refresh_from_db()
    assert shop.current is not None
    assert [one.symbol for one in pins_of(session, shop.current)] == [None]


@pytest.mark.parametrize(
    ("ref", "title"),
    [
        ("add_tax", "shop.tax.add_tax"),
        ("`tax.add_tax()`", "shop.tax.add_tax"),
        ("shop/cart.py", "shop.cart"),
        ("[shop/tax.py:4-6]", "shop/tax.py:4-6"),
        ("notes_txt:2", "notes_txt:2"),
    ],
)
def test_a_reference_is_a_path_lines_or_a_name(
    session: Session, shop: Workspace, alice: User, ref: str, title: str
) -> None:
    assert pin_code(session, ref, actor=alice).title == title


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("nothing", "Nothing in the attached code is called nothing"),
        ("../etc/passwd:1", "Nothing in the attached code"),
        ("shop/tax.py:5-900", "shop/tax.py has 6 lines"),
        ("twice", "2 symbols are called twice: shop.a.twice in shop/a.py, shop.b.twice in shop/b.py"),
    ],
)
def test_what_means_nothing_or_several_things_is_not_pinned(
    session: Session, shop: Workspace, root: Path, alice: User, ref: str, why: str
) -> None:
    write(root, shop__a_py="def twice(): ...\n", shop__b_py="def twice(): ...\n")
    worker.index(shop)
    with pytest.raises(Refused) as refused:
        pin_code(session, ref, actor=alice)
    assert why in refused.value.text
    assert not CodePin.objects.exists()


def test_a_model_suggests_a_person_pins_and_unpins_on_the_page(
    as_alice: Client, as_bob: Client, run: Run, session: Session, shop: Workspace
) -> None:
    def suggest(ref: str) -> dict[str, Any]:
        call = ToolCall(id="c", name="suggest_pin", arguments=json.dumps({"ref": ref, "why": "Central."}))
        result: dict[str, Any] = json.loads(run_tool(call, ToolContext(run=run)))
        return result

    assert suggest("shop.tax.add_tax")["suggested"] == "shop.tax.add_tax"
    assert "Nothing in the attached code" in suggest("no-such-thing")["error"]
    assert cards(session) == {}
    page = reverse("code_pins", args=[session.pk])
    assert "Central." in as_alice.get(page).text
    pin = CodePin.objects.get()
    address = reverse("code_pin", args=[session.pk, pin.pk])
    assert as_bob.post(address, {"verb": "accept"}).status_code == 404
    as_alice.post(address, {"verb": "accept"})
    assert list(cards(session)) == ["shop.tax.add_tax"]
    assert "is pinned already" in suggest("add_tax")["error"]
    as_alice.post(address, {"verb": "unpin"})
    assert cards(session) == {}
    assert as_alice.post(page, {"ref": "nowhere"}).status_code == 422
    kinds = Event.objects.filter(kind__startswith="workspace.pin_").order_by("seq").values_list("kind", flat=True)
    assert list(kinds) == ["workspace.pin_suggested", "workspace.pin_set", "workspace.pin_ended"]


def test_a_suggestion_that_a_person_pins_by_its_name_was_not_turned_down(
    run: Run, session: Session, shop: Workspace, alice: User
) -> None:
    suggested = suggest_code_pin(run, "add_tax", "Central.")
    pin = pin_code(session, "shop.tax.add_tax", actor=alice)
    assert (pin, pin.state, pin.why) == (suggested, "standing", "Central.")
    unpin_code(pin, actor=alice)
    assert not CodePin.objects.filter(state="dismissed").exists()
    assert suggest_code_pin(run, "add_tax", "Still central.").state == "suggested"


def test_lines_that_were_suggested_before_the_file_changed_are_pinned_as_they_are_now(
    run: Run, session: Session, shop: Workspace, root: Path, alice: User
) -> None:
    suggest_code_pin(run, "shop/tax.py:1-1", "The rate.")
    write(root, shop__tax_py=f"# Taxes\n{TAX}")
    worker.index(shop)
    pin_code(session, "shop/tax.py:1-1", actor=alice)
    assert list(cards(session)) == ["shop/tax.py:1"]


# Activation


def test_activation_is_counted_as_the_design_says() -> None:
    assert step(0, Signals(turn=1, user=True, model=True, tool=True)) == 9
    assert step(9, Signals(turn=2)) == 4
    assert step(4, Signals(turn=3, rejected=True, error=True)) == 0
    assert step(20, Signals(turn=4, user=True, model=True, tool=True)) == 19
    alone = ("user", "model", "tool", "rejected", "error")
    assert [step(20, Signals(turn=5, **{signal: True})) for signal in alone] == [14, 13, 12, 7, 8]


def test_twice_high_is_kept_until_three_turns_do_not_refer_to_it() -> None:
    high = [Signals(turn=number, user=True, model=True) for number in (1, 2)]
    quiet = [Signals(turn=number) for number in (3, 4, 5)]
    assert kept(high[:1]) is None
    assert kept(high) == Kept(activation=10, turns=(1, 2), left=3)
    assert kept([*high, *quiet[:2]]) == Kept(activation=2, turns=(1, 2), left=1)
    assert kept([*high, *quiet]) is None
    # Seen but not referred to is no reference, however high it still is.
    assert kept([high[0], Signals(turn=2), Signals(turn=3)]) is None
    rejected = [Signals(turn=number, user=True, model=True, rejected=True) for number in (1, 2)]
    assert kept(rejected) is None


def test_nobody_but_a_person_ends_what_is_pinned(session: Session, shop: Workspace, alice: User) -> None:
    pin = pin_code(session, "add_tax", actor=alice)
    assert pin_code(session, "shop.tax.add_tax", actor=alice) == pin
    unpin_code(pin, actor=alice)
    with pytest.raises(Refused, match="ended already"):
        unpin_code(pin, actor=alice)
    let_go(session, "add_tax", actor=alice)
    assert cards(session) == {}
