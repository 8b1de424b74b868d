"""From settings and endpoint rows to a model one can talk to."""

from __future__ import annotations

import base64
from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from efforts.domain.effort.money import Price
from efforts.domain.hosts import AllowedHosts
from efforts.llm.builtin.transport import BUILTIN_MODEL, BuiltinTransport
from efforts.llm.limits import Limits
from efforts.llm.openai_chat import OpenAIChat
from efforts.llm.protocol import ChatModel
from efforts.llm.recorded import RECORDED_MODEL, RecordedChat
from efforts.llm.tokens import get_counter
from efforts.models import Endpoint
from efforts.models.said import OwnWords

if TYPE_CHECKING:
    from django.contrib.auth.models import AbstractBaseUser, AnonymousUser

    from efforts.models import Session

BUILTIN_LABEL = "Built-in engine"
RECORDED_LABEL = "Recorded replies"
DEFAULT_VALUE = "default"


class KeyUnreadable(ValueError):
    """A stored key cannot be decrypted, because the installation's secret key is another one now."""


@dataclass(frozen=True, kw_only=True)
class ModelChoice:
    """Which model answers, and all it takes to reach it."""

    kind: Literal["builtin", "environment", "endpoint", "recorded"]
    label: str
    model: str
    base_url: str = ""
    # A choice may be printed in a log or on an error page; its key may not.
    api_key: str = field(default="", repr=False)
    timeout_seconds: float = 300
    context_window: int | None = None
    draft_seconds: float = 90
    # None: whoever runs the installation chose the address.
    allowed: AllowedHosts | None = None
    # Tokens; None: the model's own limit.
    most_reply: int | None = None
    price: Price | None = None
    # Pictures in messages are sent to it.
    sees_pictures: bool = False
    # It is asked what conversations are called.
    writes_titles: bool = False

    @property
    def reply_limit(self) -> str:
        """The request's name for the most tokens of a reply: OpenAI's newer models refuse the old one."""
        return "max_completion_tokens" if "://api.openai.com" in self.base_url else "max_tokens"


@dataclass(frozen=True, kw_only=True)
class ModelOption:
    """One line of the model picker. Chosen, `endpoint` and `model` go into the session as they are."""

    value: str
    label: str
    endpoint: Endpoint | None
    model: str


def choose(session: Session) -> ModelChoice:
    """The session's endpoint; else what the environment names; else the built-in engine, which always answers. Recorded
    replies while the example is made.

    Raises `KeyUnreadable`.
    """
    if session.is_example and session.model == RECORDED_MODEL:
        return ModelChoice(kind="recorded", label=RECORDED_LABEL, model=RECORDED_MODEL)
    if session.endpoint is not None:
        return of_endpoint(session.endpoint, session.model)
    if session.model == BUILTIN_MODEL or not settings.CCM_MODEL_URL:
        return builtin()
    return of_environment(session.model)


def choose_for_drafts(session: Session) -> ModelChoice:
    """The session's model, or the one that its endpoint, or the environment, names for summaries.

    Raises `KeyUnreadable`.
    """
    choice = choose(session)
    if choice.kind in ("builtin", "recorded"):
        return choice
    named = session.endpoint.draft_model if session.endpoint else settings.CCM_DRAFT_MODEL
    if session.endpoint and named:
        return replace(choice, model=named, context_window=window_of(session.endpoint, named))
    return replace(choice, model=named or choice.model)


def builtin() -> ModelChoice:
    return ModelChoice(kind="builtin", label=BUILTIN_LABEL, model=BUILTIN_MODEL)


def of_environment(model: str = "") -> ModelChoice:
    name = model or settings.CCM_MODEL_NAME
    return ModelChoice(
        kind="environment",
        label=name or settings.CCM_MODEL_URL,
        model=name,
        base_url=settings.CCM_MODEL_URL,
        api_key=settings.CCM_MODEL_KEY,
        timeout_seconds=settings.CCM_MODEL_TIMEOUT,
        context_window=settings.CCM_MODEL_WINDOW or None,
        draft_seconds=settings.CCM_DRAFT_TIMEOUT,
        sees_pictures=settings.CCM_MODEL_PICTURES,
        writes_titles=settings.CCM_MODEL_TITLES,
    )


def of_endpoint(endpoint: Endpoint, model: str = "") -> ModelChoice:
    name = model or endpoint.model
    return ModelChoice(
        kind="endpoint",
        label=_label(endpoint, name),
        model=name,
        base_url=endpoint.base_url,
        api_key=decrypt_key(endpoint.key_encrypted),
        timeout_seconds=endpoint.timeout_seconds,
        context_window=window_of(endpoint, name),
        draft_seconds=endpoint.draft_seconds,
        allowed=allowed_hosts(endpoint),
        most_reply=endpoint.reply_limit,
        price=price_of(endpoint, name),
        sees_pictures=endpoint.sees_pictures,
        writes_titles=settings.CCM_MODEL_TITLES and endpoint.writes_titles,
    )


def window_of(endpoint: Endpoint, model: str) -> int | None:
    """Of another model than the connection names what its owner knows of it from another one to the same address."""
    if model == endpoint.model:
        return endpoint.context_window
    same = Endpoint.objects.filter(owner=endpoint.owner_id, base_url=endpoint.base_url, model=model)
    known = same.exclude(context_window=None).values_list("context_window", flat=True)
    return known.first() or endpoint.context_window


def price_of(endpoint: Endpoint, model: str) -> Price | None:
    """Of the model that the connection names: what another one at its address costs is not known."""
    prompt, completion = endpoint.price_prompt, endpoint.price_completion
    if prompt is None or completion is None or model != endpoint.model:
        return None
    cached = prompt if endpoint.price_cached is None else endpoint.price_cached
    return Price(prompt=prompt, completion=completion, cached=cached, currency=endpoint.currency)


def may_add_models(user: AbstractBaseUser | AnonymousUser) -> bool:
    return settings.CCM_OWN_MODELS == "everyone" or bool(getattr(user, "is_staff", False))


def allowed_hosts(endpoint: Endpoint) -> AllowedHosts:
    """Where it may be; nowhere, where own models are for staff alone and its owner is none."""
    # Asked in this order: the owner is a row to be read.
    everyone = settings.CCM_OWN_MODELS == "everyone" or may_add_models(endpoint.owner)
    return AllowedHosts.of(settings.CCM_MODEL_HOSTS) if everyone else AllowedHosts()


def connect_chat(choice: ModelChoice) -> ChatModel:
    if choice.kind == "recorded":
        return RecordedChat(get_counter(settings.CCM_ENCODING))
    return connect(choice)


def connect(choice: ModelChoice) -> OpenAIChat:
    """To an address, or to the built-in engine as if it had one."""
    if choice.kind != "builtin":
        limits = Limits(
            answer=settings.CCM_MODEL_ANSWER_BYTES,
            stream=settings.CCM_MODEL_STREAM_BYTES,
            line=settings.CCM_MODEL_LINE_BYTES,
        )
        return OpenAIChat(
            choice.base_url, choice.api_key, choice.timeout_seconds, limits=limits, allowed=choice.allowed
        )
    transport = BuiltinTransport(get_counter(settings.CCM_ENCODING), pace_seconds=settings.CCM_BUILTIN_PACE)
    # A name that never resolves: were the transport lost, nothing would leave the machine.
    return OpenAIChat("http://builtin.invalid/v1", "", choice.timeout_seconds, transport=transport)


def defaults_for(owner: AbstractBaseUser | AnonymousUser) -> tuple[Endpoint | None, str]:
    """Endpoint and model of a new session. The model stays open: it is then the endpoint's, or the installation's."""
    return Endpoint.objects.filter(owner_id=owner.pk, is_default=True).first(), ""


def available_models(owner: AbstractBaseUser | AnonymousUser) -> tuple[ModelOption, ...]:
    """What a session of this owner can be set to; asks no endpoint."""
    default = of_environment() if settings.CCM_MODEL_URL else builtin()
    options = [ModelOption(value=DEFAULT_VALUE, label=default.label, endpoint=None, model="")]
    if default.kind != "builtin":
        options.append(ModelOption(value=BUILTIN_MODEL, label=BUILTIN_LABEL, endpoint=None, model=BUILTIN_MODEL))
    for endpoint in Endpoint.objects.filter(owner_id=owner.pk):
        label = _label(endpoint, endpoint.model)
        options.append(ModelOption(value=_value(endpoint), label=label, endpoint=endpoint, model=""))
    return tuple(options)


def chosen_value(session: Session) -> str:
    """The value of the option that `session` stands at."""
    if session.endpoint is not None:
        return _value(session.endpoint)
    return BUILTIN_MODEL if session.model == BUILTIN_MODEL and settings.CCM_MODEL_URL else DEFAULT_VALUE


def switchable(session: Session) -> tuple[ModelOption, ...]:
    """What the conversation can be answered by, the name that was typed for it among them; asks no endpoint."""
    options = available_models(session.owner)
    typed = session.model if session.endpoint else ""
    if not typed or typed == (session.endpoint and session.endpoint.model):
        return options
    assert session.endpoint is not None
    value = f"{_value(session.endpoint)}:{typed}"
    own = ModelOption(value=value, label=_label(session.endpoint, typed), endpoint=session.endpoint, model=typed)
    return (*options, own)


def switched_to(session: Session, options: Collection[ModelOption]) -> str:
    """The value among `options`, which are `switchable`, that the conversation stands at."""
    value = chosen_value(session)
    named = f"{value}:{session.model}"
    return named if any(option.value == named for option in options) else value


def answering(session: Session, asked: Mapping[str, Any]) -> Session:
    """The conversation as a run is to be answered that was asked of another model; not to be saved. What is no choice
    any more is answered as the conversation is."""
    if "answer" not in asked:
        return session
    option = next((one for one in switchable(session) if one.value == asked["answer"]), None)
    if option is None:
        return session
    other = copy(session)
    other.endpoint, other.model = option.endpoint, option.model
    return other


def encrypt_key(key: str) -> str:
    return _cipher(settings.SECRET_KEY).encrypt(key.encode()).decode() if key else ""


def decrypt_key(encrypted: str) -> str:
    """Raises `KeyUnreadable`."""
    if not encrypted:
        return ""
    try:
        return _cipher(settings.SECRET_KEY).decrypt(encrypted).decode()
    except InvalidToken as error:
        raise KeyUnreadable(
            "The stored key cannot be read any more, because this installation's secret changed. "
            "Enter the key again in Settings."
        ) from error


def _label(endpoint: Endpoint, model: str) -> str:
    return OwnWords(f"{model} · {endpoint.name}" if model else endpoint.name)


def label_of(run: Mapping[str, Any]) -> str:
    """What answered, by the settings of a run: of a connection the name that its owner gave it."""
    label = run.get("label", "")
    return OwnWords(label) if run.get("endpoint") else str(label)


def _value(endpoint: Endpoint) -> str:
    return f"endpoint:{endpoint.pk}"


@lru_cache(maxsize=4)
def _cipher(secret: str) -> Fernet:
    # Not the secret itself, which Django also signs cookies with: `info` makes a key for this use alone.
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=b"ccmweb endpoint keys").derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
