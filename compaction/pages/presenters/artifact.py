"""One artifact as its page shows it: what it says, where each claim comes from, and what readers and gates found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from django.contrib.auth.models import User

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Kind, parse_artifact
from compaction.domain.digest import digest_limit
from compaction.domain.editing import edited
from compaction.domain.lifecycle import ArtifactState, Ended
from compaction.domain.rendering import Rendered, rendered
from compaction.domain.verdicts import Gate
from compaction.drafting.reading import checked_of, log_for, read_ledger
from compaction.drafting.storing import inputs_of
from compaction.models import Artifact, Check, GateRun, Recheck
from compaction.pages.presenters.claims import Claims, Quotes, claims_of, quotes_of
from compaction.pages.presenters.gates import GateView, gates_of, of_excerpts
from compaction.pages.presenters.source import SourceView, key_of, source_view
from compaction.pages.presenters.verdicts import ConflictView, Verdicts, conflicts_on, verdicts_on
from compaction.pages.presenters.words import StateView, state_of
from compaction.review.omissions import Dropped, dropped
from compaction.standing.blockers import is_unchecked
from compaction.standing.history import accepted_by_people
from compaction.standing.presence import Presence, presence_of
from efforts.domain.effort.states import PointerState, ScopeState, SummaryState
from efforts.domain.text.source_text import Source
from efforts.models import ContextPointer, EffortState, Event, ScopeDraft
from efforts.turns.recording import count

ENDS = {
    Ended.DRAFTED: "Drafted",
    Ended.EMPTY: "The model answered with nothing",
    Ended.UNPARSEABLE: "The answer was not the form that was asked for",
    Ended.TRUNCATED: "The answer was cut off",
    Ended.REFUSED: "The model refused",
    Ended.TIMEOUT: "It took too long",
    Ended.FAULT: "The model could not be asked",
    Ended.OVER_CAP: "It cost more than it may",
    Ended.OVERTAKEN: "Its turns had changed meanwhile, or it was stopped",
}


@dataclass(frozen=True, kw_only=True)
class DroppedView:
    """`place` is the part of the log that says it; `added`: it is a claim of the reviewer's next version."""

    entry: Dropped
    place: str
    added: bool


@dataclass(frozen=True, kw_only=True)
class EvidenceView:
    """What the log mentions; `sent`: the text that the model is sent has it too, `told`: its full text."""

    type: str
    value: str
    turn: int | None
    sent: bool
    told: bool


@dataclass(frozen=True, kw_only=True)
class ArtifactView:
    """Of a current form. `stale`: the log, the ledger or the rules have changed since it was judged. `person`: what the
    one who talks with the model is called.
    """

    row: Artifact
    document: Document
    claims: Claims
    verdicts: Verdicts
    log: Source
    person: str
    judged: GateRun | None
    versions: tuple[Artifact, ...]
    pointer: ContextPointer | None
    stands_unchecked: bool
    is_owner: bool
    is_own_version: bool
    # Of what has stood: a person said yes to it, and it is not in use by itself.
    is_accepted: bool

    # Read where they are shown: the answer to one verdict shows none of them.

    @cached_property
    def dropped(self) -> tuple[DroppedView, ...]:
        return tuple(dropped_view(one, self.log, self.verdicts) for one in dropped(self.row))

    @cached_property
    def conflicts(self) -> tuple[ConflictView, ...]:
        return conflicts_on(self.row, self.claims)

    @cached_property
    def checks(self) -> list[Check]:
        """Of all its versions, oldest first."""
        of_family = Check.objects.filter(family=self.row.family)
        return list(of_family.select_related("run__session").order_by("pk"))

    @cached_property
    def recheck(self) -> Recheck | None:
        """Of what a person has worded, by the checker."""
        return Recheck.objects.filter(artifact=self.row).first()

    @cached_property
    def redrafting(self) -> bool:
        return is_redrafted(self.row, self.document)

    @cached_property
    def source(self) -> SourceView:
        return source_view(self.log, self.told.spans, self.told.ids, self.person)

    @property
    def told(self) -> Claims | Quotes:
        return self.excerpts if self.is_digest else self.claims

    @property
    def sentences(self) -> int:
        return len(self.log.by_sentence)

    @property
    def left_out(self) -> int:
        """Sentences of the log that no claim cites, or that are in no quote."""
        return self.sentences - len(self.told.spans)

    @cached_property
    def excerpts(self) -> Quotes:
        return quotes_of(self.document, self.log, self.person)

    @property
    def most_quoted(self) -> int:
        """Tokens that all quotes together may have."""
        return digest_limit(self.document.source.source_tokens)

    @cached_property
    def evidence(self) -> tuple[EvidenceView, ...]:
        return evidence_of(self.document, self.log, self.sent, self.texts.body)

    @property
    def evidence_sent(self) -> int:
        return sum(one.sent for one in self.evidence)

    @cached_property
    def gates(self) -> tuple[GateView, ...]:
        found = gates_of(self.judged, self.claims.numbers, self.row.set_aside.select_related("actor"))
        return of_excerpts(found) if self.is_digest else found

    @cached_property
    def stale(self) -> bool:
        return self.judged is not None and is_stale(self.row, self.log, self.judged)

    @property
    def title(self) -> str:
        return title_of(self.row)

    @property
    def is_digest(self) -> bool:
        return self.row.kind == Kind.DIGEST

    @property
    def stands(self) -> bool:
        return self.pointer is not None and self.pointer.state == PointerState.ACTIVE

    @property
    def state(self) -> StateView:
        return state_of(self)

    @cached_property
    def presence(self) -> Presence | None:
        """Whether the next prompt has it, where it stands."""
        return presence_of(self.pointer) if self.pointer and self.stands else None

    @cached_property
    def then(self) -> Document:
        """With what the reviewer has decided so far."""
        return edited(self.document, self.verdicts.decisions)

    @cached_property
    def texts(self) -> Rendered:
        """As they would stand with what the reviewer has decided so far."""
        return rendered(self.then, count=count)

    @property
    def first(self) -> str:
        """What of it the model is sent, or would be, while nothing of its turns is expanded."""
        shortened = self.pointer is not None and self.stands and self.pointer.shortened_clock is not None
        return self.texts.short if shortened else self.texts.standing

    @property
    def sent(self) -> str:
        return self.texts.body if self.presence == Presence.FULL else self.first

    @cached_property
    def kept_back(self) -> frozenset[str]:
        """Ids of the claims that are not sent then: only its full text has them."""
        if self.sent == self.texts.body:
            return frozenset()
        return frozenset(claim.id for claim in self.then.claims) - {*self.then.short}

    @property
    def check(self) -> Check | None:
        """The newest."""
        return self.checks[-1] if self.checks else None

    @property
    def is_turned_down(self) -> bool:
        """By a person: what the gates reject has a tag."""
        return self.row.state == ArtifactState.REJECTED and not (self.judged and self.judged.tags)

    @property
    def turned_down(self) -> Event | None:
        """By whom and why."""
        if not self.is_turned_down:
            return None
        told = Event.objects.filter(session=self.row.session_id, kind="review.rejected", data__artifact=self.row.pk)
        return told.select_related("actor").order_by("-seq").first()

    @property
    def newest(self) -> Artifact:
        return self.versions[-1]

    @property
    def is_newest(self) -> bool:
        return self.newest.pk == self.row.pk

    @property
    def can_decide(self) -> bool:
        """Excerpts claim nothing, and of an older version a newer one was made."""
        return self.is_newest and not self.is_digest

    @property
    def is_done_with(self) -> bool:
        """The person has said all that they have to say of it for now: the next one can be looked at."""
        said = self.stands or self.is_turned_down or self.is_own_version or self.verdicts.submitted
        return bool(said) and not self.verdicts.drafts

    @property
    def is_listed(self) -> bool:
        """Whether there is anything that gate C compares it with."""
        retention = next((gate for gate in self.gates if gate.letter == Gate.RETENTION), None)
        return bool(self.dropped) or any(one.is_counted for one in (retention.measures if retention else ()))

    @property
    def reader(self) -> str:
        """Whose list of the log gate C has beside the person's own."""
        one = self.check
        if one is None or one.void:
            return ""
        return f"{one.model}, which also drafted it" if one.model == self.row.run.model else one.model

    @property
    def missed(self) -> int:
        return sum(not one.entry.not_needed for one in self.dropped)

    @property
    def before(self) -> Artifact | None:
        """The version that it can be compared with."""
        return next((one for one in reversed(self.versions) if one.version < self.row.version), None)

    @property
    def drafted_by(self) -> str:
        if self.row.edited_by:
            return self.row.edited_by.get_username()
        return self.row.run.model


def title_of(row: Artifact) -> str:
    span = row.span if row.source_start else str(row.session)
    name = row.effort.name if row.effort else span
    return f"Excerpts of {name}" if row.kind == Kind.DIGEST else f"Summary of {name}"


def artifact_view(row: Artifact, user: User) -> ArtifactView:
    document = parse_artifact(row.document)
    judged = row.gate_runs.order_by("-pk").first()
    source = log_for(row, document).source
    check, _ = checked_of(row, document, source)
    verdicts = verdicts_on(row, user)
    is_owner = row.session.owner_id == user.pk
    pointer = ContextPointer.objects.filter(branch=row.branch, artifact=row.pk).order_by("-pk").first()
    person = "you" if is_owner else row.session.owner.get_username()
    claims = claims_of(document, source, check, verdicts, person)
    return ArtifactView(
        row=row,
        document=document,
        claims=claims,
        verdicts=verdicts,
        log=source,
        person=person,
        judged=judged,
        versions=tuple(Artifact.objects.filter(family=row.family).order_by("version")),
        pointer=pointer,
        stands_unchecked=is_unchecked(row, pointer),
        is_owner=is_owner,
        is_own_version=row.edited_by_id == user.pk,
        is_accepted=pointer is not None and pointer.pk in accepted_by_people([pointer.pk]),
    )


def dropped_view(entry: Dropped, source: Source, verdicts: Verdicts) -> DroppedView:
    said = next((source.by_sentence[id] for id in entry.claim.cites if id in source.by_sentence), None)
    return DroppedView(entry=entry, place=key_of(said) if said else "", added=entry.claim.id in verdicts.mine)


def evidence_of(document: Document, source: Source, sent: str, body: str) -> tuple[EvidenceView, ...]:
    return tuple(
        EvidenceView(
            type=one.type,
            value=one.value,
            turn=source.part_of(one.cite).turn if one.cite in source.by_sentence else None,
            sent=is_told(one.value, sent),
            told=is_told(one.value, body),
        )
        for one in document.evidence
    )


def is_told(value: str, text: str) -> bool:
    """Whether the text has it, and not as a part of a longer word or number."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def is_redrafted(row: Artifact, document: Document) -> bool:
    """Whether another draft of the same turns is on its way."""
    if row.effort_id:
        efforts = EffortState.objects.filter(branch=row.branch_id, effort=row.effort_id)
        return efforts.filter(summary__in=[SummaryState.DUE, SummaryState.DRAFTING]).exists()
    scopes = ScopeDraft.objects.filter(branch=row.branch_id, turns=list(document.source.turns))
    return scopes.filter(state__in=[ScopeState.DUE, ScopeState.DRAFTING]).exists()


def is_stale(row: Artifact, source: Source, judged: GateRun) -> bool:
    return bool(judged.inputs != inputs_of(source, read_ledger(row.session, source)))
