"""What can be wrong in the settings, said in one line each at start."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from efforts.domain.hosts import AllowedHosts
from efforts.llm.tokens import UnknownEncoding, get_counter

SHORTEST_TOKEN = 16
CAPS = ("CCM_DRAFT_CAP", "CCM_ROLLING_CAP", "CCM_STAGE_CAP", "CCM_CHECK_CAP")


@register
def check_settings(**_: Any) -> list[CheckMessage]:
    return [Error(problem, id=f"ccmweb.{number}") for number, problem in _problems()]


def _problems() -> Iterator[tuple[str, str]]:
    if settings.DATABASES["default"].get("CONN_MAX_AGE"):
        yield "E001", "DATABASE_URL sets conn_max_age: leave it out, kept connections leak under ASGI."
    try:
        # Loads it, so that a wrong name stops the start and not the first message.
        get_counter(settings.CCM_ENCODING)
    except UnknownEncoding as error:
        yield "E002", f"CCM_ENCODING: {error}"
    if _layer_is_redis() and not find_spec("channels_redis"):
        yield "E003", "REDIS_URL is set, but channels-redis is not installed: pip install 'ccm-web[redis]'."
    for name in CAPS:
        if (cap := getattr(settings, name)) > settings.CCM_DAILY_CAP:
            yield "E006", f"{name}={cap} is more than CCM_DAILY_CAP={settings.CCM_DAILY_CAP}, the cap of a whole day."
    try:
        AllowedHosts.of(settings.CCM_MODEL_HOSTS)
    except ValueError as error:
        yield "E007", f"CCM_MODEL_HOSTS: {error}."
    yield from _metrics_problems()
    yield from _model_problems()


def _layer_is_redis() -> bool:
    return str(settings.CHANNEL_LAYERS["default"]["BACKEND"]).startswith("channels_redis.")


def _metrics_problems() -> Iterator[tuple[str, str]]:
    if settings.CCM_METRICS != "off" and not find_spec("prometheus_client"):
        yield "E008", "CCM_METRICS is set, but prometheus-client is not installed: pip install 'ccm-web[metrics]'."
    if settings.CCM_METRICS == "token" and len(settings.CCM_METRICS_TOKEN) < SHORTEST_TOKEN:
        yield "E009", f"CCM_METRICS=token needs a CCM_METRICS_TOKEN of at least {SHORTEST_TOKEN} characters."


def _model_problems() -> Iterator[tuple[str, str]]:
    url = settings.CCM_MODEL_URL
    if not url:
        return
    if urlsplit(url).scheme not in ("http", "https"):
        yield "E004", f"CCM_MODEL_URL={url} is not an address that begins with http:// or https://."
    if not settings.CCM_MODEL_NAME:
        yield "E005", "CCM_MODEL_URL is set, but CCM_MODEL_NAME is not: name the model to ask."
