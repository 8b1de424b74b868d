"""Gate B: every claim leads to sentences of its source that have what it names, and no reader found it unsupported."""

from __future__ import annotations

from collections.abc import Iterator

from ..artifact import Artifact, Claim, Kind
from ..check.answers import Entailment as Said
from ..verdicts import Failure, Gate, GateVerdict, Judged, Measure, Outcome
from .judging import counted, finding_id, not_judged, shortened, standing_claims, verdict
from .traceable import faults

THRESHOLD = 0.98


def judge(judged: Judged) -> GateVerdict:
    """Gate B: fails where a claim cites no sentence, or one that does not have what it names, or was found
    unsupported."""
    artifact = judged.artifact
    if artifact is None:
        return not_judged(Gate.TRACEABILITY, judged)
    failures = [*misplaced(artifact, judged), *misquoted(artifact, judged)]
    for claim in artifact.claims:
        failures += of_claim(claim, judged)
    untraced = {failure.about for failure in failures}
    whole = len(artifact.claims) or len(artifact.excerpts)
    traced = whole - len(untraced & {claim.id for claim in artifact.claims})
    # Of a digest that has room for no excerpt there is nothing to trace; a summary without claims is none.
    ratio = traced / whole if whole else float(artifact.kind == Kind.DIGEST)
    within = ratio >= THRESHOLD and not untraced & {*standing_claims(judged), ""}
    return verdict(
        Gate.TRACEABILITY,
        judged,
        failures=failures,
        outcome=Outcome.PASS if within else Outcome.FAIL,
        says=says(judged, artifact, failures, whole),
        measures=[
            Measure(name="traceable_item_ratio", value=ratio, threshold=THRESHOLD, numerator=traced, denominator=whole)
        ],
    )


def of_claim(claim: Claim, judged: Judged) -> Iterator[Failure]:
    for fault in faults(claim, judged.source):
        yield Failure(rule=fault.rule, about=claim.id, text=f"claim {claim.id}: {fault.text}")
    for doubt in judged.check.doubts_on(claim) if judged.check else ():
        id = finding_id("unsupported", claim)
        if doubt.verdict == Said.UNSUPPORTED and id not in judged.set_aside:
            yield Failure(rule="unsupported", about=claim.id, text=told(claim, doubt.phrase, doubt.why), id=id)


def told(claim: Claim, phrase: str, why: str) -> str:
    at = f"“{shortened(phrase)}”" if phrase else f"“{shortened(claim.text)}”"
    return f"claim {claim.id}: the log does not say {at}{f': {shortened(why)}' if why else ''}"


def misplaced(artifact: Artifact, judged: Judged) -> Iterator[Failure]:
    """Of a merged artifact the source is that of other conversations, which its own hash does not name."""
    if artifact.source.source_sha256 != judged.source.sha256 and artifact.kind != Kind.SEED:
        yield Failure(rule="other_source", about="", text="it was made of another log")


def misquoted(artifact: Artifact, judged: Judged) -> Iterator[Failure]:
    said = " ".join(judged.source.said.split())
    for excerpt in artifact.excerpts:
        unknown = [id for id in excerpt.cites if id not in judged.source.by_sentence]
        quoted = any(" ".join(excerpt.text.split()) == entry.text for entry in judged.entries)
        if unknown or not (quoted or " ".join(excerpt.text.split()) in said):
            yield Failure(rule="not_in_source", about="", text=f"“{shortened(excerpt.text)}” is not in the log")


def says(judged: Judged, artifact: Artifact, failures: list[Failure], whole: int) -> str:
    if failures:
        more = f" and {len(failures) - 1} more" if len(failures) > 1 else ""
        return f"{failures[0].text[0].upper()}{failures[0].text[1:]}{more}."
    if artifact.kind == Kind.DIGEST:
        return f"{counted(whole, 'excerpt')}, each word for word from the log."
    read = f", read by {judged.check.by}" if judged.check and judged.check.has_read(artifact.claims) else ""
    unread = "" if read else ". Whether the sentences say what the claims say, nobody has read"
    return f"{counted(whole, 'claim')}: the cited sentences are in the log, and so are all values{read}{unread}."
