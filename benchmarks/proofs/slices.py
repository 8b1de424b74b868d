"""The runs that the seeds describe, each with what it is to show."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.scenes import change, collapses, expands, play, switches
from efforts.context.planning import main_branch
from efforts.context.sources import read_effort_log
from efforts.domain.effort.states import EffortStatus
from efforts.domain.prompt.plan import Plan
from efforts.models import EffortState, Event, Session, Turn
from efforts.standins.logs import SourceLog

from .counting import budget
from .measuring import Proof, next_plan, scratch
from .memory import slice3, slice4
from .rollback import rollback
from .scripts import ANSWER, ASKING, AUTH_BUG, CLOSING, GREETING, GUILD, MESSAGE, PERF_FIX, REFACTOR, SEARCH_PAGE

SMALLER = 0.8


def slice1(session: Session) -> Proof:
    """An open effort is sent in full, a concluded one by what stands for it: excerpts, as no model is asked here."""
    proof = Proof(name="slice1", title="Concluding an effort", session=session)
    play(session, [GREETING])
    proof.measure("Ambient talk only", seed="173")
    play(session, SEARCH_PAGE[:1])
    proof.measure("An effort is opened", seed="")
    play(session, SEARCH_PAGE[1:])
    worked = proof.measure("It is worked on, eight turns", seed="1,577")
    play(session, [CLOSING])
    after = proof.measure("It is concluded", seed="262")
    raw, excerpts = worked.sections["active"], after.sections["summary"]
    saved = 1 - excerpts / raw
    proof.claim(
        "The effort's own layer is at least 80 % smaller once it is concluded",
        seed="80-94 %",
        measured=f"{raw:,} -> {excerpts:,} tokens, {saved:.1%} smaller",
        holds=saved >= SMALLER,
    )
    proof.claim(
        "The whole prompt is smaller too",
        seed="1,577 -> 262, 83 %",
        measured=f"{worked.tokens:,} -> {after.tokens:,} tokens, {1 - after.tokens / worked.tokens:.1%} smaller",
        holds=after.tokens < worked.tokens,
    )
    proof.claim(
        "No raw log of it is left in the prompt",
        measured=f"layers: {', '.join(proof.steps[-1].layers)}",
        holds=not {"active", "open", "awaiting", "expanded"} & set(proof.steps[-1].layers),
    )
    return proof


def slice2(session: Session) -> Proof:
    """A concluded effort comes back word for word and goes again; several are open, one receives."""
    proof = Proof(name="slice2", title="Expanding and several efforts", session=session)
    play(session, [GREETING, *AUTH_BUG, *PERF_FIX])
    proof.measure("Setup: two concluded efforts and ambient talk", seed="180")
    play(session, [ASKING])
    before = proof.measure("1 A question about auth-bug", seed="180")
    prove_lossless(proof, before)
    expanded = prove_recall(proof, before)
    play(session, [ANSWER])
    answered = proof.measure("3 A question answered from the raw log", seed="780")
    change(session, collapses("auth-bug"))
    collapsed = proof.measure("4 auth-bug is collapsed", seed="180 (-600)")
    said, left = answered.tokens - expanded.tokens, collapsed.tokens - before.tokens
    proof.claim(
        "Collapsing leaves nothing of the raw log, only what was said meanwhile",
        seed="-600",
        measured=f"{collapsed.tokens - answered.tokens:+,}, and {left} tokens more than before for {said} of talk",
        holds="expanded" not in collapsed.sections and left == said,
    )
    prove_several(proof)
    return proof


def prove_lossless(proof: Proof, before: Plan) -> None:
    change(proof.session, expands("auth-bug"))
    change(proof.session, collapses("auth-bug"))
    after = next_plan(proof.session)
    proof.claim(
        "Expanded and collapsed with nothing said in between, the request has the same bytes",
        measured=f"sha256 {before.request_sha256[:12]} and {after.request_sha256[:12]}",
        holds=before.request_sha256 == after.request_sha256,
    )


def prove_recall(proof: Proof, before: Plan) -> Plan:
    promised = change(proof.session, expands("auth-bug"))
    expanded = proof.measure("2 auth-bug is expanded", seed="780 (+600)")
    added = expanded.tokens - before.tokens
    notice = Event.objects.filter(session=proof.session, kind="effort.expanded").latest("seq").data["notice"]
    proof.claim(
        "Expanding adds the N tokens that its notice says",
        seed="+600",
        measured=f"+{added:,}; {notice}",
        holds=added == promised and notice == f"--- Expanded effort: auth-bug ({added:,} tokens loaded) ---",
    )
    sent = "\n".join(str(message.get("content")) for message in expanded.request["messages"])
    said = [part.text for part in log_of(proof.session, "auth-bug").source.parts]
    proof.claim(
        "Every message of the log is in the prompt word for word",
        measured=f"{sum(text in sent for text in said)} of {len(said)} messages",
        holds=all(text in sent for text in said),
    )
    return expanded


def prove_several(proof: Proof) -> None:
    session = proof.session
    play(session, [GUILD])
    proof.measure("5 guild-feature is opened", seed="250 (+70)")
    play(session, [REFACTOR])
    proof.measure("6 api-refactor is opened beside it", seed="320 (+70)")
    change(session, switches("guild-feature"))
    proof.measure("7 Switched to guild-feature", seed="320 (0)")
    prove_one_active(proof)
    waiting, working = log_of(session, "api-refactor"), log_of(session, "guild-feature")
    play(session, [MESSAGE])
    proof.measure("8 A message in guild-feature", seed="400 (+80)")
    grown = len(log_of(session, "guild-feature").turns) - len(working.turns)
    untouched = log_of(session, "api-refactor").source.sha256 == waiting.source.sha256
    proof.claim(
        "The message went to the active effort and to no other",
        measured=f"guild-feature +{grown} turn, api-refactor {'unchanged' if untouched else 'changed'}",
        holds=grown == 1 and untouched,
    )
    turns = Turn.objects.filter(session=session).count()
    proof.claim(
        "Nothing that was said is lost",
        measured=f"{session.messages.count()} messages of {turns} turns are stored",
        holds=session.messages.count() == 2 * turns == 2 * main_branch(session).head,
    )


def prove_one_active(proof: Proof) -> None:
    branch = main_branch(proof.session)
    open_now = EffortState.objects.filter(branch=branch, status=EffortStatus.OPEN)
    proof.claim(
        "Two efforts are open at once, and one of them is active",
        measured=f"{open_now.count()} open, active: {branch.active_effort}",
        holds=open_now.count() == 2 and str(branch.active_effort) == "guild-feature",
    )


def log_of(session: Session, slug: str) -> SourceLog:
    branch = main_branch(session)
    return read_effort_log(branch, session.efforts.get(slug=slug))


PROOFS: dict[str, Callable[[Session], Proof]] = {
    "slice1": slice1,
    "slice2": slice2,
    "slice3": slice3,
    "slice4": slice4,
    "budget": budget,
    "rollback": rollback,
}


def run(name: str) -> Proof:
    with scratch() as session:
        return PROOFS[name](session)
