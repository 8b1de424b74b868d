"""The figures of `operations` for Prometheus, where a setting lets it ask for them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from importlib.util import find_spec
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.request import split_domain_port
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from ccmweb.operations import Figures, Times, figures

# What a proxy adds: behind one on this machine everybody comes from loopback.
FORWARDED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_X_REAL_IP", "HTTP_VIA")


@login_not_required
@never_cache
@require_GET
def metrics(request: HttpRequest) -> HttpResponse:
    if not (may_ask(request) and find_spec("prometheus_client")):
        # As if it were not there.
        raise Http404
    from prometheus_client import CONTENT_TYPE_LATEST

    return HttpResponse(exposition(figures()), content_type=CONTENT_TYPE_LATEST)


def may_ask(request: HttpRequest) -> bool:
    if settings.CCM_METRICS == "loopback":
        return is_of_this_machine(request)
    if settings.CCM_METRICS == "token":
        given = request.headers.get("Authorization", "")
        return bool(settings.CCM_METRICS_TOKEN) and secrets.compare_digest(
            given.encode(), f"Bearer {settings.CCM_METRICS_TOKEN}".encode()
        )
    return False


def is_of_this_machine(request: HttpRequest) -> bool:
    """By the connection and by the name it asks for, with no proxy in between."""
    name = split_domain_port(request.get_host())[0].strip("[]")
    return (
        not any(header in request.META for header in FORWARDED)
        and is_loopback(request.META.get("REMOTE_ADDR", ""))
        and (name == "localhost" or is_loopback(name))
    )


def is_loopback(address: str) -> bool:
    try:
        return ip_address(address).is_loopback
    except ValueError:
        return False


def exposition(found: Figures) -> bytes:
    from prometheus_client import CollectorRegistry, generate_latest
    from prometheus_client.core import GaugeMetricFamily
    from prometheus_client.registry import Collector

    def gauge(name: str, told: str, label: str, values: dict[str, float]) -> GaugeMetricFamily:
        family = GaugeMetricFamily(f"ccm_{name}", told, labels=[label] if label else [])
        for value_of, value in values.items():
            family.add_metric([value_of] if label else [], value)
        return family

    class Found(Collector):
        def collect(self) -> Iterator[GaugeMetricFamily]:
            yield gauge("runs", "Runs by state.", "state", dict(found.runs))
            yield gauge("queue_oldest_seconds", "Age of the run that waits longest.", "", {"": found.oldest_queued})
            yield gauge("drafts", "Summaries that wait to be drafted, and that are.", "state", dict(found.drafts))
            failed = {one.code: float(one.count) for one in found.failures}
            yield gauge("failed_runs", "Runs of the last hour that failed, by code.", "code", failed)
            yield gauge("sockets", "Open pages of this process.", "", {"": found.sockets})
            yield gauge("socket_people", "People with an open page of this process.", "", {"": found.people})
            for name, told, its in (
                ("first_token_seconds", "From asking the model to its first word, last 15 minutes.", found.first_token),
                ("turn_seconds", "From the start of a run to its end, last 15 minutes.", found.turn),
                ("wait_seconds", "From sending to the start of the run, last 15 minutes.", found.wait),
            ):
                yield gauge(name, told, "quantile", quantiles(its))
                yield gauge(f"{name}_runs", f"How many runs ccm_{name} is of.", "", {"": its.count})
            yield gauge("database_bytes", "Size of the database.", "", {"": found.database_bytes})
            yield gauge("disk_free_bytes", "Free on the disk of CCM_HOME.", "", {"": found.disk_free_bytes})

    registry = CollectorRegistry(auto_describe=False)
    registry.register(Found())
    return generate_latest(registry)


def quantiles(its: Times) -> dict[str, float]:
    return {name: value for name, value in (("0.5", its.middle), ("0.95", its.late)) if value is not None}
