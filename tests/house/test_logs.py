"""What stands in the log is a fault or a deed."""

from __future__ import annotations

import asyncio
import gc
import logging

import pytest
from django.core.exceptions import RequestAborted

from ccmweb.logs import HideClosedTabs


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
