"""What is installed is what is pinned, and what is known against it is told."""

from __future__ import annotations

import io
import json
from importlib.metadata import version
from shutil import which
from typing import Any
from urllib.error import URLError

import pytest

from tests.house import packages


@pytest.mark.parametrize("lock", packages.LOCKS)
def test_each_package_is_pinned_to_one_version_whose_files_are_known(lock: str) -> None:
    read = packages.read_lock(lock)
    assert len(read) > 40
    loose = [str(pin) for pin, hashes in read if [one.operator for one in pin.specifier] != ["=="] or not hashes]
    assert loose == []


def test_what_is_installed_here_is_what_is_pinned() -> None:
    here = [pin for pin, _ in packages.read_lock("requirements-dev.lock") if not pin.marker or pin.marker.evaluate()]
    assert [(one.name, version(one.name)) for one in here] == [(one.name, packages.version_of(one)) for one in here]


def test_both_locks_have_the_same_version_of_what_both_have() -> None:
    app, dev = (
        {(one.name, str(one.marker)): str(one) for one, _ in packages.read_lock(lock)} for lock in packages.LOCKS
    )
    assert {name: pin for name, pin in dev.items() if name in app} == app


def test_what_is_known_against_a_pin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def answer(request: Any, timeout: float) -> io.BytesIO:
        queries = json.loads(request.data)["queries"]
        results = [
            {"vulns": [{"id": "GHSA-1"}, {"id": "PYSEC-2"}]} if one["package"]["name"] == "django" else {}
            for one in queries
        ]
        return io.BytesIO(json.dumps({"results": results}).encode())

    monkeypatch.setattr(packages, "urlopen", answer)
    told = f"{len(packages.pins())} pins were looked up."
    assert packages.audit() == (told, [f"django {version('django')}: GHSA-1, PYSEC-2"])


@pytest.mark.parametrize(("days", "wrong"), [(182, []), (183, ["They are older than 182 days: make lock"])])
def test_where_nobody_can_be_asked_the_age_of_the_pins_decides(
    monkeypatch: pytest.MonkeyPatch, days: int, wrong: list[str]
) -> None:
    def away(request: Any, timeout: float) -> None:
        raise URLError("no route")

    monkeypatch.setattr(packages, "urlopen", away)
    monkeypatch.setattr(packages, "age_in_days", lambda: days)
    told, found = packages.audit()
    assert f"pins are {days} days old" in told
    assert found == wrong


@pytest.mark.parametrize("git", ["git", None], ids=["with git", "without"])
def test_the_age_is_that_of_the_last_lock(monkeypatch: pytest.MonkeyPatch, git: str | None) -> None:
    monkeypatch.setattr(packages, "which", lambda name: git if git is None else which(name))
    assert 0 <= packages.age_in_days() < 10_000
