"""Decisions and open work: who can note them, what becomes of them, and what compactions see of them."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from hypothesis import given
from hypothesis import strategies as st

from efforts import actions
from efforts.actions import Place
from efforts.context.ledger import entries_of, ledger_counts, ledger_page
from efforts.domain.effort.states import EntryKind
from efforts.domain.errors import Refused
from efforts.domain.text.locating import find_shown
from efforts.memory import entries
from efforts.memory.origins import Where
from efforts.models import LedgerEntry, Message
from tests.efforts.talk import Talk, as_model

DECISION, WORK = EntryKind.DECISION, EntryKind.OPEN_WORK
CHOSEN = "We decided on Postgres for billing."
LEFT = "TODO: rotate the signing key."
KINDS = tuple(
    f"ledger.{move}"
    for move in (
        "proposed",
        "confirmed",
        "edited",
        "superseded",
        "done",
        "done_suggested",
        "left_open",
        "reopened",
        "dismissed",
    )
)


def said(talk: Talk, number: int, role: str = "user") -> int:
    return Message.objects.get(session=talk.session, turn__number=number, role=role).pk


def states(talk: Talk) -> dict[str, str]:
    return dict(LedgerEntry.objects.filter(session=talk.session).order_by("pk").values_list("text", "state"))


def kinds(talk: Talk) -> list[str]:
    return [event["kind"].removeprefix("ledger.") for event in talk.events(*KINDS)]


def noted(talk: Talk, text: str, kind: EntryKind = DECISION) -> LedgerEntry:
    """A turn that says just this, noted by the person."""
    talk.ask(f"Hello. {text} Thanks.")
    message = Message.objects.filter(session=talk.session, role="user").latest("pk")
    return actions.note_entry(talk.place, message.pk, kind, words=text)


def recorded(talk: Talk, message: str, kind: str, text: str) -> Any:
    [result] = talk.ask(message, ("record", {"kind": kind, "text": text}))
    return result


# By the person


def test_what_the_person_notes_is_confirmed_at_once_and_knows_its_words(talk: Talk, alice: User) -> None:
    talk.ask("Hello. The invoice goes\nto Anna. Thanks.")
    row = actions.note_entry(talk.place, said(talk, 1), DECISION, words="The invoice goes to Anna.")
    assert (row.kind, row.state, row.by, row.confirmed_by) == ("decision", "confirmed", "person", alice)
    assert row.text == "The invoice goes to Anna."
    assert row.source.text[row.start : row.end] == "The invoice goes\nto Anna."
    [event] = talk.events(*KINDS)
    assert (event["kind"], event["entry"], event["section"], event["text"], event["turn"], event["via"]) == (
        "ledger.confirmed",
        row.pk,
        "decision",
        "The invoice goes to Anna.",
        1,
        "control",
    )


def test_a_message_of_the_model_can_be_noted_whole_and_in_other_words(talk: Talk) -> None:
    talk.ask("What now?", reply="Send the form.")
    whole = actions.note_entry(talk.place, said(talk, 1, "assistant"), WORK)
    other = actions.note_entry(talk.place, said(talk, 1, "assistant"), WORK, "Post it by Friday.")
    assert (whole.text, other.text, other.start, other.end) == ("Send the form.", "Post it by Friday.", None, None)


def test_words_are_found_as_the_page_shows_them(talk: Talk) -> None:
    talk.ask("Which?", reply="So:\n\n- **Use** `Postgres` 16\n- not MySQL")
    row = actions.note_entry(talk.place, said(talk, 1, "assistant"), DECISION, words="Use Postgres 16")
    assert row.source.text[row.start : row.end] == "Use** `Postgres` 16"


@pytest.mark.parametrize(("shown", "raw"), [("a b", "a\n> b"), ("a_b c", "a_b **c**"), ("1 x", "# 1 `x`")])
def test_marks_of_markdown_are_no_words(shown: str, raw: str) -> None:
    span = find_shown(shown, raw)
    assert span is not None
    assert raw[span.start] == shown[0]
    assert raw[span.end - 1] == shown[-1]


WORDS = st.lists(st.text("abcdeé1", min_size=1, max_size=6), min_size=1, max_size=12)


@given(
    words=WORDS,
    marks=st.lists(st.sampled_from(["", "*", "**", "`", "_", "~~"])),
    ends=st.tuples(*[st.integers(0, 11)] * 2),
)
def test_whatever_words_are_marked_a_stretch_of_them_is_found(
    words: list[str], marks: list[str], ends: tuple[int, int]
) -> None:
    marked = [f"{mark}{word}{mark}" for word, mark in zip(words, [*marks, *[""] * len(words)], strict=False)]
    first, last = sorted(end % len(words) for end in ends)
    stretch = words[first : last + 1]
    span = find_shown(" ".join(stretch), "\n> ".join(marked))
    assert span is not None
    assert re.findall(r"[abcdeé1]+", span.of("\n> ".join(marked))) == stretch


def test_what_is_not_there_is_refused(talk: Talk, bob: User) -> None:
    theirs = Talk(actions.create_session(bob))
    theirs.ask("Hello.")
    talk.ask("Hello. " + "word " * 300)
    message = said(talk, 1)
    for code, note in (
        ("not_said", lambda: actions.note_entry(talk.place, message, DECISION, words="Good bye.")),
        ("unknown_message", lambda: actions.note_entry(talk.place, said(theirs, 1), DECISION)),
        ("too_long", lambda: actions.note_entry(talk.place, message, DECISION)),
        ("not_text", lambda: actions.note_entry(talk.place, message, DECISION, "a\x00b")),
    ):
        with pytest.raises(Refused) as error:
            note()
        assert error.value.code == code
    assert states(talk) == {}


def test_a_twin_is_refused_and_a_proposal_of_the_same_words_is_answered(talk: Talk) -> None:
    recorded(talk, f"Hello. {CHOSEN}", "decision", CHOSEN)
    row = actions.note_entry(talk.place, said(talk, 1), DECISION, "Postgres.", words="Postgres for billing")
    assert states(talk) == {"Postgres.": "confirmed"}
    assert (row.by, row.source.text[row.start : row.end]) == ("model", "Postgres for billing")
    with pytest.raises(Refused, match="kept already"):
        actions.note_entry(talk.place, said(talk, 1), DECISION, "postgres.")


def test_an_entry_is_edited_while_it_is_live(talk: Talk) -> None:
    row = noted(talk, "Take the train.")
    actions.edit_entry(talk.place, row.pk, "Take the night train.")
    actions.edit_entry(talk.place, row.pk, "Take the night train.")
    assert states(talk) == {"Take the night train.": "confirmed"}
    assert kinds(talk) == ["confirmed", "edited"]
    assert talk.events("ledger.edited")[0]["old"] == "Take the train."
    actions.dismiss_entry(talk.place, row.pk)
    with pytest.raises(Refused, match="changed elsewhere"):
        actions.edit_entry(talk.place, row.pk, "Fly.")


def test_a_decision_gives_way_to_a_later_one(talk: Talk) -> None:
    old, new = noted(talk, "Take the train."), noted(talk, "Take the bus.")
    actions.supersede_entry(talk.place, old.pk, new.pk)
    old.refresh_from_db()
    assert (old.state, old.superseded_by, old.ended_turn) == ("superseded", new, 2)
    assert str(old.ended_branch_id) == str(talk.branch_id)
    assert talk.events("ledger.superseded")[0]["superseded_by"] == new.pk
    for refused in (lambda: actions.supersede_entry(talk.place, new.pk, old.pk), lambda: noted(talk, "Take the bus.")):
        with pytest.raises(Refused):
            refused()
    with pytest.raises(Refused, match="cannot replace itself"):
        actions.supersede_entry(talk.place, new.pk, new.pk)


def test_a_decision_is_noted_in_place_of_another_in_one_step(talk: Talk) -> None:
    old = noted(talk, "Take the train.")
    talk.ask("Take the bus.")
    actions.note_entry(talk.place, said(talk, 2), DECISION, replaces=old.pk)
    assert states(talk) == {"Take the train.": "superseded", "Take the bus.": "confirmed"}


def test_open_work_is_done_and_reopened(talk: Talk) -> None:
    row = noted(talk, "Post the form.", WORK)
    actions.finish_entry(talk.place, row.pk)
    row.refresh_from_db()
    assert (row.state, row.ended_turn) == ("done", 1)
    with pytest.raises(Refused, match="changed elsewhere"):
        actions.finish_entry(talk.place, row.pk)
    actions.reopen_entry(talk.place, row.pk)
    row.refresh_from_db()
    assert (row.state, row.ended_turn, row.ended_branch) == ("confirmed", None, None)
    assert kinds(talk) == ["confirmed", "done", "reopened"]


def test_each_kind_ends_in_its_own_way(talk: Talk) -> None:
    decision, work = noted(talk, "Take the train."), noted(talk, "Post the form.", WORK)
    with pytest.raises(Refused, match="not done; it is replaced"):
        actions.finish_entry(talk.place, decision.pk)
    with pytest.raises(Refused, match="Only a decision is replaced"):
        actions.supersede_entry(talk.place, work.pk, decision.pk)
    for wrong in ({"kind": "decision", "state": "done"}, {"kind": "open_work", "state": "superseded"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            LedgerEntry.objects.create(session=talk.session, text="x", source_id=said(talk, 1), **wrong)
    assert states(talk) == {"Take the train.": "confirmed", "Post the form.": "confirmed"}


def test_another_conversation_s_entry_is_not_there(talk: Talk, bob: User) -> None:
    theirs = Talk(actions.create_session(bob))
    row = noted(theirs, "Take the train.")
    for change in (actions.confirm_entry, actions.finish_entry, actions.dismiss_entry, actions.reopen_entry):
        with pytest.raises(Refused, match="no such entry"):
            change(talk.place, row.pk)
    assert states(theirs) == {"Take the train.": "confirmed"}


def test_of_two_who_move_an_entry_at_once_one_is_told(talk: Talk) -> None:
    row = noted(talk, "Post the form.", WORK)
    late = LedgerEntry.objects.get(pk=row.pk)
    where = Where(turn=1, branch=str(talk.branch_id), via="control", actor=talk.session.owner)
    entries.finish(row, where)
    for change in (entries.finish, entries.dismiss):
        with pytest.raises(Refused, match="changed elsewhere"):
            change(late, where)
    assert states(talk) == {"Post the form.": "done"}


# By the model


def test_what_the_model_records_waits_for_the_person(talk: Talk) -> None:
    result = recorded(talk, "Fine. The invoice goes to Anna.", "decision", "The invoice goes to Anna.")
    row = LedgerEntry.objects.get()
    assert result == {
        "recorded": "decision",
        "id": f"decision-{row.pk}",
        "state": "proposed",
        "note": "Proposed: the user is asked.",
    }
    assert (row.by, row.source_id, row.start, row.end) == ("model", said(talk, 1), 6, 31)
    assert ledger_counts(talk.branch).waiting == 1
    actions.confirm_entry(talk.place, row.pk)
    assert (states(talk), ledger_counts(talk.branch).waiting) == ({row.text: "confirmed"}, 0)


def test_a_paraphrase_comes_from_the_user_s_message_of_the_turn(talk: Talk) -> None:
    recorded(talk, "Anna gets it.", "decision", "The invoice goes to Anna.")
    row = LedgerEntry.objects.get()
    assert (row.source_id, row.start, row.end) == (said(talk, 1), None, None)


def test_what_a_search_returned_is_no_source(talk: Talk) -> None:
    talk.ask("The invoice goes to Anna.")
    talk.ask(
        "And the invoice?",
        ("search_messages", {"query": "invoice Anna"}),
        ("record", {"kind": "decision", "text": "The invoice goes to Anna."}),
    )
    assert (LedgerEntry.objects.get().source_id, LedgerEntry.objects.get().start) == (said(talk, 2), None)


def test_one_text_recorded_twice_is_one_entry_also_where_it_is_confirmed(talk: Talk) -> None:
    first = recorded(talk, "Go on.", "open_work", "Post the form.")
    assert recorded(talk, "Go on.", "open_work", "post  the form.")["id"] == first["id"]
    actions.confirm_entry(talk.place, LedgerEntry.objects.get().pk)
    again = recorded(talk, "Go on.", "open_work", "Post the form.")
    assert again == {"recorded": "open_work", "id": first["id"], "state": "confirmed"}
    assert kinds(talk) == ["proposed", "confirmed"]


def test_what_the_person_dismissed_the_model_does_not_bring_again_until_it_is_said_again(talk: Talk) -> None:
    recorded(talk, "Post the form.", "open_work", "Post the form.")
    actions.dismiss_entry(talk.place, LedgerEntry.objects.get().pk)
    assert "Do not record it again" in recorded(talk, "Go on.", "open_work", "Post the form.")["error"]
    assert recorded(talk, "Do post the form.", "open_work", "post the form.")["state"] == "proposed"


def test_only_the_person_says_what_stands(talk: Talk) -> None:
    row = noted(talk, "Post the form.", WORK)
    model: Place = as_model(talk, talk.begin("Go on."))
    for change in (
        lambda: actions.note_entry(model, said(talk, 1), DECISION),
        lambda: actions.confirm_entry(model, row.pk),
        lambda: actions.finish_entry(model, row.pk),
        lambda: actions.dismiss_entry(model, row.pk),
        lambda: actions.edit_entry(model, row.pk, "x"),
        lambda: actions.reopen_entry(model, row.pk),
        lambda: actions.supersede_entry(model, row.pk, row.pk),
    ):
        with pytest.raises(Refused, match="Only the user"):
            change()
    assert states(talk) == {"Post the form.": "confirmed"}


def test_of_confirmed_work_the_model_only_says_that_it_seems_done(talk: Talk) -> None:
    row = noted(talk, "Post the form.", WORK)
    [result] = talk.ask("Posted it.", ("resolve_open_work", {"id": row.name}))
    assert result == {"suggested": row.name, "note": "The user is asked whether it is done."}
    row.refresh_from_db()
    assert (row.state, row.seems_done_turn) == ("confirmed", 2)
    assert ledger_counts(talk.branch).waiting == 1
    actions.leave_open(talk.place, row.pk)
    with pytest.raises(Refused, match="changed elsewhere"):
        actions.leave_open(talk.place, row.pk)
    talk.ask("Now really.", ("resolve_open_work", {"id": str(row.pk)}))
    actions.finish_entry(talk.place, row.pk)
    row.refresh_from_db()
    assert (row.state, row.seems_done_turn) == ("done", None)
    assert kinds(talk) == ["confirmed", "done_suggested", "left_open", "done_suggested", "done"]


def test_of_proposed_work_the_model_drops_what_is_done_and_the_person_can_undo_that(talk: Talk) -> None:
    recorded(talk, "Go on.", "open_work", "Post the form.")
    row = LedgerEntry.objects.get()
    [result] = talk.ask("Posted it.", ("resolve_open_work", {"id": row.name}))
    assert result["resolved"] == row.name
    event = talk.events("ledger.dismissed")[0]
    assert event["notice"] == "--- Settled before you were asked: Post the form. ---"
    actions.undo(talk.place, event["seq"])
    assert list(LedgerEntry.objects.order_by("pk").values_list("state", flat=True)) == ["dismissed", "proposed"]
    with pytest.raises(Refused, match="More has happened"):
        actions.undo(talk.place, event["seq"])


def test_what_is_not_open_work_cannot_be_resolved(talk: Talk) -> None:
    decision, work = noted(talk, "Take the train."), noted(talk, "Post the form.", WORK)
    ids = (decision.name, "work-99999999999", "poem", "")
    results = talk.ask("Go on.", *(("resolve_open_work", {"id": id}) for id in ids))
    assert [result["error"].endswith(f"here. Open: {work.name}.") for result in results] == [True] * 4
    actions.finish_entry(talk.place, work.pk)
    [late] = talk.ask("Go on.", ("resolve_open_work", {"id": work.name}))
    assert late == {"error": f"{work.name} is done already."}


def test_the_status_lists_open_work_with_its_ids(talk: Talk) -> None:
    [before] = talk.ask("Go on.", ("effort_status", {}))
    row = noted(talk, "Post the form.", WORK)
    [after] = talk.ask("Go on.", ("effort_status", {}))
    assert "open_work" not in before
    assert after["open_work"] == [{"id": row.name, "text": "Post the form.", "state": "confirmed"}]


def test_nothing_is_proposed_because_it_sounds_like_a_decision_or_open_work(talk: Talk) -> None:
    talk.ask(f"Hello. {CHOSEN} {LEFT}", reply=f"Decision: Postgres. {LEFT}")
    assert (states(talk), kinds(talk)) == ({}, [])


# What others see of it


def test_a_branch_has_what_comes_from_its_own_timeline(talk: Talk) -> None:
    shared = noted(talk, "Take the train.")
    fork = Talk(talk.session, actions.fork(talk.branch, after=1, actor=talk.session.owner))
    late, own = noted(talk, "Take the bus."), noted(fork, "Take the boat.")
    assert [one.text for one in ledger_page(talk.branch).decisions.kept] == [shared.text, late.text]
    assert [one.text for one in ledger_page(fork.branch).decisions.kept] == [shared.text, own.text]
    with pytest.raises(Refused, match="no such entry"):
        actions.dismiss_entry(fork.place, late.pk)


def test_a_compaction_sees_the_entries_and_rules_of_its_messages_in_every_state(talk: Talk) -> None:
    old, new = noted(talk, "Take the train."), noted(talk, "Take the bus.")
    actions.supersede_entry(talk.place, old.pk, new.pk)
    talk.ask("Never touch the production database.")
    actions.set_constraint(talk.place, "Never touch the production database.", turn=3)
    recorded(talk, "Anna knows.", "constraint", "Always ask Anna first.")
    actions.dismiss_constraint(talk.place, talk.session.constraints.get(state="suggested").pk)
    noted(talk, "Elsewhere.")
    found = entries_of(talk.session, [said(talk, number) for number in (1, 2, 3, 4)])
    assert [(one.kind, one.state, one.text, one.message, one.turn) for one in found] == [
        ("decision", "superseded", "Take the train.", said(talk, 1), 1),
        ("decision", "confirmed", "Take the bus.", said(talk, 2), 2),
        ("constraint", "in force", "Never touch the production database.", said(talk, 3), 3),
    ]
    for one in found:
        text = Message.objects.get(pk=one.message).text
        assert (text[one.start : one.end], one.verbatim) == (one.text, True)


def test_what_is_said_in_other_words_comes_from_the_whole_message(talk: Talk) -> None:
    talk.ask("Anna gets it.")
    actions.note_entry(talk.place, said(talk, 1), DECISION, "The invoice goes to Anna.")
    [one] = entries_of(talk.session, [said(talk, 1)])
    assert (one.start, one.end, one.verbatim) == (0, len("Anna gets it."), False)


def test_a_rule_that_was_taken_back_is_seen_as_revoked(talk: Talk) -> None:
    talk.ask("Never touch production, ok?")
    row = actions.set_constraint(talk.place, "Never touch production", turn=1)
    actions.revoke_constraint(talk.place, row.pk)
    assert [(one.kind, one.state) for one in entries_of(talk.session, [said(talk, 1)])] == [("constraint", "revoked")]


def test_nothing_of_the_ledger_remains_when_its_conversation_is_deleted(talk: Talk) -> None:
    old, new = noted(talk, "Take the train."), noted(talk, "Take the bus.")
    actions.supersede_entry(talk.place, old.pk, new.pk)
    actions.erase_session(talk.session, actor=talk.session.owner)
    assert not LedgerEntry.objects.exists()
