"""A check of claims by a model: its requests, what was planted in them, and what its answers come to.

Nothing here decides what stands; a check that is void says why, and is asked once more with others where the cap
allows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from compaction.domain.artifact import Claim
from compaction.domain.check.answers import Void
from compaction.domain.check.mapping import Question, question
from compaction.domain.check.notes import FEWEST_HALVED, Half, NothingToPlant, halves, seed_of
from compaction.domain.check.result import Checked, Said, read
from compaction.domain.ledger import Entry, merged
from compaction.domain.limits import HALF_REPLY, INVENTORY_REPLY, MAPPING_REPLY
from compaction.drafting.prompts import DRAW_VERSION, check_version
from compaction.drafting.requesting import (
    CUT,
    Exchange,
    Request,
    ask,
    half,
    inventory,
    mapping,
    most_tokens,
    with_room_to_think,
)
from efforts.context.connections import ModelChoice
from efforts.domain.text.source_text import Source

ATTEMPTS = 2
TOO_DEAR = "The check would have used more than its {cap:,} tokens."
NO_SENTENCES = "The log has too few sentences for a check to prove itself."
CUT_SHORT = "Its answer was cut at its limit."


@dataclass(frozen=True, kw_only=True)
class ToAsk:
    """One request of a check. `notes` are those of a half; `asked`, of a mapping, what it is about."""

    step: str
    request: Request
    notes: Half = ()
    asked: Question | None = None


@dataclass(frozen=True, kw_only=True)
class CheckExchange(ToAsk, Exchange):
    @property
    def said(self) -> Said:
        return Said(text=self.answer.text, notes=self.notes, asked=self.asked)


@dataclass(frozen=True, kw_only=True)
class CheckMade:
    """`void` says why it proves nothing; else `checked` is what it found. `claims` are those that it was to read."""

    model: str
    provider: str
    version: str
    attempt: int
    seed: str
    exchanges: tuple[CheckExchange, ...]
    claims: tuple[Claim, ...]
    void: str = ""
    listed: tuple[Entry, ...] | None = None
    checked: Checked | None = None

    @property
    def tokens(self) -> int:
        return tokens_of(self.exchanges)

    @property
    def was_cut(self) -> bool:
        return any(one.answer.stop_reason == CUT for one in self.exchanges)


@dataclass(frozen=True, kw_only=True)
class CheckWork:
    """What is to be checked: the claims that nobody has read, among all; entries of the ledger; and the inventory,
    where an earlier check has made it. `thinks`: the checker was cut before it had answered."""

    source: Source
    unread: tuple[Claim, ...]
    claims: tuple[Claim, ...]
    entries: tuple[Entry, ...]
    read: frozenset[str] = frozenset()
    listed: tuple[Entry, ...] | None = None
    checker: ModelChoice = field(repr=False)
    examined: bool = False
    thinks: bool = False
    cap: int

    def with_room(self, request: Request) -> Request:
        return with_room_to_think(request) if self.thinks else request


async def check(work: CheckWork, spent: int = 0) -> tuple[CheckMade, ...]:
    """Oldest first; the last is valid, or none is. `spent`: tokens that earlier checks of the same draft have used.
    What a void check has listed is not asked for again; where an answer was cut, the second has room to think."""
    made: list[CheckMade] = []
    while not made or (made[-1].void and len(made) < ATTEMPTS and made[-1].exchanges):
        used = spent + sum(one.tokens for one in made)
        listed = made[-1].listed if made and made[-1].listed is not None else work.listed
        thinks = bool(made) and made[-1].was_cut
        made.append(await check_once(replace(work, listed=listed, thinks=thinks), len(made) + 1, used))
    return tuple(made)


async def check_once(work: CheckWork, attempt: int, spent: int) -> CheckMade:
    seed = seed_of(work.unread, DRAW_VERSION, attempt)
    exchanges: list[CheckExchange] = []
    checked, void = None, ""
    try:
        first = requests_of(work, seed)
        check_cap(work, spent, [one.request for one in first])
        exchanges += await asyncio.gather(*(exchange(one, work.checker) for one in first))
        checked = read_so_far(work, exchanges)
        if to_ask := mapping_of(work, seed, attempt, checked):
            check_cap(work, spent + tokens_of(exchanges), [to_ask.request])
            exchanges.append(await exchange(to_ask, work.checker))
            checked = read_so_far(work, exchanges)
    except Void as error:
        void = str(error)
    except NothingToPlant:
        void = NO_SENTENCES
    return CheckMade(
        model=work.checker.model,
        provider=work.checker.base_url,
        version=check_version(),
        attempt=attempt,
        seed=seed,
        exchanges=tuple(exchanges),
        claims=work.unread,
        void=void,
        listed=listed_by(work, exchanges),
        checked=None if void else checked,
    )


def requests_of(work: CheckWork, seed: str) -> list[ToAsk]:
    """Inventory first, where it is not there yet; then the halves. Raises `NothingToPlant`."""
    asked = []
    if work.listed is None:
        asked.append(ToAsk(step="inventory", request=work.with_room(inventory(work.source, INVENTORY_REPLY))))
    if work.unread:
        halved = len(work.unread) >= 2 * FEWEST_HALVED
        for notes in halves(work.unread, work.source, seed, halved=halved):
            reply = max(HALF_REPLY, 100 * len(notes))
            asked.append(ToAsk(step="half", request=work.with_room(half(work.source, notes, reply)), notes=notes))
    return asked


async def exchange(to_ask: ToAsk, checker: ModelChoice) -> CheckExchange:
    return CheckExchange(**vars(to_ask), answer=await ask(to_ask.request, checker))


def check_cap(work: CheckWork, spent: int, requests: Sequence[Request]) -> None:
    if spent + sum(most_tokens(request) for request in requests) > work.cap:
        raise Void(TOO_DEAR.format(cap=work.cap))


def read_so_far(work: CheckWork, exchanges: Sequence[CheckExchange]) -> Checked:
    """Raises `Void`, also where an answer has failed or was cut."""
    for one in exchanges:
        if one.answer.error:
            raise Void(one.answer.error)
        if one.answer.stop_reason == CUT:
            raise Void(CUT_SHORT)
    said = [one.said for one in exchanges]
    return read(said, work.source, by=work.checker.model, examined=work.examined, listed=work.listed)


def listed_by(work: CheckWork, exchanges: Sequence[CheckExchange]) -> tuple[Entry, ...] | None:
    """The inventory, also of a check that is void for what it says of claims."""
    of_inventory = [one for one in exchanges if one.step == "inventory"]
    try:
        return read_so_far(work, of_inventory).listed if of_inventory else work.listed
    except Void:
        return None


def mapping_of(work: CheckWork, seed: str, attempt: int, found: Checked) -> ToAsk | None:
    """None where there is nothing that could be told. Rules in the system message count as kept."""
    entries = [entry for entry in merged(work.entries, found.listed) if not entry.in_system]
    if not entries:
        return None
    entailed = {claim.id for claim in work.claims if is_entailed(claim, found, work)}
    asked = question(entries, work.claims, entailed, seed, attempt)
    reply = max(MAPPING_REPLY, 40 * len(entries))
    return ToAsk(step="mapping", request=work.with_room(mapping(asked, work.source, reply)), asked=asked)


def is_entailed(claim: Claim, found: Checked, work: CheckWork) -> bool:
    said = found.opinions.get(claim.content, ())
    return claim.content in work.read or any(not one.doubts for one in said)


def tokens_of(exchanges: Sequence[CheckExchange]) -> int:
    return sum(exchange.answer.usage.total for exchange in exchanges)
