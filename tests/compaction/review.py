"""A concluded piece of work whose summary is what a test says, made without a model and judged by every gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.contrib.auth.models import User

from compaction import drafting
from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Draft, DraftItem, Quote, Section, Status, parse_artifact
from compaction.models import Artifact, GateRun
from efforts import actions, summaries
from efforts.domain.lifecycle import EntryKind, ReviewMode
from efforts.models import Message
from tests.efforts.talk import Talk

SLUG = "storage"
SAID = (
    ("We decided on Postgres for the storage of orders.", "Postgres it is, with one table for each year."),
    ("We also decided on nightly backups to the second site.", "Nightly backups to the second site, noted."),
    (
        "Still to do: move the old orders over before the launch.",
        "I will keep that on the list. The tests are in tests/orders/test_load.py and took 340 ms.",
    ),
)
POSTGRES = "We decided on Postgres for the storage of orders."
BACKUPS = "We also decided on nightly backups to the second site."
MOVE = "Still to do: move the old orders over before the launch."
HEADLINE = "Orders are stored in Postgres, with nightly backups to the second site."
CLAIMS: dict[str, tuple[Section, Status, str, str]] = {
    "postgres": (Section.DECISION, Status.ACCEPTED, "Postgres is decided for the storage of orders.", POSTGRES),
    "backups": (Section.DECISION, Status.ACCEPTED, "Nightly backups to the second site are decided.", BACKUPS),
    "move": (Section.OPEN_WORK, Status.OPEN, "Move the old orders over before the launch.", MOVE),
}


@dataclass
class Room:
    """`claims` are the ids of those that the draft has, `texts` other words for some, `quoted` mere quotations."""

    talk: Talk
    monkeypatch: pytest.MonkeyPatch
    claims: Sequence[str] = tuple(CLAIMS)
    texts: dict[str, str] = field(default_factory=dict)
    quoted: Sequence[str] = ()
    headline: str = HEADLINE

    def draft(self) -> Artifact:
        self.monkeypatch.setattr(drafting, "extract", lambda *args, **more: self.drafted())
        actions.close_effort(self.talk.place, SLUG)
        summaries.summarise_now(self.talk.state(SLUG))
        return Artifact.objects.exclude(kind="fallback").latest("created_at")

    def drafted(self) -> Draft:
        told = [self.item(id, *CLAIMS[id]) for id in self.claims]
        said = [self.item(f"x{number}", *SPOKEN, text, text) for number, text in enumerate(self.quoted)]
        return Draft(headline=self.headline, headline_items=tuple(self.claims), items=(*told, *said))

    def item(self, id: str, section: Section, status: Status, text: str, quote: str) -> DraftItem:
        return DraftItem(
            id=id,
            section=section,
            status=status,
            actor="user",
            text=self.texts.get(id, text),
            quotes=(Quote(message=self.message(quote).pk, quote=quote),),
        )

    def message(self, words: str) -> Message:
        return Message.objects.get(session=self.talk.session, text__contains=words)

    def note(self, kind: EntryKind, words: str, text: str = "") -> None:
        actions.note_entry(self.talk.place, self.message(words).pk, kind, text, words=words)


SPOKEN = (Section.FACT, Status.STATED)


def room_of(owner: User, monkeypatch: pytest.MonkeyPatch, **more: Any) -> Room:
    """A conversation in which every summary waits for review."""
    talk = Talk(actions.create_session(owner))
    talk.session.review_mode = ReviewMode.ALWAYS
    talk.session.save(update_fields=["review_mode"])
    actions.open_effort(talk.place, SLUG)
    for said, reply in SAID:
        talk.ask(said, reply=reply)
    return Room(talk, monkeypatch, **more)


def document_of(artifact: Artifact | None) -> Document:
    assert artifact is not None
    return parse_artifact(artifact.document)


def told_by(artifact: Artifact | None) -> dict[str, str]:
    return {item.id: item.text for item in document_of(artifact).items}


def verdict_of(run: GateRun | None, gate: str) -> dict[str, Any]:
    assert run is not None
    found: dict[str, Any] = next(verdict for verdict in run.verdicts if verdict["gate"] == gate)
    return found


def judged(artifact: Artifact | None) -> GateRun:
    assert artifact is not None
    return artifact.gate_runs.latest("pk")
