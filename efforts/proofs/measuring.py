"""A proof in progress: the plan of the next call after each step, and what is claimed of them."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from efforts import actions
from efforts.domain.plan import Plan
from efforts.domain.planner import plan
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.models import Session
from efforts.snapshots import main_branch
from efforts.snapshots.planning import chosen_settings, draft_turn, plan_inputs


@dataclass(frozen=True, kw_only=True)
class Step:
    """One row of the table, in tokens. `seed`: the figure that the seed or its author's run has for it.

    `talk` is the prompt without system text and tools, which the seed's figures do not count either.
    """

    title: str
    seed: str
    prompt: int
    talk: int
    layers: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class Claim:
    text: str
    seed: str
    measured: str
    holds: bool


@dataclass(kw_only=True)
class Proof:
    name: str
    title: str
    session: Session
    steps: list[Step] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    def measure(self, title: str, *, seed: str) -> Plan:
        planned = next_plan(self.session)
        layers = {key: tokens for key, tokens in planned.sections.items() if tokens}
        talk = planned.tokens - planned.sections["system"]
        self.steps.append(Step(title=title, seed=seed, prompt=planned.tokens, talk=talk, layers=layers))
        return planned

    def claim(self, text: str, *, holds: bool, measured: str, seed: str = "") -> None:
        self.claims.append(Claim(text=text, seed=seed, measured=measured, holds=holds))


def next_plan(session: Session) -> Plan:
    branch = main_branch(session)
    return plan(plan_inputs(branch, chosen_settings(session), current=draft_turn(branch, "")))


@contextmanager
def scratch() -> Iterator[Session]:
    """A conversation of nobody's, answered by the built-in engine, that is gone afterwards."""
    with transaction.atomic():
        owner = User.objects.create_user(f"proof-{secrets.token_hex(4)}")
        session = actions.create_session(owner, title="Proof")
        session.endpoint, session.model = None, BUILTIN_MODEL
        session.save(update_fields=["endpoint", "model"])
        yield session
        transaction.set_rollback(True)
