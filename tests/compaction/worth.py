"""A log that is worth a summary, a model that writes and reads as it is told, and the runner's work done at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib.auth.models import User

from compaction.drafting import requesting
from compaction.models import Artifact, Check, DraftRun
from efforts import actions
from efforts.actions.places import record
from efforts.context.planning import chosen_settings, main_branch, next_inputs
from efforts.domain.effort.states import EntryBy, EntryKind, EntryState, ReviewMode, ScopeKind, Via
from efforts.domain.prompt.planner import plan
from efforts.models import ContextPointer, EffortState, Endpoint, Event, LedgerEntry, Message, ScopeDraft, Session
from efforts.turns.drafts import Line, claim_from, draft_and_settle
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from tests.compaction.review import run
from tests.efforts.logs import concluded, conversation
from tests.fakes.provider import FakeProvider
from tests.fakes.summariser import Summariser

SLUG = "storage"
POSTGRES = "We decided on Postgres for the storage of orders."
BACKUPS = "We also decided on nightly backups to the second site in Graz."
MOVE = "Still to do: Dana moves the old orders over before the launch on 4 March."
RULE = "Card numbers must never be stored with the orders."
DONE = "The new tables are in place and all new orders are written to them."
RESTORE = "Klara tried a restore on Tuesday and needed 25 minutes for the orders of the last three years."
TAX = "The tax office wants them kept for ten years, and the accountant looks at every month once it has ended."
TIMES = "Reading the orders of one day took 2140 milliseconds, and with the index on the day it takes 38."
LOG: tuple[tuple[str, str], ...] = (
    (
        "Let's find out where the orders should live, because the spreadsheet of the office is no longer enough. "
        "Three people write to it at once, and last week the orders of one whole morning were overwritten by mistake. "
        "The warehouse noticed it only because a driver asked for parcels that nobody had packed that day.",
        "A database would keep every write apart from the others, so that nothing is overwritten in silence any more. "
        "How many orders come in on a usual day, and how long do they have to be kept for the tax office? "
        "It also matters who looks at them, since a report over a whole year is another load than a single order.",
    ),
    (
        "About 900 orders arrive on a usual day and close to 4000 in the week before the holidays. "
        f"{TAX} "
        f"{POSTGRES} The team knows it from the billing project, and the hosting company looks after it anyway.",
        "Then one table for each year keeps the indexes small, and old years can be put on slower disks later on. "
        "I would write the totals of a month into a table of their own, so the accountant waits for nothing. "
        "Partitions by year also make it easy to drop what is older than ten years in a single step.",
    ),
    (
        f"{BACKUPS} The line between the two buildings is fast enough at night, as the cameras are off by then. "
        f"{RESTORE}",
        "A restore in 25 minutes is well within the two hours that the insurance asks for in its contract. "
        "Somebody should try the restore again every quarter, because backups that nobody restores prove nothing. "
        "The second site also needs its own copy of the keys, or the backup could not be opened over there.",
    ),
    (
        f"{RULE} The payment company keeps them for us, and an order only has the number of its payment. "
        f"{TIMES} The slow query came from the report that the warehouse opens each morning at seven.",
        "An index on the day of the order is cheap here, since orders are written once and read many times. "
        "The report can also be limited to open orders, because the warehouse packs nothing that has left already. "
        "I will add both to the migration, and the old report stays as it is until the new one has run for a week.",
    ),
    (
        f"{MOVE} The spreadsheet has 310 columns by now, and half of them are notes of people who left years ago. "
        "She wants to leave out the notes and keep the delivery dates, the addresses and the sums of each order.",
        "Sums with a comma and sums with a point are mixed in the old rows, so both have to be read with care. "
        "Rows without a date could get the date of the row above them, marked as guessed for the accountant. "
        "A dry run on a copy shows how many rows fail before anything is written to the new tables.",
    ),
    (
        f"{DONE} The morning report opens at once, and nobody in the warehouse has asked for the old one. "
        "The driver who had noticed the lost parcels got a box of chocolates from the whole team on Friday.",
        "Good, so what is left is the move of the old orders, and the spreadsheet can be locked after that. "
        "The first backup to the second site ran through last night and was 11 gigabytes in size. "
        "I will keep an eye on the size of the tables over the next days and say so when it grows too fast.",
    ),
)
# What it says beside what a test is about.
TEXTS = {
    "result": "The orders are to live in a database; the new tables are in place and all new orders go there.",
    "postgres": "Postgres is decided for the storage of orders.",
    "backups": "Nightly backups go to the second site in Graz.",
    "move": "The old orders are moved over before the launch on 4 March.",
    "times": "Reading the orders of one day takes 38 milliseconds with the index on the day, before it took 2140.",
}
CLAIMS: dict[str, tuple[str, str, str, dict[str, Any]]] = {
    "result": ("result", DONE, TEXTS["result"], {}),
    "postgres": ("decision", POSTGRES, TEXTS["postgres"], {}),
    "backups": ("decision", BACKUPS, TEXTS["backups"], {}),
    "rule": ("rule", RULE, RULE, {}),
    "move": ("open_work", MOVE, TEXTS["move"], {"owner": "Dana", "due": "4 March"}),
    "times": ("fact", TIMES, TEXTS["times"], {}),
    "restore": ("fact", RESTORE, "A restore of the last three years took Klara 25 minutes.", {}),
    "tax": ("fact", TAX, "The tax office wants orders kept for ten years.", {}),
}
ORDER = list(CLAIMS)
# What is told until something has come of it.
BEFORE = ("effort.opened", "effort.concluded", "effort.drafting")


def summariser(*names: str, **texts: str) -> Summariser:
    """It writes these claims of the log, all of them where none is named; `texts`: other words for some."""
    model = Summariser()
    for name in names or ORDER:
        section, words, text, more = CLAIMS[name]
        model.writes(section, words, texts.get(name, text), id=name, **more)
    return model


@dataclass
class Bench:
    """A conversation of which the fake provider drafts and checks; its efforts and chosen turns are summarised here."""

    session: Session
    provider: FakeProvider
    model: Summariser = field(default_factory=summariser)

    def __post_init__(self) -> None:
        self.provider.otherwise = self.model

    def writes(self, *names: str, **texts: str) -> Summariser:
        self.model = self.provider.otherwise = summariser(*names, **texts)
        return self.model

    # What is done

    def conclude(self, exchanges: Sequence[tuple[str, str]] = LOG, *, name: str = SLUG, **more: Any) -> EffortState:
        """Concluded and summarised, as far as that goes."""
        state = self.conclude_later(exchanges, name=name, **more)
        work(SUMMARIES)
        return self.state(state.effort.slug)

    def conclude_later(
        self, exchanges: Sequence[tuple[str, str]] = LOG, *, name: str = SLUG, **more: Any
    ) -> EffortState:
        """Its summary is due."""
        state = concluded(self.session, name, exchanges, **more)
        opened = replace(self.place, turn=state.opened_turn)
        record(opened, "effort.opened", name, name=name)
        ended = {"said": state.said, "was_active": True, "next": None}
        record(replace(opened, turn=state.concluded_turn or 0, via=Via(state.via)), "effort.concluded", name, **ended)
        return state

    def choose(self, first: int = 1, last: int = 6, kind: ScopeKind = ScopeKind.INTENTIONAL) -> ScopeDraft:
        draft = actions.compact_turns(self.place, first, last, kind)
        work(SCOPES)
        return ScopeDraft.objects.get(pk=draft.pk)

    def again(self, slug: str = SLUG) -> EffortState:
        actions.retry_summary(self.place, slug)
        work(SUMMARIES)
        return self.state(slug)

    def confirm(self, words: str, kind: EntryKind = EntryKind.DECISION) -> LedgerEntry:
        """In the person's own list."""
        message = Message.objects.get(turn__session=self.session, text__contains=words)
        start = message.text.index(words)
        return LedgerEntry.objects.create(
            session=self.session,
            kind=kind,
            text=words,
            state=EntryState.CONFIRMED,
            by=EntryBy.PERSON,
            source=message,
            start=start,
            end=start + len(words),
        )

    def review(self, mode: ReviewMode) -> None:
        Session.objects.filter(pk=self.session.pk).update(review_mode=mode)
        self.session.refresh_from_db()

    # What has come of it

    @property
    def place(self) -> actions.Place:
        return actions.here(self.session, actor=self.session.owner)

    def state(self, slug: str = SLUG) -> EffortState:
        return EffortState.objects.select_related("effort", "branch").get(
            branch=main_branch(self.session), effort__slug=slug
        )

    def pointer(self) -> ContextPointer | None:
        return ContextPointer.objects.filter(branch=main_branch(self.session), state="active").first()

    def draft(self) -> Artifact:
        """The newest that is no digest."""
        return Artifact.objects.exclude(kind="digest").filter(session=self.session).latest("created_at")

    def digest(self) -> Artifact:
        return Artifact.objects.get(kind="digest", session=self.session)

    def run(self) -> DraftRun:
        return DraftRun.objects.filter(session=self.session).exclude(drafter="digest").latest("pk")

    def checks(self) -> list[Check]:
        return list(Check.objects.filter(run__session=self.session).order_by("pk"))

    def told(self, kind: str) -> dict[str, Any]:
        found: dict[str, Any] = Event.objects.filter(session=self.session, kind=kind).latest("seq").data
        return found

    def kinds(self) -> list[str]:
        rows = Event.objects.filter(session=self.session, kind__startswith="effort.").order_by("seq")
        return [kind for kind in rows.values_list("kind", flat=True) if kind not in BEFORE]

    def sends(self, text: str) -> bool:
        """Whether the next prompt has it, byte for byte."""
        chosen = chosen_settings(self.session)
        said = plan(next_inputs(main_branch(self.session), chosen, "", None)).request["messages"]
        return any(text in (message["content"] or "") for message in said)

    def steps(self) -> list[str]:
        """What the model was asked for, the exam aside."""
        return [step for step in self.model.steps if step != "chat"]


def work(line: Line[Any], most: int = 8) -> None:
    """All that is due, as the runner does it."""
    for job in claim_from([line], "here:1:a", most):
        run(draft_and_settle(job))


@contextmanager
def bench_of(owner: User, **more: Any) -> Iterator[Bench]:
    requesting.without_form.clear()
    with FakeProvider() as provider:
        yield Bench(connected(owner, provider), provider, **more)


def connected(owner: User, provider: FakeProvider) -> Session:
    fields = {"base_url": provider.url, "model": "fake-1", "timeout_seconds": 5}
    endpoint, _ = Endpoint.objects.get_or_create(owner=owner, name="fake", defaults=fields)
    session = conversation(owner)
    Session.objects.filter(pk=session.pk).update(endpoint=endpoint, budget=16_000)
    session.refresh_from_db()
    return session
