"""What messages that are not about code bring of attached code: how many bring cards, and what these take of a prompt.

    CCM_DATA=... python -m benchmarks.code_beside FOLDER [FOLDER ...]

The messages are what people said in recorded conversations that are not about code: with an assistant, with each other,
and in meetings. They are drawn by hash, from the end: what the least share of a message was chosen by is drawn from the
beginning.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SOURCES = {"with an assistant": "longmemeval", "with each other": "locomo", "in meetings": "qmsum"}
OF_EACH = 60
# Less is "yes" and "okay", of which no search is made.
LEAST_WORDS = 4
BUDGET = 16_000


def main(folders: Sequence[str]) -> None:
    home = tempfile.mkdtemp(prefix="ccm-beside-")
    os.environ |= {"CCM_HOME": home, "CCM_WORKSPACE_ROOTS": home, "DJANGO_SETTINGS_MODULE": "ccmweb.settings"}
    import django

    django.setup()
    from django.core.management import call_command

    from efforts.models.threads import keep_for_good

    call_command("migrate", verbosity=0)
    keep_for_good()
    print("| folder | messages | mode | bring cards | tokens of cards, median and 90th hundredth |")
    try:
        for folder in folders:
            measure(Path(folder), Path(home))
    finally:
        shutil.rmtree(home, ignore_errors=True)


def measure(folder: Path, home: Path) -> None:
    from benchmarks.code import attached
    from efforts.domain.effort.policy import ContextMode
    from workspaces.indexing import worker

    workspace, _ = attached(folder, home)
    worker.index(workspace)
    session = workspace.attachments.get().session
    for told, source in SOURCES.items():
        texts = messages_of(source)
        for mode in (ContextMode.LIGHT, ContextMode.HEAVY):
            tokens = sorted(tokens_for(session, str(mode), text) for text in texts)
            share = sum(map(bool, tokens)) / len(tokens)
            middle, most = tokens[len(tokens) // 2], tokens[len(tokens) * 9 // 10]
            print(f"| {folder.name} | {told} | {mode} | {share:.2f} | {middle:,}, {most:,} |", flush=True)


def messages_of(source: str) -> list[str]:
    from efforts.domain.text.canonical import sha256

    said: set[str] = set()
    for line in (Path(os.environ["CCM_DATA"]) / f"{source}-dev.jsonl").read_text().splitlines():
        messages = [one["text"] for one in json.loads(line)["messages"] if one["role"] == "user"]
        said |= {text for text in messages if len(text.split()) >= LEAST_WORDS}
    return sorted(said, key=sha256)[-OF_EACH:]


def tokens_for(session: Any, mode: str, text: str) -> int:
    """Of the cards that the prompt shows for a message."""
    from efforts.context.planning import main_branch
    from efforts.context.plans import preview

    view = preview(main_branch(session), draft_text=text, changes={"context_mode": mode, "budget": BUDGET})
    return sum(item.tokens for item in view.included if item.section == "code" and item.place)


if __name__ == "__main__":
    main(sys.argv[1:])
