"""What all gates share: how a verdict is made, and what it was judged by."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from efforts.domain.text.canonical import canonical_json, sha256

from ..artifact import Claim, Kind
from ..verdicts import Failure, Gate, GateVerdict, Judged, Measure, Outcome

# Another one may judge the same inputs differently.
EVALUATOR_VERSION = "8"
# What a failing gate says of an artifact, where it has a name of its own.
TAGS = {Gate.RETENTION: "insufficient_fidelity", Gate.CONTRADICTION: "contradiction_detected"}
# So much of what failed is told in the sentence for people.
SHOWN = 120
NOTHING = "Not judged: what was offered is no summary."


def tags_of(verdicts: Iterable[GateVerdict]) -> tuple[str, ...]:
    """What a draft that failed is asked to mend, one tag for each gate that failed and has one."""
    return tuple(TAGS[v.gate] for v in verdicts if v.failed and v.gate in TAGS)


def verdict(
    gate: Gate,
    judged: Judged,
    *,
    says: str,
    failures: Iterable[Failure] = (),
    measures: Iterable[Measure] = (),
    outcome: Outcome | None = None,
) -> GateVerdict:
    """It fails where anything does, unless the outcome is given."""
    failed = tuple(failures)
    return GateVerdict(
        gate=gate,
        outcome=outcome or (Outcome.FAIL if failed else Outcome.PASS),
        says=says,
        measures=tuple(measures),
        failures=failed,
        evaluator_version=EVALUATOR_VERSION,
        inputs=inputs_of(judged),
    )


def not_judged(gate: Gate, judged: Judged, says: str = NOTHING, measures: Iterable[Measure] = ()) -> GateVerdict:
    """The verdict of a gate that had nothing to judge by: neither pass nor fail."""
    return verdict(gate, judged, says=says, measures=measures, outcome=Outcome.NOT_JUDGED)


def inputs_of(judged: Judged) -> dict[str, str]:
    return {
        "offered": hash_of(asdict(judged.offered)),
        "artifact": sha256(judged.artifact.document) if judged.artifact else "",
        "source": judged.source.sha256,
        "text": hash_of(asdict(judged.text)),
        "ledger": hash_of([asdict(entry) for entry in judged.entries]),
        "check": hash_of(asdict(judged.check)) if judged.check else "",
        "cost": hash_of(
            [judged.tokens, judged.body_tokens, [asdict(one) for one in judged.spent], list(judged.latest)]
        ),
        "people": hash_of([sorted(judged.set_aside), sorted(judged.not_needed)]),
    }


def of_whole(rule: str, text: str) -> Failure:
    """What fails of the document as a whole."""
    return Failure(rule=rule, about="", text=text)


def standing_claims(judged: Judged) -> Mapping[str, Claim]:
    """By their ids the claims that are told in the text that would stand."""
    assert judged.artifact is not None
    whole = judged.text.standing == judged.text.body or judged.artifact.kind != Kind.CONCLUSION
    return {id: claim for id, claim in judged.artifact.by_id.items() if whole or id in judged.artifact.short}


def hash_of(value: Any) -> str:
    """SHA-256 of the canonical JSON of any value that JSON has."""
    return sha256(canonical_json(value))


def shortened(text: str) -> str:
    """The text as one line of at most `SHOWN` characters."""
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1].rstrip() + "…"


def finding_id(rule: str, claim: Claim) -> str:
    """The same for the same claim in any version."""
    return f"{rule}:{claim.content}"[:68]
