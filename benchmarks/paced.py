"""A provider that streams its own clock: `python -m benchmarks.paced` prints its port.

The message says what to do: "stream N PACE" sends N stamps, PACE seconds apart; "silent" never answers.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while head := await reader.readuntil(b"\r\n\r\n"):
            length = next(int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if b"content-length" in line)
            request = json.loads(await reader.readexactly(length))
            # The last line: the planner may have put notes for the model before the message.
            await stream(writer, request["messages"][-1]["content"].split("\n")[-1].split())
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def stream(writer: asyncio.StreamWriter, order: list[str]) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    if order[0] == "silent":
        await writer.drain()
        await asyncio.Event().wait()
    for _ in range(int(order[1])):
        await asyncio.sleep(float(order[2]))
        send(writer, {"content": f"t{time.monotonic_ns()} "})
        await writer.drain()
    send(writer, {}, "stop")
    done = b"data: [DONE]\n\n"
    writer.write(b"%x\r\n%s\r\n0\r\n\r\n" % (len(done), done))
    await writer.drain()


def send(writer: asyncio.StreamWriter, delta: dict[str, Any], finish: str | None = None) -> None:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    chunk = {"id": "paced", "object": "chat.completion.chunk", "choices": [choice]}
    data = b"data: " + json.dumps(chunk).encode() + b"\n\n"
    writer.write(b"%x\r\n%s\r\n" % (len(data), data))


async def main() -> None:
    # All streams connect at once, and the default backlog is 100.
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
