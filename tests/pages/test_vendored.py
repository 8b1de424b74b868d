"""Files of others that are shipped: each is listed with its hash, its version and its licence."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from django.conf import settings

VENDOR = Path(settings.BASE_DIR) / "static" / "vendor"
LISTED = json.loads((VENDOR / "VENDORED.json").read_text())


def test_every_listed_file_is_there_unchanged() -> None:
    for package in LISTED:
        assert package["version"]
        assert package["license_file"] in package["sha256"]
        for name, expected in package["sha256"].items():
            assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == expected, name


def test_every_file_that_is_there_is_listed() -> None:
    there = {path.relative_to(VENDOR).as_posix() for path in VENDOR.rglob("*") if path.is_file()}
    listed = {name for package in LISTED for name in package["sha256"]}
    assert there == listed | {"VENDORED.json"}
