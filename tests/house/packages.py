"""What is installed, and whether anything is known against it: `make audit`.

Every pinned version is asked for at OSV, where advisories for packages of Python are collected. Where that cannot be
reached, the pins may be half a year old at most: longer ago, too much has become known that nobody here has looked at.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from shutil import which
from urllib.request import Request, urlopen

from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ("requirements.lock", "requirements-dev.lock")
ADVISORIES = "https://api.osv.dev/v1/querybatch"
SECONDS = 20
OLDEST_DAYS = 182
ONE = re.compile(r"^(?=\S)(?P<pin>.+?)(?: \\)?\n(?P<hashes>(?: +--hash=sha256:[0-9a-f]{64}(?: \\)?\n)*)", re.MULTILINE)


def read_lock(name: str) -> list[tuple[Requirement, int]]:
    """Each pin, and how many hashes it has."""
    text = (ROOT / name).read_text()
    return [(Requirement(one["pin"]), one["hashes"].count("\n")) for one in ONE.finditer(text)]


def pins() -> set[tuple[str, str]]:
    """Name and version of everything that any of the locks may install."""
    return {(one.name, version_of(one)) for lock in LOCKS for one, _ in read_lock(lock)}


def version_of(pin: Requirement) -> str:
    (specifier,) = pin.specifier
    return specifier.version


def advisories(asked: set[tuple[str, str]]) -> dict[str, list[str]]:
    """By package and version the ids of what is known against it. Raises `OSError` where nobody answers."""
    listed = sorted(asked)
    queries = [{"package": {"name": name, "ecosystem": "PyPI"}, "version": version} for name, version in listed]
    request = Request(ADVISORIES, json.dumps({"queries": queries}).encode(), {"Content-Type": "application/json"})
    with urlopen(request, timeout=SECONDS) as answer:
        results = json.load(answer)["results"]
    found = {f"{name} {version}": ids_in(one) for (name, version), one in zip(listed, results, strict=True)}
    return {package: ids for package, ids in found.items() if ids}


def ids_in(result: Mapping[str, list[dict[str, str]]]) -> list[str]:
    return [one["id"] for one in result.get("vulns", [])]


def age_in_days() -> int:
    """Since a lock was last made; without a history, since its file was written."""
    log = ["git", "log", "-1", "--format=%ct", "--", *LOCKS]
    # An unpacked archive has none, and a machine may have no git.
    last = subprocess.run(log, cwd=ROOT, capture_output=True, text=True).stdout.strip() if which("git") else ""
    made = int(last) if last else max((ROOT / lock).stat().st_mtime for lock in LOCKS)
    return int((time.time() - made) // 86_400)


def audit() -> tuple[str, list[str]]:
    """How it was found out, and what is wrong with what is pinned."""
    asked = pins()
    try:
        found = advisories(asked)
    except OSError as fault:
        days = age_in_days()
        too_old = [f"They are older than {OLDEST_DAYS} days: make lock"] if days > OLDEST_DAYS else []
        return f"No advisories can be read ({fault}). The {len(asked)} pins are {days} days old.", too_old
    return f"{len(asked)} pins were looked up.", [f"{package}: {', '.join(ids)}" for package, ids in found.items()]


if __name__ == "__main__":
    told, wrong = audit()
    sys.stdout.write("\n".join([told, *wrong, ""]))
    sys.exit(bool(wrong))
