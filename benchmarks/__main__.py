"""`make bench`: one JSON document; every figure of the product beside the bare consumer's of the same run."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from typing import Any

import django

PARTS = (
    "growth",
    "scale",
    "ageing",
    "accepting",
    "reviewing",
    "rereading",
    "search",
    "sockets",
    "browsing",
    "crowding",
    "concluding",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--streams", type=int, nargs="*", default=[1, 100], help="how many paced streams at once")
    parser.add_argument("--idle", type=int, nargs="*", default=[300], help="how many sockets are open at once, idle")
    parser.add_argument("--only", choices=PARTS, help="one part of it")
    parser.add_argument("--messages", type=int, default=1_000_000, help="stored messages that one session is among")
    parser.add_argument("--aged", type=int, default=100_000, help="messages of the one session that is aged")
    parser.add_argument(
        "--kept", default="", help="a database of searches to use again: a file, or on PostgreSQL a name"
    )
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        # Before Django reads its settings: a measurement must not touch the installation's own database.
        os.environ.update(CCM_HOME=home, DJANGO_SETTINGS_MODULE="ccmweb.settings", CCM_BUILTIN_PACE="0")
        django.setup()
        from benchmarks.streams import crowded

        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "growth": grown,
            "scale": lambda: scaled(arguments.messages),
            "ageing": lambda: aged(arguments.aged),
            "accepting": accepted,
            "reviewing": reviewed,
            "rereading": reread,
            "search": lambda: searched(arguments.messages, arguments.kept),
            "sockets": lambda: measured(arguments.streams, arguments.idle),
            "browsing": browsed,
            "crowding": lambda: crowded(processes=1),
            "concluding": concluded,
        }
        found: dict[str, Any] = {}
        for name in PARTS if arguments.only is None else [arguments.only]:
            # What sockets come to is told under its own names.
            found |= parts[name]() if name == "sockets" else {name: parts[name]()}
        print(json.dumps(found, indent=2))


def grown() -> dict[str, Any]:
    from django.contrib.auth.models import User

    from benchmarks.growth import growth
    from benchmarks.scratch import scratch_database

    with scratch_database(durable=False):
        return growth(User.objects.create_user("bench"))


def scaled(messages: int) -> dict[str, Any]:
    """In a database of its own, a file or on the server of `DATABASE_URL`: what is measured afterwards must not stand
    among a million messages."""
    from django.contrib.auth.models import User

    from benchmarks.growth import scale
    from benchmarks.search import database

    with database(""):
        return scale(User.objects.create_user("bench"), messages)


def aged(messages: int) -> dict[str, Any]:
    from django.contrib.auth.models import User

    from benchmarks.ageing import ageing
    from benchmarks.scratch import scratch_database

    with scratch_database():
        return ageing(User.objects.create_user("bench"), messages)


def accepted() -> dict[str, Any]:
    from benchmarks.accepting import accepting

    return accepting()


def reviewed() -> dict[str, Any]:
    from benchmarks.reviewing import reviewing

    return reviewing()


def reread() -> dict[str, Any]:
    from django.contrib.auth.models import User

    from benchmarks.rereading import rereading
    from benchmarks.scratch import scratch_database

    with scratch_database():
        return rereading(User.objects.create_user("bench"))


def concluded() -> dict[str, Any]:
    from benchmarks.concluding import concluding

    return concluding()


def searched(messages: int, kept: str) -> dict[str, Any]:
    from benchmarks.search import search

    return search(messages, kept)


def browsed() -> dict[str, Any]:
    from benchmarks.browsing import browsing

    return browsing()


def measured(streams: list[int], idle: list[int]) -> dict[str, Any]:
    from django.core.management import call_command

    from benchmarks import servers
    from benchmarks.measures import REPEATS
    from benchmarks.stage import Stage
    from benchmarks.writes import writes_per_turn

    call_command("migrate", verbosity=0)
    # A conversation answers one message at a time, so each stream needs its own.
    stage = Stage.set(max([*streams, REPEATS]))
    with servers.bare() as (port, pid):
        floor = asyncio.run(stage.of_bare(port, pid, streams, idle))
    with servers.paced_provider() as provider, servers.product(provider, **servers.UNBOUNDED) as (port, pid):
        product = asyncio.run(stage.of_product(port, pid, streams, idle))
    return {
        "frame_latency_ms": {
            count: {
                "bare": floor["latency"][count],
                "product": product["latency"][count],
                "added_p50": round(product["latency"][count]["p50"] - floor["latency"][count]["p50"], 2),
            }
            for count in streams
        },
        "time_to_first_token_ms": product["first_token"],
        "stop_acknowledged_while_silent_ms": product["stop"],
        "idle_socket_kib": {"bare": floor["memory"], "product": product["memory"]},
        "writes_per_turn": writes_per_turn(stage.owner),
    }


if __name__ == "__main__":
    main()
