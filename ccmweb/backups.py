"""A folder that holds all there is: the database as it was at one moment, the secret key, archives of code, files of
messages."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.backends.postgresql.client import DatabaseClient
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

FORMAT = 1
MANIFEST = "manifest.json"
KEY = "secret_key"
ARCHIVES = "workspaces"
FILES = "files"
DATABASES = {"sqlite": "database.sqlite3", "postgresql": "database.dump"}
# What is told of a backup, and compared once it is restored.
COUNTED = {"conversations": "efforts_session", "messages": "efforts_message"}

Manifest = dict[str, Any]


class BackupError(Exception):
    """What cannot be done, why, and what to do; nothing was changed."""


# Making one


def make(target: Path) -> Manifest:
    """Write a backup to the folder `target`, which must not be there; people can go on talking meanwhile. It appears
    whole or not at all. Raises `BackupError`."""
    if target.exists():
        raise BackupError(f"{target} is there already. Name a folder that is not: a backup overwrites nothing.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # As mkdtemp makes it, its owner's alone: the secret key and everything that was said are in it.
        draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror}.") from error
    try:
        manifest = fill(draft)
        draft.rename(target)
    except OSError as error:
        raise BackupError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def fill(folder: Path) -> Manifest:
    made_at = timezone.now().isoformat(timespec="seconds")
    # The database first: an archive or a file that comes later is one too many, and none is missing.
    counts = copy_sqlite(folder) if connection.vendor == "sqlite" else dump_postgres(folder)
    key = settings.CCM_HOME / KEY
    if key.exists() and key.read_text().strip() == settings.SECRET_KEY:
        shutil.copyfile(key, folder / KEY)
    for name, kept in kept_folders().items():
        copy_files(kept, folder / name)
    manifest = {
        "format": FORMAT,
        "made_at": made_at,
        "database": connection.vendor,
        **counts,
        "migrations": sorted(map(".".join, MigrationLoader(connection).applied_migrations)),
        "key": fingerprint(settings.SECRET_KEY),
        "files": {str(path.relative_to(folder)): sha256_of(path) for path in files_below(folder)},
    }
    (folder / MANIFEST).write_text(json.dumps(manifest, indent=1))
    return manifest


def kept_folders() -> dict[str, Path]:
    """What is kept outside the database, by its name in a backup."""
    return {ARCHIVES: settings.CCM_HOME / ARCHIVES, FILES: settings.CCM_FILES_DIR}


def copy_sqlite(folder: Path) -> dict[str, int]:
    connection.ensure_connection()
    with closing(sqlite3.connect(folder / DATABASES["sqlite"])) as copy:
        # In one step it reads one state of the database, and with a write-ahead log no writer waits for it.
        connection.connection.backup(copy)
        # One file, which needs no other beside it.
        copy.execute("PRAGMA journal_mode=DELETE")
        return counted(lambda sql: copy.execute(sql).fetchone()[0])


def dump_postgres(folder: Path) -> dict[str, int]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
        counts = counted(lambda sql: cursor.execute(sql).fetchone()[0])
        # What is counted and what is dumped are of the same moment.
        file = folder / DATABASES["postgresql"]
        postgres_tool("pg_dump", "--format=custom", "--no-owner", f"--snapshot={snapshot}", f"--file={file}")
    return counts


def counted(ask: Callable[[str], int]) -> dict[str, int]:
    return {name: ask(f"SELECT COUNT(*) FROM {table}") for name, table in COUNTED.items()}


def postgres_tool(tool: str, *arguments: str) -> None:
    if not shutil.which(tool):
        raise BackupError(
            f"{tool} is not installed. It comes with PostgreSQL's client: apt-get install postgresql-client."
        )
    database = settings.DATABASES["default"] | {"NAME": connection.settings_dict["NAME"]}
    # The password goes by the environment: arguments can be read by everybody on the machine.
    _, named = DatabaseClient.settings_to_cmd_args_env(database, [])
    places = {"PGHOST": "HOST", "PGPORT": "PORT", "PGUSER": "USER", "PGDATABASE": "NAME"}
    given = {name: str(database[key]) for name, key in places.items() if database.get(key)}
    done = subprocess.run(
        [tool, *arguments], env={**os.environ, **given, **(named or {})}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise BackupError(f"{tool} failed: {' '.join(done.stderr.split())}")


def copy_files(source: Path, target: Path) -> None:
    """Without what is deleted meanwhile."""
    for path in files_below(source):
        copied = target / path.relative_to(source)
        copied.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, copied)
        except FileNotFoundError:
            copied.unlink(missing_ok=True)


def files_below(folder: Path) -> Iterable[Path]:
    """Files alone, in their order; links lead elsewhere."""
    found = (Path(top, name) for top, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path.is_file() and not path.is_symlink())


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def fingerprint(key: str) -> str:
    """Tells keys apart, and nothing of them: they are long and random."""
    return hashlib.sha256(b"ccmweb backup" + key.encode()).hexdigest()[:16]


# Bringing one back


def restore(source: Path) -> Manifest:
    """Fill the empty database and the empty state folder that the settings name. Raises `BackupError` before anything
    is written where the backup is not whole, does not fit, or something is there already."""
    manifest = read_manifest(source)
    refuse_unfit(manifest)
    refuse_to_overwrite()
    try:
        for name, kept in kept_folders().items():
            copy_files(source / name, kept)
        load = load_sqlite if connection.vendor == "sqlite" else load_postgres
        load(source / DATABASES[connection.vendor])
    except (OSError, BackupError) as error:
        for kept in kept_folders().values():
            shutil.rmtree(kept, ignore_errors=True)
        raise BackupError(str(error)) from error
    if (source / KEY).exists() and not os.environ.get("SECRET_KEY"):
        take_key((source / KEY).read_text())
    return manifest


def read_manifest(source: Path) -> Manifest:
    try:
        manifest = json.loads((source / MANIFEST).read_text())
    except (OSError, ValueError, RecursionError) as error:
        raise no_backup(source) from error
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise no_backup(source)
    if manifest["format"] != FORMAT:
        raise BackupError(f"{source} was made by a newer version of CCM Web. Restore it with that.")
    if not is_of_this_format(manifest):
        raise no_backup(source)
    wrong = [name for name, digest in manifest["files"].items() if not is_whole(source / name, digest)]
    if wrong:
        raise BackupError(f"{source} is damaged: {', '.join(wrong)}. Take another backup.")
    return manifest


def no_backup(source: Path) -> BackupError:
    return BackupError(f"{source} is no backup: it has no {MANIFEST} that can be read.")


def is_of_this_format(manifest: Manifest) -> bool:
    kinds: dict[str, type] = {
        "database": str,
        "key": str,
        "migrations": list,
        "files": dict,
        **dict.fromkeys(COUNTED, int),
    }
    return (
        all(isinstance(manifest.get(name), kind) for name, kind in kinds.items())
        and all(isinstance(name, str) for name in manifest["migrations"])
        and all(isinstance(digest, str) for digest in manifest["files"].values())
    )


def is_whole(path: Path, digest: str) -> bool:
    try:
        return path.is_file() and sha256_of(path) == digest
    except OSError:
        # No file system has such a name.
        return False


def refuse_unfit(manifest: Manifest) -> None:
    if manifest["database"] != connection.vendor:
        raise BackupError(f"The backup is of {manifest['database']}, DATABASE_URL names {connection.vendor}.")
    known = set(map(".".join, MigrationLoader(None).disk_migrations))
    ours = {name.split(".")[0] for name in known}
    if newer := [name for name in manifest["migrations"] if name.split(".")[0] in ours and name not in known]:
        raise BackupError(f"The backup is of a newer version of CCM Web, with {newer[-1]}. Restore it with that.")


def refuse_to_overwrite() -> None:
    if connection.introspection.table_names():
        name = connection.settings_dict["NAME"]
        raise BackupError(f"The database {name} is not empty. Name a new one: a restore overwrites nothing.")
    for kept in kept_folders().values():
        if any(files_below(kept)):
            raise BackupError(f"{kept} is not empty. Name a new CCM_HOME: a restore overwrites nothing.")


def load_sqlite(file: Path) -> None:
    connection.ensure_connection()
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as copy:
        # One transaction of the database that is filled.
        copy.backup(connection.connection)
    connection.close()


def load_postgres(file: Path) -> None:
    connection.close()
    postgres_tool(
        "pg_restore",
        "--exit-on-error",
        "--single-transaction",
        "--no-owner",
        "--no-privileges",
        f"--dbname={connection.settings_dict['NAME']}",
        str(file),
    )


def take_key(key: str) -> None:
    """The one that the first start of this state folder made is kept beside it."""
    path = settings.CCM_HOME / KEY
    if path.exists() and path.read_text().strip() != key.strip():
        path.rename(path.with_name(f"{KEY}.before-restore"))
    handle, draft = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w") as file:
        file.write(key)
    os.replace(draft, path)


def key_is_missing(manifest: Manifest) -> bool:
    """Whether the keys of models, which are encrypted with it, have to be entered again."""
    path = settings.CCM_HOME / KEY
    key = os.environ.get("SECRET_KEY") or (path.read_text().strip() if path.exists() else "")
    return bool(fingerprint(key) != manifest["key"])


def missing_from(manifest: Manifest) -> list[str]:
    """Of what was counted in the backup, what is not there now."""
    with connection.cursor() as cursor:
        now = counted(lambda sql: cursor.execute(sql).fetchone()[0])
    return [f"{name}: {now[name]:,} of {manifest[name]:,}" for name in COUNTED if now[name] != manifest[name]]
