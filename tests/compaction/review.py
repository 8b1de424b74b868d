"""A piece of work whose summary is what a test says: drafted and checked over a provider, judged by the product.

room = room_of(alice, provider)             # `provider` is a fixture of tests.turns.conftest
room.texts["backups"] = "Backups are weekly."
artifact = room.draft()                     # concluded by the person, drafted, checked, judged, settled

after = STATES["waits"](room_of(alice, provider))   # or straight to a state; the draft, or what stands without one
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import User
from django.db import connection

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Claim, parse_artifact
from compaction.drafting.examining import papers
from compaction.drafting.prompts import check_version
from compaction.models import Artifact, Exam, GateRun
from efforts import actions
from efforts.domain.effort.states import EntryKind, ReviewMode
from efforts.models import ContextPointer, EffortState, Endpoint, Message, ScopeDraft
from efforts.models.threads import run_here
from efforts.turns.drafts import Line, claim_from, draft_and_settle
from efforts.turns.scopes import SCOPES
from efforts.turns.summaries import SUMMARIES
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider
from tests.fakes.summariser import Summariser

SLUG = "storage"
MODEL = "drafter-1"
POSTGRES = "We decided on Postgres for the storage of orders."
BACKUPS = "We also decided on nightly backups to the second site."
MOVE = "Still to do: move the old orders over before the launch."
TESTS = "The tests are in tests/orders/test_load.py and took 340 ms."
HEADLINE = "Orders are stored in Postgres, with nightly backups."
RESULT = "Postgres it is, with one table for each year and nightly backups of all of them."
# By their ids: section, the words of the sentence that it cites, and what it says.
CLAIMS: dict[str, tuple[str, str, str]] = {
    "result": ("result", RESULT, HEADLINE),
    "postgres": ("decision", POSTGRES, "Postgres is decided for the storage of orders."),
    "backups": ("decision", BACKUPS, "Nightly backups to the second site are decided."),
    "move": ("open_work", MOVE, "Move the old orders over before the launch."),
}
KINDS = ("tables", "indexes", "columns", "triggers", "views", "schemas")


def aside(number: int) -> str:
    """Talk that no summary needs, said once."""
    return " ".join(
        f"On the way I looked at {30 * number + step} {kind} of the old shop and wrote down how they are read today."
        for step, kind in enumerate(KINDS)
    )


SAID = (
    (f"{POSTGRES} {aside(1)}", f"{RESULT} {aside(2)}"),
    (f"{BACKUPS} {aside(3)}", f"Noted, to the second site and not to the first one. {aside(4)}"),
    (f"{MOVE} {aside(5)}", f"I will keep that on the list. {TESTS} {aside(6)}"),
)


@dataclass
class Room:
    """`claims` are the ids of those that the draft has, `texts` other words for some, `model` who drafts and checks."""

    talk: Talk
    provider: FakeProvider
    model: Summariser = field(default_factory=Summariser)
    claims: Sequence[str] = tuple(CLAIMS)
    texts: dict[str, str] = field(default_factory=dict)

    # Steps

    def draft(self) -> Artifact:
        """The person concludes it; what was drafted then."""
        self.close()
        return self.summarise()

    def close(self) -> None:
        actions.close_effort(self.talk.place, SLUG)

    def close_by_model(self, said: str = "") -> None:
        """In a turn of its own; with `said` in the person's words, which are all of that message."""
        lease = self.talk.begin(said or "The storage of orders is as I want it now.")
        self.talk.call(lease, "close_effort", id=SLUG, said=said)
        self.talk.finish(lease, f"It is concluded. {aside(7)}")

    def summarise(self) -> Artifact:
        """As a runner does it with all that is due; the draft, or the digest where nothing was drafted."""
        return self.work(SUMMARIES)

    def choose(self, first: int = 1, last: int = 3) -> ScopeDraft:
        """Chosen turns, drafted."""
        asked = actions.compact_turns(self.talk.place, first, last)
        self.work(SCOPES)
        return ScopeDraft.objects.get(pk=asked.pk)

    def work(self, line: Line[Any]) -> Artifact:
        self.write_script()
        for job in claim_from([line], "tests:1:a", 9):
            run(draft_and_settle(job))
        made = Artifact.objects.filter(session=self.talk.session)
        return made.exclude(kind="digest").order_by("created_at").last() or made.latest("created_at")

    def write_script(self) -> None:
        self.model.script = []
        for id in self.claims:
            section, words, text = CLAIMS[id]
            self.model.writes(section, words, self.texts.get(id, text), id=id)

    # What there is

    @property
    def state(self) -> EffortState:
        return EffortState.objects.get(branch=self.talk.branch_id, effort__slug=SLUG)

    @property
    def standing(self) -> list[str]:
        """What stands in the prompt, text by text."""
        active = ContextPointer.objects.filter(branch=self.talk.branch_id, state="active").order_by("pk")
        return [pointer.body or pointer.text for pointer in active]

    def message(self, words: str) -> Message:
        return Message.objects.get(session=self.talk.session, text__contains=words)

    def note(self, kind: EntryKind, words: str, text: str = "") -> None:
        actions.note_entry(self.talk.place, self.message(words).pk, kind, text, words=words)


def room_of(
    owner: User,
    provider: FakeProvider,
    *,
    review: ReviewMode = ReviewMode.AUTOMATIC,
    exam: bool | None = True,
    **more: Any,
) -> Room:
    """An open effort in a conversation with a model. `exam`: the model has passed its exam, or failed it; None: it has
    taken none, and does so at the first draft."""
    endpoint = Endpoint.objects.create(
        owner=owner, name=f"fake {Endpoint.objects.count() + 1}", base_url=provider.url, model=MODEL, timeout_seconds=5
    )
    if exam is not None and not Exam.objects.filter(owner=owner, provider=provider.url).exists():
        examined(owner, provider, passed=exam)
    talk = Talk(actions.create_session(owner))
    talk.session.review_mode, talk.session.endpoint = review, endpoint
    talk.session.save(update_fields=["review_mode", "endpoint"])
    actions.open_effort(talk.place, SLUG)
    for said, reply in SAID:
        talk.ask(said, reply=reply)
    room = Room(talk, provider, **more)
    provider.otherwise = room.model
    return room


def examined(owner: User, provider: FakeProvider, *, passed: bool, model: str = MODEL) -> Exam:
    wrong = sum(len(paper.wrong) for paper in papers())
    true = sum(len(paper.notes) for paper in papers()) - wrong
    score = {"caught": wrong if passed else 0, "wrong": wrong, "doubted": 0, "true": true, "passed": passed}
    return Exam.objects.create(owner=owner, provider=provider.url, model=model, version=check_version(), **score)


def run(work: Any) -> None:
    """In the transaction of the test, where it has one; else as a runner would, on threads of its own."""
    if connection.in_atomic_block:
        run_here(work)
    else:
        with ThreadPoolExecutor(1) as other:
            other.submit(asyncio.run, work).result()


# States


def stands(room: Room) -> Artifact:
    return room.draft()


def waits(room: Room) -> Artifact:
    """The model concluded it on its own."""
    room.close_by_model()
    return room.summarise()


def reviewed(room: Room) -> Artifact:
    """The person reviews every summary."""
    room.talk.session.review_mode = ReviewMode.ALWAYS
    room.talk.session.save(update_fields=["review_mode"])
    return room.draft()


def fails(room: Room) -> Artifact:
    """The checker finds a claim wrong, and the drafter holds to it; the digest stands."""
    room.model.doubts("Nightly backups to the second site", "contradicted", phrase="Nightly")
    return room.draft()


def loses(room: Room) -> Artifact:
    """No claim tells one of the decisions; the digest stands."""
    room.claims = [id for id in room.claims if id != "backups"]
    room.model.lists("decision", BACKUPS)
    return room.draft()


def unchecked(room: Room) -> Artifact:
    """The model has failed its exam, so nobody has checked it; the digest stands."""
    Exam.objects.filter(owner=room.talk.session.owner).delete()
    examined(room.talk.session.owner, room.provider, passed=False)
    return room.draft()


def void(room: Room) -> Artifact:
    """The checker finds everything true; the digest stands."""
    room.model.asleep = True
    return room.draft()


def no_draft(room: Room) -> Artifact:
    """What the model answers is none; the digest stands, and there is nothing beside it."""
    room.model.answers = {"draft": ["Here is what I found."], "repair": ["All is well."]}
    return room.draft()


def no_model(room: Room) -> Artifact:
    """The digest stands."""
    room.talk.session.endpoint = None
    room.talk.session.save(update_fields=["endpoint"])
    return room.draft()


def chosen(room: Room) -> Artifact:
    """The summary of chosen turns waits for a review."""
    return Artifact.objects.get(pk=room.choose().artifact)


def chosen_digest(room: Room) -> Artifact:
    """Excerpts of chosen turns wait for a review, as no model drafts."""
    room.talk.session.endpoint = None
    room.talk.session.save(update_fields=["endpoint"])
    return chosen(room)


STATES: dict[str, Callable[[Room], Artifact]] = {
    state.__name__.replace("_", " "): state
    for state in (
        stands,
        waits,
        reviewed,
        fails,
        loses,
        unchecked,
        void,
        no_draft,
        no_model,
        chosen,
        chosen_digest,
    )
}


# What came of it


def document_of(artifact: Artifact | None) -> Document:
    assert artifact is not None
    return parse_artifact(artifact.document)


def claim_of(artifact: Artifact | None, id: str) -> Claim:
    return document_of(artifact).by_id[id]


def told_by(artifact: Artifact | None) -> dict[str, str]:
    return {claim.id: claim.text for claim in document_of(artifact).claims}


def verdict_of(run: GateRun | None, gate: str) -> dict[str, Any]:
    assert run is not None
    found: dict[str, Any] = next(verdict for verdict in run.verdicts if verdict["gate"] == gate)
    return found


def outcomes(run: GateRun | None) -> dict[str, str]:
    """Of each gate pass, fail or not judged."""
    assert run is not None
    return {verdict["gate"]: verdict["outcome"] for verdict in run.verdicts}


def judged(artifact: Artifact | None) -> GateRun:
    assert artifact is not None
    return artifact.gate_runs.latest("pk")
