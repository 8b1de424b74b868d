"""How a summary stands, as every page says it: in one of six words, and who has read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from efforts.context.presence import Presence, presence_of_effort
from efforts.domain.effort.states import ScopeState, SummaryState
from efforts.models import EffortState
from efforts.standins.seen import Seen, Word

LOOKS = {
    Word.STANDS: ("ok", "concluded"),
    Word.WAITS: ("warn", "wait"),
    Word.NOT_CHECKED: ("warn", "alert"),
    Word.BLOCKED: ("bad", "cross"),
    Word.ROLLED_BACK: ("warn", "undo"),
    Word.ENDED: ("", "open"),
}


# Of a draft beside excerpts that stand, where its gates have nothing to say against it.
BESIDE = {
    Word.WAITS: "The draft passes every gate. Accept it on its review page, and it replaces the excerpts.",
    Word.NOT_CHECKED: "Not every gate could judge the draft. On its review page you can accept it unchecked.",
}


# Of what is in use while the prompt has something else for the time being.
NOW = {
    Presence.FULL: "In use, expanded now",
    Presence.EXPANDED: "In use, expanded now",
    Presence.LEFT: "In use, not in the prompt now",
}


@dataclass(frozen=True, kw_only=True)
class WordView:
    """`css` and `icon` only say the word again."""

    word: Word
    # Excerpts, which nobody has checked: they must not look as a summary that was checked does.
    quotes: bool = False
    # Of what is in use.
    presence: Presence | None = None

    @property
    def text(self) -> str:
        return NOW.get(self.presence, str(self.word)) if self.presence else str(self.word)

    @property
    def css(self) -> str:
        return "quotes" if self.quotes else LOOKS[self.word][0]

    @property
    def icon(self) -> str:
        return "fold" if self.quotes else LOOKS[self.word][1]


def word_view(word: Word | None, *, quotes: bool = False, presence: Presence | None = None) -> WordView | None:
    return WordView(word=word, quotes=quotes, presence=presence) if word else None


def view_of_effort(state: EffortState, seen: Mapping[str, Seen]) -> WordView | None:
    word = word_of_effort(state, seen)
    quotes = word == Word.STANDS and state.summary == SummaryState.DIGEST
    return word_view(word, quotes=quotes, presence=presence_of_effort(state) if word == Word.STANDS else None)


def word_of_effort(state: EffortState, seen: Mapping[str, Seen]) -> Word | None:
    """Of a concluded effort's summary; None where there is none to tell of. Beside excerpts it is the draft's word,
    where one waits."""
    draft = seen.get(state.artifact)
    match SummaryState(state.summary):
        case SummaryState.STANDS:
            return Word.STANDS
        case SummaryState.DIGEST:
            return draft.word if draft else Word.STANDS
        case SummaryState.WAITING:
            return draft.word if draft else Word.WAITS
        case SummaryState.ROLLED_BACK:
            return Word.ROLLED_BACK
        case SummaryState.FAILED:
            # Where no draft was made, nothing was found wrong with one.
            return Word.BLOCKED if state.artifact else Word.WAITS
    return None


def draft_of_effort(state: EffortState, seen: Mapping[str, Seen]) -> str:
    """What is told of a draft, or why there is none."""
    draft = seen.get(state.artifact)
    beside = state.summary == SummaryState.DIGEST and draft is not None and not state.draft
    return BESIDE.get(draft.word, "") if beside and draft else state.draft


def word_of_scope(state: str, artifact: str, seen: Mapping[str, Seen]) -> Word | None:
    """Of chosen turns that were drafted; None where they are on their way, or were stopped."""
    draft = seen.get(artifact)
    if state == ScopeState.READY:
        return draft.word if draft else Word.WAITS
    if state == ScopeState.FAILED:
        # Where no draft was made, nothing was found wrong with one.
        return Word.BLOCKED if artifact else Word.WAITS
    return None
