"""What a compaction says, in two forms: the draft that a drafter offers, and the artifact that is kept of it.

Both are parsed strictly: nothing is converted, repaired or left out (design.md section 8, Gate A).
"""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from efforts.domain.canonical import canonical_json, sha256
from efforts.domain.source_text import Part

SCHEMA_VERSION: Final = "compaction.v1"


class Kind(StrEnum):
    CONCLUSION = "conclusion"
    INTENTIONAL = "intentional"
    ROLLING = "rolling"
    STAGE = "stage"
    SEED = "seed"
    FALLBACK = "fallback"


class Section(StrEnum):
    DECISION = "decision"
    OPEN_WORK = "open_work"
    CONSTRAINT = "constraint"
    CHANGED = "changed"
    FACT = "fact"
    RISK = "risk"
    NEXT_STEP = "next_step"
    REJECTED = "rejected"


class Status(StrEnum):
    ACCEPTED = "accepted"
    PROPOSED = "proposed"
    SUPERSEDED = "superseded"
    REJECTED = "rejected"
    OPEN = "open"
    BLOCKED = "blocked"
    DONE = "done"
    DROPPED = "dropped"
    IN_FORCE = "in_force"
    REVOKED = "revoked"
    STATED = "stated"
    # Only code gives it: a candidate that nobody has confirmed, appended as a quotation.
    UNCONFIRMED = "unconfirmed"


STATUSES: dict[Section, frozenset[Status]] = {
    Section.DECISION: frozenset({Status.ACCEPTED, Status.PROPOSED, Status.SUPERSEDED, Status.REJECTED}),
    Section.OPEN_WORK: frozenset({Status.OPEN, Status.BLOCKED, Status.DONE, Status.DROPPED}),
    Section.CONSTRAINT: frozenset({Status.IN_FORCE, Status.REVOKED}),
    Section.CHANGED: frozenset({Status.DONE}),
    Section.FACT: frozenset({Status.STATED}),
    Section.RISK: frozenset({Status.STATED}),
    Section.NEXT_STEP: frozenset({Status.OPEN}),
    Section.REJECTED: frozenset({Status.REJECTED}),
}

Actor = Literal["user", "assistant", "tool"]
T = TypeVar("T", bound="Strict")


class Malformed(ValueError):
    """These bytes are no draft or artifact; the text says where and why, in words that a drafter can act on."""


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)


# What a claim cannot be called: verdicts on the headline go by this name, and addresses lose what only walks in them.
HEADLINE: Final = "headline"
TAKEN = frozenset({HEADLINE, ".", ".."})


def without_nul(text: str) -> str:
    # Only PostgreSQL would refuse it, and later; refused at once, whatever the database.
    if "\x00" in text:
        raise ValueError("it holds a NUL, which cannot be stored")
    return text


def name(text: str) -> str:
    """Reviewers, addresses and findings call a claim by its id."""
    if text in TAKEN or not text.isprintable():
        raise ValueError(f"{text!r} cannot be the id of an item; number them")
    return text


Words = Annotated[str, Field(min_length=1), AfterValidator(without_nul)]


class Quote(Strict):
    """Words of one message, verbatim. Where they stand is found in code."""

    message: int
    quote: Words


class DraftItem(Strict):
    """`ledger` is the id of the entry that the item keeps, where the drafter was shown one."""

    id: Annotated[Words, AfterValidator(name)]
    section: Section
    status: Status
    actor: Actor
    text: Words
    quotes: tuple[Quote, ...]
    ledger: Words | None = None

    @model_validator(mode="after")
    def has_a_status_of_its_section(self) -> Self:
        if self.status not in STATUSES[self.section]:
            allowed = ", ".join(sorted(STATUSES[self.section]))
            raise ValueError(f"a {self.section} cannot be {self.status}; it is one of {allowed}")
        return self


class Draft(Strict):
    """What a drafter offers. `headline_items` are the items that back the headline."""

    headline: Words
    headline_items: tuple[str, ...]
    items: tuple[DraftItem, ...]

    @model_validator(mode="after")
    def refers_to_its_own_items(self) -> Self:
        check_ids([item.id for item in self.items], self.headline_items)
        return self


class Link(Strict):
    """`quote` is characters `start` to `end`, without the last, of that part of the message in the source text."""

    message: int
    part: Part
    start: int = Field(ge=0)
    end: int = Field(gt=0)
    quote: str = Field(min_length=1)


class Item(Strict):
    """`as_of_turn` is the last turn that its links lead to; `verbatim`, that the text is nothing but its quotations."""

    id: str = Field(min_length=1)
    section: Section
    status: Status
    actor: Actor
    text: str = Field(min_length=1)
    as_of_turn: int = Field(ge=0)
    ledger_ref: str | None
    links: tuple[Link, ...]
    verbatim: bool

    @model_validator(mode="after")
    def has_a_status_of_its_section(self) -> Self:
        if self.status not in STATUSES[self.section] | {Status.UNCONFIRMED}:
            raise ValueError(f"a {self.section} cannot be {self.status}")
        return self


def is_mere_quotation(item: Item) -> bool:
    """Whether it only shows what was said then: its section and status are what that sounds like, and no claim."""
    return item.verbatim and item.ledger_ref is None


class Evidence(Strict):
    """A path, command, number or error of the source, copied and linked by code."""

    type: Literal["path", "command", "number", "error"]
    value: str = Field(min_length=1)
    exit_status: int | None = None
    link: Link


class SourceRef(Strict):
    """`start` and `end` are the first and the last of `turns`, which need not be adjacent."""

    session: str
    branch: str
    effort: str | None
    start: int
    end: int
    turns: tuple[int, ...]
    source_sha256: str
    source_tokens: int


class Usage(Strict):
    """Tokens. `source`: as the endpoint reports them, or counted here where it reports none."""

    input: int = Field(ge=0)
    cache_read: int = Field(ge=0)
    cache_creation: int = Field(ge=0)
    output: int = Field(ge=0)
    source: Literal["provider", "counted"]

    @property
    def total(self) -> int:
        return self.input + self.cache_read + self.cache_creation + self.output


class Attempt(Strict):
    """One request to a model. `usage` is None where neither the endpoint nor we could count it."""

    usage: Usage | None
    stop_reason: str
    error: str
    elapsed_ms: int


class Generation(Strict):
    """How it was drafted. `cap` is the most tokens, `timeout_ms` the longest that all attempts together may take."""

    purpose: str
    drafter: Literal["model", "extractive", "edit", "merge"]
    model: str
    provider: str
    params: dict[str, str | int | float | bool]
    prompt_version: str
    policy_version: str
    attempts: tuple[Attempt, ...]
    elapsed_ms: int
    cap: int
    timeout_ms: int


class Warned(Strict):
    code: str
    message: str


class Artifact(Strict):
    """`compaction.v1`. Immutable: an edit makes another. `opening` is the first request verbatim, or its two ends."""

    schema_version: Literal["compaction.v1"]
    artifact_id: str
    kind: Kind
    replaceable: bool
    source: SourceRef
    generation: Generation
    headline: str = Field(min_length=1)
    headline_items: tuple[str, ...]
    opening: tuple[Link, ...]
    items: tuple[Item, ...]
    evidence: tuple[Evidence, ...]
    stats: dict[str, int]
    redactions: int
    warnings: tuple[Warned, ...]

    @model_validator(mode="after")
    def refers_to_its_own_items(self) -> Self:
        check_ids([item.id for item in self.items], self.headline_items)
        return self

    @property
    def body(self) -> dict[str, Any]:
        """All of it but its id, as JSON values."""
        return self.model_dump(mode="json", exclude={"artifact_id"})

    @property
    def document(self) -> str:
        """The canonical bytes, as they are stored."""
        return canonical_json(self.model_dump(mode="json"))


def check_ids(ids: list[str], referred: tuple[str, ...]) -> None:
    twice = sorted(id for id, count in Counter(ids).items() if count > 1)
    if twice:
        raise ValueError(f"the ids {', '.join(twice)} are used twice")
    if unknown := sorted(set(referred) - set(ids)):
        raise ValueError(f"headline_items names {', '.join(unknown)}, which no item has")


def id_of(body: dict[str, Any]) -> str:
    return f"cmp_{sha256(canonical_json(body))}"


def parse_draft(offered: str) -> Draft:
    """Raises `Malformed`."""
    return parsed(Draft, offered)


def parse_artifact(offered: str) -> Artifact:
    """Raises `Malformed`, also where the id is not that of the body."""
    artifact = parsed(Artifact, offered)
    if artifact.artifact_id != id_of(artifact.body):
        raise Malformed("artifact_id is not the hash of this document")
    return artifact


def parsed(form: type[T], offered: str) -> T:
    try:
        # pydantic takes the last of two equal keys, and says nothing.
        json.loads(offered, object_pairs_hook=no_key_twice, parse_constant=no_constant)
        return form.model_validate_json(offered)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"]) or "the document"
        raise Malformed(f"{where}: {first['msg']}") from error
    except (ValueError, RecursionError) as error:
        raise Malformed(f"not JSON as it was asked for: {error}") from error


def no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = Counter(key for key, _ in pairs)
    if twice := [key for key, count in keys.items() if count > 1]:
        raise ValueError(f"the key {twice[0]!r} stands twice in one object")
    return dict(pairs)


def no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
