"""Gate A: the bytes that were offered are a draft or an artifact, whole, and the artifact says what they say."""

from __future__ import annotations

from collections.abc import Iterator

from ..artifact import Artifact, Draft, DraftItem, Item, Malformed, Status, parse_artifact, parse_draft
from ..verdicts import Failure, Gate, Judged, Measure, Verdict
from .judging import verdict

COMPLETE = "stop"
ENDINGS = {
    "": "it is not known how the model's output ended",
    "length": "the model's output was cut at its length limit",
    "content_filter": "the endpoint's filter cut the model's output",
    "refused": "the model refused",
    "timeout": "the model did not end in time",
}


def judge(judged: Judged) -> Verdict:
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
        yield failure("incomplete", ending(judged.offered.stop_reason))
    try:
        offered = parsed(judged)
    except Malformed as error:
        yield failure("malformed", str(error))
        return
    if judged.artifact is None:
        yield failure("no_artifact", "no artifact was made of it")
    elif difference := said_otherwise(offered, judged.artifact):
        yield failure("other_artifact", difference)


def failure(rule: str, text: str) -> Failure:
    return Failure(rule=rule, about="", text=text)


def ending(stop_reason: str) -> str:
    return ENDINGS.get(stop_reason, f"the model's output ended with “{stop_reason}”")


def parsed(judged: Judged) -> Draft | Artifact:
    return parse_draft(judged.offered.text) if judged.offered.form == "draft" else parse_artifact(judged.offered.text)


def said_otherwise(offered: Draft | Artifact, artifact: Artifact) -> str:
    """In what the artifact differs from what was offered; empty where in nothing."""
    if isinstance(offered, Artifact):
        return "" if offered.document == artifact.document else "the artifact is not the document that was offered"
    if (offered.headline, offered.headline_items) != (artifact.headline, artifact.headline_items):
        return "the artifact has another headline than the draft"
    return next(others(offered, artifact), "")


def others(draft: Draft, artifact: Artifact) -> Iterator[str]:
    kept, appended = artifact.items[: len(draft.items)], artifact.items[len(draft.items) :]
    if len(kept) < len(draft.items):
        yield f"the artifact lacks item {draft.items[len(kept)].id} of the draft"
    for item, offered in zip(kept, draft.items, strict=False):
        if not is_of(item, offered):
            yield f"item {item.id} of the artifact is not item {offered.id} of the draft"
    yield from (
        f"item {item.id} is not in the draft, and is not a quotation marked unconfirmed"
        for item in appended
        if item.status != Status.UNCONFIRMED or not item.verbatim
    )


def is_of(item: Item, offered: DraftItem) -> bool:
    mine = (item.id, item.section, item.status, item.actor, item.text, item.ledger_ref)
    theirs = (offered.id, offered.section, offered.status, offered.actor, offered.text, offered.ledger)
    quoted = {(quote.message, without_space(quote.quote)) for quote in offered.quotes}
    return mine == theirs and all((link.message, without_space(link.quote)) in quoted for link in item.links)


def without_space(text: str) -> str:
    return "".join(text.split())
