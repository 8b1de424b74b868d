"""Which model answers a session, and how keys are kept."""

from __future__ import annotations

import pytest
from django.contrib.auth import get_user_model

from efforts.context import connections
from efforts.context.connections import KeyUnreadable, ModelChoice
from efforts.domain.hosts import AllowedHosts
from efforts.llm.protocol import TextDelta
from efforts.models import Endpoint, Session

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return get_user_model().objects.create_user("alice")


@pytest.fixture
def bob():
    return get_user_model().objects.create_user("bob")


@pytest.fixture
def environment(settings):
    settings.CCM_MODEL_URL = "http://127.0.0.1:8081/v1"
    settings.CCM_MODEL_KEY = "from-the-environment"
    settings.CCM_MODEL_NAME = "local"
    settings.CCM_MODEL_WINDOW = 32_000
    settings.CCM_MODEL_TIMEOUT = 60


@pytest.fixture
def no_environment(settings):
    settings.CCM_MODEL_URL = ""


def endpoint_of(owner, name="Work", **fields) -> Endpoint:
    given = {"base_url": "https://models.example/v1", "model": "large", **fields}
    return Endpoint.objects.create(owner=owner, name=name, key_encrypted=connections.encrypt_key("sk-alice"), **given)


def test_with_nothing_configured_the_built_in_engine_answers(alice, no_environment):
    choice = connections.choose(Session(owner=alice))
    assert (choice.kind, choice.model, choice.label) == ("builtin", "builtin", "Built-in engine")


def test_the_environment_names_the_default(alice, environment):
    assert connections.choose(Session(owner=alice)) == ModelChoice(
        kind="environment",
        label="local",
        model="local",
        base_url="http://127.0.0.1:8081/v1",
        api_key="from-the-environment",
        timeout_seconds=60,
        context_window=32_000,
    )


def test_a_session_can_ask_the_environments_address_for_another_model(alice, environment):
    assert connections.choose(Session(owner=alice, model="other")).model == "other"


def test_a_session_can_choose_the_built_in_engine(alice, environment):
    assert connections.choose(Session(owner=alice, model="builtin")).kind == "builtin"


def test_a_sessions_endpoint_wins_with_its_key(alice, environment):
    endpoint = endpoint_of(alice, context_window=128_000, timeout_seconds=90)
    assert connections.choose(Session(owner=alice, endpoint=endpoint)) == ModelChoice(
        kind="endpoint",
        label="large · Work",
        model="large",
        base_url="https://models.example/v1",
        api_key="sk-alice",
        timeout_seconds=90,
        context_window=128_000,
        allowed=AllowedHosts.of(["public", "loopback"]),
    )


def test_a_session_can_ask_its_endpoint_for_another_model(alice):
    assert connections.choose(Session(owner=alice, endpoint=endpoint_of(alice), model="small")).model == "small"


def test_another_model_has_the_window_that_its_owner_knows_of_it(alice, bob):
    endpoint = endpoint_of(alice, context_window=200_000, draft_model="small")
    endpoint_of(alice, "Cheap", model="small", context_window=8_000)
    endpoint_of(alice, "Elsewhere", model="tiny", context_window=4_000, base_url="https://other.example/v1")
    endpoint_of(bob, model="tiny", context_window=2_000)
    windows = {
        name: connections.choose(Session(owner=alice, endpoint=endpoint, model=name)).context_window
        for name in ("", "large", "small", "tiny")
    }
    assert windows == {"": 200_000, "large": 200_000, "small": 8_000, "tiny": 200_000}
    assert connections.choose_for_drafts(Session(owner=alice, endpoint=endpoint)).context_window == 8_000


def test_a_choice_does_not_show_its_key(alice):
    assert "sk-alice" not in repr(connections.choose(Session(owner=alice, endpoint=endpoint_of(alice))))


async def test_the_built_in_choice_connects_and_answers():
    model = connections.connect(connections.builtin())
    stream = model.stream({"model": "builtin", "messages": [{"role": "user", "content": "hi"}], "stream": True})
    text = "".join([part.text async for part in stream if isinstance(part, TextDelta)])
    assert text.startswith("Hello.")


def test_an_endpoint_connects_to_its_address(alice):
    model = connections.connect(connections.of_endpoint(endpoint_of(alice, timeout_seconds=7)))
    assert (model.base_url, model.timeout_seconds) == ("https://models.example/v1", 7)


def test_new_sessions_take_the_owners_default(alice, bob):
    default = endpoint_of(alice, is_default=True)
    assert connections.defaults_for(alice) == (default, "")
    assert connections.defaults_for(bob) == (None, "")


def test_the_picker_offers_the_owners_endpoints_only(alice, bob, environment):
    mine = endpoint_of(alice)
    endpoint_of(bob, name="Bob's")
    options = [(option.value, option.label, option.model) for option in connections.available_models(alice)]
    assert options == [
        ("default", "local", ""),
        ("builtin", "Built-in engine", "builtin"),
        (f"endpoint:{mine.pk}", "large · Work", ""),
    ]


def test_the_picker_offers_the_built_in_engine_once(alice, no_environment):
    assert [option.label for option in connections.available_models(alice)] == ["Built-in engine"]


@pytest.mark.parametrize("fields", [{}, {"model": "builtin"}])
def test_the_picker_stands_at_what_the_session_uses(alice, environment, fields):
    session = Session(owner=alice, **fields)
    assert connections.chosen_value(session) == (fields.get("model") or "default")
    session.endpoint = endpoint_of(alice)
    assert connections.chosen_value(session) == f"endpoint:{session.endpoint.pk}"


def test_a_key_is_not_readable_where_it_is_kept():
    encrypted = connections.encrypt_key("sk-alice")
    assert "sk-alice" not in encrypted
    assert connections.decrypt_key(encrypted) == "sk-alice"


def test_no_key_is_kept_as_none():
    assert connections.encrypt_key("") == connections.decrypt_key("") == ""


def test_a_changed_secret_asks_for_the_key_again(settings):
    encrypted = connections.encrypt_key("sk-alice")
    settings.SECRET_KEY = "another"
    with pytest.raises(KeyUnreadable, match="Enter the key again in Settings"):
        connections.decrypt_key(encrypted)
