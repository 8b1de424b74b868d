"""What comes to stand in the prompt, and what goes: the one way forward for a pointer, and the one way back.

Each is one transaction under the lock of its branch. Views, the runner, the admin and tests all call these.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from compaction.domain.artifact import Artifact as Document
from compaction.domain.artifact import Kind, Malformed, parse_artifact
from compaction.domain.gates.judging import EVALUATOR_VERSION
from compaction.domain.lifecycle import ArtifactState
from compaction.domain.rendering import rendered
from compaction.drafting.reading import Basis, basis_of
from compaction.drafting.storing import inputs_of
from compaction.models import Acceptance, Artifact, GateRun
from compaction.standing.history import BY_A_PERSON
from efforts.actions.efforts import BUILTIN, summary_stands
from efforts.actions.places import Place, changing, record, slug_in, states_of
from efforts.actions.pointers import StandIn, all_ended, roll_back, set_pointer
from efforts.context.plans import PlanView, read_preview
from efforts.domain.effort.states import EffortStatus, PointerState, Via
from efforts.domain.errors import Refused
from efforts.domain.text.source_text import POLICY_VERSION
from efforts.models import Branch, ContextPointer, EffortState, Session
from efforts.turns.recording import count
from efforts.turns.summaries import NOT_JUDGED

if TYPE_CHECKING:
    from django.contrib.auth.models import User

REVIEW = "review"
LONGEST_REASON = 500

OTHER_SCOPE = "This summary is of {span} of another place than was named. Open it again from its page."
DAMAGED = "The stored summary is not what it was made as, so it cannot stand. Draft it again."
EARLIER = "This summary was made in an earlier form, which is not accepted any more. Have it drafted again."
STAGE = "This is one part of what a new conversation starts from. It stands there, with the others, and nowhere else."
NOT_PASSED = "Not every gate passes for this summary, so it cannot stand. Its page shows what is missing."
REJECTED_BY_PERSON = "This summary was rejected. “Judge again” takes it up once more."
UNCHECKED = "Nobody has checked this summary against its log. Accept it all the same, or have it checked."
OTHER_RULES = "The rules of the gates have changed since this summary was judged. Judge it again."
STALE = "The log or what you keep of it has changed since this summary was judged. Judge it again, or redraft it."
LARGER = "It makes the next prompt {more:,} tokens larger. Tick “Use it all the same” if you want that."
REOPENED = "{slug} is open, so nothing replaces its log. Conclude it first."
UNFINISHED = "A turn of {slug} has not ended, so no summary is of all that it has. Wait until it has."
NEVER_ACCEPTED = "This summary is not in use, so there is nothing to roll back."
NOT_STANDING = "This summary is no longer in use: it {how}. There is nothing to roll back."


def accept_compaction(
    artifact_id: str,
    source_session_id: UUID | str,
    source_start: int,
    source_end: int,
    *,
    actor: User | None,
    via: str = REVIEW,
    note: str = "",
    branch: Branch | None = None,
    unchecked: bool = False,
    larger: bool = True,
) -> ContextPointer:
    """Let the artifact's text stand for its turns (seed 004); what stood for them before is kept as previous.

    `source_start` and `source_end` are the numbers of its first and last turn; `branch` is another of the conversation
    that has the same turns, the artifact's own otherwise. `unchecked`: it may stand though some gates could not be
    judged, and is stored as such; `larger`: it may make the next prompt larger. Accepted twice it is one. Raises
    `Refused` where the scope is another, a gate fails, anything has changed since it was judged, or it shares only some
    turns with what stands; then nothing has changed.
    """
    artifact = found(artifact_id)
    if (str(artifact.session_id), artifact.source_start, artifact.source_end) != (
        str(source_session_id),
        source_start,
        source_end,
    ):
        raise Refused("scope", OTHER_SCOPE.format(span=artifact.span))
    with changing(Place(branch=branch or artifact.branch, turn=0, actor=actor)) as here:
        if standing := standing_pointer(here, artifact.pk):
            return standing
        before = next_prompt(here)
        accepted = let_stand(here, artifact_id, actor=actor, via=via, note=note, unchecked=unchecked)
        saved = saved_by(before, next_prompt(here))
        if not larger and saved is not None and saved < 0:
            raise Refused("larger", LARGER.format(more=-saved))
        accepted.saved = saved
        accepted.save(update_fields=["saved"])
        return accepted.pointer


def let_stand(
    here: Branch, artifact_id: str, *, actor: User | None, via: str = REVIEW, note: str = "", unchecked: bool = False
) -> Acceptance:
    """Under the lock of its branch, where it does not stand yet. What that saves is not known yet. Raises `Refused` as
    accepting does."""
    # Read again under the lock: it may have been judged since the caller's look.
    artifact = found(artifact_id)
    document = checked(artifact)
    basis = basis_of(artifact, document, here)
    judged = check_judged(artifact, basis, unchecked=unchecked or note == NOT_JUDGED)
    state = check_concluded(here, artifact)
    pointer = set_pointer(here, artifact.effort, basis.log, stand_in(artifact, document), actor=actor, via=via)
    accepted = Acceptance.objects.create(artifact=artifact, pointer=pointer, gate_run=judged, actor=actor, via=via)
    tell_accepted(here, artifact, pointer, state, actor, {"note": note, "accepted": via})
    return accepted


def next_prompt(branch: Branch) -> PlanView:
    return read_next_prompt(branch)()


def read_next_prompt(branch: Branch) -> Callable[[], PlanView]:
    """It is planned when what comes back is called, which needs no lock."""
    rows = Branch.objects.select_related("session__endpoint", "active_effort")
    return read_preview(rows.get(pk=branch.pk))


def saved_by(before: PlanView, after: PlanView) -> int | None:
    """Tokens by which the next prompt gets smaller; None where one of them could not be sent."""
    return None if before.problem or after.problem else before.tokens - after.tokens


def in_one_line(words: str) -> str:
    """What a person typed, in one line, without what no database takes."""
    return " ".join(words.replace("\x00", "").split())


def found(artifact_id: str) -> Artifact:
    try:
        return Artifact.objects.select_related("session", "branch", "effort", "run").get(pk=artifact_id)
    except Artifact.DoesNotExist as error:
        raise Refused("unknown", "There is no such summary.") from error


def standing_pointer(branch: Branch, artifact_id: str) -> ContextPointer | None:
    return ContextPointer.objects.filter(branch=branch, artifact=artifact_id, state=PointerState.ACTIVE).first()


def checked(artifact: Artifact) -> Document:
    """The document, as it was made. Raises `Refused` where it is another, or of an earlier form."""
    if not artifact.is_current:
        raise Refused("earlier", EARLIER)
    try:
        document = parse_artifact(artifact.document)
    except (Malformed, UnicodeDecodeError, zlib.error) as error:
        raise Refused("damaged", DAMAGED) from error
    if document.artifact_id != artifact.pk or rendered(document, count=count).standing != artifact.standing:
        raise Refused("damaged", DAMAGED)
    return document


def check_judged(artifact: Artifact, basis: Basis, *, unchecked: bool = False) -> GateRun:
    """What the gates said last, where it lets the artifact stand now."""
    if artifact.kind == Kind.STAGE:
        raise Refused("stage", STAGE)
    judged = artifact.last_judged
    if judged is None or artifact.state not in (ArtifactState.REPLACEABLE, ArtifactState.UNCHECKED):
        raise Refused("gates", REJECTED_BY_PERSON if artifact.is_turned_down else NOT_PASSED)
    if artifact.state == ArtifactState.UNCHECKED and not unchecked:
        raise Refused("unchecked", UNCHECKED)
    if (judged.policy_version, judged.evaluator_version) != (POLICY_VERSION, EVALUATOR_VERSION):
        raise Refused("stale", OTHER_RULES)
    if judged.inputs != inputs_of(basis.source, basis.entries):
        raise Refused("stale", STALE)
    return judged


def check_concluded(branch: Branch, artifact: Artifact) -> EffortState | None:
    if artifact.effort is None:
        return None
    state = states_of(branch).filter(effort=artifact.effort, status=EffortStatus.CONCLUDED).first()
    if state is None:
        raise Refused("open", REOPENED.format(slug=artifact.effort.slug))
    if not all_ended(branch, artifact.effort):
        raise Refused("unfinished", UNFINISHED.format(slug=artifact.effort.slug))
    return state


def stand_in(artifact: Artifact, document: Document) -> StandIn:
    """What was judged, to the byte. Of chosen turns the body stands first, later the short form."""
    text = rendered(document, count=count)
    whole = "" if artifact.effort_id or document.kind == Kind.DIGEST else text.body
    stands = text.short if whole else text.standing
    return StandIn(
        text=stands,
        tokens=count(stands),
        headline=text.headline,
        digest=document.kind == Kind.DIGEST,
        artifact=artifact.pk,
        body=whole,
        body_tokens=count(whole) if whole else 0,
    )


def tell_accepted(
    branch: Branch,
    artifact: Artifact,
    pointer: ContextPointer,
    state: EffortState | None,
    actor: User | None,
    more: dict[str, Any],
) -> None:
    taken = list(pointer.previous.filter(effort=None).values_list("artifact", flat=True))
    more |= {"drafter": drafter_of(artifact), "took_over": taken}
    if state:
        state.branch = branch
        summary_stands(state, pointer, actor, **more)
        gone = ContextPointer.objects.filter(branch=branch, artifact=artifact.pk, state=PointerState.ROLLED_BACK)
        if more.get("accepted") in BY_A_PERSON and gone.exists():
            place = Place(branch=branch, turn=branch.head, actor=actor)
            told = {"artifact": artifact.pk, "text": pointer.headline, "digest": pointer.digest}
            record(place, "effort.accepted_again", slug_in(state), **told)
    else:
        place = Place(branch=branch, turn=branch.head, actor=actor)
        told = {**span(artifact), "text": pointer.headline, "tokens": pointer.body_tokens, **more}
        told["digest"] = pointer.digest
        record(place, "compaction.accepted", None, artifact=artifact.pk, **told)


def drafter_of(artifact: Artifact) -> str:
    return "edit" if artifact.edited_from_id else artifact.run.model or BUILTIN


def span(artifact: Artifact) -> dict[str, int]:
    return {"first": artifact.source_start, "last": artifact.source_end}


def rollback_compaction(
    artifact_id: str, *, actor: User | None, via: str = REVIEW, reason: str = "", branch: Branch | None = None
) -> list[ContextPointer]:
    """It stands no longer (seed 004); what stands again: the nearest earlier pointers that still hold. None: the log.

    `branch`: where it was copied to by a fork; the artifact's own otherwise. Rolled back twice it is once. Raises
    `Refused` where it never stood, or has given way to another.
    """
    artifact, reason = found(artifact_id), in_one_line(reason)[:LONGEST_REASON]
    with changing(Place(branch=branch or artifact.branch, turn=0, actor=actor)) as here:
        pointer = standing_pointer(here, artifact.pk)
        if pointer is None:
            return again(here, artifact)
        pointer = ContextPointer.objects.select_related("effort").get(pk=pointer.pk)
        restored = roll_back(here, pointer, actor=actor, via=via, reason=reason)
        tell_rolled_back(here, artifact, pointer, restored, actor, reason)
        return restored


def again(branch: Branch, artifact: Artifact) -> list[ContextPointer]:
    """What came to stand when it was rolled back, and stands still. Raises `Refused` where it was not."""
    last = ContextPointer.objects.filter(branch=branch, artifact=artifact.pk).order_by("-pk").first()
    if last is None:
        raise Refused("not_accepted", NEVER_ACCEPTED)
    if last.state != PointerState.ROLLED_BACK:
        how = "gave way to a later one" if last.state == PointerState.SUPERSEDED else "was made of another log"
        raise Refused("not_standing", NOT_STANDING.format(how=how))
    back = last.moves.filter(kind="rolled back").order_by("-pk").first()
    standing = ContextPointer.objects.filter(pk__in=back.after if back else [], state=PointerState.ACTIVE)
    return list(standing.order_by("pk"))


def tell_rolled_back(
    branch: Branch,
    artifact: Artifact,
    pointer: ContextPointer,
    restored: list[ContextPointer],
    actor: User | None,
    reason: str,
) -> None:
    again = [one.artifact for one in restored if one.effort is None]
    own = [one.artifact for one in restored if one.effort_id and one.effort_id == pointer.effort_id]
    place = Place(branch=branch, turn=branch.head, via=Via.CONTROL, actor=actor)
    told: dict[str, Any] = {"artifact": artifact.pk, **span(artifact), "restored": again, "own": bool(own)}
    told |= {"reason": reason, "digest": pointer.digest}
    if pointer.effort:
        standing = own[0] if own else ""
        told["standing"] = standing
        record(place, "effort.rolled_back", pointer.effort.slug, text=pointer.headline, **told)
    else:
        record(place, "compaction.rolled_back", None, text=pointer.headline, **told)


def record_copied(artifact: str, pointer: ContextPointer, actor: User | None) -> None:
    """What a fork takes over stands for the same turns there; new rules only bar a new acceptance."""
    first = Acceptance.objects.filter(artifact=artifact).select_related("artifact").order_by("pk").first()
    if first is None:
        raise Refused("not_accepted", NEVER_ACCEPTED)
    told = {"actor": actor, "via": "fork", "saved": first.saved}
    Acceptance.objects.create(artifact=first.artifact, pointer=pointer, gate_run=first.gate_run, **told)


def is_reviewer(session: Session, user: User) -> bool:
    """Who may review, accept and roll back what is made of a conversation: its owner, and whom the owner has named;
    and a superuser, who comes by the admin only: no page shows them what is not theirs."""
    return session.owner_id == user.pk or user.is_superuser or session.reviewers.filter(user=user).exists()
