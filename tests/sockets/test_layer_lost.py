"""Redis goes and comes back: no socket stays open and deaf, and new ones work as soon as Redis does."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from channels.layers import channel_layers
from django.contrib.auth.models import User
from django.test import Client

from ccmweb.environment import channel_layer
from efforts import actions
from efforts.models import Session
from efforts.models.threads import write
from efforts.turns.consumers import DEAF, TOO_MANY
from tests.sockets.conftest import Open, Tab
from tests.turns.conftest import PATIENCE


class Redis:
    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port: int = free.getsockname()[1]
        self.folder = folder
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Return once it answers."""
        command = [
            "redis-server",
            "--port",
            str(self.port),
            "--save",
            "",
            "--appendonly",
            "no",
            "--dir",
            str(self.folder),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.02)
        raise AssertionError("Redis did not start")

    def say(self, command: str) -> None:
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as client:
            client.sendall(f"{command}\r\n".encode())
            assert client.recv(64) == b"+OK\r\n"

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()


@pytest.fixture
def redis(tmp_path: Path, settings: Any, layer: Any) -> Iterator[Redis]:
    """One of the test's own, that the sockets use. All that it knew is gone when it begins anew."""
    if shutil.which("redis-server") is None:
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("No redis-server.")
    redis = Redis(tmp_path)
    redis.start()
    before = channel_layers.backends
    settings.CHANNEL_LAYERS = {"default": channel_layer(f"redis://127.0.0.1:{redis.port}/0")}
    channel_layers.backends = {}
    yield redis
    channel_layers.backends = before
    redis.kill()


async def say(session: Session, alice: User, client_id: str) -> None:
    await write(actions.send_message, session, text="Hello.", client_id=client_id, actor=alice)


@pytest.mark.grown
async def test_while_redis_is_away_sockets_close_and_come_back_with_it(
    redis: Redis, open_tab: Open, session: Session, alice: User
) -> None:
    tab = await open_tab()
    await tab.hello()
    await say(session, alice, "a")
    await tab.last("turn.sent", client_id="a")
    redis.kill()
    _, code = await tab.ending()
    assert code == DEAF
    # What is done meanwhile is done: the log is the truth, the layer a doorbell.
    await say(session, alice, "b")
    redis.start()
    again = await open_tab()
    await again.hello()
    await again.last("turn.sent", client_id="b")
    await say(session, alice, "c")
    await again.last("turn.sent", client_id="c")


@pytest.mark.grown
async def test_a_redis_that_was_begun_anew_and_knows_nobody_rings_again(
    redis: Redis, open_tab: Open, session: Session, alice: User
) -> None:
    tab = await open_tab()
    await tab.hello()
    redis.kill()
    redis.start()
    await say(session, alice, "a")
    # Either it hears again, or it was closed to come back.
    kinds: set[str] = set()
    while not kinds & {"turn.sent", "gone"}:
        kinds.add((await tab.frame())["kind"])
    assert kinds >= {"session.created"}


@pytest.mark.grown
async def test_a_socket_that_comes_while_redis_is_away_is_told_to_come_again(redis: Redis, open_tab: Open) -> None:
    redis.kill()
    _, code = await (await open_tab()).ending()
    assert code == DEAF


async def test_a_person_has_so_many_open_pages_and_others_theirs(
    open_tab: Open, session: Session, as_alice: Client, settings: Any
) -> None:
    settings.CCM_PERSON_SOCKETS = 2
    # A page counts when it is greeted; until then three would race for two places.
    first, second = await open_tab(), await open_tab()
    await first.hello()
    await second.hello()
    _, code = await (await open_tab()).ending()
    assert code == TOO_MANY
    await first.leave()
    tab = Tab(session.pk, as_alice)
    assert await tab.connect()
    assert (await tab.hello())["kind"] == "welcome"
    await tab.leave()
