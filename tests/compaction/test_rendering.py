"""How an artifact stands in a prompt."""

from __future__ import annotations

from compaction.domain.artifact import Draft, DraftItem, Generation, Kind, Quote, Section, SourceRef, Status
from compaction.domain.making import Frame, make
from compaction.domain.rendering import body_text, standing_text
from efforts.domain.source_text import Part, Source, SourcePart

WORDS = "We go with Stripe, and Jo sets it up by Friday."
SOURCE = Source(
    parts=(
        SourcePart(message=1, turn=1, role="user", part=Part.TEXT, text="Which provider do we take?"),
        SourcePart(message=2, turn=2, role="user", part=Part.TEXT, text=WORDS),
    )
)


def item(id: str, section: Section, status: Status, text: str = WORDS, ledger: str | None = None) -> DraftItem:
    quotes = (Quote(message=2, quote=WORDS),)
    return DraftItem(id=id, section=section, status=status, actor="user", text=text, quotes=quotes, ledger=ledger)


def body(*items: DraftItem, kind: Kind = Kind.INTENTIONAL) -> str:
    frame = Frame(
        kind=kind,
        replaceable=True,
        source=SourceRef(
            session="", branch="", effort=None, start=1, end=2, turns=(1, 2), source_sha256="", source_tokens=30
        ),
        generation=Generation(
            purpose="compaction",
            drafter="extractive",
            model="",
            provider="",
            params={},
            prompt_version="",
            policy_version="1",
            attempts=(),
            elapsed_ms=0,
            cap=1,
            timeout_ms=1,
        ),
    )
    draft = Draft(headline="Stripe it is.", headline_items=(), items=items)
    artifact = make(draft, SOURCE, frame, count=len)
    assert (standing_text(artifact) == "Stripe it is.") == (kind == Kind.CONCLUSION)
    return body_text(artifact)


def test_a_conclusion_stands_by_its_headline() -> None:
    assert body(kind=Kind.CONCLUSION)


def test_what_somebody_says_of_the_log_stands_under_its_section_with_its_turn() -> None:
    lines = body(item("1", Section.OPEN_WORK, Status.BLOCKED, "Jo sets up Stripe.")).splitlines()
    assert lines[-2:] == ["Open work:", "- Jo sets up Stripe. (blocked, turn 2)"]


def test_what_is_only_quoted_is_shown_once_with_its_turn_whatever_it_may_be() -> None:
    decided, open_ = item("1", Section.DECISION, Status.ACCEPTED), item("2", Section.OPEN_WORK, Status.OPEN)
    lines = body(decided, open_).splitlines()
    assert lines[-2:] == ["Said:", f"- 2: “{WORDS}”"]


def test_a_quotation_that_keeps_an_entry_of_the_ledger_stands_as_that() -> None:
    lines = body(item("1", Section.DECISION, Status.ACCEPTED, ledger="decision-7")).splitlines()
    assert lines[-2:] == ["Decisions:", f"- “{WORDS}” (turn 2)"]
