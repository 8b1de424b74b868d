"""Ranges of real talk as efforts of people, each concluded by its control in a served installation."""

from __future__ import annotations

import asyncio
import http.client
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.test import Client

from benchmarks import servers
from benchmarks.gates.pending import Pending, record_at
from benchmarks.gates.ranges import Kept, Range, annotation, kept_of, read_kept, read_ranges, write_kept
from benchmarks.gates.record import MODEL, Messages, Record, RecordServer, listening, read_record
from benchmarks.gates.running import once
from benchmarks.importing import Imported, add_open_effort
from compaction.domain.artifact import Draft, Section
from compaction.domain.limits import INVENTORY_REPLY
from compaction.drafting.prompts import text_of
from compaction.drafting.requesting import Request, inventory
from compaction.drafting.summaries import Task, request_of, window_task, windows_of
from compaction.models import Check, DraftRun, ModelRequest
from compaction.standing.conclusions import Compaction
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.context.sources import read_summary_log
from efforts.domain.effort.states import EntryKind
from efforts.models import ContextPlan, Effort, EffortState, Endpoint, Message, Session
from efforts.standins.logs import SourceLog
from tests.server.websocket import Websocket

SET = Path(__file__).parent / "evaluation"
# What others ask for too, the exam, stands in the first.
COMMON, OWN = SET / "record" / "answers.jsonl", SET / "record" / "conclusions.jsonl"
RANGES, LEDGERS = SET / "conclusions" / "ranges.jsonl", SET / "conclusions" / "ledgers.jsonl"
# More than the longest range has: what is saved is measured against all of it.
BUDGET = 32_000
SECONDS = 120.0
TOKEN = "c" * 32
NEXT, REPLY = "What do we turn to now?", "To whatever you like."
# How drafting ends: a summary stands, a digest does, a draft waits, or there is none.
ENDS = {
    "effort.summarised",
    "effort.digested",
    "effort.summary_waiting",
    "effort.summary_failed",
    "effort.kept_whole",
}
KINDS = {Section.DECISION: EntryKind.DECISION, Section.OPEN_WORK: EntryKind.OPEN_WORK}


@dataclass(kw_only=True)
class Talking(RecordServer):
    """It answers talk too, each time the same; `talked` are the prompts."""

    talked: list[Messages] = field(default_factory=list)

    def answer_to(self, messages: Messages) -> str | None:
        if messages[0]["content"] == text_of("system"):
            return super().answer_to(messages)
        self.talked.append(messages)
        return REPLY


@dataclass(kw_only=True)
class Concluded:
    """A range as one effort. `before` and `after`: tokens of the next prompt; `sent`: that prompt as it arrived.

    `raw`: tokens of the open effort's log in the prompt before.
    """

    range: Range
    owner: User
    session: Session
    effort: Effort
    raw: int = 0
    before: int = 0
    after: int = 0
    ended: str = ""
    sent: Messages = ()

    @property
    def log(self) -> SourceLog:
        return read_summary_log(main_branch(self.session), self.effort)

    @property
    def task(self) -> Task:
        state = EffortState.objects.get(branch=main_branch(self.session), effort=self.effort)
        return Compaction().work_on(state, self.log).task

    @property
    def runs(self) -> list[DraftRun]:
        return list(DraftRun.objects.filter(session=self.session).order_by("pk"))


@dataclass(kw_only=True)
class Stage:
    server: Talking
    concluded: list[Concluded]
    unlisted: list[Concluded]

    def pending(self) -> list[Pending]:
        """What has no answer yet: first the lists of what people keep, which requests for drafts hold."""
        lists = [waiting(one, "annotation", annotation(one.log.source)) for one in self.unlisted]
        asked = [one for concluded in self.concluded for one in (*ahead(concluded), *asked_for(concluded, self.server))]
        inventories = [waiting(one, *step) for one in self.unlisted for step in inventories_of(one.task)]
        known = self.server.record.answers
        return once(one for one in (*lists, *inventories, *asked) if one.request.key not in known)


def play(*, answers: Path | None = None, by: str = "") -> Stage:
    """All ranges in an empty installation; those that wait for a list are left as they are."""
    call_command("migrate", verbosity=0)
    server = Talking(record=whole_record())
    with listening(server):
        stage = set_stage(server)
        if answers:
            stage = take(stage, answers, by)
        with servers.process("manage.py", "serve", "--port", "0") as running:
            port = servers.port_in(running, r"http://127\.0\.0\.1:(\d+)/sign-in/")
            for one in stage.concluded:
                one.before, one.raw = next_prompt(one)
                asyncio.run(in_a_tab(one, port, cookie_of(one.owner)))
                one.sent = server.talked[-1]
                one.after = ContextPlan.objects.filter(session=one.session).latest("created_at").tokens
    return stage


# The set


def whole_record() -> Record:
    return Record(answers={**read_record(COMMON).answers, **read_record(OWN).answers})


def prune(server: Talking) -> None:
    server.record.only(server.used - set(read_record(COMMON).answers)).write(OWN)


def set_stage(server: Talking) -> Stage:
    lists = read_kept(LEDGERS)
    listed = {one.range for one in lists}
    made = [imported(one, server.url) for one in read_ranges(RANGES, Path(os.environ["CCM_DATA"]))]
    unlisted = [one for one in made if one.range.ledger and one.range.id not in listed]
    ready = [one for one in made if not one.range.ledger or one.range.id in listed]
    for one in ready:
        keep(one, [entry for entry in lists if entry.range == one.range.id])
    return Stage(server=server, concluded=ready, unlisted=unlisted)


def take(stage: Stage, folder: Path, by: str) -> Stage:
    """Lists become entries, which are kept at once; all else is recorded."""
    record = record_at(OWN, answers=folder, by=by)
    new, lists = list(read_kept(LEDGERS)), set()
    for one in list(stage.unlisted):
        source = one.log.source
        key = annotation(source).key
        if key in record.answers:
            lists.add(key)
            entries = kept_of(one.range.id, source, record.answers[key].answer)
            keep(one, entries)
            new += entries
            stage.unlisted.remove(one)
            stage.concluded.append(one)
    write_kept(LEDGERS, sorted(new, key=lambda one: one.range))
    record.only(set(record.answers) - lists).write(OWN)
    stage.server.record = whole_record()
    return stage


def imported(one: Range, url: str) -> Concluded:
    """Each has an owner of its own: what is found of one checker holds for all conversations of a person."""
    owner = User.objects.create_user(f"range-{one.id}")
    Endpoint.objects.create(owner=owner, name="recorded", base_url=url, model=MODEL, draft_seconds=int(SECONDS))
    return imported_for(owner, one)


@transaction.atomic
def imported_for(owner: User, one: Range) -> Concluded:
    """With the owner's one endpoint."""
    endpoint = Endpoint.objects.get(owner=owner)
    session = actions.create_session(owner, title=one.name)
    session = actions.configure_session(
        session, actor=owner, endpoint=endpoint, model="", budget=BUDGET, ambient_window=10
    )
    made = Imported(session=session, branch=main_branch(session))
    effort = add_open_effort(made, one.exchanges, one.when, name=one.name)
    return Concluded(range=one, owner=owner, session=session, effort=effort)


def keep(one: Concluded, entries: Sequence[Kept]) -> None:
    """By the person, in the words that were said."""
    source = one.log.source
    parts = {part.number: part for part in source.parts}
    here = actions.here(one.session, actor=one.owner)
    for entry in entries:
        part = parts[entry.message]
        if entry.kind == Section.RULE:
            said = Message.objects.get(pk=part.message).role == Message.Role.USER
            actions.set_constraint(here, entry.words, turn=part.turn if said else None)
        else:
            actions.note_entry(here, part.message, KINDS[entry.kind], words=entry.words)


# Concluding


def next_prompt(one: Concluded) -> tuple[int, int]:
    """Its tokens, and those of the open effort's log in it."""
    planned = preview(main_branch(one.session), draft_text=NEXT)
    return planned.tokens, next(section.tokens for section in planned.sections if section.key == "active")


async def pressed(one: Concluded, port: int, cookie: str, *, patience: float) -> None:
    async with await Websocket.open(port, f"/ws/s/{one.session.pk}/", cookie) as tab:
        await until_ended(tab, one, port, cookie, patience=patience)


async def until_ended(tab: Websocket, one: Concluded, port: int, cookie: str, *, patience: float) -> None:
    tab.patience = patience
    await tab.say(kind="hello", last_seq=0)
    await asyncio.to_thread(press_conclude, one, port, cookie)
    while not one.ended:
        kind = (await tab.frame())["kind"]
        one.ended = kind if kind in ENDS else ""


async def in_a_tab(one: Concluded, port: int, cookie: str) -> None:
    """As the chat page does it: the control by HTTP, what comes of it and the next message by the socket."""
    async with await Websocket.open(port, f"/ws/s/{one.session.pk}/", cookie) as tab:
        await until_ended(tab, one, port, cookie, patience=SECONDS)
        await tab.say(kind="send", client_id="next", text=NEXT)
        await tab.until("run.ended")


def cookie_of(owner: User) -> str:
    client = Client()
    client.force_login(owner)
    client.cookies[settings.CSRF_COOKIE_NAME] = TOKEN
    return client.cookies.output(header="", sep=";").strip()


def press_conclude(one: Concluded, port: int, cookie: str) -> None:
    path = f"/s/{one.session.pk}/efforts/{one.effort.slug}/conclude/"
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=SECONDS)) as connection:
        headers = {"Cookie": cookie, "X-CSRFToken": TOKEN, "Content-Type": "application/json"}
        connection.request("POST", path, "{}", headers)
        answer = connection.getresponse()
        said = answer.read().decode()
    if answer.status != 200:
        raise RuntimeError(f"{one.range.id} was not concluded: {answer.status} {said[:500]}")


# What is not in the record


def waiting(one: Concluded, step: str, request: Request) -> Pending:
    return Pending(step=step, log=one.range.id, request=request)


def inventories_of(task: Task) -> Iterator[tuple[str, Request]]:
    for part in parts_of(task):
        yield "inventory", inventory(part.source, INVENTORY_REPLY)


def parts_of(task: Task) -> list[Task]:
    windows = windows_of(task)
    return [window_task(task, turns) for turns in windows] if len(windows) > 1 else [task]


def ahead(one: Concluded) -> Iterator[Pending]:
    """Drafts and inventories, also of windows that are not reached yet: none needs the answer to another."""
    for part in parts_of(one.task):
        yield waiting(one, "draft", request_of(part))
        yield waiting(one, "inventory", inventory(part.source, INVENTORY_REPLY))


def asked_for(one: Concluded, server: Talking) -> Iterator[Pending]:
    """Of each run the first requests that have no answer: what was asked after them was asked in vain."""
    whole = True
    for run in one.runs:
        if run.drafter == "merge" and not whole:
            return
        for step in steps_of(run):
            missing = [row for row in step if row.key in server.pending]
            yield from (waiting(one, row.step, asked(row)) for row in missing)
            if missing:
                whole = False
                break


def steps_of(run: DraftRun) -> Iterator[list[ModelRequest]]:
    """In the order of time: the draft, its checks, its repair, and the checks of that."""
    requests = list(run.requests.order_by("place"))
    repairs = [row for row in requests if row.step == "repair"]
    checks = list(run.checks.order_by("pk"))
    first = checks[:1] + list(takewhile(lambda check: check.attempt > 1, checks[1:]))
    yield [row for row in requests if row.step != "repair"]
    yield from map(requests_of, first)
    yield repairs
    yield from map(requests_of, checks[len(first) :])


def requests_of(check: Check) -> list[ModelRequest]:
    return list(check.requests.order_by("place"))


def asked(row: ModelRequest) -> Request:
    return Request(messages=tuple(row.messages), form=Draft, reply=row.limit)
