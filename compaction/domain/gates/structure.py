"""Gate A: the bytes that were offered are a draft or an artifact, whole, and the artifact says what they say."""

from __future__ import annotations

from collections.abc import Iterator

from ..artifact import Artifact, Draft, Malformed, parse_artifact, parse_draft
from ..verdicts import Failure, Gate, GateVerdict, Judged, Measure
from .judging import of_whole, verdict

COMPLETE = "stop"
ENDINGS = {
    "": "it is not known how the model's output ended",
    "length": "the model's output was cut at its length limit",
    "content_filter": "the endpoint's filter cut the model's output",
    "refused": "the model refused",
    "timeout": "the model did not end in time",
}


def judge(judged: Judged) -> GateVerdict:
    """Gate A: whether the bytes are a whole artifact of the form that was asked for."""
    failures = list(faults(judged))
    parsed = 0 if failures else 1
    return verdict(
        Gate.STRUCTURE,
        judged,
        failures=failures,
        says=f"Not in its form: {failures[0].text}." if failures else "It is whole and in the form that was asked for.",
        measures=[
            Measure(name="parse_success_rate", value=float(parsed), threshold=1.0, numerator=parsed, denominator=1)
        ],
    )


def faults(judged: Judged) -> Iterator[Failure]:
    if judged.offered.stop_reason != COMPLETE:
        yield of_whole("incomplete", ending(judged.offered.stop_reason))
    try:
        offered = parsed(judged)
    except Malformed as error:
        yield of_whole("malformed", str(error))
        return
    if judged.artifact is None:
        yield of_whole("no_artifact", "no summary was made of it")
    elif difference := said_otherwise(offered, judged.artifact):
        yield of_whole("other_artifact", difference)


def ending(stop_reason: str) -> str:
    return ENDINGS.get(stop_reason, f"the model's output ended with “{stop_reason}”")


def parsed(judged: Judged) -> Draft | Artifact:
    return parse_draft(judged.offered.text) if judged.offered.form == "draft" else parse_artifact(judged.offered.text)


def said_otherwise(offered: Draft | Artifact, artifact: Artifact) -> str:
    """In what the artifact differs from what was offered; empty where in nothing."""
    if isinstance(offered, Artifact):
        return "" if offered.document == artifact.document else "the summary is not the document that was offered"
    if len(offered.claims) != len(artifact.claims):
        return "the summary has more or fewer claims than the draft"
    # Code may only add cites.
    bare = {"cites": (), "ledger_ref": ""}
    for mine, theirs in zip(artifact.claims, offered.claims, strict=True):
        same = mine.model_copy(update=bare) == theirs.model_copy(update=bare)
        if not same or not set(theirs.cites) <= set(mine.cites):
            return f"claim {mine.id} is not that of the draft"
    return ""
