"""Rules: who can set them, what becomes of them, and that they stand in the prompt while they hold."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from efforts import actions
from efforts.context.constraints import constraints_view
from efforts.context.planning import chosen_settings, draft_turn, plan_inputs
from efforts.domain.errors import Refused
from efforts.models import AccountEvent, Constraint, Message
from tests.efforts.talk import Talk

RULE = "Never touch the production database."
KINDS = ("constraint.suggested", "constraint.set", "constraint.edited", "constraint.revoked")


def states(talk: Talk) -> dict[str, str]:
    return dict(Constraint.objects.filter(session=talk.session).order_by("pk").values_list("text", "state"))


def sent(talk: Talk) -> list[str]:
    """The rules in the next prompt."""
    inputs = plan_inputs(talk.branch, chosen_settings(talk.session), current=draft_turn(talk.branch, ""))
    return [rule.text for rule in inputs.constraints]


def recorded(talk: Talk, said: str, text: str) -> Any:
    [result] = talk.ask(said, ("record", {"kind": "constraint", "text": text}))
    return result


# By the person


def test_a_rule_of_the_person_is_in_force_at_once_and_on_record(talk: Talk, alice: User) -> None:
    row = actions.set_constraint(talk.place, f"  {RULE}\n")
    assert (row.text, row.state, row.by, row.owner, row.source) == (RULE, "in force", "person", alice, None)
    assert sent(talk) == [RULE]
    [event] = talk.events(*KINDS)
    assert (event["kind"], event["constraint"], event["text"], event["via"]) == (
        "constraint.set",
        row.pk,
        RULE,
        "control",
    )
    assert event["notice"] == f"--- Rule set: {RULE} ---"


def test_a_rule_made_from_a_message_knows_its_words_there(talk: Talk) -> None:
    talk.ask("Hello.\nNever touch the\nproduction database. Thanks.")
    row = actions.set_constraint(talk.place, RULE, turn=1)
    assert row.source is not None
    assert row.source.text[row.start : row.end] == "Never touch the\nproduction database."


def test_other_words_than_those_of_the_message_come_from_nowhere(talk: Talk) -> None:
    talk.ask("Hello.")
    row = actions.set_constraint(talk.place, RULE, turn=1)
    assert (row.source, row.start, row.end) == (None, None, None)
    assert actions.set_constraint(talk.place, "Be brief.", turn=99).source is None


@pytest.mark.parametrize(
    ("text", "code"),
    [("", "empty"), (" \n ", "empty"), ("x" * 1_001, "too_long"), ("a\x00b", "not_text"), ("a\ud800b", "not_text")],
)
def test_what_is_no_rule_is_refused(talk: Talk, text: str, code: str) -> None:
    row = actions.set_constraint(talk.place, RULE)
    for refused in (
        lambda: actions.set_constraint(talk.place, text),
        lambda: actions.edit_constraint(talk.place, row.pk, text),
        lambda: actions.set_standing_rule(talk.session.owner, text),
    ):
        with pytest.raises(Refused) as error:
            refused()
        assert error.value.code == code
    assert sent(talk) == [RULE]


def test_a_twin_is_refused_whatever_its_case_and_spaces(talk: Talk) -> None:
    actions.set_constraint(talk.place, RULE)
    other = actions.set_constraint(talk.place, "Be brief.")
    with pytest.raises(Refused, match="in force already"):
        actions.set_constraint(talk.place, RULE.upper().replace(" ", "  "))
    with pytest.raises(Refused, match="in force already"):
        actions.edit_constraint(talk.place, other.pk, RULE)
    assert sent(talk) == [RULE, "Be brief."]


def test_an_edited_rule_is_sent_in_its_new_words(talk: Talk) -> None:
    row = actions.set_constraint(talk.place, RULE)
    actions.edit_constraint(talk.place, row.pk, "Never touch production.")
    assert sent(talk) == ["Never touch production."]
    event = talk.events(*KINDS)[-1]
    assert (event["kind"], event["old"], event["notice"]) == (
        "constraint.edited",
        RULE,
        "--- Rule changed: Never touch production. ---",
    )


def test_the_same_words_again_change_nothing(talk: Talk) -> None:
    row = actions.set_constraint(talk.place, RULE)
    actions.edit_constraint(talk.place, row.pk, RULE)
    assert [event["kind"] for event in talk.events(*KINDS)] == ["constraint.set"]


def test_a_rule_taken_back_is_not_sent_any_more_and_can_be_set_anew(talk: Talk) -> None:
    row = actions.set_constraint(talk.place, RULE)
    actions.revoke_constraint(talk.place, row.pk)
    assert sent(talk) == []
    for again in (actions.revoke_constraint, actions.accept_constraint):
        with pytest.raises(Refused) as error:
            again(talk.place, row.pk)
        assert error.value.code == "changed"
    with pytest.raises(Refused, match="changed elsewhere"):
        actions.edit_constraint(talk.place, row.pk, "Be brief.")
    assert talk.events(*KINDS)[-1]["notice"] == f"--- Rule taken back: {RULE} ---"
    actions.set_constraint(talk.place, RULE)
    assert sent(talk) == [RULE]


def test_another_conversation_s_rule_is_not_there(talk: Talk, bob: User) -> None:
    theirs = Talk(actions.create_session(bob))
    row = actions.set_constraint(theirs.place, RULE)
    for change in (
        lambda: actions.revoke_constraint(talk.place, row.pk),
        lambda: actions.accept_constraint(talk.place, row.pk),
        lambda: actions.dismiss_constraint(talk.place, row.pk),
        lambda: actions.edit_constraint(talk.place, row.pk, "Be brief."),
        lambda: actions.revoke_standing_rule(bob, row.pk),
    ):
        with pytest.raises(Refused, match="no such rule"):
            change()
    assert (sent(talk), sent(theirs)) == ([], [RULE])


# By the model


def test_case_does_not_make_another_rule_in_any_language(talk: Talk) -> None:
    actions.set_constraint(talk.place, "Änderungen 100 % prüfen")
    with pytest.raises(Refused, match="in force already"):
        actions.set_constraint(talk.place, "ÄNDERUNGEN 100 % PRÜFEN")
    actions.set_constraint(talk.place, "Änderungen 100 x prüfen")
    assert Constraint.objects.filter(text__icontains="änderungen").count() == 2


def test_the_user_s_own_words_are_in_force_at_once_with_undo(talk: Talk) -> None:
    assert recorded(talk, f"Fix it. {RULE} Thanks.", RULE) == {"recorded": "constraint", "state": "in force"}
    row = Constraint.objects.get()
    assert (row.by, row.source, row.start, row.end) == ("model", Message.objects.get(role="user"), 8, 8 + len(RULE))
    assert sent(talk) == [RULE]
    [event] = talk.events(*KINDS)
    assert (event["kind"], event["via"], event["turn"]) == ("constraint.set", "model", 1)
    actions.undo(talk.place, event["seq"])
    assert sent(talk) == []
    assert talk.events(*KINDS)[-1]["of"] == event["seq"]
    with pytest.raises(Refused, match="changed elsewhere"):
        actions.undo(talk.place, event["seq"])


def test_words_of_an_earlier_message_count_and_those_of_replies_and_other_sessions_do_not(talk: Talk) -> None:
    elsewhere = Talk(actions.create_session(talk.session.owner))
    elsewhere.ask("Always ask Anna.")
    talk.ask("Keep it short.", reply="Never use tabs.")
    assert recorded(talk, "Go on.", "Keep it short.")["state"] == "in force"
    assert recorded(talk, "Go on.", "Never use tabs.")["state"] == "suggested"
    assert recorded(talk, "Go on.", "Always ask Anna.")["state"] == "suggested"
    assert sent(talk) == ["Keep it short."]


@pytest.mark.parametrize("text", ["Do not modify production.", "touch the production database"])
def test_a_paraphrase_or_half_a_sentence_waits_for_the_person(talk: Talk, text: str) -> None:
    result = recorded(talk, "Never touch the production database, please.", text)
    assert result["state"] == "suggested"
    assert states(talk)[text] == "suggested"
    assert sent(talk) == []


def test_a_suggestion_made_twice_is_one(talk: Talk) -> None:
    for _ in range(2):
        assert recorded(talk, "Go on.", "Be brief.")["state"] == "suggested"
    assert states(talk) == {"Be brief.": "suggested"}


def test_in_a_branch_where_its_words_were_never_said_nothing_is_suggested(talk: Talk) -> None:
    talk.ask("Hello.")
    recorded(talk, "Go on.", "Be brief.")
    before, after = (actions.fork(talk.branch, after=turn, actor=talk.session.owner) for turn in (1, 2))
    seen = [[one.text for one in constraints_view(branch).suggested] for branch in (talk.branch, after, before)]
    assert seen == [["Be brief."], ["Be brief."], []]


def test_the_model_is_told_of_a_twin_and_of_wrong_kinds(talk: Talk) -> None:
    actions.set_constraint(talk.place, RULE)
    assert recorded(talk, "Go on.", RULE) == {"error": "This rule is in force already."}
    [wrong] = talk.ask("Go on.", ("record", {"kind": "poem", "text": "x"}))
    assert wrong == {"error": "kind must be one of: decision, open_work, constraint."}
    assert "empty" in recorded(talk, "Go on.", " ")["error"]


def test_what_the_person_took_back_the_model_does_not_bring_again_until_it_is_said_again(talk: Talk) -> None:
    recorded(talk, RULE, RULE)
    actions.revoke_constraint(talk.place, Constraint.objects.get().pk)
    assert "taken this rule back" in recorded(talk, "Go on.", RULE)["error"]
    assert "taken this rule back" in recorded(talk, "Go on.", RULE.removesuffix("."))["error"]
    assert recorded(talk, f"Once more: {RULE}", RULE)["state"] == "in force"


def test_no_sentence_is_suggested_because_it_sounds_like_a_rule(talk: Talk) -> None:
    talk.ask(f"Fix it. {RULE} From now on, be brief.", reply="You must never share the key.")
    assert (states(talk), talk.events(*KINDS)) == ({}, [])


def test_a_suggestion_is_in_force_at_a_click_or_dismissed(talk: Talk) -> None:
    recorded(talk, "Mind the database.", RULE)
    recorded(talk, "Short, please.", "Be brief.")
    first, second = Constraint.objects.order_by("pk")
    actions.accept_constraint(talk.place, first.pk)
    with pytest.raises(Refused, match="changed elsewhere"):
        actions.revoke_constraint(talk.place, second.pk)
    actions.dismiss_constraint(talk.place, second.pk)
    assert states(talk) == {RULE: "in force", "Be brief.": "revoked"}
    assert sent(talk) == [RULE]
    dismissed = talk.events(*KINDS)[-1]
    assert (dismissed["was"], "notice" in dismissed) == ("suggested", False)
    for late in (actions.accept_constraint, actions.dismiss_constraint):
        with pytest.raises(Refused, match="changed elsewhere"):
            late(talk.place, first.pk)


def test_the_person_s_rule_answers_the_suggestion_of_the_same_words(talk: Talk) -> None:
    recorded(talk, "Mind the database.", RULE)
    actions.set_constraint(talk.place, RULE)
    assert states(talk) == {RULE: "in force"}
    assert len(talk.events("constraint.set")) == 1


# Standing


def test_a_standing_rule_holds_in_all_conversations_of_its_owner_before_their_own(talk: Talk, bob: User) -> None:
    other, theirs = Talk(actions.create_session(talk.session.owner)), Talk(actions.create_session(bob))
    actions.set_constraint(talk.place, "Be brief.")
    row = actions.set_standing_rule(talk.session.owner, RULE)
    assert (sent(talk), sent(other), sent(theirs)) == ([RULE, "Be brief."], [RULE], [])
    assert [(view.number, view.standing) for view in constraints_view(talk.branch).in_force] == [(1, True), (2, False)]
    with pytest.raises(Refused, match="in force already"):
        actions.set_constraint(other.place, RULE)
    actions.edit_standing_rule(talk.session.owner, row.pk, "Never touch production.")
    assert sent(other) == ["Never touch production."]
    actions.revoke_standing_rule(talk.session.owner, row.pk)
    assert (sent(talk), sent(other)) == (["Be brief."], [])
    kinds = list(AccountEvent.objects.order_by("pk").values_list("kind", flat=True))
    assert kinds == ["standing_rule.set", "standing_rule.edited", "standing_rule.revoked"]


def test_a_standing_rule_is_changed_by_its_owner_and_in_no_conversation(talk: Talk, bob: User) -> None:
    row = actions.set_standing_rule(talk.session.owner, RULE)
    with pytest.raises(Refused, match="no such rule"):
        actions.revoke_standing_rule(bob, row.pk)
    with pytest.raises(Refused, match="no such rule"):
        actions.revoke_constraint(talk.place, row.pk)
    with pytest.raises(Refused, match="in force already"):
        actions.set_standing_rule(talk.session.owner, RULE)
    assert sent(talk) == [RULE]


def test_nothing_of_a_rule_remains_when_its_conversation_is_deleted(talk: Talk) -> None:
    recorded(talk, RULE, RULE)
    actions.erase_session(talk.session, actor=talk.session.owner)
    assert not Constraint.objects.exists()


def test_the_database_knows_no_standing_suggestion(talk: Talk) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Constraint.objects.create(owner=talk.session.owner, text=RULE, state="suggested")
    assert not Constraint.objects.exists()
