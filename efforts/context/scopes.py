"""Summaries of chosen turns as pages show them: what stands for which turns, what waits, what is noted of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from django.db.models import QuerySet

from efforts.context.presence import Presence, presence
from efforts.context.words import WordView, word_of_scope, word_view
from efforts.domain.effort.chosen import BODY, id_of
from efforts.domain.effort.chosen import span_of as numbers_of
from efforts.domain.effort.notices import STARTED_FROM, span_said
from efforts.domain.effort.states import TO_BE_DRAFTED, PointerMoveKind, ScopeKind, ScopeState
from efforts.domain.text.counting import counted
from efforts.log.timelines import branch_events
from efforts.models import Branch, ContextPointer, Event, PointerMove, PointerTurn, ScopeDraft
from efforts.standins.chosen import Chosen, chosen_pointers, with_spans
from efforts.standins.seen import Seen, Word, seen

REQUESTED, ACCEPTED = "compaction.requested", "compaction.accepted"
ROLLED_BACK, INVALIDATED = "compaction.rolled_back", "compaction.invalidated"
BACK = (PointerMoveKind.ROLLED_BACK, PointerMoveKind.INVALIDATED)
EXPANDED, COLLAPSED, DECAYED = "compaction.expanded", "compaction.collapsed", "compaction.decayed"
# How they stand in the prompt has changed, not what stands for them.
OF_STANDING = (ACCEPTED, ROLLED_BACK, INVALIDATED)
VIEWS = (EXPANDED, COLLAPSED, DECAYED)
OF_SCOPES = (REQUESTED, ACCEPTED, ROLLED_BACK, INVALIDATED, *VIEWS, "compaction.undone")
# Of what stands, for the newest turns; what stands for earlier ones is folded.
LISTED = 8

Asks = Literal["", "scope_drafting", "scope_ready", "scope_failed"]


@dataclass(frozen=True, kw_only=True)
class ScopeLine:
    """What is noted of chosen turns; `stands`: it can be rolled back."""

    about: str
    span: str
    text: str
    more: str = ""
    asks: Asks = ""
    artifact: str = ""
    draft: int = 0
    stands: bool = False
    word: WordView | None = None
    read_by: str = ""
    undoable: bool = False
    taken_back: bool = False
    # Whether `artifact` is excerpts.
    quotes: bool = False


@dataclass(kw_only=True)
class ScopeStory:
    """What later events, and the rows, say about earlier ones."""

    branch: str
    drafts: Mapping[int, ScopeDraft]
    # By its artifact, whether the next prompt has it.
    standing: Mapping[str, Presence]
    restoring: frozenset[str]
    accepted: dict[tuple[int, int], Event] = field(default_factory=dict)
    seen: Mapping[str, Seen] = field(default_factory=dict)
    requested: dict[int, int] = field(default_factory=dict)
    viewed: dict[str, int] = field(default_factory=dict)
    undone: set[int] = field(default_factory=set)

    def read(self, row: Event) -> None:
        if row.kind in VIEWS and row.seq not in self.undone:
            self.viewed[row.data["id"]] = row.seq
        if row.kind == ACCEPTED:
            self.accepted[span_of(row.data)] = row
        elif row.kind == REQUESTED:
            self.requested[row.data["draft"]] = row.seq

    def is_decided(self, draft: ScopeDraft) -> bool:
        """Whether a summary of just these turns has come to stand since it was asked for."""
        last = self.accepted.get((draft.turns[0], draft.turns[-1]))
        return last is not None and last.seq > self.requested.get(draft.pk, 0)

    def is_over(self, draft: ScopeDraft) -> bool:
        """What came to stand stands no longer."""
        last = self.accepted.get((draft.turns[0], draft.turns[-1]))
        return last is not None and self.is_decided(draft) and last.data["artifact"] not in self.standing


def span_of(data: Mapping[str, Any]) -> tuple[int, int]:
    return data["first"], data["last"]


def read_story(branch: Branch) -> ScopeStory:
    back = PointerMove.objects.filter(branch=branch, kind__in=BACK).exclude(after=[])
    story = ScopeStory(
        branch=str(branch.pk),
        drafts=drafts_in(branch).in_bulk(),
        standing={one.artifact: presence(one, None) for one in chosen_pointers(branch)},
        restoring=frozenset(back.values_list("pointer__artifact", flat=True)),
    )
    story.seen = seen([*story.standing, *(draft.artifact for draft in story.drafts.values() if draft.artifact)])
    rows = list(branch_events(branch).filter(kind__in=OF_SCOPES))
    story.undone = {row.data["of"] for row in rows if "of" in row.data}
    for row in rows:
        story.read(row)
    return story


def drafts_in(branch: Branch) -> QuerySet[ScopeDraft]:
    return ScopeDraft.objects.filter(branch=branch).exclude(kind=ScopeKind.STAGE)


# Notices


def line_of(row: Event, story: ScopeStory) -> ScopeLine | None:
    if row.kind == REQUESTED:
        draft = story.drafts.get(row.data["draft"])
        return asked(row, draft, story) if draft and story.requested[draft.pk] == row.seq else None
    if row.kind in VIEWS:
        return view_line(row, story)
    if row.kind not in OF_STANDING:
        return None
    first, last = span_of(row.data)
    span, artifact = span_said(first, last), row.data["artifact"]
    newest = story.accepted.get((first, last))
    stands = row.kind == ACCEPTED and row == newest and artifact in story.standing
    known = story.seen.get(artifact) if stands else None
    quotes = known.quotes if known else row.data.get("digest", False)
    return ScopeLine(
        about=id_of(first, last),
        span=span,
        text=words_of(row, span, story, quotes=quotes),
        artifact=artifact,
        quotes=quotes,
        stands=stands,
        word=word_view(Word.STANDS, quotes=quotes, presence=story.standing[artifact]) if stands else None,
        read_by=", ".join(known.read_by) if known else "",
    )


def words_of(row: Event, span: str, story: ScopeStory, *, quotes: bool) -> str:
    if row.kind == ACCEPTED:
        if not row.data["first"]:
            return f"The summary in the prompt is {STARTED_FROM}."
        return f"Excerpts now replace {span}." if quotes else f"A summary now replaces {span}."
    if row.kind == INVALIDATED:
        again = " Earlier summaries of others of them are back." if earlier_stands(row, story) else ""
        if quotes:
            return f"The excerpts of {span} are not used any more, because one of the turns was tried again.{again}"
        return f"The summary of {span} is not used any more, because one of its turns was tried again.{again}"
    earlier = earlier_stands(row, story)
    if not row.data["first"]:
        now = "its earlier version is in the prompt again" if earlier else "it is in the prompt no longer"
        return f"Rolled back: {span}; {now}."
    return f"Rolled back: the {'earlier summary' if earlier else 'log'} of {span} is in the prompt again."


def earlier_stands(row: Event, story: ScopeStory) -> bool:
    return bool(row.data.get("restored")) or row.data["artifact"] in story.restoring


def view_line(row: Event, story: ScopeStory) -> ScopeLine:
    """Taken back where nobody asked for it, or the model did, as long as nothing else has changed since."""
    id, artifact = row.data["id"], row.data["artifact"]
    span = span_said(*(numbers_of(id) or (0, 0)))
    mine = row.data["branch"] == story.branch and artifact in story.standing and story.viewed.get(id) == row.seq
    automatic = row.data["via"] in ("model", "age") or row.data.get("why") == "work_session"
    return ScopeLine(
        about=id,
        span=span,
        text=view_words(row, span),
        undoable=mine and automatic and row.data.get("what") != BODY,
        taken_back=row.seq in story.undone,
    )


def view_words(row: Event, span: str) -> str:
    if row.kind == EXPANDED:
        what = f"the whole summary of {span}" if row.data["what"] == BODY else span
        # A summary may be longer than a few words that it stands for.
        tokens = row.data["tokens"]
        return f"Expanded: {what} ({tokens:,} tokens more in the prompt)" if tokens > 0 else f"Expanded: {what}"
    if row.kind == COLLAPSED:
        return f"Collapsed: {span} (back to summary)"
    return f"Auto-collapsed: {span} (inactive for {counted(row.data['turns'], 'turn')})"


def asked(row: Event, draft: ScopeDraft, story: ScopeStory) -> ScopeLine | None:
    """What has come of it; nothing where it came to stand, which is noted where it did."""
    if story.is_decided(draft):
        return None
    first, last = span_of(row.data)
    span = span_said(first, last)
    about: dict[str, Any] = {
        "about": id_of(first, last),
        "span": span,
        "draft": draft.pk,
        "artifact": draft.artifact,
        "word": word_view(word_of_scope(draft.state, draft.artifact, story.seen)),
    }
    if draft.state in TO_BE_DRAFTED:
        verb = "are" if first != last else "is"
        return ScopeLine(**about, text=f"{span.capitalize()} {verb} being summarised.", asks="scope_drafting")
    if draft.state == ScopeState.READY:
        quotes = draft.artifact in story.seen and story.seen[draft.artifact].quotes
        text = f"There are excerpts of {span}." if quotes else f"There is a summary of {span}."
        return ScopeLine(**about, text=text, more=draft.why, asks="scope_ready", quotes=quotes)
    if draft.state == ScopeState.FAILED:
        text = f"There is no summary of {span} that can be used."
        return ScopeLine(**about, text=text, more=draft.why, asks="scope_failed")
    return ScopeLine(**about, text=f"You stopped the summary of {span}.")


# The panel


@dataclass(frozen=True, kw_only=True)
class ScopeRow:
    """Chosen turns that stand as a summary, wait for a review, or are on their way.

    `id` is what they are expanded and collapsed by, `whole`: all of the summary stands, not one line of it; `where`: as
    what the prompt has it.
    """

    span: str
    state: str
    words: str
    icon: str
    artifact: str = ""
    draft: int = 0
    why: str = ""
    id: str = ""
    has_turns: bool = False
    expanded: bool = False
    whole: bool = False
    word: WordView | None = None
    where: str = ""
    quotes: bool = False

    @property
    def key(self) -> str:
        return self.id or f"draft-{self.draft}"


@dataclass(frozen=True, kw_only=True)
class ScopeRows:
    """What stands, in the order of its turns, then what was asked for last; `folded`: what stands for turns before."""

    listed: tuple[ScopeRow, ...] = ()
    folded: tuple[ScopeRow, ...] = ()


def scope_rows(branch: Branch) -> ScopeRows:
    chosen = with_spans(chosen_pointers(branch))
    rows = [standing_row(one) for one in sorted(chosen, key=lambda one: one.first)]
    # Most conversations have none, and what became of each is much to read.
    if not drafts_in(branch).exists():
        return ScopeRows(listed=tuple(rows[-LISTED:]), folded=tuple(rows[:-LISTED]))
    story = read_story(branch)
    waiting = [draft for draft in story.drafts.values() if not story.is_decided(draft)]
    listed = (draft_row(draft, story.seen) for draft in sorted(waiting, key=lambda draft: -draft.pk))
    asked_for = [row for row in listed if row]
    return ScopeRows(listed=(*rows[-LISTED:], *asked_for), folded=tuple(rows[:-LISTED]))


def standing_row(one: Chosen) -> ScopeRow:
    there = presence(one.pointer, None)
    word = WordView(word=Word.STANDS, quotes=one.pointer.digest, presence=there)
    return ScopeRow(
        span=span_said(one.first, one.last),
        state="stands",
        words=word.text,
        icon=word.icon,
        word=word,
        where=where_it_is(one.pointer) if there == Presence.SENT else "",
        artifact=one.pointer.artifact,
        id=one.id,
        has_turns=bool(one.first),
        expanded=one.is_expanded,
        whole=one.is_whole,
        quotes=one.pointer.digest,
    )


def draft_row(draft: ScopeDraft, seen: Mapping[str, Seen]) -> ScopeRow | None:
    word = word_view(word_of_scope(draft.state, draft.artifact, seen))
    if word is None and draft.state not in TO_BE_DRAFTED:
        return None
    span = span_said(draft.turns[0], draft.turns[-1])
    quotes = draft.artifact in seen and seen[draft.artifact].quotes
    about: dict[str, Any] = {"artifact": draft.artifact, "draft": draft.pk, "why": draft.why, "quotes": quotes}
    soon = {"words": "Being summarised", "icon": "wait"}
    said = {"words": word.text, "icon": word.icon, "word": word} if word else soon
    return ScopeRow(span=span, state=draft.state, **said, **about)


# The log


@dataclass(frozen=True, kw_only=True)
class CoverView:
    """The summary of chosen turns that stands for a turn."""

    artifact: str
    words: str


def covers_of(branch: Branch, turns: Iterable[Any]) -> dict[int, CoverView]:
    """By the id of the turn."""
    rows = PointerTurn.objects.filter(branch=branch, active=True, pointer__effort=None, turn__in=turns)
    return {
        row.turn_id: CoverView(artifact=row.pointer.artifact, words=where_it_is(row.pointer))
        for row in rows.select_related("pointer")
    }


def where_it_is(pointer: ContextPointer) -> str:
    if pointer.expanded_turn is not None:
        return "Summarised, expanded in the prompt"
    if pointer.evicted_clock is not None:
        return "Summarised, found by search only"
    if pointer.digest:
        return "In the prompt as excerpts"
    return "In the prompt as a short version" if pointer.shortened_clock is not None else "In the prompt as a summary"
