"""Small mistakes of form, citation, value, state and cost, each of which the exact detectors are to refuse without a
check: a regression of these detectors, and no measure of trust."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from compaction.domain.artifact import STATUSES, Artifact, Claim, Draft, Section, Status
from compaction.domain.gates import contradiction, cost, retention, structure, traceability
from compaction.domain.ledger import RETAINED, Entry
from compaction.domain.limits import Purpose
from compaction.domain.rendering import rendered
from compaction.domain.values import content
from compaction.domain.verdicts import Gate, GateVerdict, Judged, Offered, Spent
from compaction.drafting.summaries import Task, made
from efforts.context.connections import ModelChoice
from efforts.domain.text.canonical import canonical_json
from efforts.domain.text.source_text import Part
from efforts.turns.recording import count

from .bench import CAP, task_of
from .cases import Case, sentences_with
from .converting import SECTIONS, said
from .figures import Demand, least

JUDGES: dict[Gate, Callable[[Judged], GateVerdict]] = {
    Gate.STRUCTURE: structure.judge,
    Gate.TRACEABILITY: traceability.judge,
    Gate.RETENTION: retention.judge,
    Gate.CONTRADICTION: contradiction.judge,
    Gate.COST: cost.judge,
}
NOBODY = ModelChoice(kind="endpoint", label="", model="")
USUAL = Spent(purpose=Purpose.COMPACTION, tokens=9_000, cap=CAP, slowest_ms=20_000, timeout_ms=90_000)
# What stands in no log.
FIGURE, PATH, IDENTIFIER, PERSON = "7,319", "lib/nowhere/else.toml", "reset_all_meters", "Ottokar Zwirnfuchs"
FEWEST_WORDS = 4
NUMBER = re.compile(r"(?<![\w.,:/-])\d{2,6}(?![\w:/-]|[.,]\d)")
EXCLUDED = {
    Status.ACCEPTED: Status.REJECTED,
    Status.OPEN: Status.DONE,
    Status.BLOCKED: Status.DROPPED,
    Status.IN_FORCE: Status.REVOKED,
}


@dataclass(frozen=True)
class Good:
    """Notes of a case with the sentences that their quotations are of, as no model has touched them."""

    case: Case

    @cached_property
    def task(self) -> Task:
        return replace(task_of(self.case, NOBODY), entries=self.case.entries)

    @cached_property
    def claims(self) -> tuple[Claim, ...]:
        return claims_of(self.case)

    @cached_property
    def judged(self) -> Judged:
        return self.offering(self.claims)

    @property
    def artifact(self) -> Artifact:
        assert self.judged.artifact is not None
        return self.judged.artifact

    def offering(self, claims: Iterable[Claim]) -> Judged:
        draft = Draft(claims=tuple(claims))
        return self.offering_bytes(bytes_of(draft), made(self.task, draft))

    def offering_bytes(self, text: str, artifact: Artifact | None, stop_reason: str = "stop") -> Judged:
        assert artifact is not None
        stands = rendered(artifact, count=count)
        return Judged(
            offered=Offered(text=text, form="draft", stop_reason=stop_reason),
            artifact=artifact,
            source=self.case.source,
            text=stands,
            tokens=count(stands.standing),
            body_tokens=count(stands.body),
            entries=self.case.entries,
            spent=(USUAL,),
        )

    def with_claim(self, claim: Claim, **update: Any) -> Judged:
        changed = claim.model_copy(update=update)
        return self.offering(changed if one.id == claim.id else one for one in self.claims)

    def document(self) -> Any:
        return json.loads(bytes_of(Draft(claims=self.claims)))

    def offered(self, text: str, stop_reason: str = "stop") -> Judged:
        return self.offering_bytes(text, self.artifact, stop_reason)


Maker = Callable[[Good], Iterator[Judged]]


@dataclass(frozen=True, kw_only=True)
class Kind:
    gate: Gate
    make: Maker

    @property
    def name(self) -> str:
        return self.make.__name__.replace("_", " ").strip()


KINDS: list[Kind] = []


def refused_by(gate: Gate) -> Callable[[Maker], Maker]:
    def register(make: Maker) -> Maker:
        KINDS.append(Kind(gate=gate, make=make))
        return make

    return register


def claims_of(case: Case) -> tuple[Claim, ...]:
    quoted = {note.id: cites_of(case, note.quotes) for note in case.notes.items}
    backing = tuple(dict.fromkeys(id for item in case.notes.headline_items for id in quoted[item]))
    headline = Claim(
        id="r1", section=Section.RESULT, status=Status.STATED, text=said(case.notes.headline), cites=backing
    )
    notes = [
        Claim(
            id=note.id,
            section=Section(SECTIONS.get(note.section, note.section)),
            status=note.status,
            text=said(note.text),
            cites=quoted[note.id],
        )
        for note in case.notes.items
    ]
    return (headline, *notes) if backing else tuple(notes)


def cites_of(case: Case, quotes: Iterable[Any]) -> tuple[str, ...]:
    found = (id for quote in quotes for id in sentences_with(quote.message, quote.quote, case.source))
    return tuple(dict.fromkeys(found))


def bytes_of(draft: Draft) -> str:
    return canonical_json(draft.model_dump(mode="json", exclude={"claims": {"__all__": {"ledger_ref"}}}))


# A structure


@refused_by(Gate.STRUCTURE)
def cut_in_the_middle(good: Good) -> Iterator[Judged]:
    text = bytes_of(Draft(claims=good.claims))
    yield good.offered(text[: len(text) // 2])


@refused_by(Gate.STRUCTURE)
def cut_at_its_limit(good: Good) -> Iterator[Judged]:
    for reason in ("length", "content_filter", "timeout", ""):
        yield good.offered(bytes_of(Draft(claims=good.claims)), reason)


@refused_by(Gate.STRUCTURE)
def prose_around(good: Good) -> Iterator[Judged]:
    text = bytes_of(Draft(claims=good.claims))
    yield good.offered(f"Here are the notes:\n{text}")
    yield good.offered(f"```json\n{text}\n```")


@refused_by(Gate.STRUCTURE)
def nothing_at_all(good: Good) -> Iterator[Judged]:
    for text in ("", "{}", "null", '{"claims": []}'):
        yield good.offered(text)


@refused_by(Gate.STRUCTURE)
def a_key_missing(good: Good) -> Iterator[Judged]:
    for key in ("id", "section", "status", "text", "cites"):
        document = good.document()
        del document["claims"][0][key]
        yield good.offered(canonical_json(document))


@refused_by(Gate.STRUCTURE)
def a_key_too_many(good: Good) -> Iterator[Judged]:
    document = good.document()
    document["claims"][0]["quotes"] = []
    yield good.offered(canonical_json(document))


@refused_by(Gate.STRUCTURE)
def a_key_twice(good: Good) -> Iterator[Judged]:
    text = bytes_of(Draft(claims=good.claims))
    yield good.offered(text.replace('"status":', '"status":"open","status":', 1))


@refused_by(Gate.STRUCTURE)
def a_value_of_another_type(good: Good) -> Iterator[Judged]:
    for key, value in (("id", 1), ("text", None), ("cites", "1.1"), ("owner", [])):
        document = good.document()
        document["claims"][0][key] = value
        yield good.offered(canonical_json(document))


@refused_by(Gate.STRUCTURE)
def a_status_of_another_section(good: Good) -> Iterator[Judged]:
    document = good.document()
    section = Section(document["claims"][-1]["section"])
    document["claims"][-1]["status"] = next(one for one in Status if one not in STATUSES[section])
    yield good.offered(canonical_json(document))


@refused_by(Gate.STRUCTURE)
def an_id_twice(good: Good) -> Iterator[Judged]:
    document = good.document()
    document["claims"].append(document["claims"][0])
    yield good.offered(canonical_json(document))


@refused_by(Gate.STRUCTURE)
def a_claim_left_out_after_parsing(good: Good) -> Iterator[Judged]:
    fewer = good.artifact.model_copy(update={"claims": good.artifact.claims[1:], "short": ()})
    yield good.offering_bytes(bytes_of(Draft(claims=good.claims)), fewer)


@refused_by(Gate.STRUCTURE)
def a_text_changed_after_parsing(good: Good) -> Iterator[Judged]:
    first, *others = good.artifact.claims
    other = first.model_copy(update={"text": f"{first.text} (details: none)"})
    changed = good.artifact.model_copy(update={"claims": (other, *others)})
    yield good.offering_bytes(bytes_of(Draft(claims=good.claims)), changed)


# B traceability


@refused_by(Gate.TRACEABILITY)
def no_sentence_cited(good: Good) -> Iterator[Judged]:
    """Of a claim that names nothing that just one sentence has, which code would cite instead."""
    for claim in good.claims[-2:]:
        yield good.with_claim(claim, text="That is how it is to be done.", cites=())


@refused_by(Gate.TRACEABILITY)
def a_sentence_that_is_not_there(good: Good) -> Iterator[Judged]:
    for claim in good.claims[-2:]:
        yield good.with_claim(claim, cites=(*claim.cites, "999.1"))


@refused_by(Gate.TRACEABILITY)
def a_figure_that_stands_nowhere(good: Good) -> Iterator[Judged]:
    for claim in told(good):
        if found := NUMBER.search(claim.text):
            yield good.with_claim(claim, text=f"{claim.text[: found.start()]}{FIGURE}{claim.text[found.end() :]}")


@refused_by(Gate.TRACEABILITY)
def a_figure_added(good: Good) -> Iterator[Judged]:
    for claim in told(good)[:2]:
        yield good.with_claim(claim, text=f"{claim.text.rstrip('.')}, {FIGURE} in all.")


@refused_by(Gate.TRACEABILITY)
def a_path_added(good: Good) -> Iterator[Judged]:
    for claim in told(good)[:2]:
        yield good.with_claim(claim, text=f"{claim.text.rstrip('.')}, see {PATH}.")


@refused_by(Gate.TRACEABILITY)
def an_identifier_added(good: Good) -> Iterator[Judged]:
    for claim in told(good)[:2]:
        yield good.with_claim(claim, text=f"{claim.text.rstrip('.')}, by `{IDENTIFIER}`.")


@refused_by(Gate.TRACEABILITY)
def an_owner_whom_nobody_names(good: Good) -> Iterator[Judged]:
    for claim in of_section(good, Section.OPEN_WORK)[:2]:
        yield good.with_claim(claim, owner=PERSON)


@refused_by(Gate.TRACEABILITY)
def a_due_date_that_nobody_names(good: Good) -> Iterator[Judged]:
    for claim in of_section(good, Section.OPEN_WORK)[:2]:
        yield good.with_claim(claim, due="2031-02-27")


@refused_by(Gate.TRACEABILITY)
def a_rule_in_other_words(good: Good) -> Iterator[Judged]:
    for claim in of_section(good, Section.RULE):
        yield good.with_claim(claim, text=f"Somebody has said that {claim.text}")


@refused_by(Gate.TRACEABILITY)
def made_of_another_log(good: Good) -> Iterator[Judged]:
    ref = good.artifact.source.model_copy(update={"source_sha256": "0" * 64})
    yield replace(good.judged, artifact=good.artifact.model_copy(update={"source": ref}))


# C retention, by the ledger alone


@refused_by(Gate.RETENTION)
def a_confirmed_entry_that_no_claim_tells(good: Good) -> Iterator[Judged]:
    for entry in good.case.entries:
        if entry.status in RETAINED.get(entry.section, ()) and (left := without(entry, good)):
            yield good.offering(left)


# D contradiction


@refused_by(Gate.CONTRADICTION)
def a_status_that_the_ledger_excludes(good: Good) -> Iterator[Judged]:
    for entry, claim in pairs(good):
        if claim.status == entry.status and (other := EXCLUDED.get(claim.status)) and is_worth(entry.text):
            judged = good.with_claim(claim, status=other, text=entry.text)
            assert judged.artifact is not None
            claims = tuple(
                one.model_copy(update={"ledger_ref": entry.id}) if one.id == claim.id else one
                for one in judged.artifact.claims
            )
            yield replace(judged, artifact=judged.artifact.model_copy(update={"claims": claims}))


@refused_by(Gate.CONTRADICTION)
def the_same_twice_with_another_figure(good: Good) -> Iterator[Judged]:
    for claim in told(good):
        if (found := NUMBER.search(claim.text)) and is_worth(claim.text):
            text = f"{claim.text[: found.start()]}{int(found[0]) + 1}{claim.text[found.end() :]}"
            yield good.offering((*good.claims, claim.model_copy(update={"id": "again", "text": text})))


@refused_by(Gate.CONTRADICTION)
def the_same_twice_with_another_status(good: Good) -> Iterator[Judged]:
    for claim in told(good):
        if (other := EXCLUDED.get(claim.status)) and is_worth(claim.text):
            yield good.offering((*good.claims, claim.model_copy(update={"id": "again", "status": other})))


@refused_by(Gate.CONTRADICTION)
def another_number_of_tests(good: Good) -> Iterator[Judged]:
    for id, sentence in good.case.source.by_sentence.items():
        if sentence.part == Part.RESULT and (found := re.search(r"\b(\d+) (passed|failed)\b", sentence.text)):
            claim = Claim(
                id="ran",
                section=Section.FACT,
                status=Status.STATED,
                text=f"The last run had {int(found[1]) + 40} {found[2]}.",
                cites=(id,),
            )
            yield good.offering((*good.claims, claim))


# E cost


@refused_by(Gate.COST)
def over_its_cap(good: Good) -> Iterator[Judged]:
    yield replace(good.judged, spent=(replace(USUAL, tokens=CAP + 1),))


@refused_by(Gate.COST)
def usage_that_nobody_knows(good: Good) -> Iterator[Judged]:
    yield replace(good.judged, spent=(USUAL, replace(USUAL, purpose=Purpose.CHECK, tokens=None)))


@refused_by(Gate.COST)
def no_cap_or_no_timeout(good: Good) -> Iterator[Judged]:
    yield replace(good.judged, spent=(replace(USUAL, cap=0, tokens=0),))
    yield replace(good.judged, spent=(replace(USUAL, timeout_ms=0),))


@refused_by(Gate.COST)
def a_millisecond_over_its_timeout(good: Good) -> Iterator[Judged]:
    yield replace(good.judged, spent=(replace(USUAL, slowest_ms=USUAL.timeout_ms + 1),))


@refused_by(Gate.COST)
def as_large_as_its_source(good: Good) -> Iterator[Judged]:
    yield replace(good.judged, tokens=good.artifact.source.source_tokens)


# What mutants are made of


def told(good: Good) -> list[Claim]:
    """What is not bound to be word for word."""
    return [claim for claim in good.claims if claim.section not in (Section.RULE, Section.RESULT)]


def of_section(good: Good, section: Section) -> list[Claim]:
    return [claim for claim in good.claims if claim.section == section]


def is_worth(text: str) -> bool:
    """It has words enough to be known again."""
    return len(content(text)) >= FEWEST_WORDS


def pairs(good: Good) -> Iterator[tuple[Entry, Claim]]:
    """Entries with the one claim that is of their sentences."""
    for entry in good.case.entries:
        of = [c for c in of_section(good, entry.section) if set(c.cites) & set(entry.sentences)]
        if len(of) == 1:
            yield entry, of[0]


def without(entry: Entry, good: Good) -> list[Claim]:
    """The claims that have nothing to do with it; none where that leaves all or nothing."""
    left = [claim for claim in good.claims if not set(claim.cites) & set(entry.sentences)]
    return left if len(left) < len(good.claims) else []


@dataclass(kw_only=True)
class Mutants:
    """`survivors`: by the name of a kind the cases whose mutant its gate let pass."""

    name = "mutants"
    cases: Sequence[Case]
    tried: Counter[str] = field(default_factory=Counter)
    survivors: list[tuple[str, str]] = field(default_factory=list)

    def measure(self) -> None:
        for case in self.cases:
            good = Good(case)
            passing = {gate for gate, judge in JUDGES.items() if not judge(good.judged).failed}
            for kind in KINDS:
                if kind.gate in passing:
                    self.try_kind(kind, good)

    def try_kind(self, kind: Kind, good: Good) -> None:
        for judged in kind.make(good):
            self.tried[kind.name] += 1
            if not JUDGES[kind.gate](judged).failed:
                self.survivors.append((kind.name, good.case.id))

    def figures(self) -> dict[str, Any]:
        return {
            "kinds": {kind.name: {"gate": str(kind.gate), "tried": self.tried[kind.name]} for kind in KINDS},
            "survivors": [{"kind": kind, "case": case} for kind, case in self.survivors],
        }

    def lines(self) -> Iterator[str]:
        tried = sum(self.tried.values())
        yield f"{tried:,} mutants of {len(KINDS)} kinds for the exact detectors, a regression and no measure of trust:"
        yield f"  {len(self.survivors)} passed"
        yield from (f"  passed: {kind}, in {case}" for kind, case in self.survivors)

    def demands(self) -> Iterator[Demand]:
        tried = sum(self.tried.values())
        yield least("mutants refused by exact detectors", tried - len(self.survivors), tried, 1.0)
        planted = sum(bool(self.tried[kind.name]) for kind in KINDS)
        yield least("kinds of mutants that could be planted", planted, len(KINDS), 1.0)
