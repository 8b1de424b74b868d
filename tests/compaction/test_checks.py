"""A check proves itself awake, or it is void: what is planted, and how answers are read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compaction.domain.artifact import Claim, Section
from compaction.domain.check.answers import Entailment, Told, Void, read_half, read_inventory, read_mapping
from compaction.domain.check.mapping import Question, question, told
from compaction.domain.check.notes import CANARIES, CONTROLS, Half, Note, NothingToPlant, Role, halves, seed_of
from compaction.domain.check.result import Said, read, together
from compaction.domain.ledger import Entry
from tests.compaction.gates import cases

LOG = cases.source(
    (
        *cases.SAID,
        ("user", "We start the job at 2 in the morning. Marta wants the mail before 7. Tarek looks at the dashboard."),
        ("assistant", "I have moved the start to 2 in the morning, and Tarek has the link to the dashboard."),
    )
)
MANY = cases.claims(
    {
        "id": "6",
        "section": "decision",
        "status": "accepted",
        "text": "The job starts at 2 in the morning.",
        "cites": ["5.1"],
    },
    {"id": "7", "section": "open_work", "status": "open", "text": "Tarek looks at the dashboard.", "cites": ["5.3"]},
    {"id": "8", "section": "fact", "status": "stated", "text": "Marta wants the mail before 7.", "cites": ["5.2"]},
)


def drawn(attempt: int = 1) -> tuple[Half, ...]:
    return halves(MANY, LOG, seed_of(MANY, "v", attempt))


def right(half: Half, changes: dict[int, dict[str, Any]] | None = None) -> dict[str, Any]:
    """What a reader answers who is awake."""
    verdicts = []
    for note in half:
        wrong = note.role == Role.CANARY
        verdicts.append({"note": note.number, "verdict": "contradicted" if wrong else "entailed"})
        verdicts[-1].update((changes or {}).get(note.number, {}))
    return {"verdicts": verdicts}


def said(half: Half, answer: Any) -> Said:
    return Said(text=answer if isinstance(answer, str) else json.dumps(answer), notes=half)


def of_role(half: Half, role: Role) -> list[Note]:
    return [note for note in half if note.role == role]


# What is planted


@given(attempt=st.integers(1, 200))
def test_every_claim_is_in_one_half_and_each_half_has_canaries_and_a_control(attempt: int) -> None:
    first, second = drawn(attempt)
    assert sorted(n.claim.id for half in (first, second) for n in of_role(half, Role.CLAIM)) == [c.id for c in MANY]
    for half in (first, second):
        assert len([note for note in of_role(half, Role.CANARY) if not note.of]) == CANARIES
        assert len(of_role(half, Role.CONTROL)) == CONTROLS
        assert [note.number for note in half] == list(range(1, len(half) + 1))


@given(attempt=st.integers(1, 200))
def test_a_canary_says_what_stands_nowhere_and_a_control_what_stands_there(attempt: int) -> None:
    quoted = {f"In {id} the {LOG.part_of(id).role} wrote: “{one.text}”" for id, one in LOG.by_sentence.items()}
    for half in drawn(attempt):
        assert all(note.claim.text in quoted for note in of_role(half, Role.CONTROL))
        assert not any(note.claim.text in quoted for note in of_role(half, Role.CANARY))


@given(attempt=st.integers(1, 200))
def test_a_turned_claim_is_of_the_other_half_and_says_something_else(attempt: int) -> None:
    first, second = drawn(attempt)
    by_id = {claim.id: claim for claim in MANY}
    for half, other in ((first, second), (second, first)):
        for note in half:
            if note.of:
                assert note.of in {one.claim.id for one in of_role(other, Role.CLAIM)}
                assert note.claim.content != by_id[note.of].content


def test_the_same_seed_draws_the_same_and_another_attempt_others() -> None:
    assert drawn(1) == drawn(1)
    assert drawn(1) != drawn(2)


def test_a_log_without_sentences_to_misquote_can_prove_nobody_awake() -> None:
    with pytest.raises(NothingToPlant):
        halves(MANY, cases.source((("user", "Yes."), ("assistant", "No."))), "seed")


# Answers to a half


def test_an_answer_that_is_awake_gives_each_claim_its_verdict() -> None:
    first, _ = drawn()
    claim = of_role(first, Role.CLAIM)[0]
    doubt = {"verdict": "unsupported", "phrase": "so", "sentence": ""}
    verdicts = read_half(first, json.dumps(right(first, {claim.number: doubt})), LOG)
    assert verdicts[claim.number].verdict == Entailment.UNSUPPORTED


def canary(half: Half) -> Note:
    return next(note for note in half if note.role == Role.CANARY and not note.of)


def without(answer: dict[str, Any], place: int) -> dict[str, Any]:
    return {"verdicts": [one for number, one in enumerate(answer["verdicts"]) if number != place]}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda half: "All of these are fine.",
        lambda half: json.dumps(right(half))[:-4],
        lambda half: {"verdicts": []},
        lambda half: without(right(half), 0),
        lambda half: {"verdicts": [*right(half)["verdicts"], {"note": 99, "verdict": "entailed"}]},
        lambda half: {"verdicts": [*right(half)["verdicts"], right(half)["verdicts"][0]]},
        lambda half: right(half, {1: {"verdict": "probably"}}),
        lambda half: right(half, {canary(half).number: {"verdict": "entailed"}}),
        lambda half: right(half, {of_role(half, Role.CONTROL)[0].number: {"verdict": "contradicted"}}),
        lambda half: right(half, {canary(half).number: {"sentence": "77.1"}}),
        lambda half: {"verdicts": [{"note": note.number, "verdict": "entailed"} for note in half]},
        lambda half: {"verdicts": [{"note": note.number, "verdict": "contradicted"} for note in half]},
    ],
)
def test_an_answer_that_is_asleep_invents_or_leaves_out_is_void(spoil: Any) -> None:
    first, _ = drawn()
    answer = spoil(first)
    with pytest.raises(Void):
        read_half(first, answer if isinstance(answer, str) else json.dumps(answer), LOG)


def test_a_turned_claim_that_is_believed_beside_its_original_makes_the_check_void() -> None:
    attempt = next(n for n in range(1, 50) if any(note.of for half in drawn(n) for note in half))
    pair = drawn(attempt)
    turned = next((half, note) for half in pair for note in half if note.of)
    answers = [
        said(half, right(half, {turned[1].number: {"verdict": "entailed"}} if half is turned[0] else None))
        for half in pair
    ]
    with pytest.raises(Void):
        read(answers, LOG, by="m", examined=True)
    original = next(n for half in pair for n in half if n.role == Role.CLAIM and n.claim.id == turned[1].of)
    doubting = [
        said(
            half,
            right(
                half,
                {turned[1].number: {"verdict": "entailed"}}
                if half is turned[0]
                else {original.number: {"verdict": "unsupported"}},
            ),
        )
        for half in pair
    ]
    # Where its original is doubted too, it says nothing of who was awake.
    assert read(doubting, LOG, by="m", examined=True).doubts_on(original.claim)


def test_a_valid_check_counts_the_errors_that_were_planted_and_all_of_them_as_caught() -> None:
    found = read([said(half, right(half)) for half in drawn()], LOG, by="m", examined=True)
    assert found.caught == found.planted >= 2 * CANARIES
    assert set(found.opinions) == {claim.content for claim in MANY}


def test_a_doubt_by_any_valid_check_stands() -> None:
    pair = drawn()
    target = of_role(pair[0], Role.CLAIM)[0]
    doubting = read(
        [said(pair[0], right(pair[0], {target.number: {"verdict": "contradicted"}})), said(pair[1], right(pair[1]))],
        LOG,
        by="one",
        examined=True,
    )
    trusting = read([said(half, right(half)) for half in pair], LOG, by="other", examined=True)
    for order in ([doubting, trusting], [trusting, doubting]):
        whole = together(order)
        assert whole is not None
        assert [opinion.by for opinion in whole.doubts_on(target.claim)] == ["one"]


# Inventory and mapping


def listed(*entries: dict[str, Any]) -> str:
    return json.dumps({"entries": list(entries)})


def test_an_inventory_is_read_with_its_sentences() -> None:
    entry = {"kind": "decision", "text": "Outside the transaction.", "sentences": ["3.2"]}
    [found] = read_inventory(listed(entry), LOG)
    assert (found.section, found.sentences, found.listed) == ("decision", ("3.2",), True)


@pytest.mark.parametrize(
    "entry",
    [
        {"kind": "opinion", "text": "x", "sentences": ["3.2"]},
        {"kind": "fact", "text": "x", "sentences": ["3.2"]},
        {"kind": "decision", "text": "x", "sentences": []},
        {"kind": "decision", "text": "x", "sentences": ["99.1"]},
        {"kind": "decision", "sentences": ["3.2"]},
    ],
)
def test_an_inventory_of_other_kinds_or_sentences_is_void(entry: dict[str, Any]) -> None:
    with pytest.raises(Void):
        read_inventory(listed(entry), LOG)


def asked() -> Question:
    entries = read_inventory(
        listed(
            {"kind": "decision", "text": "Outside.", "sentences": ["3.2"]},
            {"kind": "decision", "text": "Start at 2.", "sentences": ["5.1"]},
            {"kind": "open_work", "text": "The mail.", "sentences": ["4.2"]},
        ),
        LOG,
    )
    return question(entries, MANY, {claim.id for claim in MANY}, "seed")


def telling(found: Question) -> dict[int, tuple[int, ...]]:
    def of(entry: Entry) -> tuple[int, ...]:
        return tuple(n for n, claim in enumerate(found.claims, 1) if set(claim.cites) & set(entry.sentences))

    return {place: of(entry) for place, entry in enumerate(found.entries, start=1)}


def read_answer(found: Question, told: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    answer = {"told": [{"entry": entry, "notes": notes} for entry, notes in told.items()]}
    return by_entry(found, answer)


def by_entry(found: Question, answer: dict[str, Any]) -> dict[int, tuple[int, ...]]:
    text = json.dumps(answer)
    read = read_mapping(text, entries=len(found.entries), notes=len(found.claims), hidden=found.lost)
    return {entry: one.by for entry, one in read.items()}


def test_one_claim_is_hidden_and_its_entry_must_be_told_by_none() -> None:
    found = asked()
    assert found.hidden is not None
    assert found.lost is not None
    assert found.hidden.id not in {claim.id for claim in found.claims}
    assert telling(found)[found.lost] == ()
    assert read_answer(found, telling(found))[found.lost] == ()
    with pytest.raises(Void):
        read_answer(found, {**telling(found), found.lost: (1,)})


def test_an_entry_of_which_a_matter_is_missing_is_told_by_none_though_notes_tell_another() -> None:
    found = asked()
    place = next(place for place, notes in telling(found).items() if notes)
    told = [{"entry": entry, "notes": notes, "missing": ""} for entry, notes in telling(found).items()]
    whole = by_entry(found, {"told": told})
    told[place - 1]["missing"] = "that it starts at 2"
    part = by_entry(found, {"told": told})
    assert whole[place] == telling(found)[place]
    assert part == {**whole, place: ()}


def test_of_the_hidden_entry_notes_may_tell_a_part_and_not_all() -> None:
    found = asked()
    told: list[dict[str, Any]] = [{"entry": entry, "notes": notes} for entry, notes in telling(found).items()]
    hidden = next(one for one in told if one["entry"] == found.lost)
    hidden |= {"notes": (1,), "missing": "that it is outside"}
    by_entry(found, {"told": told})
    hidden["missing"] = ""
    with pytest.raises(Void, match="had been left out"):
        by_entry(found, {"told": told})


@pytest.mark.parametrize("spoiled", [{1: (99,)}, {9: (1,)}])
def test_a_mapping_to_what_does_not_exist_is_void(spoiled: dict[int, tuple[int, ...]]) -> None:
    found = asked()
    with pytest.raises(Void):
        read_answer(found, {**telling(found), **spoiled})


def test_a_mapping_that_leaves_an_entry_out_is_void() -> None:
    found = asked()
    told = telling(found)
    told.pop(next(place for place in told if place != found.lost))
    with pytest.raises(Void):
        read_answer(found, told)


def test_what_another_claim_cites_too_is_not_hidden() -> None:
    twins: tuple[Claim, ...] = cases.claims({"id": "9", "text": "Outside it is.", "cites": ["3.2"]})
    entries = read_inventory(listed({"kind": "decision", "text": "Outside.", "sentences": ["3.2"]}), LOG)
    assert question(entries, twins, {claim.id for claim in twins}, "seed").hidden is None


def only(*made: dict[str, Any]) -> tuple[Claim, ...]:
    return cases.claims(*made)[-len(made) :]


def test_a_result_is_not_asked_for_what_a_claim_of_its_own_is_to_tell() -> None:
    found = asked()
    assert Section.RESULT in {claim.section for claim in MANY}
    assert Section.RESULT not in {claim.section for claim in found.claims}


def test_what_another_claim_tells_in_like_words_is_not_hidden() -> None:
    twins = only(
        {"id": "10", "section": "decision", "status": "accepted", "text": "We start at 2 outside.", "cites": ["5.1"]},
        {"id": "11", "section": "changed", "status": "done", "text": "Moved the start outside to 2.", "cites": ["4.1"]},
    )
    entries = read_inventory(listed({"kind": "decision", "text": "Start at 2.", "sentences": ["5.1"]}), LOG)
    everyone = {claim.id for claim in twins}
    assert question(entries, twins[:1], everyone, "seed").hidden == twins[0]
    assert question(entries, twins, everyone, "seed").hidden is None


def test_a_second_attempt_hides_another_claim() -> None:
    pair = only(
        {"id": "10", "section": "decision", "status": "accepted", "text": "We start at 2.", "cites": ["5.1"]},
        {"id": "11", "section": "open_work", "status": "open", "text": "Write the mail.", "cites": ["4.2"]},
    )
    entries = read_inventory(
        listed(
            {"kind": "decision", "text": "Start at 2.", "sentences": ["5.1"]},
            {"kind": "open_work", "text": "The mail.", "sentences": ["4.2"]},
        ),
        LOG,
    )
    hidden = [question(entries, pair, {"10", "11"}, "seed", attempt).hidden for attempt in (1, 2)]
    assert {claim.id for claim in hidden if claim} == {"10", "11"}


def test_of_what_the_hidden_claim_cites_it_tells_no_more_than_its_own_entry() -> None:
    """An entry that shares one of its sentences is told by the claims that the answer names, or by none."""
    claims = only(
        {"id": "10", "section": "decision", "status": "accepted", "text": "Start at 2.", "cites": ["5.1", "4.2"]},
        {"id": "11", "section": "fact", "status": "stated", "text": "It rained.", "cites": ["3.2"]},
    )
    entries = read_inventory(
        listed(
            {"kind": "decision", "text": "Start at 2.", "sentences": ["5.1"]},
            {"kind": "open_work", "text": "The mail.", "sentences": ["4.2", "3.2"]},
        ),
        LOG,
    )
    found = question(entries, claims, {"10", "11"}, "seed")
    assert found.hidden is None
    answer = {place: Told(entry=place, notes=()) for place in (1, 2)}
    assert told(found, answer) == {"listed-1": (), "listed-2": ()}
