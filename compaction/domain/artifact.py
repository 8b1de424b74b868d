"""`compaction.v2`: claims that cite numbered sentences of their source, as a drafter offers them and as they are kept.

Both are parsed strictly: nothing is converted, repaired or left out (design.md section 8, gate A).
"""

from __future__ import annotations

import json
from collections import Counter
from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Any, Final, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from efforts.domain.text.canonical import canonical_json, sha256

SCHEMA_VERSION: Final = "compaction.v2"
LONGEST_ID = 40


class Kind(StrEnum):
    CONCLUSION = "conclusion"
    RANGE = "range"
    ROLLING = "rolling"
    STAGE = "stage"
    SEED = "seed"
    DIGEST = "digest"


class Section(StrEnum):
    RESULT = "result"
    DECISION = "decision"
    OPEN_WORK = "open_work"
    RULE = "rule"
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


STATUSES: dict[Section, tuple[Status, ...]] = {
    Section.RESULT: (Status.STATED,),
    Section.DECISION: (Status.ACCEPTED, Status.PROPOSED, Status.SUPERSEDED, Status.REJECTED),
    Section.OPEN_WORK: (Status.OPEN, Status.BLOCKED, Status.DONE, Status.DROPPED),
    Section.RULE: (Status.IN_FORCE, Status.REVOKED),
    Section.CHANGED: (Status.DONE,),
    Section.FACT: (Status.STATED,),
    Section.RISK: (Status.STATED,),
    Section.NEXT_STEP: (Status.OPEN,),
    Section.REJECTED: (Status.REJECTED,),
}
# What stands in the short form beside the result, with the status that it must have.
SHORT: dict[Section, tuple[Status, ...]] = {
    Section.RULE: (Status.IN_FORCE,),
    Section.OPEN_WORK: (Status.OPEN, Status.BLOCKED),
    Section.NEXT_STEP: (Status.OPEN,),
    Section.DECISION: (Status.ACCEPTED,),
}
T = TypeVar("T", bound="Strict")


class Malformed(ValueError):
    """These bytes are no draft, answer or artifact; the text says where and why, so that a model can act on it."""


class Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def without_nul(text: str) -> str:
    # Only PostgreSQL would refuse it, and later; refused at once, whatever the database.
    if "\x00" in text:
        raise ValueError("it holds a NUL, which cannot be stored")
    return text


def name(text: str) -> str:
    """Reviewers, addresses and findings call a claim by its id."""
    if text in {".", ".."} or not text.isprintable() or "/" in text or len(text) > LONGEST_ID:
        raise ValueError(f"{text[:40]!r} cannot be the id of a claim; number them")
    return text


Text = Annotated[str, AfterValidator(without_nul)]
Words = Annotated[Text, Field(min_length=1)]


class Claim(Strict):
    """One statement. `cites` are ids of sentences, `ledger_ref` the id of the ledger's entry that it keeps."""

    id: Annotated[Words, AfterValidator(name)]
    section: Section
    status: Status
    text: Words
    owner: Text = ""
    due: Text = ""
    cites: tuple[Words, ...]
    ledger_ref: Text = ""

    @model_validator(mode="after")
    def has_a_status_of_its_section(self) -> Self:
        if self.status not in STATUSES[self.section]:
            allowed = ", ".join(STATUSES[self.section])
            raise ValueError(f"a {self.section} cannot be {self.status}; it is one of {allowed}")
        return self

    @property
    def content(self) -> str:
        """The hash of all that it says: a reader's verdict on it holds for just this."""
        return sha256(canonical_json(self.model_dump(mode="json", exclude={"id", "ledger_ref"})))


class Draft(Strict):
    """What a drafter offers."""

    claims: Annotated[tuple[Claim, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def has_each_id_once(self) -> Self:
        check_ids([claim.id for claim in self.claims])
        return self


class Repair(Strict):
    """What a drafter offers when told what does not hold: claims that are changed or new, and ids of those that go."""

    claims: tuple[Claim, ...] = ()
    drop: tuple[str, ...] = ()

    @model_validator(mode="after")
    def has_each_id_once(self) -> Self:
        check_ids([claim.id for claim in self.claims])
        return self


class Excerpt(Strict):
    """Of a digest: words of the log as they were said, and why they are shown."""

    label: Words
    text: Words
    cites: tuple[str, ...]


class Evidence(Strict):
    """A path, command or number of the source, found by code; `cite` is the sentence that it stands in."""

    type: Literal["path", "command", "number"]
    value: Words
    exit_status: int | None = None
    cite: str


class SourceRef(Strict):
    """`start` and `end` are the first and last of `turns`, which need not be adjacent; tokens are of what was said."""

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


class Warned(Strict):
    code: str
    message: str


class Artifact(Strict):
    """Immutable: an edit makes another. `short`: ids of the claims of the short form; `opening`: the first request,
    verbatim, or its two ends. Of a digest `title` and `excerpts` stand, there are no claims, and `opening` is what it
    is known by: what it quotes of that request, else its name."""

    schema_version: Literal["compaction.v2"]
    artifact_id: str
    kind: Kind
    source: SourceRef
    claims: tuple[Claim, ...]
    short: tuple[str, ...]
    opening: str
    title: str
    excerpts: tuple[Excerpt, ...]
    evidence: tuple[Evidence, ...]
    redactions: int
    warnings: tuple[Warned, ...]

    @model_validator(mode="after")
    def refers_to_its_own_claims(self) -> Self:
        check_ids([claim.id for claim in self.claims])
        if unknown := sorted(set(self.short) - {claim.id for claim in self.claims}):
            raise ValueError(f"short names {', '.join(unknown)}, which no claim has")
        return self

    @property
    def body(self) -> dict[str, Any]:
        """All of it but its id, as JSON values."""
        return self.model_dump(mode="json", exclude={"artifact_id"})

    @property
    def document(self) -> str:
        """The canonical bytes, as they are stored."""
        return canonical_json(self.model_dump(mode="json"))

    @property
    def quotes_nothing(self) -> bool:
        """Of a digest: nothing of its turns stands in it, as each sentence was too long for the room."""
        return self.kind == Kind.DIGEST and not any(one.cites for one in self.excerpts)

    @property
    def by_id(self) -> dict[str, Claim]:
        return {claim.id: claim for claim in self.claims}


def check_ids(ids: list[str]) -> None:
    twice = sorted(id for id, count in Counter(ids).items() if count > 1)
    if twice:
        raise ValueError(f"the ids {', '.join(twice)} are used twice")


def is_short(claim: Claim) -> bool:
    """Whether the claim stands in the short form, which is in the prompt of every call."""
    return claim.section == Section.RESULT or claim.status in SHORT.get(claim.section, ())


def with_id(artifact: Artifact) -> Artifact:
    """The same with its id: "cmp_" and the SHA-256 of its canonical JSON without the id."""
    return artifact.model_copy(update={"artifact_id": f"cmp_{sha256(canonical_json(artifact.body))}"})


def parse_draft(offered: str) -> Draft:
    """Raises `Malformed`."""
    return parsed(Draft, offered)


def repaired(draft: Draft, offered: str) -> Draft:
    """The draft with what the repair says of it; claims keep their places. Raises `Malformed`."""
    repair = parsed(Repair, offered)
    changed = {claim.id: claim for claim in repair.claims}
    kept = [changed.pop(claim.id, claim) for claim in draft.claims if claim.id not in repair.drop]
    claims = (*kept, *(claim for claim in changed.values() if claim.id not in repair.drop))
    if not claims:
        raise Malformed("claims: it leaves none")
    return Draft(claims=claims)


# Read several times for one page, and again for each verdict on it.
@lru_cache(maxsize=16)
def parse_artifact(offered: str) -> Artifact:
    """Raises `Malformed`, also where the id is not that of the body."""
    artifact = parsed(Artifact, offered)
    if artifact.artifact_id != with_id(artifact).artifact_id:
        raise Malformed("artifact_id is not the hash of this document")
    return artifact


def parsed(form: type[T], offered: str) -> T:
    """Raises `Malformed`."""
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
