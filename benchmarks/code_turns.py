"""Does showing code help? Forty recorded coding turns, and what prompts would have shown for them, by context mode.

    python -m benchmarks.code_turns                      # plays benchmarks/code_turns.jsonl
    python -m benchmarks.code_turns --record             # records the newest 40 turns of this repository

A turn is one change of this repository: what was asked for is the subject of its commit, the answer is the change
itself. The folder is attached as it was just before it, without tests. A card counts as used where the answer changed a
line of its symbol, or names it in a line that it wrote; how an answer came about is not known: reading is not counted.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
COLUMNS = ("cards", "changed", "used", "turns with one used", "tokens")
RECORDED = HERE / "code_turns.jsonl"
TURNS = 40
# A change of more than so many symbols is no answer to one message.
MOST_CHANGED = 12
FOLDERS = ("ccmweb", "compaction", "efforts", "workspaces")
BUDGET = 16_000
HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@")
NAME = re.compile(r"[^\W\d]\w{2,}")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=HERE.parent, check=True, capture_output=True, text=True).stdout


def record() -> None:
    found: list[dict[str, Any]] = []
    for commit in git("rev-list", "--no-merges", "HEAD").split():
        changed, words = change_of(commit)
        if 0 < len(changed) <= MOST_CHANGED:
            subject = git("show", "-s", "--format=%s", commit).strip()
            found.append({"before": f"{commit}^", "asked": subject, "changed": sorted(changed), "words": sorted(words)})
        if len(found) == TURNS:
            break
    RECORDED.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in reversed(found)))


def change_of(commit: str) -> tuple[set[tuple[str, str]], set[str]]:
    """Symbols whose lines it changed, as path and qualified name, and names in the lines that it wrote; of Python, and
    without tests."""
    changed: set[tuple[str, str]] = set()
    words: set[str] = set()
    path = ""
    spans: dict[str, list[tuple[int, int]]] = {}
    for line in git("show", "--format=", "-U0", "--no-renames", commit, "--", *FOLDERS, ":!*/migrations/*").split("\n"):
        if line.startswith("--- "):
            path = line.removeprefix("--- a/") if line.startswith("--- a/") else ""
        elif found := HUNK.match(line):
            first, count = int(found[1]), int(found[2] or 1)
            spans.setdefault(path, []).append((first, first + max(count, 1) - 1))
        elif line.startswith("+") and not line.startswith("+++"):
            words |= set(NAME.findall(line))
    for where, lines in spans.items():
        if where.endswith(".py"):
            changed |= {(where, name) for name in symbols_at(git("show", f"{commit}^:{where}"), where, lines)}
    return changed, words


def symbols_at(text: str, path: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """Of each changed place the innermost symbol."""
    from workspaces.domain.languages import module_of
    from workspaces.domain.outline import outline_of

    definitions = outline_of(path, "python", text).definitions[1:]
    for first, last in spans:
        held = [one for one in definitions if one.lines[0] <= last and first <= one.lines[1]]
        if held:
            yield f"{module_of(path, 'python')}.{min(held, key=lambda one: one.lines[1] - one.lines[0]).inside}"


def play() -> None:
    turns = [json.loads(line) for line in RECORDED.read_text().splitlines()]
    from django.contrib.auth.models import User

    from efforts.actions import create_session
    from efforts.domain.effort.policy import ContextMode
    from workspaces.actions import attach_folder
    from workspaces.indexing import worker

    folder = Path(os.environ["CCM_HOME"]) / "product"
    owner = User.objects.create(username="measured")
    session = create_session(owner)
    worker.start = lambda workspace_id: None  # here, and not beside
    lay(turns[0]["before"], folder)
    workspace = attach_folder(session, str(folder), actor=owner)
    sums: dict[ContextMode, Counter[str]] = {mode: Counter() for mode in ContextMode}
    for turn in turns:
        lay(turn["before"], folder)
        worker.index(workspace)
        for mode in ContextMode:
            sums[mode].update(counted(turn, *shown_for(session, str(mode), turn["asked"])))
    print(
        f"{len(turns)} turns, a budget of {BUDGET:,} tokens\n| mode | {' | '.join(COLUMNS)} | used, per 1,000 tokens |"
    )
    for mode, sum in sums.items():
        rate = f"{1000 * sum['used'] / sum['tokens']:.2f}" if sum["tokens"] else "none"
        print(f"| {mode} | {' | '.join(f'{sum[column]:,}' for column in COLUMNS)} | {rate} |")


def lay(commit: str, folder: Path) -> None:
    """The folder becomes what it was then."""
    shutil.rmtree(folder, ignore_errors=True)
    there = [one for one in FOLDERS if git("ls-tree", "-d", "--name-only", commit, one)]
    packed = subprocess.run(["git", "archive", commit, *there], cwd=HERE.parent, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")


def counted(turn: Mapping[str, Any], cards: Collection[tuple[str, str]], tokens: int) -> dict[str, int]:
    """Of one turn: `cards` are path and qualified name of each that was shown."""
    changed = {card for card in cards if list(card) in turn["changed"]}
    used = changed | {card for card in cards if card[1].rpartition(".")[2] in turn["words"]}
    return {
        "cards": len(cards),
        "changed": len(changed),
        "used": len(used),
        "turns with one used": int(bool(used)),
        "tokens": tokens,
    }


def shown_for(session: Any, mode: str, asked: str) -> tuple[set[tuple[str, str]], int]:
    """Path and qualified name of each card that the prompt shows, and the tokens of all code in it."""
    from efforts.context.planning import main_branch
    from efforts.context.plans import preview

    view = preview(main_branch(session), draft_text=asked, changes={"context_mode": mode, "budget": BUDGET})
    items = [item for item in view.included if item.section == "code" and item.place]
    return {(item.place.rpartition(":")[0], item.title) for item in items}, sum(
        section.tokens for section in view.sections if section.key == "code"
    )


def main() -> None:
    chosen = argparse.ArgumentParser()
    chosen.add_argument("--record", action="store_true")
    options = chosen.parse_args()
    home = tempfile.mkdtemp(prefix="ccm-turns-")
    os.environ |= {"CCM_HOME": home, "CCM_WORKSPACE_ROOTS": home, "DJANGO_SETTINGS_MODULE": "ccmweb.settings"}
    import django
    from django.core.management import call_command

    django.setup()
    try:
        if options.record:
            record()
        else:
            call_command("migrate", verbosity=0)
            play()
    finally:
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
