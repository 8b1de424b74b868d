"""A proof in progress: the plan of the next call after each step, and what is claimed of them."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction

from benchmarks.scenes import Exchange
from efforts import actions
from efforts.context.planning import chosen_settings, draft_turn, main_branch, plan_inputs
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.llm.builtin.transport import BUILTIN_MODEL
from efforts.models import Session

from .turns import Call, Taken, take_turn


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What a prompt shows: its tokens, the ids of efforts by summary and in full, and how many ambient turns."""

    tokens: int
    summaries: tuple[str, ...]
    expanded: tuple[str, ...]
    ambient: int


@dataclass(frozen=True, kw_only=True)
class Step:
    """One row of the table, in tokens. `seed`: the figure that the seed or its author's run has for it.

    `prompt` is the next one, and `talk` that without system text and tools, which the seed's figures do not count
    either; `said` what it would be with everything said word for word; `sent` what the last call of the row's own turn
    was sent, where it has one. `says` is what else the row has, `seed_says` that of the seed's; `note` tells where the
    seed contradicts its own rule.
    """

    title: str
    seed: str
    prompt: int
    talk: int
    said: int
    layers: dict[str, int]
    next: Shown
    sent: Shown | None = None
    says: str = ""
    seed_says: str = ""
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    text: str
    seed: str
    measured: str
    holds: bool


@dataclass(kw_only=True)
class Claims:
    """What every proof ends with."""

    name: str
    title: str
    steps: list[Step] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        return all(claim.holds for claim in self.claims)

    def claim(self, text: str, *, holds: bool, measured: str, seed: str = "") -> None:
        self.claims.append(Claim(text=text, seed=seed, measured=measured, holds=holds))


@dataclass(kw_only=True)
class Proof(Claims):
    """`setup`: turns before the seed counts; `taken`: those since, as it counts; `plans`: all that were made."""

    session: Session
    plans: list[Plan] = field(default_factory=list)
    setup: int = 0
    taken: dict[int, Taken] = field(default_factory=dict)

    def measure(self, title: str, *, seed: str, taken: Taken | None = None, **said: str) -> Plan:
        planned = next_plan(self.session)
        self.plans.append(planned)
        self.steps.append(
            Step(
                title=title,
                seed=seed,
                prompt=planned.tokens,
                talk=planned.tokens - planned.sections["system"],
                said=self.said(),
                layers={key: tokens for key, tokens in planned.sections.items() if tokens},
                next=shown_in(planned),
                sent=shown_in(taken.plans[-1]) if taken else None,
                **said,
            )
        )
        return planned

    def turn(self, exchange: Exchange, *calls: Call) -> Taken:
        taken = take_turn(self.session, exchange, *calls)
        self.taken[taken.number - self.setup] = taken
        self.plans += taken.plans
        return taken

    def said(self) -> int:
        """Tokens of a prompt that has everything said."""
        return self.plans[-1].sections["system"] + sum(self.session.messages.values_list("tokens", flat=True))


def next_plan(session: Session, expanded: Collection[str] | None = None) -> Plan:
    """`expanded`: efforts to take for expanded instead of those that are."""
    branch = main_branch(session)
    current = draft_turn(branch, "")
    return plan(plan_inputs(branch, chosen_settings(session), current=current, expanded=expanded))


def shown_in(planned: Plan) -> Shown:
    included = [item for item in planned.items if item.included]
    logs = [entry for entry in planned.recipe if "turns" in entry]
    spans = [entry["turns"] for entry in logs if entry["section"] == "ambient"]
    return Shown(
        tokens=planned.tokens,
        summaries=tuple(item.title for item in included if item.section == "summary"),
        expanded=tuple(dict.fromkeys(entry["effort"] for entry in logs if entry["section"] == "expanded")),
        ambient=sum(last - first + 1 for first, last in spans),
    )


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
