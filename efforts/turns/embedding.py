"""The background in which passages get their vectors; turns neither wait for it nor fail with it."""

from __future__ import annotations

import asyncio

from efforts.llm.protocol import ModelError
from efforts.memory import vectors
from efforts.models.threads import read, write

# Seconds until it is looked again for passages without a vector.
IDLE = 2.0


async def embed_all() -> None:
    # A local model takes a second to be read, in which nobody should wait to write.
    await read(vectors.warm)
    while True:
        if not await embed_some():
            await asyncio.sleep(IDLE)


async def embed_some() -> bool:
    """One request; whether there was anything to ask."""
    batch = await write(vectors.claim_batch)
    if batch is None:
        return False
    try:
        made = await read(batch.embedder.embed, batch.texts, seconds=vectors.SECONDS)
    except ModelError as error:
        await write(vectors.record_fault, batch, error.text)
        return True
    await write(vectors.record_batch, batch, made)
    return True
