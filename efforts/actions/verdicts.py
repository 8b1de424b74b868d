"""What the person thinks of an answer: said, changed and taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from efforts.domain.effort.states import UNFINISHED, RunState, VerdictValue
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import Run, Verdict

from .names import is_control

if TYPE_CHECKING:
    from django.contrib.auth.models import User

LONGEST_WHY = 1_000


def judge_run(run: Run, value: str, *, actor: User, why: str = "") -> Verdict:
    """Good or bad, with a reason where there is one; instead of what was said before. Raises `Refused` where it is
    neither, or the run has not ended."""
    why = checked_why(why)
    if value not in set(VerdictValue):
        raise Refused("bad_verdict", "An answer is good or bad.")
    with transaction.atomic():
        check_ended(run)
        before = Verdict.objects.filter(run=run).first()
        # Said again it is no news.
        if before and (before.value, before.why) == (value, why):
            return before
        said = {"session_id": run.turn.session_id, "value": value, "why": why, "actor": actor}
        verdict, _ = Verdict.objects.update_or_create(run=run, defaults=said)
        log(run, actor, verdict=value, why=why)
    return verdict


def take_back_verdict(run: Run, *, actor: User) -> None:
    """Nothing happens where there is none. Raises `Refused` where the run has not ended."""
    with transaction.atomic():
        check_ended(run)
        removed, _ = Verdict.objects.filter(run=run).delete()
        if removed:
            log(run, actor, verdict=None, why="")


def check_ended(run: Run) -> None:
    """With the run's row locked, so that of two tabs one comes after the other."""
    state = Run.objects.select_for_update().values_list("state", flat=True).get(pk=run.pk)
    if state in {*UNFINISHED, RunState.CANCELLED, RunState.NOTED}:
        raise Refused("not_ended", "There is no complete answer yet. Rate it once it is complete.")


def log(run: Run, actor: User, *, verdict: str | None, why: str) -> None:
    # Of no branch: the turn is also shown in those that fork after it.
    data = {"run": str(run.pk), "turn": run.turn.number, "verdict": verdict, "why": why}
    events.append(run.turn.session_id, "run.judged", data, actor=actor)


def checked_why(text: str) -> str:
    text = text.strip()
    if len(text) > LONGEST_WHY:
        raise Refused("too_long", f"The reason has {len(text):,} characters; {LONGEST_WHY:,} is the most. Shorten it.")
    if any(is_control(c) and c not in "\r\n\t" for c in text):
        raise Refused("not_text", "The reason has characters that cannot be shown. Give it without them.")
    return text
