"""docs/tool-messages.md shows what a model reads after each call of a tool: made by calling each, and held current."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction

from efforts import actions
from efforts.domain.effort.states import EntryKind
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.text.canonical import canonical_json
from efforts.models import ContextPointer, EffortState, LedgerEntry, Message, Run, Session
from efforts.standins import coding
from efforts.tools import FUNCTIONS, ToolContext, error_result, run_tool
from efforts.turns.calls import CUT_SHORT, NO_ROOM, NOT_LISTED, TOO_LONG, TOO_MANY
from efforts.turns.recording import TOO_LARGE
from tests.efforts.chosen import choose
from tests.efforts.talk import Call, Talk
from tests.house.process import ROOT
from tests.workspaces.conftest import indexed, write
from workspaces.actions import attach_folder, dismiss_code_pin
from workspaces.actions.editing import hash_of
from workspaces.indexing import worker
from workspaces.models import CodePin, Workspace

DOCUMENT = ROOT / "docs" / "tool-messages.md"
HEAD = """# What tools answer

What a model reads after each call, as it is sent to it. The situation: `auth-bug` and `tax` are
concluded with a summary, `archive` too, whose log is larger than its room, `offsite` is concluded without one,
`vacation` is open and active, `garden` is open with more turns than its share of the prompt has room for. The budget is
4,000 tokens. Each row stands alone: what was so, or called in the same turn, before its call is said first. Long
results are cut here, and ids that differ are written as N.

`tests/efforts/test_tool_messages.py` makes this page (`WRITE_DOCS=1`) and fails where it is not current, and where a
sentence that a tool may refuse with is missing.
"""
TABLE = "| call | answer |\n|---|---|\n"
LONGEST, LONGEST_CALL = 420, 160
# What the person says in the turn of each call.
SAID = "You can close the vacation now. We fly on 4 May. Never book a night train. I still have to ask Dana."
ASK_DANA, NIGHT_TRAIN, HOTEL = "I still have to ask Dana.", "Never book a night train.", "Book a hotel."
Given = Callable[[Talk], object]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A call. `arguments`: as written where they are text; `after`: calls of the same turn before it; `given`: what is
    so, and how that came to be. What an argument can only be told by then is a function."""

    name: str
    arguments: dict[str, Any] | str
    after: tuple[Call, ...] = ()
    where: str = ""
    given: Given = lambda talk: None

    def told(self, talk: Talk) -> Any:
        with transaction.atomic():
            self.given(talk)
            lease = talk.begin(SAID)
            for name, arguments in self.after:
                talk.call(lease, name, **known(arguments, talk))
            if isinstance(self.arguments, dict):
                answer = talk.call(lease, self.name, **known(self.arguments, talk))
            else:
                run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
                call = ToolCall(id="c", name=self.name, arguments=self.arguments)
                answer = json.loads(run_tool(call, ToolContext(run=run)))
            row = row_of(self.label(talk), answer)
            transaction.set_rollback(True)
        return row

    def label(self, talk: Talk) -> str:
        before = [written(name, known(arguments, talk)) for name, arguments in self.after]
        arguments = self.arguments if isinstance(self.arguments, str) else known(self.arguments, talk)
        calls = ", ".join([*before, written(self.name, arguments)])
        return f"{self.where}: {calls}" if self.where else calls


def known(arguments: dict[str, Any], talk: Talk) -> dict[str, Any]:
    return {key: value(talk) if callable(value) else value for key, value in arguments.items()}


def written(name: str, arguments: dict[str, Any] | str) -> str:
    if isinstance(arguments, str):
        return f"{name} with {arguments}"
    return f"{name}({', '.join(f'{key}={json.dumps(value)}' for key, value in arguments.items())})"


def asked(tool: str, /, *after: Call, where: str = "", given: Given = lambda talk: None, **arguments: Any) -> Asked:
    return Asked(name=tool, arguments=arguments, after=after, where=where, given=given)


def message(talk: Talk) -> int:
    return talk.session.messages.earliest("id").pk


def todo(talk: Talk) -> str:
    return LedgerEntry.objects.latest("pk").name


def noted(talk: Talk) -> LedgerEntry:
    return actions.note_entry(talk.place, message(talk), EntryKind.OPEN_WORK, "Post the form.")


def done(talk: Talk) -> None:
    actions.finish_entry(talk.place, noted(talk).pk)


def dismissed(talk: Talk) -> None:
    talk.ask(SAID, ("record", {"kind": "open_work", "text": HOTEL}))
    actions.dismiss_entry(talk.place, LedgerEntry.objects.latest("pk").pk)


def taken_back(talk: Talk) -> None:
    talk.ask(SAID)
    rule = actions.set_constraint(talk.place, "Always answer in French.")
    actions.revoke_constraint(talk.place, rule.pk)


def with_body(talk: Talk) -> None:
    body = "The login answered 401.\nDecisions:\n- Refresh the token."
    ContextPointer.objects.filter(effort__slug="auth-bug").update(body=body, body_tokens=16)


def chosen(talk: Talk) -> None:
    choose(talk, 1, 2)


def busy(talk: Talk) -> None:
    noted(talk)
    chosen(talk)


def left_out(number: int) -> Given:
    return lambda talk: actions.leave_out(talk.place, number)


def pinned(talk: Talk) -> None:
    actions.pin_turn(talk.place, 1)


def empty(talk: Talk) -> None:
    actions.open_effort(talk.place, "Empty")


def code_suggestion(talk: Talk) -> None:
    talk.ask("Hm.", ("suggest_pin", {"ref": "Till", "why": "All rests on it."}))
    dismiss_code_pin(CodePin.objects.latest("pk"), actor=talk.session.owner)


def unindexed(talk: Talk) -> None:
    Workspace.objects.update(current=None)


def suggestion(talk: Talk) -> None:
    talk.ask("Hm.", ("suggest_pin", {"ref": "tax", "why": "All rests on it."}))
    actions.dismiss_pin(talk.place, talk.branch.holds.latest("pk").pk)


def states(**changes: Any) -> Given:
    return lambda talk: EffortState.objects.filter(effort__slug="tax").update(**changes)


def reviewing(mode: str) -> Given:
    return lambda talk: Session.objects.update(review_mode=mode)


EXPAND_TAX: Call = ("expand_effort", {"id": "tax"})
WHY = "All rests on it."
CALLS: tuple[Asked, ...] = (
    asked("open_effort", name="Payment webhook"),
    asked("open_effort", name="Gardens"),
    asked("open_effort", name="Auth bug"),
    asked("open_effort", name=""),
    asked("open_effort", name="../.."),
    asked("open_effort", name="a\x07b"),
    asked("open_effort", name="word " * 80),
    asked("close_effort", said="You can close the vacation now."),
    asked("close_effort", said="The vacation is over."),
    asked("close_effort"),
    asked("close_effort", where="each summary is reviewed", given=reviewing("always")),
    asked("close_effort", where="none is drafted", given=reviewing("never")),
    asked("close_effort", ("close_effort", {}), ("close_effort", {})),
    asked("close_effort", id="auth-bug"),
    asked("close_effort", id="auth-bugs-2"),
    asked("reopen_effort", id="auth-bug"),
    asked("reopen_effort", id="garden"),
    asked("switch_effort", id="garden"),
    asked("switch_effort", id="vacation"),
    asked("switch_effort", id="auth-bug"),
    asked("expand_effort", id="auth-bug"),
    asked("expand_effort", ("expand_effort", {"id": "auth-bug"}), id="auth-bug"),
    asked("expand_effort", id="auth-bug", what="body"),
    asked("expand_effort", where="its summary is longer", given=with_body, id="auth-bug", what="body"),
    asked("expand_effort", id="tax"),
    asked("expand_effort", id="archive"),
    asked("expand_effort", id="garden"),
    asked("expand_effort", id="offsite"),
    asked("expand_effort", where="it has no turns", given=states(turns=0), id="tax"),
    asked("expand_effort", where="chosen turns cover it", given=states(summary="covered"), id="tax"),
    asked("expand_effort", where="turns 1-2 are summarised", given=chosen, id="turns-1-2"),
    asked("expand_effort", where="turns 1-2 are summarised", given=chosen, id="turns-1-2", what="body"),
    asked("collapse_effort", where="turns 1-2 are summarised", given=chosen, id="turns-1-2"),
    asked("collapse_effort", EXPAND_TAX, id="tax"),
    asked("collapse_effort", id="tax"),
    asked("effort_status"),
    asked("effort_status", EXPAND_TAX, where="a to-do is noted and turns 1-2 are summarised", given=busy),
    asked("search_efforts", query="401"),
    asked("search_efforts", ("search_efforts", {"query": "401"}), query="401"),
    asked("search_efforts", query="submarine"),
    asked("search_efforts", query="?"),
    asked("search_messages", query="token"),
    asked("search_messages", query="login", effort="auth-bug", speaker="user", until="2026-12-31"),
    asked("search_messages", like_turn=3),
    asked("search_messages", like_turn=900),
    asked("search_messages", where="turn 3 is left out", given=left_out(3), like_turn=3),
    asked("search_messages", query="token", page=2),
    asked("search_messages", query="token", since="May"),
    asked("search_messages", query="submarine"),
    asked("read_effort", id="auth-bug"),
    asked("read_effort", id="archive"),
    asked("read_effort", id="auth-bug", from_turn=50),
    asked("read_effort", where="it has no turns", given=empty, id="empty"),
    asked("read_message", id=message),
    asked("read_message", id=message, offset=900),
    asked("read_message", id=0),
    asked("read_message", where="turn 1 is left out", given=left_out(1), id=message),
    asked("record", kind="decision", text="We fly on 4 May."),
    asked("record", kind="open_work", text=ASK_DANA),
    asked("record", kind="open_work", text=HOTEL),
    asked("record", where="the user dismissed it", given=dismissed, kind="open_work", text=HOTEL),
    asked("record", where="the user noted it", given=noted, kind="open_work", text="Post the form."),
    asked("record", kind="decision", text=" "),
    asked("record", kind="constraint", text=NIGHT_TRAIN),
    asked("record", ("record", {"kind": "constraint", "text": NIGHT_TRAIN}), kind="constraint", text=NIGHT_TRAIN),
    asked("record", kind="constraint", text="Always answer in French."),
    asked("record", where="it was taken back", given=taken_back, kind="constraint", text="Always answer in French."),
    asked("record", kind="constraint", text=""),
    asked("record", kind="rule", text=NIGHT_TRAIN),
    asked("resolve_open_work", id="work-0"),
    asked("resolve_open_work", where="the user noted it", given=noted, id=todo),
    asked("resolve_open_work", where="it is done", given=done, id=todo),
    asked("resolve_open_work", ("record", {"kind": "open_work", "text": ASK_DANA}), id=todo),
    asked("suggest_pin", ref="turn 1", why=WHY),
    asked("suggest_pin", ref="auth-bug", why=WHY),
    asked("suggest_pin", ref="garden", why=WHY),
    asked("suggest_pin", ref="turn 900", why=WHY),
    asked("suggest_pin", where="it is pinned", given=pinned, ref="turn 1", why=WHY),
    asked("suggest_pin", where="the user dismissed it", given=suggestion, ref="tax", why=WHY),
    asked("search_code", query="cart"),
    asked("send_email", to="dana"),
)  # fmt: skip
ODD = (
    asked("open_effort", title="Bug"),
    asked("open_effort", name=7),
    asked("expand_effort", id="auth-bug", what="all"),
    asked("open_effort", name="a\x00b"),
    *(
        Asked(name="open_effort", arguments=text)
        for text in ("{", "[1]", '{"name": 1, "name": 2}', '{"name": "\\ud800"}')
    ),
)
# Answered before a tool is asked.
UNRUN = (
    ("more calls in one reply than are run", TOO_MANY),
    ("more calls in one reply than are answered", NOT_LISTED.format(count=3)),
    ("arguments that are too long", TOO_LONG.format(length=9_000, most=8_000)),
    ("arguments without room in the prompt", NO_ROOM),
    ("the last call of a reply that was cut off", CUT_SHORT),
    ("a result without room in the prompt", TOO_LARGE.format(tokens=1_900, room=700)),
)
CART = """class Cart:
    \"\"\"What a customer wants to buy.\"\"\"

    def total(self):
        return self.net() + 1

    def net(self):
        return 1
"""
TILL = "class Till:\n    def net(self):\n        return 2\n"
EDIT = "@@ -5,1 +5,1 @@\n-        return self.net() + 1\n+        return self.net() + 2\n"
HASH = hash_of(CART.encode())
PATH = "shop/cart.py"
CODE: tuple[Asked, ...] = (
    asked("search_code", query="cart"),
    asked("search_code", query="submarine"),
    asked("search_code", query="?"),
    asked("look_up", name="Cart"),
    asked("look_up", name="Submarine"),
    asked("who_calls", name="Cart.net"),
    asked("who_calls", name="net"),
    asked("who_calls", name="Submarine"),
    asked("read_span", path=PATH, from_line=4, to_line=5),
    asked("read_span", path=PATH, from_line=90),
    asked("read_span", path="shop/none.py"),
    asked("list_folder"),
    asked("list_folder", path="none"),
    asked("propose_edit", path=PATH, sha256=HASH, diff=EDIT, why="Larger."),
    asked("propose_edit", path=PATH, sha256="0", diff=EDIT),
    asked("propose_edit", path="shop/none.py", sha256=HASH, diff=EDIT),
    asked("propose_edit", path=PATH, sha256=HASH, diff="No diff."),
    asked("propose_edit", path=PATH, sha256=HASH, diff=EDIT.replace("net() + 1", "gross()")),
    asked("suggest_pin", ref="Cart.total", why=WHY),
    asked("suggest_pin", ref="net", why=WHY),
    asked("suggest_pin", ref=f"{PATH}:2-99", why=WHY),
    asked("suggest_pin", ref="Submarine", why=WHY),
    asked("suggest_pin", where="the user dismissed it", given=code_suggestion, ref="Till", why=WHY),
    asked("search_code", where="it is not indexed yet", given=unindexed, query="cart"),
)
CHANGED = asked("propose_edit", where="the file was changed since", path=PATH, sha256=HASH, diff=EDIT)  # fmt: skip


def situation(talk: Talk) -> None:
    Session.objects.update(budget=4_000)
    talk.ask("Good morning.")
    talk.ask("Is it raining?")
    talk.concluded("Auth bug", "The login answers 401.", "The token is not refreshed.")
    talk.concluded("Tax", "Which form is it?")
    talk.concluded("Archive", *(f"Shelf {number}: " + "Letters of the year. " * 120 for number in range(1, 5)))
    actions.open_effort(talk.place, "Offsite")
    talk.ask("Where could we meet?")
    actions.close_effort(talk.place)
    actions.open_effort(talk.place, "Garden")
    for _ in range(5):
        talk.ask("What grows in the shade? " + "Ferns do, they say. " * 72)
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Where to?")


def attach(talk: Talk, root: Path) -> None:
    write(root, shop__cart_py=CART, shop__till_py=TILL)
    indexed(attach_folder(talk.session, str(root), actor=talk.session.owner))


def row_of(call: str, answer: Any) -> str:
    call = call if len(call) <= LONGEST_CALL else f"{call[:LONGEST_CALL]} …"
    text = re.sub(r'("(?:message|cut|edit)":|\bid=|work-|decision-|Message )(?!0)\d+', r"\1N", f"| `{call}` | `{{}}` |")
    said = re.sub(r'("(?:message|cut|edit)":|work-|decision-|Message )(?!0)\d+', r"\1N", canonical_json(answer))
    said = re.sub(r"\d{4}-\d\d-\d\d", "2026-03-05", said)
    # Ids in the prompt are of any length.
    said = re.sub(r"\b\d+ free\b", "N free", said)
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]} …"
    return text.replace("{}", said).replace("\n", " ")


def page_of(talk: Talk, root: Path) -> Iterator[str]:
    situation(talk)
    yield HEAD
    yield "## In every conversation\n"
    yield TABLE + "\n".join(one.told(talk) for one in CALLS) + "\n"
    yield "## Arguments that are none\n"
    yield TABLE + "\n".join(one.told(talk) for one in ODD) + "\n"
    yield "## Before a tool is asked\n"
    yield TABLE + "\n".join(row_of(what, json.loads(error_result(text))) for what, text in UNRUN) + "\n"
    attach(talk, root)
    yield "## With code attached\n"
    rows = [one.told(talk) for one in CODE]
    write(root, shop__cart_py=CART + "\n")
    yield TABLE + "\n".join([*rows, CHANGED.told(talk)]) + "\n"


# Where tools refuse.
REFUSING = (
    *("efforts.tools", "efforts.tools.efforts", "efforts.tools.ledger", "efforts.tools.messages"),
    *(f"efforts.actions.{name}" for name in ("chosen", "constraints", "efforts", "holds", "ledger", "names", "places")),
    *(f"workspaces.tools.{name}" for name in ("attached", "editing", "finding", "reading")),
    *(f"workspaces.actions.{name}" for name in ("editing", "pins")),
)
# What a model cannot come to, as only people do what is refused.
FOR_PEOPLE = (
    "are pinned already. Unpin one first.",
    "has not ended. It can be moved when it has.",
    "has that name already. Choose another.",
    "is being drafted.",
    "is not waiting for anything to replace its log.",
    "is waiting for a yes.",
    "lacks no summary that could be drafted.",
    "20 symbols and lines are pinned already. Unpin one first.",
    "A decision cannot replace itself. Choose another one.",
    "Excerpts would be no shorter than the log, so the log stays.",
    "Give a number of turns from 1 to",
    "More has happened to it since. Use the page of the ledger.",
    "No effort is active, so none can end the pin. Choose another length.",
    "No part is ticked. Tick what you want, or reject the edit.",
    "Only the user pins. suggest_pin suggests it.",
    "Only the user says what stands. record proposes it.",
    "The summary of chosen turns covers all of",
    "There is no such entry here.",
    "There is no such message here.",
    "There is no such pin here.",
    "There is no such rule here.",
    "There is no turn",
    "These words do not stand in that message. Select them there again.",
    "This edit has no part",
)
# What a model comes to where a file changes while it is read, two act at once, or very much is open.
RARE = (
    "has just been changed by somebody else. Look again.",
    "is no UTF-8 text, and cannot be edited here.",
    "20 edits wait for the user. Ask for a decision on them first.",
    "No code is attached to this conversation, or it is not indexed yet.",
    "What this conversation starts from has no turns here. Its whole summary can be expanded: what=body.",
)
PLACE = re.compile(r"\{[^}]*\}")


def refusals(name: str) -> Iterator[str]:
    """Of each sentence that is raised in a module the longest part that is always the same."""
    module = importlib.import_module(name)
    for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text())):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name)):
            continue
        if node.exc.func.id in ("Refused", "ToolError") and (pieces := pieces_of(node.exc.args[-1], module)):
            yield max(pieces, key=len).strip()


def pieces_of(node: ast.expr, module: Any) -> list[str]:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return pieces_of(node.func.value, module)
    if isinstance(node, ast.Name) and isinstance(text := getattr(module, node.id, None), str):
        return PLACE.split(text)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]


@pytest.fixture
def page(talk: Talk, tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(worker, "start", lambda pk: None)
    settings.CCM_WORKSPACE_ROOTS = [tmp_path]
    settings.CCM_WORKSPACE_COMMANDS = {}
    (tmp_path / "shop").mkdir()
    return "\n".join(page_of(talk, tmp_path / "shop"))


@pytest.mark.slow
def test_the_page_of_what_tools_answer_is_current_and_has_every_tool_and_refusal(page: str) -> None:
    if os.environ.get("WRITE_DOCS"):
        DOCUMENT.write_text(page)
    assert page == DOCUMENT.read_text()
    told = {one.name for one in (*CALLS, *CODE)}
    assert told >= {*FUNCTIONS, *coding.registered().functions()} - {"run_command"}
    said = {one for name in REFUSING for one in refusals(name)}
    assert {one for one in said if json.dumps(one)[1:-1] not in page} == {*FOR_PEOPLE, *RARE}
    assert Message.objects.filter(role="tool").count() == 0
