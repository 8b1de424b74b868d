"""Gate C: every decision that stands, all open work and every rule is told in the text that stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from efforts.domain.text.counting import counted

from ..artifact import Claim, Kind, Section
from ..ledger import RETAINED, Entry, merged
from ..verdicts import Failure, Gate, GateVerdict, Judged, Measure, Outcome
from .judging import not_judged, shortened, standing_claims, verdict

THRESHOLD = 0.95
RECALLS = {
    Section.DECISION: ("decision_recall", THRESHOLD),
    Section.OPEN_WORK: ("open_work_recall", THRESHOLD),
    Section.RULE: ("rule_recall", 1.0),
}
NAMES = {Section.DECISION: "decision", Section.OPEN_WORK: "to-do", Section.RULE: "rule"}
TOLD = {**NAMES, Section.OPEN_WORK: "open work"}


def judge(judged: Judged) -> GateVerdict:
    """Gate C: fails where a decision, rule or to-do that was listed is told by no claim that stands; not judged
    where nothing was listed."""
    if judged.artifact is None:
        return not_judged(Gate.RETENTION, judged)
    listed = judged.check.listed if judged.check else ()
    # Each matter once, but for what a person does not need.
    wanted = tuple(entry for entry in merged(judged.entries, listed) if entry.id not in judged.not_needed)
    lost = [entry for entry in wanted if not is_kept(entry, judged)]
    measures = [recall_of(section, wanted, lost) for section in RETAINED]
    enough = all(measure.value is None or measure.value >= measure.threshold for measure in measures)
    outcome = Outcome.PASS if enough else Outcome.FAIL
    # A person reads claims, and lists nothing.
    is_listed = is_excerpts(judged) or (judged.check is not None and not judged.check.person)
    if enough and not is_listed:
        kept, most = len(wanted) - len(lost), len(wanted)
        unlisted = (
            "Not judged: nobody has listed what must not be lost"
            f"{f'; {kept} of {most} on the list of this conversation are kept' if wanted else ''}."
        )
        return not_judged(Gate.RETENTION, judged, unlisted, measures)
    return verdict(
        Gate.RETENTION,
        judged,
        failures=[lost_entry(entry, judged) for entry in lost],
        outcome=outcome,
        says=says(judged, wanted, lost),
        measures=measures,
    )


def is_excerpts(judged: Judged) -> bool:
    return judged.artifact is not None and judged.artifact.kind == Kind.DIGEST


def is_kept(entry: Entry, judged: Judged) -> bool:
    """Whether the entry stands in the system text, or is told by a claim, or by excerpts, that stand."""
    if entry.in_system:
        return True
    assert judged.artifact is not None
    if is_excerpts(judged):
        return any(" ".join(entry.text.split()) in " ".join(one.text.split()) for one in judged.artifact.excerpts)
    return any(tells(claim, entry, judged) for claim in standing_claims(judged).values())


def tells(claim: Claim, entry: Entry, judged: Judged) -> bool:
    """As the mapping says; where there is none for this entry, by the entry's id or, of its kind, its sentences.

    A rule tells no open work: it is the log's words, without owner, due date or whether it is done.
    """
    if (claim.section, entry.section) == (Section.RULE, Section.OPEN_WORK):
        return False
    told: Mapping[str, tuple[str, ...]] = judged.check.told if judged.check else {}
    if judged.check and entry.id in told:
        # What a person has added since, or worded anew, is known by its sentences.
        cited = claim.section == entry.section and set(entry.sentences) <= set(claim.cites)
        return claim.content in told[entry.id] or (cited and judged.check.read_by_person(claim))
    if entry.section == Section.RULE and folded(entry.text) in folded(claim.text):
        return True
    return claim.ledger_ref == entry.id or (
        claim.section == entry.section and bool(set(claim.cites) & set(entry.sentences))
    )


def folded(text: str) -> str:
    """The text as it is compared: one line, without case, quotation marks and final stop."""
    return " ".join(text.casefold().split()).strip(" .!\"'“”")


def recall_of(section: Section, wanted: Sequence[Entry], lost: Sequence[Entry]) -> Measure:
    name, threshold = RECALLS[section]
    whole = sum(entry.section == section for entry in wanted)
    kept = whole - sum(entry.section == section for entry in lost)
    value = kept / whole if whole else None
    return Measure(name=name, value=value, threshold=threshold, numerator=kept, denominator=whole)


def lost_entry(entry: Entry, judged: Judged) -> Failure:
    """People and the drafter hear the same of it: where claims tell it but for a part, that part. The one knows turns,
    the other the numbers of sentences."""
    by_sentence = judged.source.by_sentence
    turns = dict.fromkeys(judged.source.part_of(id).turn for id in entry.sentences if id in by_sentence)
    missing = judged.check.missing.get(entry.id) if judged.check else ""
    matter, words, part = NAMES[entry.section], shortened(entry.text), shortened(missing or "")
    places, sentences = ", ".join(f"turn {turn}" for turn in turns), ", ".join(entry.sentences)
    quotes = is_excerpts(judged)
    return Failure(
        rule=f"lost_{entry.section}",
        about=entry.id,
        text=f"{matter} “{words}”{f' ({places})' if places else ''}: "
        f"{'not quoted' if quotes else f'no claim says “{part}”' if missing else 'told by no claim that stands'}",
        told=f"{TOLD[entry.section]} “{words}”{f' ({sentences})' if sentences else ''}: "
        f"{'not quoted' if quotes else f'no claim says “{part}”' if missing else 'told by no claim that stands'}",
    )


def says(judged: Judged, wanted: Sequence[Entry], lost: Sequence[Entry]) -> str:
    if not wanted:
        return "Nothing to keep: no decision, to-do or rule was listed for these turns."
    gone = {entry.id for entry in lost}
    told, quotes = "; ".join(sources_of(judged, wanted, gone)), is_excerpts(judged)
    if lost:
        missing = ", ".join(kinds(lost))
        return f"Missing: {missing}. {'Quoted' if quotes else 'Kept'}: {told}."
    tested = judged.check is None or judged.check.hidden
    return (
        f"{'Quoted' if quotes else 'Kept'}: {told}{'' if tested else '; whether that list is complete was not tested'}."
    )


def sources_of(judged: Judged, wanted: Sequence[Entry], gone: set[str]) -> Iterator[str]:
    by = (judged.check.listed_by or judged.check.by) if judged.check else ""
    for listed in (False, True):
        of = [entry for entry in wanted if entry.listed == listed]
        number = sum(entry.id not in gone for entry in of)
        if not of:
            continue
        # Reviewers read it too, whose list it is not.
        if listed:
            yield f"{number} of {len(of)} in the list that {by} made of the log"
        else:
            yield f"{number} of {len(of)} on the list of this conversation"


def kinds(entries: Iterable[Entry]) -> Iterator[str]:
    found = list(entries)
    for section in RETAINED:
        number = sum(entry.section == section for entry in found)
        if number:
            yield counted(number, NAMES[section])
