"""For each rule an artifact that breaks it, and what tells the rule."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from compaction.domain.artifact import Evidence, Link, Section, Status
from compaction.domain.verdicts import Finding, Judged, Offered
from efforts.domain.source_text import Part, Source
from tests.compaction.gates import cases
from tests.compaction.gates.cases import draft_with, draft_without, item, judged, said


def changed(id: str, **changes: Any) -> Judged:
    return judged(draft_with(item(id, **changes)))


def with_headline(headline: str, *ids: str) -> Judged:
    return judged({**cases.GOOD, "headline": headline, "headline_items": ids or cases.GOOD["headline_items"]})


def without_items(headline: str) -> Judged:
    return judged({"headline": headline, "headline_items": [], "items": []}, ledger=())


def with_generation(**changes: Any) -> Judged:
    given = judged()
    assert given.artifact
    return cases.with_artifact(given, generation=cases.generation(**changes))


def after(*parts: tuple[int, Any, str]) -> Source:
    return Source(parts=(*cases.SOURCE.parts, *(said(*part) for part in parts)))


def about(text: str, quote: str, *, message: int = 20, status: str = "accepted", section: str = "decision") -> Judged:
    """One more item that quotes one more message of the user."""
    more = {
        "id": "i9",
        "section": section,
        "status": status,
        "actor": "user",
        "text": text,
        "quotes": [{"message": message, "quote": quote}],
    }
    return judged(draft_with(more), source=after((message, "user", quote)))


def offered(text: str, stop_reason: str = "stop") -> Judged:
    return replace(judged(), offered=Offered(text=text, form="draft", stop_reason=stop_reason))


def forged_link() -> Judged:
    given = judged()
    assert given.artifact
    first, *others = given.artifact.items
    moved = first.links[0].model_copy(update={"start": first.links[0].start + 1})
    return cases.with_artifact(given, items=(first.model_copy(update={"links": (moved,)}), *others))


def forged_opening() -> Judged:
    link = Link(message=1, part=Part.TEXT, start=0, end=30, quote="We need a pizza for the office")
    return cases.with_artifact(judged(), opening=(link,))


def forged_evidence() -> Judged:
    link = Link(message=10, part=Part.RESULT, start=0, end=6, quote="FAILED")
    return cases.with_artifact(judged(), evidence=(Evidence(type="number", value="42", link=link),))


def two_items(one: dict[str, Any], other: dict[str, Any], said_of_both: str) -> Judged:
    quotes = [{"message": 20, "quote": said_of_both}]
    shared = {"section": "fact", "status": "stated", "actor": "user", "quotes": quotes}
    items = ({**shared, "id": "x1", **one}, {**shared, "id": "x2", **other})
    return judged(draft_with(*items), source=after((20, "user", said_of_both)))


BROKEN: dict[str, Callable[[], Judged]] = {
    "incomplete": lambda: offered(json.dumps(cases.GOOD), "length"),
    "malformed": lambda: offered(json.dumps({**cases.GOOD, "mood": "good"})),
    "no_artifact": lambda: replace(judged(), artifact=None),
    "other_artifact": lambda: offered(json.dumps({**cases.GOOD, "headline": "All is well."})),
    "no_quotation": lambda: changed("i2", quotes=[{"message": 6, "quote": "The timeout shall be sixty."}]),
    "forged_quotation": forged_link,
    "short_quotation": lambda: changed("i2", quotes=[{"message": 6, "quote": "60 seconds"}]),
    "not_quoted": lambda: changed("i2", text="The worker has a timeout of 60 s and 8 retries."),
    "other_matter": lambda: changed("i2", text="Lunch takes place on the roof terrace."),
    "no_item": lambda: judged({**cases.GOOD, "headline": "Bananas ripen elsewhere.", "headline_items": []}),
    "not_in_items": lambda: with_headline("The job queue is procrastinate, in version 7.3.1."),
    "not_backed": lambda: with_headline("Bananas ripen elsewhere, under glass.", "i1"),
    "not_so": lambda: with_headline("Nothing was decided and nothing is open."),
    "not_in_source": lambda: with_headline("The job queue is procrastinate. (details: kangaroo)"),
    "nothing_said": lambda: without_items("Open: +2 more open."),
    "other_source": lambda: replace(judged(), source=after((11, "user", "One more thing."))),
    "forged_opening": forged_opening,
    "forged_evidence": forged_evidence,
    "lost_decision": lambda: judged(draft_without("i2")),
    "lost_open_work": lambda: judged(draft_without("i5")),
    "lost_constraint": lambda: changed("i3", text="Send no email twice for the same invoice."),
    "missed_candidate": lambda: replace(
        judged(),
        candidates=(
            cases.entry(
                "k1",
                Section.DECISION,
                Status.ACCEPTED,
                "Leave the retries at 5 attempts.",
                (6, "Leave the retries at 5 attempts."),
            ),
        ),
    ),
    "not_current": lambda: judged(
        draft_with(
            item(
                "i6",
                id="x",
                section="decision",
                status="accepted",
                actor="user",
                text="Celery is taken for the job queue.",
                quotes=[{"message": 3, "quote": "Let's take Celery for the job queue, two of us know it already."}],
            )
        )
    ),
    "not_dropped": lambda: changed("i1", status="superseded"),
    "other_state": lambda: changed("i4", section="open_work", status="done"),
    "other_actor": lambda: changed("i4", actor="assistant"),
    "other_person": lambda: changed("i6", text="The user decided that the settings go to `src/queue/settings.py`."),
    "other_value": lambda: changed("i2", text="The worker has a timeout of 90 s."),
    "other_count": lambda: about("The party is in week 20.", "The party of the department is in week 19."),
    "corrected_later": lambda: judged(
        draft_with(
            item(
                "i6",
                id="x",
                section="fact",
                status="stated",
                text="The timeout of the worker is set to 30 seconds.",
                quotes=[{"message": 4, "quote": "Then I set the timeout of the worker to 30 seconds"}],
            )
        )
    ),
    "denied": lambda: changed("i5", text="The migration of the invoices table does not wait for that grant."),
    "other_modality": lambda: about(
        "The reports may go through the proxy server.", "The reports must go through the proxy server."
    ),
    "other_scope": lambda: about(
        "Some reports go through the proxy server.", "All reports go through the proxy server."
    ),
    "other_order": lambda: about(
        "The cache is emptied after the release of the app.", "The cache is emptied before the release of the app."
    ),
    "tool_says_otherwise": lambda: changed("i6", text="The tests of `src/queue/settings.py` pass."),
    "both_statuses": lambda: two_items(
        {"section": "decision", "status": "accepted", "text": "Reports go through the proxy server."},
        {"section": "decision", "status": "rejected", "text": "Reports go through the proxy server."},
        "The reports go through the proxy server of the office.",
    ),
    "opposite_items": lambda: two_items(
        {"text": "Reports go through the proxy server."},
        {"text": "Reports do not go through the proxy server."},
        "Whether the reports go through the proxy server is a long story.",
    ),
    "values_of_items": lambda: two_items(
        {"text": "The proxy server keeps reports for 30 days."},
        {"text": "The proxy server keeps reports for 90 days."},
        "The proxy server keeps reports for 30 days, or was it 90 days?",
    ),
    "judge": lambda: replace(
        judged(),
        findings=(Finding(item="i1", message=3, quote="two of us know it already", why="It was Celery."),),
    ),
    "no_cap": lambda: with_generation(cap=0),
    "no_timeout": lambda: with_generation(timeout_ms=0),
    "no_usage": lambda: with_generation(attempts=(cases.attempt(), cases.attempt(usage=None))),
    "over_cap": lambda: with_generation(attempts=(cases.attempt(39_000), cases.attempt(1001))),
    "too_long": lambda: with_generation(elapsed_ms=90_001),
    "slow_runs": lambda: replace(judged(), latest=(*[4000] * 18, None, None)),
    "not_smaller": lambda: replace(judged(), tokens=cases.count(cases.SOURCE.text)),
    "negative": lambda: with_generation(elapsed_ms=-1),
}
