"""What a catalogue must have: the texts of templates, scripts and modules, read without gettext's own tools.

`python -m tests.house.catalogue` brings every catalogue up to date: new texts wait in it for their translation.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterable, Iterator
from errno import EACCES, EIO, ENOENT, ENOSPC, ENOTDIR, EROFS
from pathlib import Path
from typing import Any

import django
import polib
from django.utils.translation.template import templatize

from compaction.domain.gates.contradiction import STATES
from compaction.domain.gates.judging import TAGS
from compaction.domain.limits import Purpose
from efforts.domain.prompt.items import (
    INSTRUCTIONS,
    INSTRUCTIONS_HERE,
    RULES,
    SYSTEM_TITLE,
    TOOLS_USED,
    YOUR_MESSAGE,
)
from tests.house import earlier
from workspaces.domain.states import SymbolKind

ROOT = Path(__file__).resolve().parents[2]
CALLS = {"_", "gettext", "gettext_lazy", "gettext_noop"}
# Context, English, English of several: "" where there is none.
Text = tuple[str, str, str]
# Modules whose texts people read. What models are told is English, and so is what is only logged.
SAID = (
    "ccmweb/operations.py",
    "ccmweb/sign_in.py",
    "compaction/domain/artifact.py",
    "compaction/domain/check/answers.py",
    "compaction/domain/check/result.py",
    "compaction/domain/gates/*.py",
    "compaction/drafting/checking.py",
    "compaction/drafting/costs.py",
    "compaction/drafting/examining.py",
    "compaction/drafting/scopes.py",
    "compaction/drafting/summaries.py",
    "compaction/pages/**/*.py",
    "compaction/review/*.py",
    "compaction/seeds/*.py",
    "compaction/standing/*.py",
    "efforts/actions/[!_]*.py",
    "efforts/actions/files/composer.py",
    "efforts/actions/files/reading.py",
    "efforts/context/connections.py",
    "efforts/context/efforts.py",
    "efforts/context/holds.py",
    "efforts/context/ledger.py",
    "efforts/context/plans.py",
    "efforts/context/presence.py",
    "efforts/context/scopes.py",
    "efforts/context/words.py",
    "efforts/domain/commands.py",
    "efforts/domain/effort/holds.py",
    "efforts/domain/effort/notices.py",
    "efforts/domain/effort/policy.py",
    "efforts/domain/effort/states.py",
    "efforts/domain/exported.py",
    "efforts/domain/other_chats.py",
    "efforts/domain/hosts.py",
    "efforts/domain/prompt/budget.py",
    "efforts/domain/prompt/candidates.py",
    "efforts/domain/prompt/difference.py",
    "efforts/domain/prompt/items.py",
    "efforts/domain/prompt/need.py",
    "efforts/domain/prompt/reasons.py",
    "efforts/domain/prompt/whereabouts.py",
    "efforts/domain/text/files.py",
    "efforts/llm/faults.py",
    "efforts/llm/limits.py",
    "efforts/llm/openai_chat.py",
    "efforts/llm/reach.py",
    "efforts/llm/recorded.py",
    "efforts/memory/*.py",
    "efforts/models/faults.py",
    "efforts/pages/forms.py",
    "efforts/pages/presenters/*.py",
    "efforts/pages/views/*.py",
    "efforts/retrieval/efforts.py",
    "efforts/retrieval/search.py",
    "efforts/standins/seen.py",
    "efforts/turns/consumers.py",
    "efforts/turns/demo.py",
    "efforts/turns/drafts.py",
    "efforts/turns/importing.py",
    "efforts/turns/orchestrator.py",
    "efforts/turns/recording.py",
    "efforts/turns/summaries.py",
    "efforts/turns/verbs.py",
    "workspaces/actions/*.py",
    "workspaces/commands/listed.py",
    "workspaces/domain/activation.py",
    "workspaces/domain/outcomes.py",
    "workspaces/domain/states.py",
    "workspaces/indexing/archives.py",
    "workspaces/indexing/worker.py",
    "workspaces/joining.py",
    "workspaces/pages/*.py",
    "workspaces/retrieval/cards.py",
    "workspaces/retrieval/pins.py",
)
# Lines for programs keep one language.
NOT_SAID = ("efforts/pages/presenters/export.py",)
SENTENCE = re.compile(r"[A-Za-z]{2,}[,:.]? [A-Za-z{(“]|^[A-Z][a-z]+[…?.!:]?$|^\{\w+\}(\? “| [a-z])")
CODE = re.compile(r"[\\<>\n_]|^(SET|PRAGMA|private)\b|=\w")
STRING = r"""u?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
CALL = re.compile(rf"\b(?:_|gettext)\({STRING}\)|\bngettext\({STRING}, {STRING}(?=,)|\bpgettext\({STRING}, {STRING}\)")


def of_templates() -> Iterator[Text]:
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for call in CALL.finditer(templatize(path.read_text(), origin=path.name)):
            yield from of_call(call[0] if call[0].endswith(")") else f"{call[0]})")


def of_admin() -> Iterator[Text]:
    """What its modules say, and what it calls apps, models, their fields and relations, and choices."""
    # Models are there once Django is set up.
    from django.apps import apps
    from django.contrib import admin

    from efforts.admin.base import CONTEXT, OF_VALUES

    for path in sorted(ROOT.glob("*/admin/*.py")):
        yield from ((CONTEXT, text, "") for _, text, _ in of_call(path.read_text()))
    ours = [one for one in apps.get_app_configs() if (ROOT / one.label / "admin").exists() or one.label == "ccmweb"]
    yield from ((CONTEXT, str(one.verbose_name), "") for one in ours)
    for model, table in admin.site._registry.items():
        if model._meta.app_config not in ours:
            continue
        names: list[Any] = [model._meta.verbose_name, model._meta.verbose_name_plural]
        for field in model._meta.fields:
            names += [field.verbose_name, field.help_text]
            yield from ((OF_VALUES, str(label), "") for _, label in field.flatchoices)
        yield from ((CONTEXT, str(name), "") for name in names if name)
        known = {field.name for field in model._meta.fields} | getattr(table, "titles", {}).keys()
        related = (one for one in table.readonly_fields if isinstance(one, str) and not hasattr(table, one))
        yield from ((CONTEXT, one.replace("_", " "), "") for one in related if one not in known)


def of_call(source: str) -> Iterator[Text]:
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        texts = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
        if node.func.id in CALLS and texts:
            yield "", texts[0], ""
        elif node.func.id == "ngettext" and len(texts) == 2:
            yield "", texts[0], texts[1]
        elif node.func.id == "pgettext" and len(texts) == 2:
            yield texts[0], texts[1], ""


LITERAL = re.compile(r'"([^"\\\n]*)"|`([^`\n]*)`')
EXPRESSION = re.compile(r"\$\{[^{}]*?(\w+)(?:\(\w*\))?\}")
# Names of keys and of things that a browser has.
NAMES = re.compile(
    r"^(Enter|Escape|Tab|Shift|Mod|Alt|Home|End|Accept|Files|Mac|Notification|Ctrl"
    r"|\S*[a-z+-][A-Z]\S*|[A-Z-]+|\{\w+\}([^ ].*| \{.*)?|\{\w+\} · CCM Web)$"
)


def of_scripts() -> Iterator[Text]:
    for path in sorted((ROOT / "static" / "js").glob("*.js")):
        code = re.sub(r"^\s*//.*", "", path.read_text(), flags=re.MULTILINE)
        for plain, filled_in in (found.groups() for found in LITERAL.finditer(code)):
            text = EXPRESSION.sub(r"{\1}", filled_in or plain or "")
            starts = re.match(r"[A-Z{]|, \{", text) or text in SAID_BY_SCRIPTS
            if starts and re.search(r"[a-z]{2,} ?[a-z ….?]", text) and not NAMES.match(text) and not CODE.search(text):
                yield "script", text, ""


SAID_BY_SCRIPTS = (
    "was not added",
    "was not removed",
    "what this conversation starts from",
    "turn {first}",
    "turns {first}-{last}",
)


def of_modules() -> Iterator[Text]:
    """Every text that is no docstring; of an f-string all that it may come to."""
    for name in (
        "ccmweb/retention.py",
        "efforts/models/session.py",
        "efforts/pages/presenters/conversations.py",
        "efforts/templatetags/look.py",
    ):
        yield from of_call((ROOT / name).read_text())
    for path in sorted({path for pattern in SAID for path in ROOT.glob(pattern)}):
        if str(path.relative_to(ROOT)) not in NOT_SAID:
            for text in of_module(ast.parse(path.read_text())):
                if SENTENCE.search(text) and not CODE.search(PLACE.sub("", text)):
                    yield "", text, ""


PLACE = re.compile(r"\{\w*\}")
AGAIN = re.compile(r"Retry asks again|(^|\. )Retry[ ,]|then Retry")
# Their texts are for a log or no words at all; and an annotation is none.
SILENT = {
    "info",
    "machine",
    "warning",
    "error",
    "exception",
    "debug",
    "compile",
    "filter",
    "exclude",
    "TypeVar",
    "sub",
    "cast",
    "split",
}


def of_module(tree: ast.Module) -> Iterator[str]:
    silent = {id(part) for node in ast.walk(tree) for whole in unsaid(node) for part in ast.walk(whole)}
    for node in ast.walk(tree):
        if id(node) in silent:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield named(node.value)
        elif isinstance(node, ast.Call) and is_counted(node):
            yield from counted(node, [])
        elif isinstance(node, ast.JoinedStr):
            silent |= {id(part) for part in ast.walk(node)}
            yield from filled(node)


def unsaid(node: ast.AST) -> Iterator[ast.AST]:
    documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
    if isinstance(node, documented) and isinstance(node.body[:1] and node.body[0], ast.Expr):
        yield node.body[0]
    # What the drafter hears of a failure, and nobody else.
    if isinstance(node, ast.keyword) and node.arg == "told":
        yield node.value
    # What a request says to a model.
    if isinstance(node, ast.Dict):
        pairs = zip(node.keys, node.values, strict=True)
        yield from (value for key, value in pairs if isinstance(key, ast.Constant) and key.value == "content")
    if isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in SILENT:
        yield node
    if isinstance(node, ast.FunctionDef) and node.name in ("__str__", "__repr__"):
        yield node
    if isinstance(node, ast.arg | ast.AnnAssign) and node.annotation:
        yield node.annotation
    if isinstance(node, ast.Assign) and any(getattr(one, "id", "") == "__all__" for one in node.targets):
        yield node


def named(text: str) -> str:
    """With names where `format` counts them, and a notice without the dashes that pages leave out."""
    text = text.removeprefix("--- ").removesuffix(" ---")
    number = iter(range(1, 10))
    return re.sub(r"\{(?::[^}]*)?\}", lambda _: f"{{part{next(number)}}}", re.sub(r"\{(\w+)[:!][^}]*\}", r"{\1}", text))


def filled(node: ast.JoinedStr) -> Iterator[str]:
    whole = [""]
    names: list[str] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            ways = [str(part.value)]
        else:
            assert isinstance(part, ast.FormattedValue)
            ways = list(ways_of(part.value, names))
        whole = [before + way for before in whole for way in ways]
    yield from whole


def ways_of(value: ast.expr, names: list[str]) -> Iterator[str]:
    """A choice between words is each of them; all else is a place with a name."""
    if isinstance(value, ast.IfExp):
        for one in (value.body, value.orelse):
            yield from ways_of(one, names)
    elif isinstance(value, ast.Constant) and isinstance(value.value, str):
        yield value.value
    elif isinstance(value, ast.JoinedStr):
        yield from filled(value)
    elif isinstance(value, ast.Call) and is_counted(value):
        yield from counted(value, names)
    else:
        yield place_of(value, names)


def place_of(value: ast.expr, names: list[str]) -> str:
    found = re.findall(r"[a-z][a-z_0-9]*", ast.unparse(value).casefold()) or ["part"]
    name = found[-1] if found[-1] not in ("n", "id") else found[0]
    return named_place(name, names)


def named_place(name: str, names: list[str]) -> str:
    names.append(name)
    return f"{{{name}{names.count(name) if names.count(name) > 1 else ''}}}"


def is_counted(node: ast.Call) -> bool:
    """A number with its noun: `counted(number, "claim")`."""
    words = [one for one in node.args[1:] if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return isinstance(node.func, ast.Name) and node.func.id == "counted" and bool(words)


def counted(node: ast.Call, names: list[str]) -> Iterator[str]:
    """With the noun of one and of several."""
    place = named_place("number", names)
    one, *several = [str(word.value) for word in node.args[1:] if isinstance(word, ast.Constant)]
    yield f"{place} {one}"
    yield f"{place} {several[0] if several else f'{one}s'}"


# Labels that are made from the names of states, and parts of speech.
LABELS = (
    "Open",
    "Heavy",
    "Light",
    "Off",
    "good",
    "bad",
    "none",
    "decision",
    "open work",
    "rule",
    "confirmed",
    "done",
    "dismissed",
    "proposed",
    "superseded",
    "written",
    "undone",
    "declined",
    "ended",
    "running",
    "passed",
    "failed",
    "you",
    "reply",
    "tool",
    "file",
    "To do",
    "system",
    "off",
    "light",
    "heavy",
    "or",
    "pass",
    "fail",
    "model",
    "To-dos",
    "Facts",
    "Results",
    "Next steps",
    "Changes",
    "Risks",
    "turn",
    "tokens",
    "efforts",
    "messages",
    "rules",
    "summaries",
    "Turns {spans}",
    "{effort}: turn {spans}",
    "{effort}: turns {spans}",
    "turns {spans}",
    "{place} · turn {spans}",
    "{count} turns from {first} to {last}",
    "{name}, {figure} tokens",
    "{count} expansion",
    "{count} expansions",
    "{count} later turn",
    "{count} later turns",
    "other figure",
    "other speaker",
    "other word",
    "turned figure",
    "turned owner",
    "turned negation",
    "turned status",
    "A structure, B sources, C retention, D contradictions, E cost and size",
    "to-do",
    "excerpts",
    "holds",
    # What must be sent, where it is too long.
    *(
        f"{title.lower()} {{tokens}}"
        for title in (SYSTEM_TITLE, RULES, INSTRUCTIONS, INSTRUCTIONS_HERE, YOUR_MESSAGE, TOOLS_USED)
    ),
    # Kinds of symbols, and what a section without a heading is called.
    *SymbolKind,
    "lines {first}-{last}",
    # What came of edits and commands.
    "Waits for you",
    # Why the system could not do it.
    *(os.strerror(number) for number in (EACCES, EIO, ENOENT, ENOSPC, ENOTDIR, EROFS)),
    "Written",
    "Rejected",
    "Undone",
    "Not run",
    "Running",
    "Stopped",
    "Did not finish",
    "Not started",
    "no closing quotation",
    "no escaped character",
    "Passed, exit status {number}",
    "Failed, exit status {number}",
    *(f"{state}, {{accepted}} of {{all}} parts" for state in ("Written", "Undone")),
    "{count} rule",
    "{count} rules",
    *(f"{kind} of {turns} {{spans}}" for kind in ("Summary", "Excerpts") for turns in ("turn", "turns")),
    *(f"{gate}: {{says}}" for gate in ("Structure", "Sources", "Retention", "Contradictions", "Cost and size")),
    *(f"Its {purpose} used {{tokens}} tokens of at most {{cap}}" for purpose in Purpose),
    *(tag.replace("_", " ") for tag in TAGS.values()),
    # Those of claims that can exclude each other.
    *(status.replace("_", " ") for status in STATES),
)
# What those who read the bytes of an answer say of them: gate A and a void check quote it, with where it is.
NOT_THE_FORM = (
    "Field required",
    "Extra inputs are not permitted",
    "Input should be a valid string",
    "Input should be a valid integer",
    "Input should be a valid array",
    "Input should be an object",
    "Input should be {expected}",
    "Input should be greater than or equal to {least}",
    "Tuple should have at least {least} item after validation, not {actual}",
    "Value should have at least {least} item after validation, not {actual}",
    "Value error, {why}",
)
NO_JSON = (
    "Expecting value",
    "Expecting property name enclosed in double quotes",
    "Expecting ',' delimiter",
    "Expecting ':' delimiter",
    "Extra data",
    "Unterminated string starting at",
    "Invalid control character at",
)
EARLIER = (
    *earlier.DOUBTS,
    *earlier.CALLED_WRONG,
    *earlier.RETENTION,
    *earlier.SOURCES,
    *earlier.SIZES,
    *earlier.FADED,
    *earlier.UNREACHED,
    *earlier.CHECKS,
    *earlier.TOOLS,
)
QUOTED = (
    "artifact_id is not the hash of this document",
    *(f"{{loc}}: {fault}" for fault in NOT_THE_FORM),
    *(f"{fault}: line {{line}} column {{column}} (char {{char}})" for fault in NO_JSON),
)


def texts() -> list[Text]:
    labels = (("", label, "") for label in (*LABELS, *QUOTED, *EARLIER))
    said = [*of_modules()]
    return list(dict.fromkeys([*of_templates(), *said, *of_continued(said), *of_scripts(), *of_admin(), *labels]))


def of_continued(said: Iterable[Text]) -> Iterator[Text]:
    """How an attempt ended, said of a reply that went on."""
    # Models are there once settings are.
    from efforts.turns.recording import said_of_continue

    for _, text, _ in said:
        if AGAIN.search(text):
            yield "", said_of_continue(text), ""


def catalogue_of(language: str) -> Path:
    return ROOT / "locale" / language / "LC_MESSAGES" / "django.po"


def bring_up_to_date(path: Path) -> None:
    known = {(one.msgctxt or "", one.msgid, one.msgid_plural): one for one in polib.pofile(str(path))}
    made = polib.POFile(wrapwidth=119)
    made.metadata = polib.pofile(str(path)).metadata
    for context, english, several in texts():
        one = known.get((context, english, several))
        made.append(one or polib.POEntry(msgctxt=context or None, msgid=english, msgid_plural=several))
    made.save(str(path))
    made.save_as_mofile(str(path.with_suffix(".mo")))


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "ccmweb.settings")
    django.setup()
    for found in (ROOT / "locale").glob("*/LC_MESSAGES/django.po"):
        bring_up_to_date(found)
