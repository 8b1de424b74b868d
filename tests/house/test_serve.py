"""`manage.py serve`, as `make run` starts it: a real process on a real port."""

from __future__ import annotations

import gc
import http.client
import re
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from ccmweb import server
from tests.empty import empty_home
from tests.house.process import manage, start

pytestmark = [pytest.mark.server, pytest.mark.long]


class Answer(NamedTuple):
    status: int
    headers: Message
    body: bytes


@contextmanager
def serving(home: Path, host: str = "127.0.0.1") -> Iterator[str]:
    """What the process says when it is ready."""
    process = start("serve", "--host", host, "--port", "0", CCM_HOME=str(home), ALLOWED_HOSTS="127.0.0.1,0.0.0.0")
    try:
        assert process.stdout is not None
        yield "".join(process.stdout.readline() for _ in range(3 if host == "127.0.0.1" else 2))
    finally:
        process.terminate()
        process.communicate(timeout=20)


def get(port: int, path: str, **headers: str) -> Answer:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=20)) as connection:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return Answer(response.status, response.headers, response.read())


def link_in(said: str) -> tuple[int, str]:
    found = re.search(r"http://127\.0\.0\.1:(\d+)(/sign-in/[\w-]{43}/)", said)
    assert found, said
    return int(found[1]), found[2]


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """By the first start, in a folder where nothing is yet."""
    with serving(tmp_path_factory.mktemp("first")) as said:
        yield said


def test_the_first_start_prints_a_link_that_works_once(said: str) -> None:
    port, path = link_in(said)
    assert get(port, path).status == 302
    assert get(port, path).status == 410


def test_it_serves_pages_static_files_and_health(said: str) -> None:
    port, _ = link_in(said)
    assert get(port, "/sign-in/").status == 200
    assert get(port, "/static/css/base.css").headers["Content-Type"].startswith("text/css")
    assert get(port, "/readyz").body == b'{"ready": true}'


def test_a_browser_asks_once_for_the_files_of_a_version_and_gets_those_that_are_there_for_another(said: str) -> None:
    port, _ = link_in(said)
    page = get(port, "/sign-in/").body.decode()
    addresses = set(re.findall(r'(?:href|src)="(/static/[^"]+)"', page))
    assert addresses
    for address in addresses:
        assert get(port, address).headers["Cache-Control"] == "max-age=315360000, public, immutable", address
    other = get(port, "/static/000000000000/css/base.css")
    assert (other.status, other.headers["Cache-Control"]) == (200, "max-age=0, public")
    assert get(port, "/static/000000000000/css/none.css").status == 404


@pytest.mark.parametrize(("origin", "status"), [("http://evil.example", 403), ("http://127.0.0.1:1", 403)])
def test_other_sites_pages_open_no_socket(said: str, origin: str, status: int) -> None:
    upgrade = {"Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13"}
    key = {"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Origin": origin}
    port, _ = link_in(said)
    path = "/ws/s/00000000-0000-0000-0000-000000000000/"
    assert get(port, path, **upgrade, **key).status == status


def test_where_other_machines_can_reach_it_no_link_is_printed(tmp_path: Path) -> None:
    with serving(empty_home(tmp_path), host="0.0.0.0") as said:
        assert "/sign-in/" not in said
        assert "manage.py sign_in_link" in said


def test_a_port_in_use_is_one_clear_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        run = manage("serve", "--port", str(port), CCM_HOME=str(tmp_path))
    assert run.returncode == 1
    assert run.stderr.strip() == (
        f"CommandError: Cannot listen on 127.0.0.1 port {port}: Address already in use. Try another: make run PORT=8001"
    )


def test_a_database_that_cannot_be_opened_is_one_clear_line(tmp_path: Path) -> None:
    run = manage("serve", "--port", "0", CCM_HOME=str(tmp_path), DATABASE_URL="sqlite:////nowhere/db.sqlite3")
    assert run.returncode == 1
    assert run.stderr.strip() == "CommandError: The database cannot be used: unable to open database file"


def test_nobody_waits_long_for_a_thread_nor_for_the_collector_of_garbage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of a page's dozens of reads of the database lets the threads run that prepare turns; and what is loaded when
    serving begins is not looked through again while all wait."""
    during: list[tuple[float, int]] = []
    monkeypatch.setattr(
        "daphne.server.Server.run", lambda self: during.append((sys.getswitchinterval(), gc.get_freeze_count()))
    )
    monkeypatch.setattr("ccmweb.server.reactor.addSystemEventTrigger", lambda *about: None)
    monkeypatch.setattr("ccmweb.server.twisted_loop.call_soon", lambda *about: None)
    before = sys.getswitchinterval()
    try:
        server.serve(None, "127.0.0.1", 0, announce=lambda text: None)
    finally:
        sys.setswitchinterval(before)
        gc.unfreeze()
    ((interval, kept),) = during
    assert interval == pytest.approx(0.0005)
    assert kept > 50_000


def test_runserver_prints_a_link_too(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = start("runserver", "--noreload", str(port), CCM_HOME=str(empty_home(tmp_path)))
    try:
        assert process.stdout is not None
        said = next(line for line in process.stdout if "/sign-in/" in line)
        assert get(*link_in(said)).status == 302
    finally:
        process.terminate()
        process.communicate(timeout=20)
