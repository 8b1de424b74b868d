"""How an artifact stands in a prompt: line by line, by code alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import (
    SCHEMA_VERSION,
    STATUSES,
    Artifact,
    Claim,
    Excerpt,
    Kind,
    Section,
    SourceRef,
    Status,
    is_short,
    with_id,
)
from compaction.domain.rendering import Rendered, rendered, short_limit
from compaction.drafting.summaries import OPENING_TOKENS, opening_of
from efforts.turns.recording import count
from tests.compaction.logs import log

RESULT = Claim(id="0", section=Section.RESULT, status=Status.STATED, text="Stripe it is.", cites=("1.1",))


def claim(section: Section, text: str, status: Status | None = None, *, id: str = "1", **more: str) -> Claim:
    return Claim(id=id, section=section, status=status or STATUSES[section][0], text=text, cites=("1.1",), **more)


def artifact(*claims: Claim, kind: Kind = Kind.CONCLUSION, tokens: int = 400, **more: object) -> Artifact:
    told = (RESULT, *claims)
    return with_id(
        Artifact.model_validate(
            {
                "schema_version": SCHEMA_VERSION,
                "artifact_id": "",
                "kind": kind,
                "source": SourceRef(
                    session="",
                    branch="",
                    effort=None,
                    start=1,
                    end=2,
                    turns=(1, 2),
                    source_sha256="",
                    source_tokens=tokens,
                ),
                "claims": told,
                "short": tuple(one.id for one in told if is_short(one)),
                "opening": "",
                "title": "",
                "excerpts": (),
                "evidence": (),
                "redactions": 0,
                "warnings": (),
                **more,
            }
        )
    )


def text_of(made: Artifact) -> Rendered:
    return rendered(made, count=count)


def test_a_conclusion_stands_by_its_short_form_and_chosen_turns_by_their_body() -> None:
    fact = claim(Section.FACT, "The fee is 2 percent.")
    conclusion, chosen = text_of(artifact(fact)), text_of(artifact(fact, kind=Kind.RANGE))
    assert conclusion.standing == conclusion.short == "Stripe it is."
    assert chosen.standing == chosen.body == "Stripe it is.\nFacts:\n- The fee is 2 percent."


def test_the_short_form_has_rules_open_work_next_steps_and_decisions_and_nothing_that_is_over() -> None:
    made = artifact(
        claim(Section.DECISION, "Stripe is the provider.", id="1"),
        claim(Section.DECISION, "Adyen was meant first.", Status.SUPERSEDED, id="2"),
        claim(Section.OPEN_WORK, "Set it up.", Status.BLOCKED, id="3", owner="Jo", due="Friday"),
        claim(Section.OPEN_WORK, "Ask for the keys.", Status.DONE, id="4"),
        claim(Section.RULE, "Never store card numbers.", id="5"),
        claim(Section.NEXT_STEP, "Jo writes to them.", id="6"),
        claim(Section.RISK, "It may take a week.", id="7"),
    )
    assert text_of(made).short.splitlines() == [
        "Stripe it is.",
        "Rules:",
        "- Never store card numbers.",
        "Open:",
        "- Set it up. (blocked, Jo, due Friday)",
        "Next:",
        "- Jo writes to them.",
        "Decided:",
        "- Stripe is the provider.",
    ]


def test_the_body_has_every_claim_under_its_section_and_tells_what_is_over() -> None:
    made = artifact(
        claim(Section.DECISION, "Adyen was meant first.", Status.SUPERSEDED, id="2"),
        claim(Section.REJECTED, "Paying by invoice.", id="3"),
        claim(Section.CHANGED, "The form has a new field.", id="4"),
        opening="Which provider\ndo we take?",
    )
    assert text_of(made).body.splitlines() == [
        "Stripe it is.",
        "Asked: “Which provider do we take?”",
        "Decided:",
        "- Adyen was meant first. (superseded)",
        "Changed:",
        "- The form has a new field.",
        "Rejected:",
        "- Paying by invoice.",
    ]


def test_the_opening_request_is_quoted_whole_and_of_a_long_one_both_ends() -> None:
    asked = "Which provider\n  do we take?"
    assert opening_of(log(("assistant", "Hello."), ("user", asked), ("user", "Well?")), 400) == " ".join(asked.split())
    long = f"First of all. {'We weigh the offers of all providers once more. ' * 200}And that is all."
    made = opening_of(log(long, "Yes."), 10_000)
    begins, _, ends = made.partition(" … ")
    assert begins.startswith("First of all. We weigh")
    assert ends.endswith("once more. And that is all.")
    assert begins in long
    assert ends in long
    assert count(made) <= OPENING_TOKENS
    # Of a short log it takes a tenth.
    assert count(opening_of(log(long, "Yes."), 1_000)) <= 100


def test_what_does_not_fit_the_short_form_is_not_cut_but_the_body_stands_first() -> None:
    long = [
        claim(Section.DECISION, f"In case {number} the payment is sent back to whoever paid it.", id=str(number))
        for number in range(1, 60)
    ]
    made = artifact(*long, tokens=2_000)
    text = text_of(made)
    assert count(text.short) > short_limit(2_000)
    assert text.standing == text.body
    assert all(one.text in text.standing for one in long)


@pytest.mark.parametrize(("tokens", "limit"), [(300, 320), (2_000, 320), (3_000, 450), (20_000, 600)])
def test_a_short_form_grows_with_its_source_between_two_limits(tokens: int, limit: int) -> None:
    assert short_limit(tokens) == limit


def test_a_digest_is_said_to_be_no_summary_and_labels_each_line() -> None:
    lines = (
        Excerpt(label="Rule (turn 1, user)", text="Never store card numbers.", cites=("1.2",)),
        Excerpt(label="[turn 2, assistant]", text="Noted.", cites=("2.1",)),
    )
    made = artifact(kind=Kind.DIGEST, claims=(), short=(), title="payments, turns 1-2.", excerpts=lines)
    text = text_of(made)
    assert (text.short, text.body, text.headline) == (text.standing, "", "payments, turns 1-2.")
    assert text.standing.splitlines() == [
        "Excerpts, not a summary. payments, turns 1-2.",
        "Rule (turn 1, user): “Never store card numbers.”",
        "[turn 2, assistant]: “Noted.”",
    ]


WORDS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=60).filter(str.strip)


@given(st.lists(st.tuples(st.sampled_from(Section), WORDS), max_size=8))
def test_each_claim_of_a_body_is_one_line_whatever_it_says(given: list[tuple[Section, str]]) -> None:
    claims = [
        claim(section, text, id=str(number))
        for number, (section, text) in enumerate(given, start=1)
        if section != Section.RESULT
    ]
    lines = text_of(artifact(*claims)).body.splitlines()
    told = sorted(line for line in lines if line.startswith("- "))
    assert told == sorted(f"- {' '.join(one.text.split())}" for one in claims)
