"""What stands in the log is a fault or a deed."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import RequestAborted
from django.test import Client

from ccmweb.logs import HideClosedTabs, TextLines
from efforts.log.concerned import concern, concerned, concerning
from tests.kept_log import kept_of


@pytest.mark.parametrize(("error", "logged"), [(RequestAborted(), False), (ValueError("broken"), True)])
def test_a_request_that_nobody_waits_for_any_more_is_no_fault(
    error: Exception, logged: bool, caplog: pytest.LogCaptureFixture
) -> None:
    asyncio.run(fails_unseen(error))
    records = [one for one in caplog.records if "never retrieved" in one.getMessage()]
    assert len(records) == 1
    assert HideClosedTabs().filter(records[0]) is logged


def test_what_is_logged_without_an_error_is_kept() -> None:
    assert HideClosedTabs().filter(logging.LogRecord("ccm", logging.INFO, "", 0, "signed in", (), None))


async def fails_unseen(error: Exception) -> None:
    async def fails() -> None:
        raise error

    task = asyncio.create_task(fails())
    await asyncio.wait([task])
    del task
    gc.collect()


SECRET = "sk-" + "abcdefghij0123456789"


def test_a_request_that_fails_is_logged_with_who_sent_it(
    as_alice: Client, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise ValueError(f"asked with {SECRET}")

    monkeypatch.setattr("efforts.pages.views.search.search_page", fails)
    as_alice.raise_request_exception = False
    with kept_of("django.request") as kept:
        assert as_alice.get("/search/?q=cranes").status_code == 500
    (line,) = kept.lines
    assert line["user"] == str(alice.pk)
    assert "asked with sk-[masked]" in line["exc_info"]
    assert concerned() == {}


def test_secrets_are_masked_in_text_and_traceback_alike() -> None:
    with kept_of("ccm.tried") as kept:
        try:
            raise ValueError(f"the key was {SECRET}")
        except ValueError:
            logging.getLogger("ccm.tried").exception("Asked with %s.", SECRET)
    (line,) = kept.lines
    assert line["message"] == "Asked with sk-[masked]."
    assert "the key was sk-[masked]" in line["exc_info"]
    record = logging.LogRecord("ccm", logging.INFO, "", 0, "Asked with %s.", (SECRET,), None)
    assert TextLines().format(record) == "Asked with sk-[masked]."


def test_in_text_the_ids_stand_at_the_end_of_the_line() -> None:
    record = logging.LogRecord("ccm", logging.INFO, "", 0, "Done.", (), None)
    with concerning(user=1, session=None):
        concern(turn=3)
        assert TextLines().format(record) == "Done. [user=1 turn=3]"
    assert TextLines().format(record) == "Done."
