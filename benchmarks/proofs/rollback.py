"""Letting excerpts stand and rolling back: the next request before, meanwhile and after; and what may not stand.

No model is asked in a proof, so excerpts are what can stand; a summary moves the same pointers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db import transaction

from benchmarks.scenes import Act, change, expands, play
from compaction.domain.lifecycle import ArtifactState
from compaction.models import Artifact
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.sources import read_effort_log
from efforts.domain.effort.states import PointerMoveKind, ReviewMode
from efforts.domain.errors import Refused
from efforts.domain.prompt.plan import Plan
from efforts.models import EffortState, PointerMove, Session
from efforts.standins import compacting
from efforts.turns.scopes import SCOPES

from .measuring import Proof
from .scripts import AUTH_BUG, GREETING, SEARCH_PAGE

VIA = "review"
# Turns of a summary that stands before that of all of them.
EARLIER = 4


def rollback(session: Session) -> Proof:
    """Nothing stands without a person's yes, and nothing is said between the steps."""
    session.review_mode = ReviewMode.ALWAYS
    session.save(update_fields=["review_mode"])
    proof = Proof(name="rollback", title="Letting excerpts stand and rolling back", session=session)
    play(session, [GREETING, *AUTH_BUG, *SEARCH_PAGE])
    state = EffortState.objects.select_related("effort", "branch__session").get(
        branch__session=session, effort__slug="auth-bug"
    )
    artifact = compacting.registered().digest_of(state, read_effort_log(state.branch, state.effort))
    prove_refused(proof, artifact)
    prove_round_trip(proof, "auth-bug", artifact, then=expands("auth-bug"))
    newest = main_branch(session).head
    first = newest - len(SEARCH_PAGE) + 1
    # What stands for a part of them comes back with the rest of their log.
    compacting.registered().accept(artifact_of_turns(session, first, first + EARLIER - 1), session.owner, VIA)
    prove_round_trip(proof, f"turns {first}-{newest}", artifact_of_turns(session, first, newest))
    prove_history(proof)
    return proof


def prove_refused(proof: Proof, artifact: str) -> None:
    """Excerpts that the gates do not pass, and such of a log that is another since."""
    place = actions.here(proof.session, actor=proof.session.owner)
    rows = Artifact.objects.filter(pk=artifact)
    state = rows.values_list("state", flat=True).get()
    rows.update(state=ArtifactState.REJECTED)
    rejected = refusal(proof, artifact)
    rows.update(state=state)
    proof.claim("What the gates do not pass cannot stand", measured=rejected or "accepted", holds=rejected == "gates")
    actions.move_turn(place, 1, "auth-bug")
    stale = refusal(proof, artifact)
    actions.move_turn(place, 1, None)
    proof.claim("Nor can excerpts of a log that has grown since", measured=stale or "accepted", holds=stale == "stale")


def refusal(proof: Proof, artifact: str) -> str:
    """The code of the refusal; empty where it stands, which is undone."""
    try:
        with transaction.atomic():
            compacting.registered().accept(artifact, proof.session.owner, VIA)
            transaction.set_rollback(True)
    except Refused as refused:
        return refused.code
    return ""


def prove_history(proof: Proof) -> None:
    moves = PointerMove.objects.filter(branch__session=proof.session).order_by("pk")
    found = [(str(kind), str(actor)) for kind, actor in moves.values_list("kind", "actor__username")]
    owner, done, undone = proof.session.owner.username, PointerMoveKind.ACCEPTED, PointerMoveKind.ROLLED_BACK
    proof.claim(
        "The history has each of these steps, and whose it was",
        measured=", ".join(kind.replace("_", " ") for kind, _ in found),
        holds=found == [(str(kind), owner) for kind in (done, undone, done, done, undone)],
    )


def artifact_of_turns(session: Session, first: int, last: int) -> str:
    draft = actions.compact_turns(actions.here(session, actor=session.owner), first, last)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    return draft.artifact


def prove_round_trip(proof: Proof, name: str, artifact: str, then: Act | None = None) -> None:
    """`then`: what is done while they stand."""
    owner, done = proof.session.owner, compacting.registered()
    before = measure(proof, f"The log of {name} stands")
    pointer = done.accept(artifact, owner, VIA)
    stands = measure(proof, "Excerpts are accepted in its place", before)
    if then:
        change(proof.session, then)
    done.roll_back(artifact, owner, main_branch(proof.session))
    after = measure(proof, "They are rolled back", before)
    lines = (pointer.body or pointer.text).splitlines()
    proof.claim(
        f"While excerpts stand for {name}, the request has them, and is smaller",
        measured=f"{before.tokens:,} -> {stands.tokens:,} tokens",
        holds=has(stands, lines) and not has(before, lines) and stands.tokens < before.tokens,
    )
    proof.claim(
        f"Once they are rolled back for {name}, the request has the same bytes as before",
        measured=f"sha256 {before.request_sha256[:12]} before, {after.request_sha256[:12]} after",
        holds=after.request_sha256 == before.request_sha256,
    )


def measure(proof: Proof, title: str, before: Plan | None = None) -> Plan:
    planned = proof.measure(title, seed="")
    same = before and planned.request_sha256 == before.request_sha256
    said = "" if before is None else ", the same as before" if same else ", another than before"
    proof.steps[-1] = replace(proof.steps[-1], says=f"request {planned.request_sha256[:12]}{said}")
    return planned


def has(planned: Plan, lines: Sequence[str]) -> bool:
    sent = "\n".join(str(message.get("content")) for message in planned.request["messages"])
    return all(line in sent for line in lines)
