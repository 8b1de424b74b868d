"""Where a question's evidence lies in the data, and whether it stands in a request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.replay import Piece, Question, Talk

# Characters of a long message that must stand: a passage has about 600, and nobody knows in which the answer is.
ENOUGH = 400
QUOTE = re.compile(r"^(?:> ?)+", re.MULTILINE)

Target = frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Told:
    """The messages of a conversation by their ids: what each says, and in which of the data's sessions."""

    texts: Mapping[str, str]
    names: Mapping[str, str]
    sessions: Mapping[str, int]

    def targets(self, question: Question) -> list[Target]:
        """What is to be found: each message, of each span and each session any of its messages."""
        if question.evidence:
            return [frozenset({id}) for id in question.evidence]
        whole = [self.of_session(number) for number in question.sessions]
        return [target for target in (*question.spans, *whole) if target]

    def of_session(self, number: int) -> Target:
        return frozenset(id for id, its in self.sessions.items() if its == number)

    def session_targets(self, targets: Iterable[Target]) -> list[frozenset[int]]:
        return [frozenset({number}) for number in sorted({self.sessions[id] for target in targets for id in target})]

    @property
    def named(self) -> dict[str, str]:
        """What each says under its speaker's name, where the data names any."""
        return {id: f"{self.names[id]}{text}" for id, text in self.texts.items()}


def told_in(talk: Talk) -> Told:
    said = [
        (number, one)
        for number, session in zip(talk.numbers, talk.sessions, strict=True)
        for exchange in session
        for one in (exchange.user, *exchange.replies)
    ]
    every = [(number, one, piece) for number, one in said for piece in one.pieces]
    return Told(
        texts={piece.id: one.text[piece.start : piece.end] for _, one, piece in every},
        names={piece.id: one.text[: one.pieces[0].start] for _, one, piece in every},
        sessions={piece.id: number for number, _, piece in every},
    )


def pieces_in(pieces: Sequence[Piece], start: int, end: int) -> list[str]:
    """The messages of the data that a span of characters holds something of."""
    return [piece.id for piece in pieces if piece.start < end and piece.end > start]


def held(text: str, pieces: Sequence[Piece], start: int, end: int, sent: str) -> Iterator[str]:
    """The messages of the data that stand by a span of `text` that was sent: whole, or as much of a long one as will
    do. `sent`: what the request says, which must bear it out."""
    for piece in pieces:
        shown = text[max(piece.start, start) : min(piece.end, end)].strip()
        if shown and len(shown) >= min(len(text[piece.start : piece.end].strip()), ENOUGH) and flat(shown) in sent:
            yield piece.id


def sent_text(request: Mapping[str, Any]) -> str:
    """What a request says, without marks of quotation and on one line."""
    return flat("\n".join(str(message["content"]) for message in request["messages"]))


def flat(text: str) -> str:
    return " ".join(QUOTE.sub("", text).split())
