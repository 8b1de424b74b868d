"""What the settings read from outside: the state folder, its secret key, the database address."""

from __future__ import annotations

import json
import os
import re
import secrets
import tempfile
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import available_timezones

from django.core.exceptions import ImproperlyConfigured
from environ import Env

SWITCH = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
COMMAND = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
# Their scripts and styles are served beside ours.
SERVED_PACKAGES = ("django", "django-htmx")
DATABASE_SCHEMES = ("sqlite", "postgres", "postgresql")

# No mmap_size: with several writers it can corrupt a database of SQLite before 3.51.3.
SQLITE_OPTIONS = {
    "timeout": 20,
    # A transaction that reads and then writes would else fail at once as "locked", whatever the timeout.
    "transaction_mode": "IMMEDIATE",
    # FULL costs 0.3 ms a turn and keeps the last one when the power fails; secure_delete overwrites what is deleted.
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA secure_delete=ON;",
}


class Environment:
    """Names a wrong value at once; an empty one counts as not set."""

    def text(self, name: str, default: str = "") -> str:
        return os.environ.get(name, "").strip() or default

    def switch(self, name: str, default: bool = False) -> bool:
        raw = self.text(name, "on" if default else "off")
        if raw.lower() not in SWITCH:
            raise ImproperlyConfigured(f"{name}={raw} is neither on nor off.")
        return SWITCH[raw.lower()]

    def number(self, name: str, default: float, *, least: float = 0) -> float:
        raw = self.text(name, str(default))
        try:
            value = float(raw)
        except ValueError:
            raise ImproperlyConfigured(f"{name}={raw} is not a number.") from None
        if not least <= value < float("inf"):
            raise ImproperlyConfigured(f"{name}={raw} is out of range: {least:g} is the least.")
        return value

    def whole(self, name: str, default: int, *, least: int = 1) -> int:
        value = self.number(name, default, least=least)
        if not value.is_integer():
            raise ImproperlyConfigured(f"{name}={value} is not a whole number.")
        return int(value)

    def listed(self, name: str, default: str = "") -> list[str]:
        return [item.strip() for item in self.text(name, default).split(",") if item.strip()]

    def folders(self, name: str) -> list[Path]:
        """Absolute paths with the system's separator between them."""
        found = [Path(item.strip()).expanduser() for item in self.text(name).split(os.pathsep) if item.strip()]
        if wrong := [path for path in found if not path.is_absolute()]:
            raise ImproperlyConfigured(f"{name} names {wrong[0]}: each must be an absolute path.")
        return found

    def commands(self, name: str) -> dict[str, list[str]]:
        """A JSON object: of each command its words."""
        wrong = f'{name} must be JSON such as {{"test": ["pytest", "-q", "..."]}}'
        try:
            found = json.loads(self.text(name, "{}"))
        except ValueError as error:
            raise ImproperlyConfigured(f"{wrong}: {error}.") from None
        if not isinstance(found, dict):
            raise ImproperlyConfigured(f"{wrong}.")
        for command, words in found.items():
            if not COMMAND.fullmatch(command):
                raise ImproperlyConfigured(f"{name} names {command!r}: take small letters, digits and hyphens.")
            if not isinstance(words, list) or not words or not all(isinstance(word, str) and word for word in words):
                raise ImproperlyConfigured(f"{name}: {command} must be a list of words, the program first.")
            if "..." in words[:-1] or words == ["..."]:
                raise ImproperlyConfigured(f"{name}: in {command} three dots can only be the last of several words.")
        return found

    def choice(self, name: str, *options: str) -> str:
        """The first option is the default."""
        value = self.text(name, options[0])
        if value not in options:
            raise ImproperlyConfigured(f"{name}={value} is none of {', '.join(options)}.")
        return value

    def time_zone(self, name: str) -> str:
        zone = self.text(name, "UTC")
        if zone not in available_timezones():
            raise ImproperlyConfigured(f"{name}={zone} is not a time zone, such as Europe/Berlin.")
        return zone


def state_folder(path: Path) -> Path:
    """Make the folder, and refuse it at once where nothing can be written."""
    try:
        # The folder holds the secret key and everything that was said.
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
    # Made by mkstemp, the file is its owner's alone before the key is in it.
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


# How often a connection was asked for the same before it keeps the plan.
ASKED_BEFORE = 2


def database(url: str, *, threads: int, prepares: bool) -> dict[str, Any]:
    """`threads` sizes the pool of PostgreSQL connections; `prepares`: what is asked again is planned by it once."""
    try:
        parts = urlsplit(url)
        # Reading the port is what checks it: a bad one raises here and not at the first query.
        known = parts.scheme in DATABASE_SCHEMES and (parts.port or True)
    except ValueError:
        known = False
    if not known:
        raise ImproperlyConfigured("DATABASE_URL must be like sqlite:///FILE or postgres://USER:PASSWORD@HOST/NAME.")
    config: dict[str, Any] = Env.db_url_config(url)
    if parts.scheme == "sqlite":
        return config | {"ENGINE": "ccmweb.sqlite3", "OPTIONS": SQLITE_OPTIONS}
    # One connection for each of our threads, and a few for views and commands, which come on threads of their own.
    pool = {"min_size": 1, "max_size": threads + 4, "timeout": 10}
    # Looked at as they leave the pool: a server that was begun anew has closed them all.
    health = {"CONN_HEALTH_CHECKS": True}
    # Planning is more than half of what a turn's small questions take of PostgreSQL's time.
    prepared = {"server_side_binding": True, "prepare_threshold": ASKED_BEFORE} if prepares else {}
    engine = {"ENGINE": "ccmweb.postgresql"}
    return config | engine | health | {"OPTIONS": config.get("OPTIONS", {}) | {"pool": pool} | prepared}


def channel_layer(redis_url: str) -> dict[str, Any]:
    """Redis' publishing when an address is given, else this process' own. A ring that nobody hears is lost, which harms
    nothing, and each is heard in a tenth of the time that its queues take."""
    if not redis_url:
        # Its own capacity is 100: a tab whose ring is lost may wait 20 seconds for the next look.
        return {"BACKEND": "channels.layers.InMemoryChannelLayer", "CONFIG": {"capacity": 1000}}
    return {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        "CONFIG": {"hosts": [redis_url], "prefix": "ccmweb"},
    }


def static_version(folder: Path) -> str:
    """Of all scripts, styles and fonts that are served: another one as soon as one of them is another."""
    found = sha256("".join(map(version, SERVED_PACKAGES)).encode())
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        found.update(f"{path.relative_to(folder)} {path.stat().st_size} ".encode() + path.read_bytes())
    return found.hexdigest()[:12]
