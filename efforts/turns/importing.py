"""Conversations of files as rows that runs would have left: each whole, in one transaction, or not at all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile, ZipInfo

from django.conf import settings
from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone

from efforts import actions
from efforts.actions import Place
from efforts.actions.constraints import checked_rule
from efforts.actions.files.zips import UNREADABLE, opened
from efforts.actions.ledger import checked_entry
from efforts.actions.names import slug_of, title_from
from efforts.context.planning import main_branch
from efforts.domain.effort.states import (
    LIVE_ENTRIES,
    ConstraintBy,
    ConstraintState,
    EffortStatus,
    EntryBy,
    EntryKind,
    EntryState,
    RunState,
)
from efforts.domain.errors import Refused
from efforts.domain.exported import Conversation, Entry, NamedEffort, Part, SaidTurn, Timeline, read_conversation
from efforts.domain.other_chats import FILE_OF_MANY, listed, read_other, source_of, title_of
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, OF_PERSON, LogMessage, ToolCall
from efforts.domain.prompt.rendering import wire_calls
from efforts.domain.seals import said_sha256
from efforts.domain.text.canonical import canonical_json, sha256
from efforts.domain.text.locating import find_words
from efforts.llm.tokens import get_counter
from efforts.log import events, labels
from efforts.log.timelines import branch_turns, log_message
from efforts.memory import entries, ledger
from efforts.memory.origins import Origin, Where
from efforts.models import (
    Branch,
    Constraint,
    Effort,
    EffortState,
    Event,
    LedgerEntry,
    Message,
    Run,
    Session,
    ToolTrace,
    Turn,
    TurnLabel,
)
from efforts.retrieval.index import add_messages
from efforts.turns.recording import Lease

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.core.files.uploadedfile import UploadedFile

IMPORTED = "session.imported"
# Of several conversations, in the log of the account.
IMPORT_ENDED = "import.ended"
UNKNOWN_MODEL = "Imported"
WITHIN = "This is an archive within an archive. Unpack the outer one, and import this one on its own."
# Read, counted and indexed within the request that brings it.
LARGEST_IMPORT = 8 * 1024 * 1024
MOST_TURNS = 10_000
# Of one conversation: its rows are written in one transaction, for which all others wait.
MOST_MESSAGES = 50_000
# Of all files that come at once, unpacked.
MOST_AT_ONCE = 64 * 1024 * 1024
MOST_FILES = 1_000
GO_ON = "The file has more. Import it again, and it goes on from here."
ARCHIVE = b"PK"
SAME_NAME = (
    "Two efforts in the file are called “{name}”, or nearly so. Rename one where it comes from, and export again."
)
# Rows of an update.
BATCH = 500
SAID_WHOLE = (RunState.COMPLETED, RunState.STOPPED)


def check_import_size(size: int, most: int) -> None:
    """Raises `Refused` where a file has more than `most` bytes."""
    if size > most:
        raise Refused("file_too_large", f"The file has {size / 1024**2:.1f} MB; {most // 1024**2} MB is the most.")


@dataclass(frozen=True, kw_only=True)
class Imported:
    """What came of a file, or of one of the conversations in it: the conversation, and whether that was made just now;
    or why there is none."""

    name: str
    session: Session | None = None
    is_new: bool = False
    error: str = ""


def import_files(owner: User, uploads: Iterable[UploadedFile[bytes]]) -> list[Imported]:
    """What came of each, in their order; an archive is each file in it, a list of conversations each of these."""
    outcomes: list[Imported] = []
    left = MOST_AT_ONCE
    for name, size, read in each_file(uploads):
        try:
            # Before any of it is read into memory.
            check_import_size(size, MOST_AT_ONCE if FILE_OF_MANY.fullmatch(name) else LARGEST_IMPORT)
            if size > left or len(outcomes) >= MOST_FILES:
                raise Refused("too_many_files", "That is too much at once. Import this file on its own.")
            left -= size
            outcomes += import_all(owner, name, read())
        except Refused as refused:
            outcomes.append(Imported(name=name, error=refused.text))
    if len(outcomes) > 1:
        remember(owner, outcomes)
    return outcomes


def remember(owner: User, outcomes: Sequence[Imported]) -> None:
    """For whoever has left the page meanwhile."""
    here = [one.is_new for one in outcomes if one.session]
    count, come = len(outcomes), sum(here)
    told = {"all": count, "come": come, "known": len(here) - come, "faults": count - len(here)}
    events.account(owner, IMPORT_ENDED, told)


def import_all(owner: User, name: str, data: bytes) -> Iterator[Imported]:
    """Of a file that is one conversation, or has many. Raises `Refused` where it is neither."""
    text = decoded(data)
    now = timezone.now()
    if (others := listed(text, now)) is None:
        session, is_new = import_conversation(owner, data)
        yield Imported(name=name, session=session, is_new=is_new)
        return
    made = 0
    for values in others:
        # What has come before is passed by.
        if made == MOST_FILES:
            yield Imported(name=name, error=GO_ON)
            return
        try:
            told = read_other(values, now)
            session, is_new = keep(owner, digest_of(told), told, source_of(values))
        except Refused as refused:
            yield Imported(name=title_of(values) or name, error=refused.text)
            continue
        made += is_new
        yield Imported(name=session.title, session=session, is_new=is_new)


def digest_of(told: Conversation) -> str:
    """Of what was said: what else is known of a conversation may be another in the next archive."""
    turns = [[turn.user, *map(vars, turn.reply)] for branch in told.branches for turn in branch.turns]
    return sha256(canonical_json([told.id, turns]))


def each_file(uploads: Iterable[UploadedFile[bytes]]) -> Iterator[tuple[str, int, Callable[[], bytes]]]:
    """Its name, its size in bytes, and how to read it."""
    for upload in uploads:
        is_archive = upload.read(len(ARCHIVE)) == ARCHIVE
        upload.seek(0)
        name = upload.name or ""
        if not is_archive:
            yield name, upload.size or 0, upload.read
            continue
        try:
            archive = opened(upload)
        except UNREADABLE:
            yield name, 0, damaged
            continue
        with archive:
            members = [one for one in archive.infolist() if one.filename and not one.is_dir()]
            # Where others hand out all that they have, it is these that are conversations.
            members = [one for one in members if FILE_OF_MANY.fullmatch(one.filename)] or members
            if not members:
                yield name, 0, bytes
            for member in members[: MOST_FILES + 1]:
                yield member.filename, member.file_size, partial(unpacked, archive, member)


def unpacked(archive: ZipFile, member: ZipInfo) -> bytes:
    """No more than its size says. Raises `Refused` where it is damaged, encrypted, or packed in an unknown way."""
    try:
        with archive.open(member) as file:
            return file.read(member.file_size)
    except UNREADABLE:
        return damaged()


def damaged() -> bytes:
    raise Refused("damaged", "This archive cannot be unpacked.")


def import_conversation(owner: User, data: bytes) -> tuple[Session, bool]:
    """The conversation of an exported file, and whether it was made just now: what the owner has of the same file is
    not made again. Raises `Refused` where the file is wrong; then nothing was imported."""
    text = decoded(data)
    check_import_size(len(data), LARGEST_IMPORT)
    return keep(owner, sha256(text), read_conversation(text), "export")


def keep(owner: User, digest: str, told: Conversation, source: str) -> tuple[Session, bool]:
    """`digest`: of what was read, by which it is known again. Raises `Refused` where that is too much."""
    said = [turn for branch in told.branches for turn in branch.turns]
    if (count := len(said)) > MOST_TURNS:
        raise Refused("too_many_turns", f"The file has {count:,} turns; {MOST_TURNS:,} is the most.")
    if (count := sum(1 + len(turn.reply) for turn in said)) > MOST_MESSAGES:
        raise Refused("too_many_messages", f"It has {count:,} messages; {MOST_MESSAGES:,} is the most.")
    check_import_size(sum(map(size_of, said)), LARGEST_IMPORT)
    with transaction.atomic():
        # Two imports at once would make two.
        get_user_model().objects.select_for_update().get(pk=owner.pk)
        # By what is theirs: the logs of all are too much to be read for each conversation.
        if found := Session.objects.owned_by(owner).filter(events__kind=IMPORTED, events__data__sha256=digest).first():
            return found, False
        session = actions.create_session(owner, title=told.title or title_from(said[0].user))
        turns = Importer(session, told).make()
        data_of = {"conversation": told.id, "source": source, "turns": turns, "sha256": digest}
        events.append(session.pk, IMPORTED, data_of, actor=owner)
        if told.archived:
            actions.archive_session(session, actor=owner)
        # In the list it stands where it was left.
        at = {"created_at": told.created_at, "last_activity_at": max(turn.at for turn in said)}
        Session.objects.filter(pk=session.pk).update(**{name: min(one, timezone.now()) for name, one in at.items()})
    session.refresh_from_db()
    return session, True


def size_of(turn: SaidTurn) -> int:
    """Characters that are stored of it."""
    return len(turn.user) + sum(len(part.text) + len(part.arguments) + len(part.result) for part in turn.reply)


def decoded(data: bytes) -> str:
    """Raises `Refused` where it is no text."""
    if data.startswith(ARCHIVE):
        raise Refused("archive_within", WITHIN)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Refused("not_text", f"Byte {error.start + 1:,} of the file is not UTF-8, so it is no export.") from error


class Importer:
    """What of the file has become which row."""

    def __init__(self, session: Session, told: Conversation) -> None:
        self.session = session
        self.told = told
        self.branches: dict[str, Branch] = {}
        # Of each branch, by the numbers of the file: turns that were never answered are not in it.
        self.numbers: dict[str, dict[int, int]] = {}
        # The ids that efforts have here; others where theirs were none.
        self.slugs: dict[str, str] = {}

    def make(self) -> int:
        """How many turns there are now."""
        for timeline in self.told.branches:
            if timeline.parent:
                self.fork(timeline)
            else:
                self.branches[timeline.id] = main_branch(self.session)
                self.numbers[timeline.id] = {}
            self.play(timeline)
        for timeline in self.told.branches:
            if timeline.archived:
                actions.archive_branch(self.branches[timeline.id], actor=self.session.owner)
        self.keep_entries()
        return sum(len(timeline.turns) for timeline in self.told.branches)

    def fork(self, timeline: Timeline) -> None:
        known = self.numbers[timeline.parent]
        shared = {told: number for told, number in known.items() if told <= timeline.after}
        parent = self.fresh(timeline.parent)
        after = max(shared.values(), default=0)
        self.branches[timeline.id] = actions.fork(parent, after=after, actor=self.session.owner, name=timeline.name)
        self.numbers[timeline.id] = shared

    def fresh(self, id: str) -> Branch:
        return Branch.objects.select_related("session", "active_effort").get(pk=self.branches[id].pk)

    def place(self, timeline: Timeline) -> Place:
        return actions.here(self.session, actor=self.session.owner, branch=self.fresh(timeline.id))

    def play(self, timeline: Timeline) -> None:
        """All turns at once; then the log tells of them in their order: efforts are opened before their first turn and
        concluded after their last."""
        rows = self.rows_of(timeline)
        store(rows)
        said = said_hashes(rows)
        last = {turn.effort: turn.number for turn in timeline.turns}
        at = 0
        for slug, group in groupby(timeline.turns, lambda turn: turn.effort):
            told = list(group)
            effort = self.go_to(timeline, slug) if slug else None
            self.tell(timeline, rows.turns[at : at + len(told)], effort, said)
            at += len(told)
            if slug and told[-1].number == last[slug]:
                self.conclude(timeline, slug)
        for slug in [one for one in timeline.efforts if one not in last]:
            if not self.state(timeline, slug):
                self.go_to(timeline, slug)
            self.conclude(timeline, slug)
        if active := next((one.id for one in timeline.efforts.values() if one.active and not one.concluded), None):
            self.go_to(timeline, active)

    def rows_of(self, timeline: Timeline) -> Rows:
        branch = self.fresh(timeline.id)
        before = branch_turns(branch).order_by("-number").first()
        rows = Rows(tokens=before.tokens_before + before.tokens if before else 0)
        for number, turn in enumerate(timeline.turns, branch.head + 1):
            self.numbers[timeline.id][turn.number] = number
            add_turn(rows, branch, number, turn)
        return rows

    def tell(self, timeline: Timeline, turns: Sequence[Turn], effort: Effort | None, said: Mapping[int, str]) -> None:
        branch = self.fresh(timeline.id)
        events.append_all([event for turn in turns for event in told_of(turn, effort, said[turn.pk])])
        completed = sum(turn.run is not None and turn.run.state == RunState.COMPLETED for turn in turns)
        Branch.objects.filter(pk=branch.pk).update(head=turns[-1].number, clock=branch.clock + completed)
        if effort:
            TurnLabel.objects.bulk_create(TurnLabel(branch=branch, turn=turn, effort=effort) for turn in turns)
            labels.recount(branch, effort)
            labels.touch(branch, effort, turns[-1].number)

    def state(self, timeline: Timeline, slug: str) -> EffortState | None:
        here = EffortState.objects.filter(branch=self.branches[timeline.id])
        states = here.filter(effort__slug=self.slugs.get(slug, slug))
        return states.select_related("effort").first()

    def go_to(self, timeline: Timeline, slug: str) -> Effort:
        """The effort of that id, open and active."""
        place = self.place(timeline)
        state = self.state(timeline, slug)
        if state is None:
            effort = self.open(place, timeline.efforts.get(slug) or NamedEffort(id=slug, name=slug))
            self.slugs[slug] = effort.slug
            return effort
        if state.status == EffortStatus.CONCLUDED:
            actions.reopen_effort(place, state.effort.slug)
        elif place.branch.active_effort_id != state.effort_id:
            actions.switch_effort(place, state.effort.slug)
        return state.effort

    def open(self, place: Place, named: NamedEffort) -> Effort:
        """With the id that it had: what was said may name it."""
        try:
            if slug_of(named.name) == named.id:
                return actions.open_effort(place, named.name).effort
            effort = actions.open_effort(place, named.id).effort
            return actions.rename_effort(place, effort.slug, named.name).effort if named.name != named.id else effort
        except Refused as error:
            if error.code not in ("taken", "concluded"):
                raise
            raise Refused("same_name", SAME_NAME.format(name=named.name)) from error

    def conclude(self, timeline: Timeline, slug: str) -> None:
        named, state = timeline.efforts.get(slug), self.state(timeline, slug)
        if named and named.concluded and state and state.status == EffortStatus.OPEN:
            actions.close_effort(self.place(timeline), state.effort.slug)

    # Rules, decisions and to-dos

    def keep_entries(self) -> None:
        ledger.lock(self.session)
        here = [entry for entry in self.told.entries if self.branch_of(entry)]
        # What has ended first: of one text only one is kept at a time.
        for entry in sorted(here, key=lambda one: one.state != ConstraintState.REVOKED):
            if entry.kind is None:
                self.keep_rule(entry)
        noted = {entry.id: row for entry in here if entry.kind and (row := self.propose(entry, entry.kind))}
        for entry in sorted(here, key=lambda one: one.state in LIVE_ENTRIES):
            if entry.id in noted:
                self.settle(entry, noted[entry.id], noted.get(entry.superseded_by))

    def propose(self, entry: Entry, kind: EntryKind) -> LedgerEntry | None:
        if (origin := self.origin(entry)) is None:
            return None
        text, by = checked_entry(entry.text), EntryBy(entry.by)
        return entries.propose(self.session, kind, text, by=by, origin=origin, where=self.where(entry))

    def settle(self, entry: Entry, row: LedgerEntry, by: LedgerEntry | None) -> None:
        """What was proposed comes to be what the file says."""
        where = self.where(entry)
        row.refresh_from_db()
        if entry.state == EntryState.DISMISSED:
            entries.dismiss(row, where)
        elif entry.state != EntryState.PROPOSED and row.state == EntryState.PROPOSED:
            entries.confirm(row, where)
        if entry.state == EntryState.DONE:
            entries.finish(row, where)
        elif entry.state == EntryState.SUPERSEDED and by and by.pk != row.pk:
            by.refresh_from_db()
            entries.supersede(row, by, where)

    def keep_rule(self, entry: Entry) -> None:
        book, text, where = ledger.book_of(self.session), checked_rule(entry.text), self.where(entry)
        if entry.state == ConstraintState.SUGGESTED:
            ledger.suggest(book, text, where)
            return
        # What holds for all of the owner's conversations holds here too.
        standing = Constraint.objects.filter(owner=book.owner_id, session=None, state=ConstraintState.IN_FORCE)
        if standing.filter(text__iexact=text).exists():
            return
        origin = self.origin(entry)
        source = origin if origin and origin.span else None
        row = ledger.put_in_force(book, text, by=ConstraintBy(entry.by), source=source, where=where)
        if entry.state == ConstraintState.REVOKED:
            ledger.revoke(row, where)

    def branch_of(self, entry: Entry) -> Timeline | None:
        """Whose turn it names, as far as the file has that; a rule from nowhere belongs to all."""
        if entry.turn is None:
            return self.told.branches[0]
        for timeline in self.told.branches:
            if entry.branch in timeline.owners and entry.turn in self.numbers[timeline.id]:
                last = timeline.owners[entry.branch]
                if last is None or entry.turn <= last:
                    return timeline
        return None

    def where(self, entry: Entry) -> Where:
        timeline = self.branch_of(entry) or self.told.branches[0]
        turn = self.numbers[timeline.id].get(entry.turn or 0, 0)
        branch = str(self.branches[timeline.id].pk)
        return Where(turn=turn, branch=branch, via="import", actor=self.session.owner)

    def origin(self, entry: Entry) -> Origin | None:
        """The message of its turn that has its words, the person's first; else the person's."""
        where = self.where(entry)
        branch = Branch.objects.get(pk=where.branch)
        said = Message.objects.filter(turn__in=branch_turns(branch).filter(number=where.turn)).exclude(role="tool")
        found = [(one, find_words(entry.text, one.text)) for one in said.order_by("pk")]
        first = next(((one, span) for one, span in found if span), found[0] if found else None)
        return Origin(message=first[0], span=first[1]) if first else None


@dataclass(kw_only=True)
class Rows:
    """Turns of a branch that are written at once; `tokens`: of all turns up to the last; `calls`: what each result
    answers, in the order of the results; `times`: of each turn, by its number."""

    tokens: int = 0
    turns: list[Turn] = field(default_factory=list)
    messages: list[Message] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    times: dict[int, datetime] = field(default_factory=dict)


def add_turn(rows: Rows, branch: Branch, number: int, told: SaidTurn) -> None:
    at = min(told.at, timezone.now())
    run = Run(
        branch=branch,
        state=told.state,
        settings={"label": told.model or UNKNOWN_MODEL, **({"note": True} if told.state == RunState.NOTED else {})},
        error_text=told.error,
        started_at=at,
        ended_at=at,
    )
    turn = Turn(
        session=branch.session,
        branch=branch,
        number=number,
        client_id=f"imported-{branch.pk.hex[:8]}-{number}",
        run=run,
        tokens_before=rows.tokens,
    )
    run.turn = turn
    messages = [message_of(turn, "user", told.user, run=None), *replies(rows, turn, told.reply)]
    counted = [one for one in messages if told.state in SAID_WHOLE or one.role in OF_PERSON]
    turn.tokens = sum(one.tokens + MESSAGE_OVERHEAD for one in counted)
    rows.tokens += turn.tokens
    rows.turns.append(turn)
    rows.messages += messages
    rows.times[number] = at


def replies(rows: Rows, turn: Turn, parts: Sequence[Part]) -> Iterator[Message]:
    """Prose and the calls after it are one message, as models send them; then come the results."""
    for place, (text, called) in enumerate(spoken(parts), 1):
        calls = [
            ToolCall(id=call_id(turn, place, number), name=part.tool, arguments=part.arguments)
            for number, part in enumerate(called, 1)
        ]
        yield message_of(turn, "assistant", text, calls)
        for call, part in zip(calls, called, strict=True):
            rows.calls.append(call)
            yield message_of(turn, "tool", part.result, tool_call_id=call.id, tool_name=call.name)


def spoken(parts: Iterable[Part]) -> Iterator[tuple[str, list[Part]]]:
    text, called = "", list[Part]()
    for part in parts:
        if part.tool:
            called.append(part)
            continue
        if text or called:
            yield text, called
        text, called = part.text, []
    if text or called:
        yield text, called


def call_id(turn: Turn, place: int, number: int) -> str:
    """Ids come back in other conversations and turns; ours are unique in the session."""
    assert turn.run_id
    return f"c{turn.run_id.hex[:16]}-{place}-{number}"


def message_of(turn: Turn, role: str, text: str, calls: Sequence[ToolCall] = (), **more: Any) -> Message:
    count = get_counter(settings.CCM_ENCODING).count
    return Message(
        session=turn.session,
        turn=turn,
        **{"run": turn.run, **more},
        role=role,
        text=text,
        tool_calls=[vars(call) for call in calls],
        tokens=count(text) + (count(canonical_json(wire_calls(calls))) if calls else 0),
    )


def store(rows: Rows) -> None:
    """Rows with their index and the traces of their tools."""
    runs = [turn.run for turn in rows.turns if turn.run]
    # A turn names its run and a run its turn; the database looks when the transaction ends.
    Turn.objects.bulk_create(rows.turns)
    Run.objects.bulk_create(runs)
    add_messages(rows.messages)
    results = [row for row in rows.messages if row.role == Message.Role.TOOL]
    ToolTrace.objects.bulk_create(map(trace, results, rows.calls))
    # Creating a row sets its time to now, whatever was given.
    for turn in rows.turns:
        turn.created_at = rows.times[turn.number]
    for run in runs:
        run.created_at = rows.times[run.turn.number]
    for row in rows.messages:
        row.created_at = rows.times[row.turn.number]
    Turn.objects.bulk_update(rows.turns, ["created_at"], batch_size=BATCH)
    Run.objects.bulk_update(runs, ["created_at"], batch_size=BATCH)
    Message.objects.bulk_update(rows.messages, ["created_at"], batch_size=BATCH)


def trace(result: Message, call: ToolCall) -> ToolTrace:
    """What their tools say of a failure is not ours to read."""
    return ToolTrace(
        session_id=result.session_id,
        run=result.run,
        message=result,
        tool_call_id=call.id,
        name=call.name,
        arguments_sha256=sha256(call.arguments),
        result_sha256=sha256(result.text),
    )


def said_hashes(rows: Rows) -> dict[int, str]:
    """Of what was said in each turn, by its row's id."""
    of_turn: dict[int, list[LogMessage]] = defaultdict(list)
    for row in rows.messages:
        of_turn[row.turn_id].append(log_message(row))
    return {turn: said_sha256(messages) for turn, messages in of_turn.items()}


def told_of(turn: Turn, effort: Effort | None, said: str) -> Iterator[Event]:
    """The events of a turn, by which the log alone tells where it belongs."""
    assert turn.run
    lease = Lease.of(turn.run, "")
    yield Event(session_id=turn.session_id, kind="run.started", data=lease.data())
    label = {"effort": effort.slug, "by": TurnLabel.By.BEGAN} if effort else {"effort": None, "by": ""}
    ended = lease.data(state=str(turn.run.state), code="", **label, said=said)
    yield Event(session_id=turn.session_id, kind="run.ended", data=ended)
