"""What pages, notices, errors and documents say is plain: none of the turns of phrase that a reader had to puzzle out.

Each says what a rule is in place of what happens to the reader; `docs/glossary.md` has the terms that stay.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.house.process import ROOT

APPS = ("ccmweb", "compaction", "efforts", "workspaces")
# What a model is told is worded for it, and measured.
NOT_FOR_PEOPLE = ("migrations", "models", "models.py", "prompts", "toolbox.py", "management")
PATTERNS = (
    # pronouns and verbs without a thing
    r"what came of it\b",
    r"\bsay more of\b",
    r"\bstands? in for\b",
    r"is cited by nothing",
    r"in none of the items",
    r"lead(s)? to (its|their) source\b",
    r"its numbers lead to the log",
    r"no claim leads to",
    r"all of it leads",
    r"this run decides",
    r"gets larger by it",
    r"once this one is done with",
    r"turns of its own",
    r"in a branch of its own; this one",
    r"its whole summary alone",
    r"one begins when you say",
    r"send its beginning and end",
    r"what must be sent needs",
    r"go for good\b",
    r"only you say what stands",
    r"for good · until you unpin",
    r"retry in a while",
    r"waits? for your yes",
    r"empty: (none|not known|its own|\d)",
    r"patience, seconds",
    r"as the provider calls it",
    r"how models do\b",
    r"new conversations use it",
    r"who answers\b",
    r"\banswers\. change\b",
    r"to look around in",
    r"what the model reads at most",
    r"no prompt is ever larger",
    r"until its summary stands again",
    r"has this name\b",
    r"lies before the first one",
    r"reported no usage yet",
    r"none is at work now",
    r"in, in prompt order",
    r"(?<!left )out, by reason",
    r"what this turn asks, whole",
    r"kept for the reply, outside",
    r"unless somebody refers to it",
    r"stands in the prompt for\b",
    r"shall start from",
    r"make a new one of the same",
    r"you may not see this",
    r"there is nothing at this address",
    r"to the start page",
    r"do not belong together",
    r"headlines that left",
    r"naive tokens",
    r"said to be too early",
    r"by hand : by itself",
    r"what would change\?",
    r"turn down…",
    r"letter of a long word is wrong",
    r"what managing the context did",
    r"each start prints a fresh one",
    # two words for one thing
    r"\bfades (in|at the next)\b",
    r"\bleaves at the next change\b",
    r"empty: (the|no limit)\b",
    r"\bstand instead\b",
    r"took the place of its log: nothing",
    r"collapsed by themselves",
)
WORST = re.compile("|".join(f"(?:{pattern})" for pattern in PATTERNS), re.IGNORECASE)


def said(path: Path) -> Iterator[str]:
    """The strings of a module that are no docstrings; of other files all of it."""
    text = path.read_text()
    if path.suffix != ".py":
        yield " ".join(text.split())
        return
    tree = ast.parse(text)
    documenting = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documenting:
            yield node.value


def pages() -> list[Path]:
    modules = [path for app in APPS for path in (ROOT / app).rglob("*.py") if not set(path.parts) & set(NOT_FOR_PEOPLE)]
    scripts = list((ROOT / "static" / "js").glob("*.js"))
    documents = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    return [*(ROOT / "templates").rglob("*.html"), *modules, *scripts, *documents]


def test_there_are_fifty_of_them_and_each_can_be_found() -> None:
    assert len(PATTERNS) >= 50
    assert all(WORST.search(words) for words in ("It waits for your yes.", "In, in prompt order"))


@pytest.mark.parametrize("folder", ["templates", "static", "docs", "README.md", *APPS])
def test_none_of_them_is_on_a_page(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {hit[0]}"
        for path in pages()
        if path.relative_to(ROOT).parts[0] == folder
        for text in said(path)
        for hit in WORST.finditer(text)
    ]
    assert found == []
