"""What replies cost in money, where a price is set."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.domain.effort.money import Money, Price, Used, cost, digits, summed
from efforts.models import ContextPlan, Endpoint, Run, Session, Titling

from .conftest import HTMX, Scene

Address = Callable[..., str]
PRICE = Price(prompt=Decimal(3), completion=Decimal(15), cached=Decimal("0.3"), currency="USD")


def test_a_call_costs_its_tokens_at_their_prices() -> None:
    used = Used(prompt=1_000_000, cached=400_000, completion=100_000)
    # 0.6 million at 3, 0.4 million at 0.30, 0.1 million at 15.
    assert cost(PRICE, used) == Money(amount=Decimal("3.42"), currency="USD")
    assert cost(None, used) is None
    assert Price.read(PRICE.stored()) == PRICE


@pytest.mark.parametrize(
    ("amount", "shown"),
    [
        ("0", "0.00"),
        ("3.42", "3.42"),
        ("1234.5", "1,234.50"),
        ("0.1", "0.10"),
        ("0.0123", "0.012"),
        ("0.00042", "0.00042"),
        ("0.0000001", "less than 0.000001"),
    ],
)
def test_an_amount_is_said_with_the_digits_that_matter(amount: str, shown: str) -> None:
    assert digits(Decimal(amount)) == shown


def test_what_is_of_several_currencies_is_not_added_up() -> None:
    euros, dollars = Money(amount=Decimal(1), currency="EUR"), Money(amount=Decimal(2), currency="USD", about=True)
    assert list(map(str, summed([dollars, euros, euros]))) == ["€2.00", "~$2.00"]
    assert str(Money(amount=Decimal("-0.5"), currency="CHF")) == "−0.50 CHF"


@pytest.fixture
def priced(alice: User, session: Session) -> Endpoint:
    prices = {"price_prompt": Decimal(3), "price_completion": Decimal(15), "currency": "EUR"}
    endpoint = Endpoint.objects.create(owner=alice, name="Lab", base_url="http://127.0.0.1:9/v1", model="m", **prices)
    Session.objects.filter(pk=session.pk).update(endpoint=endpoint)
    session.refresh_from_db()
    return endpoint


def reported(scene: Scene, text: str, prompt: int, completion: int) -> None:
    turn = scene.ask(text, "Noted.")
    ContextPlan.objects.filter(run=turn.run).update(prompt_tokens=prompt, completion_tokens=completion)


def test_a_turn_an_effort_and_the_conversation_say_what_they_cost(
    as_alice: Client, scene: Scene, address: Address, priced: Endpoint, session: Session
) -> None:
    reported(scene, "Hello", 100_000, 10_000)
    actions.open_effort(actions.here(session, actor=session.owner), "Payment webhook")
    reported(scene, "The webhook fails.", 200_000, 0)
    turn = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert " · €0.45</summary>" in turn
    page = as_alice.get(address("metrics/")).content.decode()
    assert '<b class="num">€1.05</b> for the requests of 2 turns' in page
    assert '<td dir="auto">Payment webhook</td><td>1</td><td>€0.60</td>' in page
    told = as_alice.get(address("metrics/?format=json")).json()["cost"]
    assert told["cost"] == {"EUR": "1.05"}
    assert [one["name"] for one in told["efforts"]] == ["No effort", "Payment webhook"]


def test_asking_for_a_title_is_paid_too(
    as_alice: Client, scene: Scene, address: Address, priced: Endpoint, session: Session
) -> None:
    reported(scene, "Hello", 100_000, 10_000)
    asked = {"model": "m", "messages": [], "elapsed_ms": 1, "tokens": 50_000}
    price = Run.objects.get().settings["price"]
    row = Titling.objects.create(session=session, **asked, price=price, prompt_tokens=100_000, completion_tokens=0)
    page = as_alice.get(address("metrics/")).content.decode()
    assert '<b class="num">€0.75</b> for the requests of 1 turn' in page
    assert "€0.30 of it was for the title of the conversation." in page
    told = as_alice.get(address("metrics/?format=json")).json()["cost"]
    assert (told["cost"], told["title"]) == ({"EUR": "0.75"}, {"EUR": "0.3"})
    # What the provider did not report is counted here.
    Titling.objects.filter(pk=row.pk).update(prompt_tokens=None, completion_tokens=None)
    assert "~€0.15 of it was for the title" in as_alice.get(address("metrics/")).content.decode()


def test_it_is_told_by_the_price_of_then_and_counted_where_nothing_was_reported(
    as_alice: Client, scene: Scene, address: Address, priced: Endpoint
) -> None:
    reported(scene, "Hello", 100_000, 10_000)
    Endpoint.objects.update(price_prompt=Decimal(99))
    assert " · €0.45</summary>" in as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    ContextPlan.objects.update(prompt_tokens=None, completion_tokens=None)
    assert " · ~€0.00" in as_alice.get(address("turns/1/"), headers=HTMX).content.decode()


def test_without_a_price_a_turn_says_nothing_of_money_and_the_metrics_say_why(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask("Hello", "Hi.")
    assert "Cost" not in as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    metrics = as_alice.get(address("metrics/")).content.decode()
    assert 'id="cost"' not in metrics
    assert "No prices are set" in metrics


def test_another_model_at_the_same_address_has_no_price(scene: Scene, priced: Endpoint, session: Session) -> None:
    Session.objects.filter(pk=session.pk).update(model="another")
    turn = scene.ask("Hello", "Hi.")
    assert turn.run is not None
    assert "price" not in turn.run.settings
