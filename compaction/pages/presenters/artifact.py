"""One artifact as its page shows it: what it says, where each claim comes from, and what readers and gates found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from django.contrib.auth.models import User

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Kind, parse_artifact
from compaction.domain.check.result import Checked
from compaction.domain.digest import digest_limit
from compaction.domain.editing import edited
from compaction.domain.lifecycle import ArtifactState, Ended
from compaction.domain.rendering import Rendered, rendered
from compaction.domain.verdicts import Gate
from compaction.drafting.reading import checked_of, families_of, stage_rows, written_by
from compaction.drafting.storing import inputs_of
from compaction.models import Artifact, Check, GateRun, Recheck, SetAside
from compaction.pages.presenters.claims import (
    Claims,
    Quotes,
    Verdicts,
    claims_of,
    quotes_of,
    verdicts_on,
)
from compaction.pages.presenters.gates import RECORDED, GateView, gates_of, readers_of, unread
from compaction.pages.presenters.source import SourceView, key_of, labels_of, source_view
from compaction.pages.presenters.states import StateView, state_of
from compaction.review.claims import Dropped, dropped_from
from compaction.review.submitting import Conflict, conflicts
from compaction.standing.blockers import ArtifactStanding
from compaction.standing.history import accepted_by_people
from efforts.context.holds import leaves_in, rows_of
from efforts.context.presence import Presence
from efforts.context.recollections import recalled_from
from efforts.domain.effort.notices import STARTED_FROM
from efforts.domain.effort.states import (
    TO_BE_DRAFTED,
    HoldState,
    PointerMoveKind,
    PointerState,
    SummaryState,
)
from efforts.domain.prompt.layers import runs_of, span_within
from efforts.domain.text.source_text import Source
from efforts.models import Branch, EffortState, Event, PointerMove, ScopeDraft
from efforts.templatetags.look import has_drafter
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


# Of what is left out: who said it.
MESSAGES, REPLIES = "In messages", "In replies and tool results"
# So many sentences that were left out are listed.
MOST_LEFT_OUT = 300
# Of what a verdict was judged by, as the page calls it.
JUDGED_BY = {
    "source": "the log",
    "ledger": "the list of decisions, to-dos and rules",
    "policy": "the rules of the gates",
    "evaluator": "the rules of the gates",
}
# Whether the claims have to be decided, beside how many are.
OPTIONAL_IN_USE = "optional, as it is in use already"
OPTIONAL = "you need not decide all of them"
NEED_OF_VERDICTS = {
    ArtifactState.REPLACEABLE: "optional, as it passes every gate",
    ArtifactState.UNCHECKED: "optional: what you keep or edit and submit counts as read by you",
}


@dataclass(frozen=True, kw_only=True)
class EvidenceView:
    """What the log mentions; `sent`: the text that the model is sent has it too, `told`: its full text."""

    type: str
    value: str
    turn: int | None
    sent: bool
    told: bool


@dataclass(frozen=True, kw_only=True)
class LeftOutSentence:
    """`label` as pages call it, `place` the part of the log that has it."""

    label: str
    place: str
    text: str


class ArtifactView(ArtifactStanding):
    """Of a current form, in its own branch."""

    @cached_property
    def document(self) -> Document:
        return parse_artifact(self.row.document)

    @cached_property
    def log(self) -> Source:
        """Of what went on since, it shows what it was made of."""
        turns, source = set(self.turns), self.basis.source
        return source.between(turns) if turns and not self.is_seed else source

    @cached_property
    def check_found(self) -> Checked | None:
        """What was found over that log."""
        return checked_of(self.row, self.document, self.log)[0]

    @cached_property
    def verdicts(self) -> Verdicts:
        return verdicts_on(self.row, self.user)

    @cached_property
    def set_aside(self) -> list[SetAside]:
        return list(self.row.set_aside.select_related("actor"))

    @cached_property
    def claims(self) -> Claims:
        aside = {one.finding: one for one in self.set_aside}
        return claims_of(self.document, self.log, self.check_found, self.verdicts, self.person, aside)

    @property
    def is_owner(self) -> bool:
        return self.row.session.owner_id == self.user.pk

    @property
    def person(self) -> str:
        """What the one who talks with the model is called."""
        return "you" if self.is_owner else self.row.session.owner.get_username()

    @cached_property
    def judged(self) -> GateRun | None:
        return self.row.last_judged

    @cached_property
    def versions(self) -> list[Artifact]:
        return list(Artifact.objects.filter(family=self.row.family).select_related("run").order_by("version"))

    @cached_property
    def agreed(self) -> list[bool]:
        """Whether a person said yes to what it stands by here, after what was rolled back before and is used again."""
        here = [one for one in self.pointers if one.branch_id == self.branch.pk]
        first = max(len(here) - 1, 0)
        while first and here[first - 1].state == PointerState.ROLLED_BACK:
            first -= 1
        by_people = accepted_by_people([one.pk for one in here])
        return [one.pk in by_people for one in here[first:]]

    @property
    def is_accepted(self) -> bool:
        """A person said yes to it at first too, and it is not in use by itself."""
        return bool(self.agreed) and self.agreed[0] and self.agreed[-1]

    @property
    def is_used_again(self) -> bool:
        """Which says nothing of having been read."""
        return len(self.agreed) > 1 and self.agreed[-1]

    @cached_property
    def changed(self) -> tuple[str, ...]:
        """What of all that it was judged by is another now."""
        if self.judged is None:
            return ()
        now, was = inputs_of(self.basis.source, self.basis.entries), self.judged.inputs
        return tuple(dict.fromkeys(name for key, name in JUDGED_BY.items() if now[key] != was.get(key)))

    @cached_property
    def dropped(self) -> list[tuple[Dropped, str, bool]]:
        """Each with the part of the log that says it, and whether it is a claim of the reviewer's next version."""
        check, now = self.check_found, self.basis.source
        if now.sha256 != self.log.sha256:
            check, _ = checked_of(self.row, self.document, now)
        found = dropped_from(self.row, self.document, self.basis, check)
        return [(one, place_of(one, self.log), one.claim.id in self.verdicts.mine) for one in found]

    @cached_property
    def conflicts(self) -> list[tuple[Conflict, int | None]]:
        """Each with the number of its claim on the page, None where this version has none."""
        return [(one, self.claims.numbers.get(one.item)) for one in conflicts(self.row)]

    @cached_property
    def families(self) -> list[str]:
        return families_of(self.row)

    @cached_property
    def checks(self) -> list[Check]:
        """Of all its versions, oldest first; of what is put together, of its stages too."""
        of_family = Check.objects.filter(family__in=self.families)
        return list(of_family.select_related("run__session").order_by("pk"))

    @cached_property
    def recheck(self) -> Recheck | None:
        """Of what a person has worded, by the checker."""
        return Recheck.objects.filter(artifact=self.row).first()

    @property
    def drafter(self) -> bool:
        """Whether a model would draft it anew; a reviewer is not told what the owner has connected."""
        return not self.is_owner or has_drafter(self.row.session)

    @cached_property
    def recalled(self) -> tuple[int, ...]:
        """The turns in whose prompt layers passages of its log stand, for whose messages they were recalled."""
        return tuple(sorted(recalled_from(self.row.branch, self.document.source.turns)))

    @cached_property
    def drops_out_after(self) -> int | None:
        """So many turns that do not mention its effort take it out of the prompt; None where it stays."""
        if self.row.effort_id is None or self.presence != Presence.SENT:
            return None
        state = EffortState.objects.filter(branch=self.row.branch, effort=self.row.effort_id).first()
        pinned = rows_of(self.row.branch, HoldState.STANDING).filter(effort=self.row.effort_id).exists()
        return None if state is None or pinned else leaves_in(self.row.branch, state)

    @property
    def recalled_span(self) -> str:
        return span_within(runs_of(self.recalled))

    @cached_property
    def redrafting(self) -> bool:
        """Whether another draft of the same turns is on its way."""
        if self.row.effort_id:
            efforts = EffortState.objects.filter(branch=self.row.branch_id, effort=self.row.effort_id)
            return efforts.filter(summary__in=[SummaryState.DUE, SummaryState.DRAFTING]).exists()
        scopes = ScopeDraft.objects.filter(branch=self.row.branch_id, turns=self.turns)
        return scopes.filter(state__in=TO_BE_DRAFTED).exists()

    @cached_property
    def source(self) -> SourceView:
        return source_view(self.log, self.told.spans, self.told.ids, self.person, self.branches)

    @property
    def branches(self) -> dict[int, Branch]:
        """Of several conversations that it is made of, by their numbers."""
        rows = stage_rows(self.row.session) if self.is_seed else ()
        return {one.place: one.draft.branch for one in rows}

    @property
    def is_seed(self) -> bool:
        """It is what a conversation starts from, put together from others."""
        return self.row.kind == Kind.SEED

    @property
    def is_stage(self) -> bool:
        return self.row.kind == Kind.STAGE

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

    @property
    def left_out_unlisted(self) -> int:
        return max(self.left_out - MOST_LEFT_OUT, 0)

    @cached_property
    def left_out_by_part(self) -> list[tuple[str, list[LeftOutSentence]]]:
        """The same, each with its place in the log: first what people wrote, which matters most to them. Of a very long
        log only so many."""
        told = {span.sentence.id for span in self.told.spans}
        labels = labels_of(self.log)
        left = ((part, one) for part in self.log.parts for one in part.sentences if one.id not in told)
        found: dict[str, list[LeftOutSentence]] = {MESSAGES: [], REPLIES: []}
        for part, one in islice(sorted(left, key=lambda pair: pair[0].role != "user"), MOST_LEFT_OUT):
            said = LeftOutSentence(label=labels[one.id], place=key_of(one), text=without_fences(one.text))
            found[MESSAGES if part.role == "user" else REPLIES].append(said)
        return [(title, all) for title, all in found.items() if all]

    @property
    def a_cite(self) -> str:
        """The first place in the log that a claim names, for an example."""
        return next((span.label for claim in self.claims.all for span in claim.spans), "")

    @cached_property
    def excerpts(self) -> Quotes:
        return quotes_of(self.document, self.log, self.person)

    @property
    def most_quoted(self) -> int:
        """Tokens that all quotes together may have."""
        return digest_limit(self.document.source.source_tokens)

    @cached_property
    def evidence(self) -> list[EvidenceView]:
        return [
            EvidenceView(
                type=one.type,
                value=one.value,
                turn=next((part.turn for part in self.log.parts if is_told(one.value, part.text)), None),
                sent=is_told(one.value, self.sent),
                told=is_told(one.value, self.texts.body),
            )
            for one in self.document.evidence
        ]

    @property
    def evidence_sent(self) -> int:
        return sum(one.sent for one in self.evidence)

    @cached_property
    def gates(self) -> tuple[GateView, ...]:
        return gates_of(self.row, self.judged, self.unread, self.claims.numbers, self.set_aside)

    @property
    def unread(self) -> str:
        """What its gates say in place of a pass that nobody has read for."""
        return unread(self.checks, self.readers)

    @property
    def stale(self) -> bool:
        return bool(self.changed)

    @cached_property
    def rolled_back(self) -> PointerMove | None:
        """When it last left the prompt so, and by whom."""
        moves = PointerMove.objects.filter(pointer=self.pointer, kind=PointerMoveKind.ROLLED_BACK)
        return moves.select_related("actor").order_by("-pk").first()

    @property
    def title(self) -> str:
        return title_of(self.row)

    @property
    def is_digest(self) -> bool:
        return self.row.kind == Kind.DIGEST

    @cached_property
    def state(self) -> StateView:
        return state_of(self)

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
    def is_out(self) -> bool:
        """Whether neither it nor anything else stands in the prompt for its turns, nor their log."""
        if self.stands:
            return self.presence == Presence.LEFT
        return not self.place.instead and not self.place.log

    @property
    def has_log(self) -> bool:
        """Whether the prompt has the log of all its turns."""
        return self.presence == Presence.EXPANDED or not (self.stands or self.place.instead or not self.place.log)

    @property
    def claims_sent(self) -> int:
        return len(self.then.claims) - len(self.kept_back)

    @property
    def pinned_span(self) -> str:
        return span_within(runs_of(self.pinned))

    @property
    def check(self) -> Check | None:
        """The newest."""
        return self.checks[-1] if self.checks else None

    @property
    def uncounted(self) -> list[Check]:
        """Earlier attempts at the check that counts, which prove nothing."""
        last = self.check
        return [one for one in self.checks if one.void and one.run_id == last.run_id] if last and not last.void else []

    @property
    def is_its_authors(self) -> bool:
        """What stands or waits is checked by nobody but the model that wrote it, and no person has said yes to it."""
        return self.check is not None and self.check.model == self.written_by and not self.is_accepted

    @cached_property
    def is_turned_down(self) -> bool:
        return self.row.is_turned_down

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
    def need_of_verdicts(self) -> str:
        """Whether its claims have to be decided, which most do not."""
        if self.stands:
            return OPTIONAL_IN_USE
        if self.stale or self.is_turned_down or self.pointer or self.unread == RECORDED:
            return OPTIONAL
        return NEED_OF_VERDICTS.get(ArtifactState(self.row.state), OPTIONAL)

    @property
    def is_done_with(self) -> bool:
        """The person has said all that they have to say of it for now: the next one can be looked at."""
        is_own = self.row.edited_by_id == self.user.pk
        said = self.pointer or self.is_turned_down or is_own or self.verdicts.submitted
        return bool(said) and not self.verdicts.drafts

    @property
    def is_listed(self) -> bool:
        """Whether there is anything that gate C compares it with."""
        retention = next((gate for gate in self.gates if gate.letter == Gate.RETENTION), None)
        return bool(self.dropped) or any(one.is_counted for one in (retention.measures if retention else ()))

    @cached_property
    def readers(self) -> tuple[str, ...]:
        """People who have read every claim of it beside its sentences."""
        return readers_of([claim.opinions for claim in self.claims.all])

    @property
    def reader(self) -> str:
        """Whose list of the log gate C has beside the person's own."""
        one = self.check
        if one is None or one.void:
            return ""
        return f"{one.model}, which also drafted it" if one.model == self.written_by else one.model

    @property
    def missed(self) -> int:
        return sum(not entry.not_needed for entry, *_ in self.dropped)

    @property
    def before(self) -> Artifact | None:
        """The version that it can be compared with."""
        return next((one for one in reversed(self.versions) if one.version < self.row.version), None)

    @cached_property
    def written_by(self) -> str:
        """The model that most of it is by, whoever has edited it since; empty where none is."""
        return written_by(self.families[1:]) if self.is_seed else self.versions[0].run.model

    @property
    def drafted_by(self) -> str:
        if self.row.edited_by:
            return self.row.edited_by.get_username()
        return self.row.run.model


def title_of(row: Artifact) -> str:
    if row.kind == Kind.SEED:
        return STARTED_FROM.capitalize()
    span = row.span if row.source_start else str(row.session)
    name = row.effort.name if row.effort else span
    return f"Excerpts of {name}" if row.kind == Kind.DIGEST else f"Summary of {name}"


def artifact_view(row: Artifact, user: User) -> ArtifactView:
    return ArtifactView(row=row, user=user, branch=row.branch)


def place_of(entry: Dropped, source: Source) -> str:
    said = next((source.by_sentence[id] for id in entry.claim.cites if id in source.by_sentence), None)
    return key_of(said) if said else ""


def without_fences(text: str) -> str:
    """A sentence of a list needs no marks of where code begins; a mark alone stays, for want of words."""
    words = " ".join(text.split())
    return re.sub(r"`{3,}\w*", "", words).strip() or words


def is_told(value: str, text: str) -> bool:
    """Whether the text has it, and not as a part of a longer word or number."""
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text) is not None


def drafted_of(row: Artifact) -> tuple[Artifact, str]:
    """What came of asking for another draft of the same turns: the draft, or excerpts, and what is said of it."""
    made = Artifact.objects.filter(branch=row.branch, effort=row.effort, source_start=row.source_start)
    made = made.filter(source_end=row.source_end) if row.effort is None else made
    state = EffortState.objects.filter(branch=row.branch, effort=row.effort_id).first() if row.effort_id else None
    return made.latest("created_at", "pk"), state.draft if state else ""
