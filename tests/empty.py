"""An empty database takes many times as long to migrate as to copy. One is made of what the migrations say now, and
kept for as long as they say the same."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit, urlunsplit

from tests.house.process import ROOT, manage

# Beside what pytest keeps from run to run.
KEPT = ROOT / ".pytest_cache" / "empty"
NAMED = "ccm_empty_"


def empty_home(home: Path) -> Path:
    """A state folder whose SQLite file is migrated and has no rows."""
    home.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(empty_file(), home / "db.sqlite3")
    return home


def empty_file() -> Path:
    """A migrated SQLite file, to be copied."""
    kept = KEPT / f"{digest()}.sqlite3"
    with one_at_a_time():
        if not kept.exists():
            for older in KEPT.glob("*.sqlite3"):
                older.unlink()
            with TemporaryDirectory(dir=KEPT) as home:
                migrate(CCM_HOME=home)
                Path(home, "db.sqlite3").rename(kept)
    return kept


def empty_template(url: str) -> str:
    """The name of a migrated database on the PostgreSQL server of `url`, for CREATE DATABASE … TEMPLATE."""
    import psycopg

    name = NAMED + digest()
    with one_at_a_time(), closing(psycopg.connect(url, autocommit=True)) as server, TemporaryDirectory() as home:
        found = server.execute("SELECT datname FROM pg_database WHERE datname LIKE %s", [f"{NAMED}%"]).fetchall()
        if (name,) not in found:
            for (older,) in found:
                server.execute(f"DROP DATABASE IF EXISTS {older}")
            # Under its name only when it is whole.
            server.execute(f"CREATE DATABASE {NAMED}unfinished")
            migrate(CCM_HOME=home, DATABASE_URL=urlunsplit(urlsplit(url)._replace(path=f"/{NAMED}unfinished")))
            server.execute(f"ALTER DATABASE {NAMED}unfinished RENAME TO {name}")
    return name


def migrate(**settings: str) -> None:
    migrated = manage("migrate", "-v0", **settings)
    assert migrated.returncode == 0, migrated.stderr


def digest() -> str:
    """Of all that decides what a migrated database looks like: our migrations, and the packages that bring others."""
    read = [ROOT / "requirements.lock", *sorted(ROOT.glob("*/migrations/*.py"))]
    return sha256(
        b"".join(b"%s\0%s\0" % (bytes(path.relative_to(ROOT)), path.read_bytes()) for path in read)
    ).hexdigest()[:16]


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Of the processes of a run one makes it; the others wait for it."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with (KEPT / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
