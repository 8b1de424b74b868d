"""The background in which passages and code get their vectors; turns neither wait for it nor fail with it."""

from __future__ import annotations

import asyncio
from typing import Any, Protocol

from efforts.llm.embeddings import Embedded
from efforts.llm.protocol import ModelError
from efforts.memory import vectors
from efforts.models.threads import read, write
from efforts.standins import coding

# Seconds until it is looked again for what has no vector.
IDLE = 2.0


class Source(Protocol):
    """Where texts come from, and their vectors go to."""

    def claim_batch(self) -> coding.Batch | None: ...

    def record_batch(self, batch: Any, made: Embedded, /) -> None: ...

    def record_fault(self, batch: Any, why: str, /) -> None: ...


async def embed_all() -> None:
    # A local model takes a second to be read, in which nobody should wait to write.
    await read(vectors.warm)
    while True:
        if not await embed_some():
            await asyncio.sleep(IDLE)


async def embed_some() -> bool:
    """One request; whether there was anything to ask. What was said comes before code."""
    return await embed_of(vectors) or await embed_of(coding.registered())


async def embed_of(source: Source) -> bool:
    batch = await write(source.claim_batch)
    if batch is None:
        return False
    try:
        made = await read(batch.embedder.embed, batch.texts, seconds=vectors.SECONDS)
    except ModelError as error:
        await write(source.record_fault, batch, error.text)
        return True
    await write(source.record_batch, batch, made)
    return True
