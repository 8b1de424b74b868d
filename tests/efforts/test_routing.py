"""Which effort a turn belongs to, and when the page offers to conclude one."""

from __future__ import annotations

import pytest

from efforts import actions
from efforts.domain.effort.states import RunState
from efforts.models import Message, TurnLabel
from efforts.turns.recording import Ending
from tests.efforts.talk import Call, Talk

FAILED = Ending(state=RunState.FAILED, code="broken_stream", text="The stream broke.")
OPEN_BUG: Call = ("open_effort", {"name": "Bug"})
CLOSE_BUG: Call = ("close_effort", {"id": "bug"})


def by(talk: Talk, number: int) -> str:
    return TurnLabel.objects.get(branch=talk.branch, turn__number=number).by


def test_a_turn_without_any_effort_is_ambient(talk: Talk) -> None:
    talk.ask("Hello.")
    assert talk.labels() == {}


def test_a_turn_belongs_to_the_effort_that_is_active_when_it_begins(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.say("It is in the parser.")
    actions.open_effort(talk.place, "Vacation")
    talk.finish(talk.claim())
    assert talk.labels() == {1: "vacation"}
    assert by(talk, 1) == "began"


def test_what_a_person_does_meanwhile_does_not_move_the_running_turn(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    lease = talk.begin("It is in the parser.")
    actions.open_effort(talk.place, "Vacation")
    talk.finish(lease)
    assert talk.labels() == {1: "bug"}


def test_a_turn_follows_the_effort_opened_in_it(talk: Talk) -> None:
    actions.open_effort(talk.place, "Vacation")
    talk.ask("Let's find the bug.", OPEN_BUG)
    assert talk.labels() == {1: "bug"}
    assert (talk.state("bug").turns, talk.state("vacation").turns) == (1, 0)


def test_of_several_opened_or_switched_to_the_last_one_has_the_turn(talk: Talk) -> None:
    talk.ask("Two things.", OPEN_BUG, ("open_effort", {"name": "Vacation"}), ("switch_effort", {"id": "bug"}))
    assert talk.labels() == {1: "bug"}


def test_a_turn_belongs_to_the_effort_that_it_concluded(talk: Talk) -> None:
    actions.open_effort(talk.place, "Vacation")
    actions.open_effort(talk.place, "Bug")
    actions.switch_effort(talk.place, "vacation")
    talk.ask("The bug is fixed.", CLOSE_BUG)
    assert talk.labels() == {1: "bug"}
    assert by(talk, 1) == "closed"
    talk.ask("Where shall we go?")
    assert talk.labels()[2] == "vacation"


def test_opening_is_stronger_than_concluding_whatever_comes_first(talk: Talk) -> None:
    talk.ask("A bug.", OPEN_BUG)
    talk.ask("Fixed. Now the vacation.", CLOSE_BUG, ("open_effort", {"name": "Vacation"}))
    talk.ask(
        "A tax return, and the vacation is booked.",
        ("open_effort", {"name": "Tax"}),
        ("close_effort", {"id": "vacation"}),
    )
    assert talk.labels() == {1: "bug", 2: "vacation", 3: "tax"}


def test_an_effort_opened_and_concluded_in_one_turn_keeps_it(talk: Talk) -> None:
    talk.ask("Quick fix, done.", OPEN_BUG, CLOSE_BUG)
    assert talk.labels() == {1: "bug"}
    assert talk.states() == {"bug": "concluded"}


def test_another_attempt_stays_in_the_effort_of_the_first(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.", ending=FAILED)
    actions.open_effort(talk.place, "Vacation")
    turn = talk.branch.turns.get()
    actions.retry_turn(turn, actor=talk.session.owner)
    talk.finish(talk.claim())
    assert talk.labels() == {1: "bug"}


def test_another_attempt_at_an_ambient_turn_leaves_it_ambient(talk: Talk) -> None:
    talk.ask("Hello.", ending=FAILED)
    actions.open_effort(talk.place, "Bug")
    actions.retry_turn(talk.branch.turns.get(), actor=talk.session.owner)
    talk.finish(talk.claim())
    assert talk.labels() == {}


def test_where_a_person_moved_a_turn_its_next_attempt_does_not_take_it_away(talk: Talk) -> None:
    actions.open_effort(talk.place, "Vacation")
    talk.ask("It is in the parser.", OPEN_BUG, ending=FAILED)
    actions.move_turn(talk.place, 1, "vacation")
    actions.retry_turn(talk.branch.turns.get(), actor=talk.session.owner)
    lease = talk.claim()
    talk.call(lease, "switch_effort", id="vacation")
    talk.call(lease, "switch_effort", id="bug")
    talk.finish(lease)
    assert talk.labels() == {1: "vacation"}


def test_a_withdrawn_message_belongs_to_no_effort(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    turn = talk.say("Never mind.")
    actions.cancel_turn(turn, actor=talk.session.owner)
    assert talk.labels() == {}
    assert talk.state("bug").turns == 0


def test_an_effort_counts_what_its_turns_add_to_a_prompt(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.", reply="Then look at the tokenizer.")
    talk.ask("And now?", reply="Done.")
    tokens = sum(message.tokens + 4 for message in Message.objects.filter(session=talk.session))
    assert (talk.state("bug").turns, talk.state("bug").tokens) == (2, tokens)


def test_a_withdrawn_second_attempt_leaves_the_sums_as_they_were(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.", ending=FAILED)
    before = talk.state("bug").tokens
    turn = talk.branch.turns.get()
    actions.retry_turn(turn, actor=talk.session.owner)
    turn.refresh_from_db()
    actions.cancel_turn(turn, actor=talk.session.owner)
    assert talk.state("bug").tokens == before


def test_the_effort_talked_about_last_is_the_one_that_follows(talk: Talk) -> None:
    for name in ("First", "Second", "Third"):
        actions.open_effort(talk.place, name)
    actions.switch_effort(talk.place, "first")
    talk.ask("Of the first.")
    actions.switch_effort(talk.place, "second")
    actions.close_effort(talk.place)
    assert talk.active == "first"


# Offers


def test_words_that_end_an_effort_are_answered_by_an_offer_where_the_model_did_nothing(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("Great, it works now.")
    [event] = talk.events("effort.offered")
    assert (event["effort"], event["why"], event["turn"]) == ("bug", "resolved", 1)
    assert talk.states() == {"bug": "open"}


def test_the_offer_is_for_the_effort_that_the_words_name(talk: Talk) -> None:
    actions.open_effort(talk.place, "Payment webhook")
    actions.open_effort(talk.place, "Vacation")
    talk.ask("The payment webhook is fixed.")
    assert [event["effort"] for event in talk.events("effort.offered")] == ["payment-webhook"]


@pytest.mark.parametrize("text", ["What comes next?", "Is it fixed?", "Let's pause here, it works now and then."])
def test_other_words_bring_no_offer(talk: Talk, text: str) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask(text)
    assert talk.events("effort.offered") == []


def test_where_the_model_acted_there_is_nothing_to_offer(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("Great, it works now.", CLOSE_BUG)
    assert talk.events("effort.offered") == []


def test_without_an_open_effort_there_is_nothing_to_offer(talk: Talk) -> None:
    talk.ask("Great, it works now.")
    assert talk.events("effort.offered") == []


def test_a_turn_that_did_not_complete_brings_no_offer(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("Great, it works now.", ending=FAILED)
    assert talk.events("effort.offered") == []
