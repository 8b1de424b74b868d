"""What the program notes between the turns: the events of efforts, rules, pins and entries, as lines of the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal

from efforts.actions.branches import AS_BEFORE
from efforts.context.holds import rows_of
from efforts.context.naming import WITHIN, until_named
from efforts.context.presence import seen_of
from efforts.context.scopes import OF_SCOPES, ScopeStory, line_of, read_story
from efforts.context.words import WordView, draft_of_effort, view_of_effort
from efforts.domain.effort.notices import span_said, told, without_dashes
from efforts.domain.effort.states import (
    ConstraintState,
    EffortStatus,
    EntryKind,
    EntryState,
    HoldState,
    PointerState,
    SummaryState,
)
from efforts.log.events import AGED_EVENTS
from efforts.log.timelines import branch_events
from efforts.models import Branch, Constraint, ContextPointer, EffortState, Event, LedgerEntry
from efforts.standins.seen import Seen, seen

if TYPE_CHECKING:
    from django.db.models import QuerySet

Asks = Literal[
    "",
    "summary",
    "retry",
    "draft",
    "excerpts",
    "drafting",
    "conclude",
    "rule",
    "entry",
    "done",
    "scope_drafting",
    "scope_ready",
    "scope_failed",
]

# Each changes where an effort stands, so that it is the last word about it until the next one.
MOVES = {
    "effort.opened": "open",
    "effort.concluded": "summary",
    "effort.reopened": "open",
    "effort.switched": "active",
    "effort.expanded": "expanded",
    "effort.collapsed": "summary",
    "effort.decayed": "summary",
    "effort.aged": "summary",
}
REDIRECTS = ("effort.opened", "effort.concluded", "effort.reopened", "effort.switched")
OFFERED = "effort.offered"
WAITS = "effort.summary_waiting"
SUGGESTED = "constraint.suggested"
OF_RULES = (SUGGESTED, "constraint.set", "constraint.edited", "constraint.revoked")
OF_HOLDS = ("hold.ended", "hold.granted")
PROPOSED = "ledger.proposed"
EFFORT_ROLLED_BACK = "effort.rolled_back"
ACCEPTED_AGAIN = "effort.accepted_again"
ENDS_WITH = ("effort.expanded", "effort.collapsed", "effort.decayed", "effort.aged")
OF_ROLLBACKS = (EFFORT_ROLLED_BACK, ACCEPTED_AGAIN)
OF_FOCUS = ("effort.focused", "effort.unfocused")
EVICTED = "effort.evicted"
# From these on something stands for an effort's turns.
STANDS_FROM = ("effort.summarised", "effort.digested", "effort.aged", ACCEPTED_AGAIN)
CHANGED_SINCE = "This has changed since."
OF_ENTRIES = (PROPOSED, "ledger.done_suggested", "ledger.dismissed")
READ = (
    *MOVES,
    OFFERED,
    "effort.summarised",
    WAITS,
    "effort.undone",
    *OF_RULES,
    *OF_HOLDS,
    *OF_ENTRIES,
    *OF_SCOPES,
    *OF_ROLLBACKS,
    *OF_FOCUS,
    EVICTED,
    *STANDS_FROM,
    AS_BEFORE,
)
# Their words name no others of their kind.
TOLD_ALONE = ("effort.concluded", AS_BEFORE, *OF_SCOPES)
QUESTIONS = ("entry", "done")
TITLES = {EntryKind.DECISION: "Decision", EntryKind.OPEN_WORK: "To-do"}
# What is said of a conclusion by where its summary is, `draft` its line or why there is none, and what may be answered.
SAID_OF: Mapping[SummaryState, tuple[str, Asks]] = {
    SummaryState.WAITING: ("Summary: {draft}", "summary"),
    SummaryState.DIGEST: ("{draft}", "excerpts"),
    SummaryState.FAILED: ("There is no summary. {draft}", "retry"),
    # While the turn goes on that concluded it, nothing is written.
    SummaryState.DUE: ("Its summary will be written next.", "drafting"),
    SummaryState.DRAFTING: ("Its summary is being prepared.", "drafting"),
    SummaryState.ROLLED_BACK: (
        "Its summary was rolled back, so its turns are sent in full. You can use it again.",
        "",
    ),
    SummaryState.COVERED: ("A summary of chosen turns covers all of it.", ""),
    SummaryState.NONE: ("No summary was drafted, so its turns are sent in full.", "draft"),
}
QUOTES_BACK = "Its excerpts were rolled back, so its turns are sent in full. You can use them again."


@dataclass(frozen=True, kw_only=True)
class NoticeView:
    """One line about an effort, a rule, a pin or an entry; `more` goes on below it, `asks` is what may be answered."""

    seq: int
    kind: str
    effort: str
    text: str
    layer: str
    more: str = ""
    asks: Asks = ""
    undoable: bool = False
    taken_back: bool = False
    artifact: str = ""
    why: str = ""
    rule: int = 0
    hold: int = 0
    entry: int = 0
    scope: str = ""
    span: str = ""
    draft: int = 0
    stands: bool = False
    word: WordView | None = None
    read_by: str = ""
    # What the model sees of its turns, where something stands for them.
    sees: str = ""
    # Of excerpts, what is told below `more`: what the model sees, or why no draft waits beside them.
    beside: str = ""
    # The id of the excerpts that stand for just this conclusion.
    excerpts: str = ""
    # The effort that became active with it, where nobody named one; by its name.
    then: str = ""
    # The effort's name.
    called: str = ""
    # Whether `artifact` is excerpts, of what was rolled back or accepted again.
    quotes: bool = False

    @property
    def aged(self) -> bool:
        """Nobody did it: it happened because nothing referred to the effort, or to the chosen turns, any more."""
        return self.kind in AGED_EVENTS

    @property
    def name(self) -> str:
        """As people call what it is about."""
        return self.called or self.span or self.effort

    @property
    def about(self) -> str:
        # No effort's id has a colon.
        ids = {"rule": self.rule, "hold": self.hold, "entry": self.entry}
        return next((f"{name}:{id}" for name, id in ids.items() if id), self.scope or self.effort)


@dataclass(frozen=True, kw_only=True)
class NoticeGroup:
    """Notices shown as one line that opens where `text` names them together, else a single one."""

    notices: tuple[NoticeView, ...]
    text: str = ""

    @property
    def first(self) -> NoticeView:
        return self.notices[0]


Fold = Callable[[Iterable[NoticeView]], Iterable[NoticeGroup]]


@dataclass(kw_only=True)
class Story:
    """What later events say about earlier ones."""

    branch: str
    undone: set[int]
    redirected: int = 0
    last: dict[str, int] = field(default_factory=dict)
    concluded: dict[str, int] = field(default_factory=dict)
    offered: dict[str, int] = field(default_factory=dict)
    rolled_back: dict[str, int] = field(default_factory=dict)
    # The last event by which something came to stand for it.
    stood: dict[str, int] = field(default_factory=dict)
    summaries: dict[int, str] = field(default_factory=dict)
    # By effort, why its summary waits.
    waits: dict[str, str] = field(default_factory=dict)
    states: Mapping[str, EffortState] = field(default_factory=dict)
    rules: Mapping[int, str] = field(default_factory=dict)
    pinned: Collection[tuple[int | None, str | None]] = ()
    entries: Mapping[int, LedgerEntry] = field(default_factory=dict)
    scopes: ScopeStory | None = None
    # By effort, the excerpts that stand; and all that do or have, by their ids.
    excerpts: Mapping[str, str] = field(default_factory=dict)
    quotes: Collection[str] = ()
    # By effort, what the model sees of its turns, where something stands for them.
    sees: Mapping[str, str] = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)

    def name(self, slug: str) -> str:
        """As people call it; what happened was stored by its id."""
        return self.states[slug].effort.name if slug in self.states else slug

    def can_be_undone(self, row: Event) -> bool:
        # What a parent did is not this branch's to take back.
        if row.data["branch"] != self.branch:
            return False
        # What a switch left is active again only where nothing else has become so.
        overtaken = row.kind == "effort.switched" and self.redirected != row.seq
        # What was expanded or collapsed ended with the rollback.
        overtaken |= row.kind in ENDS_WITH and self.rolled_back.get(row.data["effort"], 0) > row.seq
        return self.last.get(row.data["effort"]) == row.seq and not overtaken

    def fill(self, texts: Mapping[str, str]) -> None:
        for slug, text in texts.items():
            self.summaries.setdefault(self.concluded.get(slug, 0), text)

    def read(self, row: Event) -> None:
        slug = row.data.get("effort", "")
        if row.seq in self.undone:
            return
        if row.kind in MOVES:
            self.last[slug] = row.seq
        if row.kind == "effort.concluded":
            self.concluded[slug] = row.seq
        elif row.kind == "effort.summarised" and slug in self.concluded:
            self.summaries[self.concluded[slug]] = row.data["text"]
        elif row.kind == WAITS:
            # Events from before there was a reason in them.
            self.waits[slug] = row.data.get("why", "")
        elif row.kind == OFFERED:
            self.offered[slug] = row.seq
        elif row.kind == EFFORT_ROLLED_BACK:
            self.rolled_back[slug] = row.seq


def notice_groups(branch: Branch, turns: Collection[int]) -> dict[int, tuple[NoticeGroup, ...]]:
    """Of these turns alone, by the number of the turn they stand after; 0 is before the first."""
    everything = branch_events(branch).filter(kind__in=READ)
    rows = list(everything.filter(data__turn__in=list(turns)))
    if not rows:
        return {}
    story = read_about(branch, everything, rows)
    by_turn: dict[int, list[NoticeView]] = {}
    for row in rows:
        if notice := notice_view(row, story):
            by_turn.setdefault(row.data["turn"], []).append(notice)
    fold = folded if branch.session.quiet_notices else grouped_alike
    return {turn: tuple(with_questions(notices, fold)) for turn, notices in by_turn.items()}


def read_about(branch: Branch, everything: QuerySet[Event], rows: Collection[Event]) -> Story:
    """What came of what `rows` are about: of no other effort, rule or entry, however many there are."""
    undone = set(everything.filter(data__has_key="of").values_list("data__of", flat=True))
    story = Story(branch=str(branch.pk), undone=undone)
    rules = {row.data["constraint"] for row in rows if "constraint" in row.data}
    story.rules = dict(Constraint.objects.filter(pk__in=rules).values_list("pk", "state"))
    efforts = {row.data["effort"] for row in rows if row.data.get("effort")}
    named = efforts | {row.data["next"] for row in rows if row.data.get("next")}
    for row in (row for row in rows if row.kind in OF_HOLDS):
        named |= {row.data.get("pinned_effort") or "", *WITHIN.findall(row.data.get("notice", ""))}
    states = EffortState.objects.filter(branch=branch, effort__slug__in=named).select_related("effort")
    story.states = {state.effort.slug: state for state in states}
    quotes = ContextPointer.objects.filter(branch=branch, effort__slug__in=efforts, digest=True)
    made = list(quotes.values_list("effort__slug", "artifact", "state"))
    story.excerpts = {slug: artifact for slug, artifact, state in made if state == PointerState.ACTIVE}
    story.quotes = {artifact for _, artifact, _ in made}
    active = [one for one in summaries_in(branch).select_related("effort") if one.effort and one.effort.slug in efforts]
    sees = seen_of(branch, active)
    story.sees = {one.effort.slug: sees.get(one.pk, "") for one in active if one.effort}
    story.seen = seen([state.artifact for state in story.states.values() if state.artifact])
    if any(row.kind in OF_HOLDS for row in rows):
        story.pinned = set(rows_of(branch, HoldState.STANDING).values_list("turn__number", "effort__slug"))
    if about := {row.data["entry"] for row in rows if row.kind in OF_ENTRIES}:
        story.entries = LedgerEntry.objects.filter(session=branch.session_id).in_bulk(about)
    if any(row.kind in OF_SCOPES for row in rows):
        story.scopes = read_story(branch)
    if any(row.kind == "effort.switched" for row in rows):
        redirects = everything.filter(kind__in=REDIRECTS).exclude(seq__in=undone)
        story.redirected = redirects.order_by("-seq").values_list("seq", flat=True).first() or 0
    told = list(everything.filter(data__effort__in=list(efforts)))
    for row in told:
        story.read(row)
    story.stood = {row.data["effort"]: row.seq for row in told if row.kind in STANDS_FROM}
    if branch.parent_id:
        # Those that stand: of one that came with the fork there is no event.
        story.fill(dict(summaries_in(branch).values_list("effort__slug", "headline")))
    return story


def summaries_in(branch: Branch) -> QuerySet[ContextPointer]:
    return ContextPointer.objects.filter(branch=branch, state=PointerState.ACTIVE, effort__isnull=False)


def notice_view(row: Event, story: Story) -> NoticeView | None:
    if row.kind == OFFERED:
        return offer(row, story)
    if row.kind in OF_RULES:
        return about_rule(row, story)
    if row.kind in OF_HOLDS:
        return about_hold(row, story)
    if row.kind in OF_ENTRIES:
        return about_entry(row, story)
    if row.kind in OF_SCOPES:
        return about_scope(row, story)
    if row.kind in TOLD_BY_THEMSELVES:
        return TOLD_BY_THEMSELVES[row.kind](row, story)
    if row.kind not in MOVES:
        return None
    slug = row.data["effort"]
    taken_back = row.seq in story.undone
    state = concluded_by(row, story)
    more, asks = about_summary(row, state, story)
    return NoticeView(
        seq=row.seq,
        kind=row.kind,
        effort=slug,
        called=story.name(slug),
        text=told(row.kind, row.data, story.name(slug)),
        layer=MOVES[row.kind],
        more="" if taken_back else more,
        asks="" if taken_back else asks,
        undoable=story.can_be_undone(row),
        taken_back=taken_back,
        then=story.name(then_active(row.data)) if not taken_back else "",
        why=story.waits.get(slug, "") if asks == "summary" else "",
        **(words_on(state, story) if state and not taken_back else {}),
    )


def offer(row: Event, story: Story) -> NoticeView | None:
    """Open still, and nothing has happened to it since."""
    slug = row.data["effort"]
    state = story.states.get(slug)
    stands = state is not None and state.status == EffortStatus.OPEN and story.offered.get(slug) == row.seq
    if not stands or story.last.get(slug, 0) > row.seq:
        return None
    name = story.name(slug)
    return NoticeView(
        seq=row.seq, kind=row.kind, effort=slug, called=name, text=f"Conclude {name}?", layer="active", asks="conclude"
    )


def about_rule(row: Event, story: Story) -> NoticeView | None:
    """Nothing of a suggestion that has been answered: what came of it is noted where it did."""
    rule, taken_back = row.data["constraint"], row.seq in story.undone
    state, text = story.rules.get(rule), without_dashes(row.data.get("notice", ""))
    view = partial(NoticeView, seq=row.seq, kind=row.kind, effort="", rule=rule, layer="constraint")
    if row.kind == SUGGESTED:
        waits = state == ConstraintState.SUGGESTED
        return view(text=f"Make this a rule? {row.data['text']}", asks="rule") if waits else None
    if not text or "of" in row.data:
        return None
    mine = row.data["branch"] == story.branch and row.kind == "constraint.set"
    undoable = mine and is_automatic(row.data) and state == ConstraintState.IN_FORCE
    return view(text=text, undoable=undoable, taken_back=taken_back)


def about_hold(row: Event, story: Story) -> NoticeView | None:
    """What is not pinned any more, though nobody took it back."""
    if "notice" not in row.data:
        return None
    taken_back = row.seq in story.undone
    pinned_again = (row.data["pinned_turn"], row.data["pinned_effort"]) in story.pinned
    return NoticeView(
        seq=row.seq,
        kind=row.kind,
        effort="",
        hold=row.data["hold"],
        text=pin_named(without_dashes(row.data["notice"]), row.data["pinned_effort"], story),
        layer="pin",
        undoable=not taken_back and not pinned_again and row.data["branch"] == story.branch,
        taken_back=taken_back,
    )


def pin_named(text: str, effort: str | None, story: Story) -> str:
    """What is stored calls efforts by their ids."""
    names = {slug: state.effort.name for slug, state in story.states.items()}
    text = until_named(text, names)
    return text.replace(f" {effort} ", f" {names.get(effort, effort)} ", 1) if effort else text


def about_entry(row: Event, story: Story) -> NoticeView | None:
    """A question as long as it is not answered; else only what nobody was asked about."""
    entry = story.entries.get(row.data["entry"])
    if entry is None:
        return None
    view = partial(NoticeView, seq=row.seq, kind=row.kind, effort="", entry=entry.pk, layer="ledger")
    if row.kind == "ledger.dismissed":
        text, taken_back = without_dashes(row.data.get("notice", "")), row.seq in story.undone
        undoable = not taken_back and row.data["branch"] == story.branch
        return view(text=text, undoable=undoable, taken_back=taken_back) if text else None
    asks: Asks = "entry" if row.kind == PROPOSED else "done"
    waits = entry.state == EntryState.PROPOSED if asks == "entry" else entry.seems_done_turn == row.data["turn"]
    title = TITLES[EntryKind(entry.kind)] if asks == "entry" else "Done"
    return view(text=f"{title}? “{entry.text}”", asks=asks) if waits else None


def about_scope(row: Event, story: Story) -> NoticeView | None:
    line = line_of(row, story.scopes) if story.scopes else None
    if line is None:
        return None
    told = {**vars(line), "scope": line.about}
    del told["about"]
    layer = "expanded" if row.kind == "compaction.expanded" else "summary"
    return NoticeView(seq=row.seq, kind=row.kind, effort="", layer=layer, **told)


def about_rollback(row: Event, story: Story) -> NoticeView:
    """Also of one that was followed by another yes: the notice of the conclusion, far above, tells of that too."""
    later = story.stood.get(row.data["effort"], 0) > row.seq
    slug, data = row.data["effort"], row.data
    name = story.name(slug)
    if row.kind == ACCEPTED_AGAIN:
        layer = "summary"
        text = f"In use again: the {'excerpts' if data['digest'] else 'summary'} of {name} took the place of its log."
    else:
        layer = "awaiting"
        text = (
            f"Rolled back: the {'earlier summary' if data['own'] else 'log'} of {name} "
            f"{'went back into' if later else 'is in'} the prompt."
        )
        text += f" {CHANGED_SINCE}" if later else ""
    return NoticeView(
        seq=row.seq,
        kind=row.kind,
        effort=slug,
        called=name,
        text=text,
        layer=layer,
        artifact=data["artifact"],
        span=name,
        quotes=data.get("digest", False),
    )


def about_version(row: Event, story: Story) -> NoticeView | None:
    """At the beginning of a new version of a message, and there alone: what it takes back of the other one."""
    data = row.data
    if data["branch"] != story.branch:
        return None
    slug = data.get("effort", "")
    name, what = story.name(slug) or span_said(data["first"], data["last"]), data["what"]
    if what == "concluded":
        text = f"In this version {name} is concluded: it was reopened later in the other version."
    elif what in ("active", "open"):
        text = f"In this version {name} is {what} again: it was concluded later in the other version."
    elif what == "excerpts":
        text = f"In this version the excerpts of {name} are used: they were rolled back later in the other version."
    else:
        text = f"In this version the summary of {name} is used: it was rolled back later in the other version."
    layer = what if what in ("active", "open") else "summary"
    return NoticeView(seq=row.seq, kind=row.kind, effort=slug, called=story.name(slug), text=text, layer=layer)


def about_effort(row: Event, story: Story, layer: str) -> NoticeView:
    slug = row.data["effort"]
    name = story.name(slug)
    text = told(row.kind, row.data, name)
    return NoticeView(seq=row.seq, kind=row.kind, effort=slug, called=name, text=text, layer=layer)


TOLD_BY_THEMSELVES: Mapping[str, Callable[[Event, Story], NoticeView | None]] = {
    AS_BEFORE: about_version,
    **dict.fromkeys(OF_ROLLBACKS, about_rollback),
    **dict.fromkeys(OF_FOCUS, partial(about_effort, layer="recall")),
    EVICTED: partial(about_effort, layer="open"),
}


def concluded_by(row: Event, story: Story) -> EffortState | None:
    """The effort, as long as it is just this conclusion that holds."""
    slug = row.data["effort"]
    state = story.states.get(slug)
    here = row.kind == "effort.concluded" and story.concluded.get(slug) == row.seq
    return state if here and state and state.status == EffortStatus.CONCLUDED else None


def words_on(state: EffortState, story: Story) -> dict[str, Any]:
    """How the summary of a conclusion stands, and who has read it. `stands`: it can be rolled back."""
    sees = story.sees.get(state.effort.slug, "")
    told: dict[str, Any] = {"word": view_of_effort(state, story.seen), "sees": sees, "artifact": state.artifact}
    told["stands"] = bool(state.artifact) and state.summary == SummaryState.STANDS
    if state.summary == SummaryState.DIGEST:
        told["beside"] = sees if state.artifact else state.draft
    told["excerpts"] = story.excerpts.get(state.effort.slug, "")
    if draft := story.seen.get(state.artifact):
        told["read_by"] = ", ".join(draft.read_by)
    return told


def about_summary(row: Event, state: EffortState | None, story: Story) -> tuple[str, Asks]:
    """`state`: of the effort, where this conclusion of it holds."""
    if row.kind != "effort.concluded":
        return "", ""
    text = story.summaries.get(row.seq)
    # In a branch the summary may have come with the fork, and no draft with it.
    told = SAID_OF.get(SummaryState(state.summary)) if state else None
    if told and state and not (text and state.summary == SummaryState.NONE):
        if state.summary == SummaryState.NONE and state.draft:
            return state.draft, ""
        if state.summary == SummaryState.ROLLED_BACK and state.artifact in story.quotes:
            return QUOTES_BACK, ""
        if state.summary == SummaryState.DIGEST and not state.artifact:
            # Where no draft waits beside them.
            return story.sees.get(state.effort.slug, ""), told[1]
        return told[0].format(draft=draft_of_effort(state, story.seen)).rstrip(), told[1]
    return (f"Summary: {text}", "") if text else ("", "")


def then_active(data: Mapping[str, Any]) -> str:
    """The effort that new messages went to from there on, though nobody named it."""
    return data.get("next") or "" if data.get("was_active") else ""


def is_automatic(data: Mapping[str, Any]) -> bool:
    return data.get("via") in ("model", "age") or data.get("why") == "work_session"


def with_questions(notices: Iterable[NoticeView], fold: Fold) -> Iterable[NoticeGroup]:
    """Those about the ledger come last, as one line, so that they never become noise."""
    notices = list(notices)
    questions = tuple(one for one in notices if one.asks in QUESTIONS)
    yield from fold(one for one in notices if one.asks not in QUESTIONS)
    if questions:
        yield NoticeGroup(notices=questions, text=together(questions) if len(questions) > 1 else "")


def together(questions: tuple[NoticeView, ...]) -> str:
    names = Counter(one.text.partition("?")[0] for one in questions)
    decisions, work, done = names["Decision"], names["To-do"], names["Done"]
    told = [f"{decisions} decision{'' if decisions == 1 else 's'}"] if decisions else []
    told += [f"{work} to-do{'' if work == 1 else 's'}"] if work else []
    kept = [f"Keep {' and '.join(told)}?"] if told else []
    return " ".join([*kept, *([f"Done: {done} to-do{'' if done == 1 else 's'}?"] if done else [])])


def grouped_alike(notices: Iterable[NoticeView]) -> Iterable[NoticeGroup]:
    for (_, asks, taken_back), group in groupby(notices, key=lambda one: (one.kind, one.asks, one.taken_back)):
        alike = tuple(group)
        if len(alike) == 1 or asks or taken_back or alike[0].kind in TOLD_ALONE:
            yield from (NoticeGroup(notices=(one,)) for one in alike)
        else:
            verb = alike[0].text.partition(":")[0]
            yield NoticeGroup(notices=alike, text=f"{verb} ×{len(alike)}")


def folded(notices: Iterable[NoticeView]) -> Iterable[NoticeGroup]:
    """All into one small line, but for those that wait for an answer."""
    notices = list(notices)
    quiet = tuple(one for one in notices if not one.asks)
    if quiet:
        yield NoticeGroup(notices=quiet, text=f"{len(quiet)} note{'' if len(quiet) == 1 else 's'}")
    yield from (NoticeGroup(notices=(one,)) for one in notices if one.asks)
