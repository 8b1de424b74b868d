"""What valid checks of an artifact come to: the same stored answers give the same result, whenever it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from efforts.domain.text.source_text import Source

from ..artifact import Claim
from ..ledger import Entry
from .answers import Entailment, NoteVerdict, Void, believed, missed_turns, read_half, read_inventory, read_mapping
from .mapping import Question, missing
from .mapping import told as told_by
from .notes import Half, Role


@dataclass(frozen=True, kw_only=True)
class Opinion:
    """What one reader says of one claim; `by` is the model's name, or that of a person, who may have `worded` it."""

    verdict: Entailment
    by: str
    person: bool = False
    worded: bool = False
    phrase: str = ""
    sentence: str = ""
    why: str = ""

    @property
    def doubts(self) -> bool:
        return self.verdict != Entailment.ENTAILED


@dataclass(frozen=True, kw_only=True)
class Checked:
    """By the content of a claim what readers say of it, doubts first; `listed`: the inventory; by the id of an entry
    the contents of the claims that tell it, and what of it none tells (`missing`). `hidden`: whether a claim could be
    left out to prove the mapping.

    `by` names the readers, `listed_by` those of them who made the inventory; `examined`: each of them has passed its
    exam, or is a person. `caught` of `planted` errors.
    """

    by: str
    opinions: Mapping[str, tuple[Opinion, ...]]
    listed: tuple[Entry, ...] = ()
    listed_by: str = ""
    told: Mapping[str, tuple[str, ...]]
    missing: Mapping[str, str] = field(default_factory=dict)
    hidden: bool = False
    examined: bool = False
    caught: int = 0
    planted: int = 0
    person: bool = False

    def doubts_on(self, claim: Claim) -> tuple[Opinion, ...]:
        return tuple(one for one in self.opinions.get(claim.content, ()) if one.doubts)

    def read_by_person(self, claim: Claim) -> bool:
        return any(one.person for one in self.opinions.get(claim.content, ()))

    def has_read(self, claims: Iterable[Claim]) -> bool:
        return all(claim.content in self.opinions for claim in claims)


@dataclass(frozen=True, kw_only=True)
class Said:
    """One answer of a check, beside what it answers: an inventory, `notes` of a half, or what a mapping `asked`."""

    text: str
    notes: Half = ()
    asked: Question | None = None


def read(
    said: Sequence[Said], source: Source, *, by: str, examined: bool, listed: tuple[Entry, ...] | None = None
) -> Checked:
    """What answers come to, of which that to the mapping may not be there yet. `listed`: an earlier inventory.

    Raises `Void`.
    """
    for one in said:
        if not one.notes and one.asked is None:
            listed = read_inventory(one.text, source)
    halves = [one.notes for one in said if one.notes]
    verdicts = [read_half(one.notes, one.text, source) for one in said if one.notes]
    if missed := missed_turns(halves, verdicts):
        raise Void(believed(len(missed)))
    opinions = {}
    for notes, found in zip(halves, verdicts, strict=True):
        opinions.update({content: (one,) for content, one in opinions_of(notes, found, by).items()})
    told, untold, hidden = {}, {}, False
    for asked, text in ((one.asked, one.text) for one in said if one.asked):
        answer = read_mapping(text, entries=len(asked.entries), notes=len(asked.claims), hidden=asked.lost)
        contents = {claim.id: claim.content for claim in (*asked.claims, asked.hidden) if claim}
        told = {entry: tuple(contents[id] for id in ids) for entry, ids in told_by(asked, answer).items()}
        untold, hidden = missing(asked, answer), asked.hidden is not None
    planted = planted_in(halves, opinions)
    return Checked(
        by=by,
        opinions=opinions,
        listed=listed or (),
        listed_by=by,
        told=told,
        missing=untold,
        hidden=hidden,
        examined=examined,
        caught=planted,
        planted=planted,
    )


def planted_in(halves: Sequence[Half], opinions: Mapping[str, tuple[Opinion, ...]]) -> int:
    """How many planted errors count; of a valid check all of them were caught."""
    notes = [note for half in halves for note in half]
    entailed = {
        note.claim.id
        for note in notes
        if note.role == Role.CLAIM and not any(one.doubts for one in opinions[note.claim.content])
    }
    return sum(note.role == Role.CANARY and (not note.of or note.of in entailed) for note in notes)


def opinions_of(half: Half, verdicts: Mapping[int, NoteVerdict], by: str) -> dict[str, Opinion]:
    """By the content of each claim of a half; canaries and controls are nobody's claims."""
    found = {}
    for note in half:
        if note.role == Role.CLAIM:
            said = verdicts[note.number]
            found[note.claim.content] = Opinion(
                verdict=said.verdict,
                by=by,
                phrase=said.phrase or "",
                sentence=said.sentence or "",
                why=said.why or "",
            )
    return found


def together(checks: Iterable[Checked]) -> Checked | None:
    """All valid checks as one, oldest first: a doubt by any stands; of inventory and mapping the newest counts. None
    where there is none."""
    found = list(checks)
    if not found:
        return None
    opinions: dict[str, tuple[Opinion, ...]] = {}
    for check in found:
        for content, said in check.opinions.items():
            opinions[content] = (*opinions.get(content, ()), *said)
    mapped = [check for check in found if not check.person] or found
    return Checked(
        by=", ".join(dict.fromkeys(check.by for check in found)),
        opinions={content: tuple(sorted(said, key=lambda one: not one.doubts)) for content, said in opinions.items()},
        listed=mapped[-1].listed,
        listed_by=mapped[-1].listed_by,
        told=mapped[-1].told,
        missing=mapped[-1].missing,
        hidden=mapped[-1].hidden,
        examined=all(check.examined for check in found),
        caught=sum(check.caught for check in found),
        planted=sum(check.planted for check in found),
        person=all(check.person for check in found),
    )
