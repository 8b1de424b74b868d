"""A conversation with a real model, through a real server: `make talk MODEL_URL=http://127.0.0.1:8081/v1 MODEL=local`.

Six turns, one stopped in mid-stream and tried again, one followed by a second tab from its middle. It completes
whatever the model does; what the model did is printed as JSON, to be read by a person. Exit status 1 where the
product, not the model, did something wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from typing import Any
from uuid import uuid4

import django

TALK = (
    "The spring release goes out on 14 May, and Dana signs it off. The release needs a changelog.",
    "We keep the retry limit at 3, with 10, 60 and 300 seconds between two tries of the webhook.",
    "Priya is on call this week and looks at the dead-letter list every morning before nine.",
    "When is the release, and who signs it off?",
    "What did we say about the retry limit?",
    "What have we talked about so far? Answer in detail.",
)
STOPPED = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--model", required=True)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(CCM_HOME=home, DJANGO_SETTINGS_MODULE="ccmweb.settings")
        os.environ.update(CCM_MODEL_URL=arguments.url, CCM_MODEL_NAME=arguments.model, CCM_MODEL_TIMEOUT="900")
        django.setup()
        report = talk()
    print(json.dumps(report, indent=2, ensure_ascii=False))
    sys.exit(0 if all(report["held"].values()) else 1)


def talk() -> dict[str, Any]:
    from django.core.management import call_command

    from benchmarks import servers
    from benchmarks.stage import Stage

    call_command("migrate", verbosity=0)
    stage = Stage.set(1)
    with servers.process("manage.py", "serve", "--port", "0") as running:
        port = servers.port_in(running, r"http://127\.0\.0\.1:(\d+)/sign-in/")
        seen = asyncio.run(conversation(stage, port))
    return {"turns": described(), "held": {**seen, **stored_as_promised()}}


async def conversation(stage: Any, port: int) -> dict[str, bool]:
    from tests.server.websocket import Websocket

    async def tab(last_seq: int) -> Websocket:
        socket = await Websocket.open(port, f"/ws/s/{stage.sessions[0]}/", stage.cookie)
        await socket.say(kind="hello", last_seq=last_seq)
        return socket

    first = await tab(0)
    for number, text in enumerate(TALK, 1):
        await first.say(kind="send", client_id=uuid4().hex, text=text)
        if number == STOPPED:
            begun = (await first.until("delta"))[-1]
            await first.say(kind="stop", run=begun["run"])
            # A short reply may be complete before the stop arrives; then there is nothing to retry.
            if (await first.until("run.ended"))[-1]["state"] != "stopped":
                continue
            await first.say(kind="retry", turn=number)
        ended = (await first.until("run.ended"))[-1]
    second = await tab(0)
    answer = (await second.until("resync"))[-1]
    return {"a second tab is brought to the same event": answer["seq"] == ended["seq"]}


def described() -> list[dict[str, Any]]:
    from efforts.context.planning import main_branch
    from efforts.models import Session
    from efforts.pages.presenters.chat import chat_page

    return [
        {
            "user": turn.user_text,
            "state": turn.state,
            "attempt": turn.attempt,
            "error": turn.error_text,
            "reply": [part.text or f"[{part.tool_name} {part.tool_arguments}]" for part in turn.parts],
            "calls": turn.calls,
            "estimated_tokens": turn.estimated_tokens,
            "reported_tokens": turn.prompt_tokens,
            "cached_tokens": turn.cached_tokens,
            "seconds": turn.elapsed_ms and round(turn.elapsed_ms / 1000, 1),
        }
        for turn in chat_page(main_branch(Session.objects.get())).turns
    ]


def stored_as_promised() -> dict[str, bool]:
    from efforts.context.plans import replay
    from efforts.domain.effort.states import UNFINISHED
    from efforts.domain.text.canonical import request_sha256
    from efforts.models import ContextPlan, Event, Run, Turn

    plans = list(ContextPlan.objects.select_related("branch", "session"))
    return {
        "every message is there once": Turn.objects.count() == len(TALK),
        "every run has ended": not Run.objects.filter(state__in=UNFINISHED).exists(),
        "no plan is over its budget": all(plan.tokens <= plan.budget for plan in plans),
        "every plan renders to what was sent": all(request_sha256(replay(p)) == p.request_sha256 for p in plans),
        "no text is left unsaved": not Event.objects.filter(kind="delta").exists(),
    }


if __name__ == "__main__":
    main()
