"""What the settings read from outside: the state folder, its secret key, the database address."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured
from environ import Env

DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")

# No mmap_size: with several writers it can corrupt a database of SQLite before 3.51.3.
SQLITE_OPTIONS = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;",
}


def state_folder(path: Path) -> Path:
    """Make the folder, and refuse it at once where nothing can be written."""
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=path):
            return path
    except OSError as error:
        raise ImproperlyConfigured(f"CCM_HOME={path} cannot be written: {error.strerror}.") from error


def secret_key(path: Path) -> str:
    """Read the key of this installation; the first start makes one that only its owner can read."""
    if not path.exists():
        _make_secret_key(path)
    return path.read_text().strip()


def _make_secret_key(path: Path) -> None:
    handle, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(secrets.token_urlsafe(50))
    try:
        # A link appears whole or not at all, so two first starts agree on one key.
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(draft)


def database(url: str, *, threads: int) -> dict[str, Any]:
    """`threads` sizes the pool of PostgreSQL connections."""
    scheme = urlsplit(url).scheme
    if scheme not in DATABASE_SCHEMES:
        raise ImproperlyConfigured("DATABASE_URL must begin with sqlite:/// or postgres://.")
    config: dict[str, Any] = Env.db_url_config(url)
    if scheme == "sqlite":
        return config | {"OPTIONS": SQLITE_OPTIONS}
    pool = {"min_size": 1, "max_size": threads + 4, "timeout": 10}
    return config | {"OPTIONS": config.get("OPTIONS", {}) | {"pool": pool}}


def channel_layer(redis_url: str) -> dict[str, Any]:
    """Redis' core layer when an address is given, else this process' own."""
    if not redis_url:
        return {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1000}}
    return {
        "BACKEND": "channels_redis.core.RedisChannelLayer",
        "CONFIG": {"hosts": [redis_url], "capacity": 1000, "prefix": "ccmweb"},
    }
