"""The cast and the stage: alice owns, bob must not see."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management.commands import flush
from django.db import connection
from django.test import Client
from django.utils import translation
from hypothesis import settings

from tests.empty import empty_file, empty_template

# How long an example takes is the machine's affair.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
# `make soak`; only what is in tests/fuzz takes so many.
settings.register_profile("soak", deadline=None, max_examples=int(os.environ.get("EXAMPLES", 10_000)))

# The shell first: a whole browser draws windows that nobody sees, and takes half as long again.
BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER_ARGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """A page that was asked for in another language leaves its thread in that, which is the thread of the tests."""
    yield
    translation.deactivate()


def cancel_until_gone(loop: asyncio.AbstractEventLoop) -> None:
    """A loop that closes cancels what is left on it once, and waits for ever where Redis' client swallows that."""
    for _ in range(60):
        if not (left := asyncio.all_tasks(loop)):
            return
        for task in left:
            task.cancel()
        loop.run_until_complete(asyncio.wait(left, timeout=0.5))
    raise AssertionError(f"These end by no cancellation: {left}")


asyncio.runners._cancel_all_tasks = cancel_until_gone  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    # Thousands of tests, and all that they import, stay to the end: nobody needs to look at them time and again.
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Playwright keeps an event loop on the main thread; tests with loops of their own go first. Of the files that are
    # last the shortest end the run, so that no process waits long for the other.
    in_file = Counter(item.path for item in items)
    items.sort(key=lambda item: (1, -in_file[item.path]) if item.get_closest_marker("browser") else (0, 0))
    for item in items:
        if item.get_closest_marker("server"):
            # It waits itself for processes that start, and says which did not.
            item.add_marker(pytest.mark.timeout(900))
        if item.get_closest_marker("soak"):
            item.add_marker(pytest.mark.timeout(0))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """The tests' own database begins as a copy of an empty one."""
    test = connection.settings_dict["TEST"]
    if connection.vendor == "sqlite":
        shutil.copyfile(empty_file(), test["NAME"])
    else:
        test["TEMPLATE"] = empty_template(os.environ["DATABASE_URL"])


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """What lies there already is the copy; its folder goes when the process ends."""
    return connection.vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    """PostgreSQL drops no database that a thread of a consumer or a runner is still connected to."""
    connection.ops.sql_flush = emptied  # type: ignore[method-assign]
    # It would write anew what `emptied` keeps.
    flush.emit_post_migrate_signal = lambda *args, **options: None  # type: ignore[attr-defined]
    yield
    with django_db_blocker.unblock():
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute(HANG_UP)


def emptied(
    style: object, tables: Sequence[str], *, reset_sequences: bool = False, allow_cascade: bool = False
) -> list[str]:
    """Of a few rows in many tables a DELETE is many times as fast as TRUNCATE, which begins new files for each.

    What Django writes after each migration stays: to write it anew takes fifteen times as long as all else of it.
    """
    return [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables if table not in OF_MIGRATIONS]


OF_MIGRATIONS = ("django_content_type", "auth_permission")


HANG_UP = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""


@pytest.fixture
def alice(db: None) -> User:
    return User.objects.create_user("alice", password="alice")


@pytest.fixture
def bob(db: None) -> User:
    return User.objects.create_user("bob", password="bob")


@pytest.fixture
def as_alice(alice: User) -> Client:
    return signed_in(alice)


@pytest.fixture
def as_bob(bob: User) -> Client:
    return signed_in(bob)


@pytest.fixture
def anyone() -> Client:
    return Client()


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A Playwright browser, or a skip that says why; in CI the lack of one is a failure."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = installed_browser(playwright.chromium.executable_path)
        if path is None:
            give_up = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
            give_up("No Chromium: install it, or set CHROMIUM to its path.")
        # Playwright's loop counts as running on this thread, where tests ask the database.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER_ARGS)
        yield browser
        browser.close()
        del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


def installed_browser(playwrights_own: str) -> str | None:
    return os.environ.get("CHROMIUM") or next(
        (path for path in map(shutil.which, (*BROWSERS, playwrights_own)) if path), None
    )
