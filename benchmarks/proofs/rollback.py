"""Letting excerpts stand and rolling back: the request of the next message before, meanwhile and after.

No model is asked in a proof, so excerpts are what can stand; a summary moves the same pointers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.scenes import play
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.sources import read_effort_log
from efforts.domain.effort.states import ReviewMode
from efforts.domain.prompt.plan import Plan
from efforts.models import EffortState, Session
from efforts.standins import compacting
from efforts.turns.scopes import SCOPES

from .measuring import Proof
from .scripts import AUTH_BUG, GREETING, SEARCH_PAGE

VIA = "review"


def rollback(session: Session) -> Proof:
    """Nothing stands without a person's yes, and nothing is said between the steps."""
    session.review_mode = ReviewMode.ALWAYS
    session.save(update_fields=["review_mode"])
    proof = Proof(name="rollback", title="Letting excerpts stand and rolling back", session=session)
    play(session, [GREETING, *AUTH_BUG, *SEARCH_PAGE])
    prove_round_trip(proof, "auth-bug", artifact_of(session, "auth-bug"))
    newest = main_branch(session).head
    first = newest - len(SEARCH_PAGE) + 1
    prove_round_trip(proof, f"turns {first}-{newest}", artifact_of_turns(session, first, newest))
    return proof


def artifact_of(session: Session, slug: str) -> str:
    state = EffortState.objects.select_related("effort", "branch__session").get(
        branch__session=session, effort__slug=slug
    )
    return compacting.registered().digest_of(state, read_effort_log(state.branch, state.effort))


def artifact_of_turns(session: Session, first: int, last: int) -> str:
    draft = actions.compact_turns(actions.here(session, actor=session.owner), first, last)
    SCOPES.draft_now(draft)
    draft.refresh_from_db()
    return draft.artifact


def prove_round_trip(proof: Proof, name: str, artifact: str) -> None:
    owner, done = proof.session.owner, compacting.registered()
    before = measure(proof, f"The log of {name} stands")
    pointer = done.accept(artifact, owner, VIA)
    stands = measure(proof, "Excerpts are accepted in its place", before)
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
