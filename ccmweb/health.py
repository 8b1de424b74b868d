"""Whether the process lives (no database asked) and whether it can serve."""

from __future__ import annotations

import asyncio
import time
from importlib.util import find_spec
from typing import Any

from asgiref.sync import sync_to_async
from channels.layers import get_channel_layer
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache

PAUSE_SECONDS = 0.01
LAYER_SECONDS = 2.0


@login_not_required
@never_cache
async def livez(request: HttpRequest) -> JsonResponse:
    """How late the event loop is: what every socket of this process waits, beside the work itself."""
    before = time.perf_counter()
    await asyncio.sleep(PAUSE_SECONDS)
    lag = time.perf_counter() - before - PAUSE_SECONDS
    return JsonResponse({"ok": True, "loop_lag_ms": round(lag * 1000, 1)})


@login_not_required
@never_cache
async def readyz(request: HttpRequest) -> JsonResponse:
    """Details are for staff: the body tells others yes or no."""
    database = await sync_to_async(database_problem)()
    found = {"database": database, "channel_layer": await channel_layer_problem()}
    ready = not any(found.values())
    body: dict[str, Any] = {"ready": ready}
    # Who asks is known from the database: while that is away, nobody is staff.
    if not database and (await request.auser()).is_staff:
        body["details"] = {part: problem or "ok" for part, problem in found.items()}
    return JsonResponse(body, status=200 if ready else 503)


def database_problem() -> str:
    try:
        executor = MigrationExecutor(connection)
        pending = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except DatabaseError as error:
        return f"not reached: {error}"
    return f"{len(pending)} migrations are pending: run manage.py migrate" if pending else ""


async def channel_layer_problem() -> str:
    layer = get_channel_layer()
    assert layer is not None
    try:
        async with asyncio.timeout(LAYER_SECONDS):
            # A channel of its own would stay.
            await layer.group_send("nobody", {"type": "still"})
    except layer_faults() as error:
        return f"no round trip: {error or type(error).__name__}"
    return ""


def layer_faults() -> tuple[type[Exception], ...]:
    if not find_spec("redis"):
        return (OSError,)
    from redis.exceptions import RedisError

    # A Redis that is away raises no OSError.
    return (OSError, RedisError)
