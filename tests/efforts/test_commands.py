"""What a person types does what its control does: the same rows, the same events."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from efforts import actions
from efforts.actions import Typed
from efforts.context.planning import run_inputs
from efforts.context.sources import read_effort_log
from efforts.domain.effort.states import EntryState, HoldScope, RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.models import (
    Branch,
    Constraint,
    ContextPlan,
    Event,
    Hold,
    LedgerEntry,
    Message,
    Run,
    ScopeDraft,
    Session,
    Turn,
)
from efforts.turns import recording
from tests.efforts.port import Scripted
from tests.efforts.talk import Talk

RULE = "Never touch the production database."
CONCLUDED = "bug is concluded. Reopen it in the list of efforts, or type /expand bug to show its log."
ANOTHER = f"{CONCLUDED} For new work of the same kind choose another name, such as one with a date or number."


def typed(talk: Talk, text: str, client_id: str = "", **how: Any) -> Typed:
    client_id = client_id or f"typed-{Event.objects.count()}"
    return actions.take_typed(
        talk.session, text=text, client_id=client_id, actor=talk.session.owner, branch=talk.branch, **how
    )


def refusal(talk: Talk, text: str) -> str:
    before = counted(talk)
    with pytest.raises(Refused) as refused:
        typed(talk, text)
    assert counted(talk) == before, "something has happened"
    return refused.value.text


def counted(talk: Talk) -> tuple[int, int, int]:
    rows = (Event, Message, Turn)
    return tuple(row.objects.filter(session=talk.session).count() for row in rows)  # type: ignore[return-value]


def told(talk: Talk, since: int = 0) -> list[str]:
    return list(Event.objects.filter(session=talk.session, seq__gt=since).values_list("kind", flat=True))


def last(talk: Talk) -> int:
    return Session.objects.get(pk=talk.session.pk).event_seq


def settle(talk: Talk) -> None:
    """As the runner does it."""
    for run in Run.objects.filter(branch=talk.branch_id, state=RunState.QUEUED).order_by("turn__number"):
        lease = recording.claim(run, "tests:1:x")
        assert lease is None, "a model is asked"


def in_prompt(talk: Talk, text: str) -> dict[str, Any]:
    """The request of a next message."""
    lease = talk.begin(text)
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    request = plan(run_inputs(run)).request
    talk.finish(lease)
    return dict(request)


# The commands of efforts


def test_effort_opens_one_and_goes_on_with_an_open_one(talk: Talk) -> None:
    typed(talk, "/effort Payment webhook")
    typed(talk, "/effort Vacation")
    typed(talk, "/effort payment webhook")
    assert talk.states() == {"payment-webhook": "open", "vacation": "open"}
    assert talk.active == "payment-webhook"
    assert talk.notices() == [
        "--- Started effort: payment-webhook ---",
        "--- Started effort: vacation ---",
        "--- Switched to effort: payment-webhook ---",
    ]
    assert Message.objects.count() == Run.objects.count() == 0


def test_what_is_typed_is_told_like_what_is_pressed(talk: Talk) -> None:
    typed(talk, "/effort Bug")
    since = last(talk)
    typed(talk, "/done")
    concluded = Event.objects.get(session=talk.session, kind="effort.concluded")
    assert (concluded.actor, concluded.data["via"]) == (talk.session.owner, "control")
    assert told(talk, since) == ["effort.concluded", "command.given"]
    actions.undo(talk.place, concluded.seq)
    assert talk.states() == {"bug": "open"}


def test_done_concludes_the_active_effort_or_the_one_named(talk: Talk) -> None:
    for name in ("Bug", "Vacation", "Offsite"):
        typed(talk, f"/effort {name}")
    typed(talk, "/done bug")
    typed(talk, "/done")
    assert talk.states() == {"bug": "concluded", "vacation": "open", "offsite": "concluded"}
    assert talk.state("offsite").via == "control"


def test_switch_expand_and_collapse(talk: Talk) -> None:
    slug = talk.concluded("Bug", "The parser drops the last token. " * 20)
    typed(talk, "/effort Vacation")
    typed(talk, "/effort Offsite")
    typed(talk, "/switch vacation")
    assert talk.active == "vacation"
    typed(talk, f"/expand {slug}")
    assert talk.state(slug).expanded_turn == talk.branch.head
    typed(talk, f"/collapse {slug}")
    assert talk.state(slug).expanded_turn is None
    assert told(talk).count("command.given") == 5


def test_focus_names_an_effort_and_ends_without_one_or_with_off(talk: Talk) -> None:
    slug = talk.concluded("Bug", "The parser drops the last token. " * 20)
    for ending in ("/focus", "/focus off", "/focus OFF"):
        typed(talk, f"/focus {slug}")
        assert talk.focus == slug
        typed(talk, ending)
        assert talk.focus is None
    typed(talk, "/effort Off")
    typed(talk, "/focus off")
    assert talk.focus == "off"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("/effort", "/effort needs more: NAME. For example: /effort payment webhook"),
        ("/switch ", "/switch needs more: ID. For example: /switch payment-webhook"),
        ("/switch nothing", "There is no effort 'nothing' here."),
        ("/switch vacatoin", "There is no effort 'vacatoin' here. Close to it: vacation."),
        ("/switch vacation", "vacation is already active."),
        ("/done with it, thanks", "There is no effort 'with it, thanks' here."),
        ("/effort Bug", ANOTHER),
        ("/switch bug", CONCLUDED),
        ("/expand vacation", "vacation is open. Its log is in the prompt already, as far as there is room."),
        ("/collapse bug", "bug is not expanded, so there is nothing to collapse."),
        ("/focus vacatoin", "There is no effort 'vacatoin' here. Close to it: vacation."),
        ("/focus off", "The focus is on no effort, so there is none to end."),
        ("/pin 99", "There is no turn 99 here."),
        ("/pin vacation", "vacation is open, and shown already. Pin a turn of it, or conclude it first."),
        ("/summarise the lot", "These are no turns. Give the first and the last, such as: /summarise 3-9."),
        ("/summarise 9-3", "Turn 9 comes after turn 3. Choose the earlier one first."),
        ("/rule  ", "/rule needs more: TEXT. For example: /rule Never touch the production database."),
        ("/efort x", "There is no /efort. Did you mean /effort? Send it as a message?"),
    ],
)
def test_what_cannot_be_done_is_said_in_words_and_nothing_happens(talk: Talk, text: str, words: str) -> None:
    talk.concluded("Bug", "The parser drops the last token.")
    actions.open_effort(talk.place, "Vacation")
    assert refusal(talk, text) == words


def test_without_an_active_effort_done_says_which_are_open(talk: Talk) -> None:
    assert refusal(talk, "/done") == "No effort is active. None is open, so none can be concluded."


# Messages


def test_a_message_is_sent_to_the_byte(talk: Talk) -> None:
    texts = ["/etc/nginx fails\n", "  two  spaces ", "//done", "/efort x"]
    for number, text in enumerate(texts):
        typed(talk, text, client_id=f"c{number}", plain=text == "/efort x")
    said = list(Message.objects.order_by("id").values_list("text", flat=True))
    assert said == ["/etc/nginx fails\n", "  two  spaces ", "/done", "/efort x"]


def test_a_command_can_be_sent_as_a_message(talk: Talk) -> None:
    assert typed(talk, "/done", plain=True).turn is not None
    assert Message.objects.get().text == "/done"


def test_search_leads_to_the_search_and_changes_nothing(talk: Talk) -> None:
    before = counted(talk)
    assert typed(talk, "/search signing key & more").go == "/search/?q=signing+key+%26+more"
    assert counted(talk) == before


def test_sent_twice_a_command_is_done_once(talk: Talk) -> None:
    typed(talk, "/effort Bug")
    typed(talk, "/effort Vacation")
    for _ in range(2):
        typed(talk, "/done", client_id="same")
        typed(talk, "/todo Ask Dana.", client_id="again")
    assert talk.states() == {"bug": "open", "vacation": "concluded"}
    assert LedgerEntry.objects.count() == Turn.objects.count() == 1


# Asides


def test_an_aside_belongs_to_no_effort_and_the_active_one_stays_active(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.")
    typed(talk, "/aside What time is it\nin Lisbon? ")
    talk.finish(talk.claim(), "Noon.")
    talk.ask("Back to the parser.")
    assert talk.labels() == {1: "bug", 3: "bug"}
    assert (talk.active, talk.state("bug").turns) == ("bug", 2)
    assert Message.objects.get(turn__number=2, role="user").text == "What time is it\nin Lisbon? "


def test_the_chip_does_the_same(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    typed(talk, "What time is it?", aside=True)
    talk.finish(talk.claim())
    assert (talk.labels(), talk.active) == ({}, "bug")


def test_the_prompt_of_an_aside_has_the_active_effort_as_ever(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.")
    typed(talk, "/aside What time is it?")
    run = Run.objects.select_related("turn__session", "branch").get(pk=talk.claim().run_id)
    request = plan(run_inputs(run)).request
    assert any("It is in the parser." in message["content"] for message in request["messages"])
    assert "Active effort: bug" in request["messages"][-1]["content"]


def test_what_the_model_does_in_an_aside_does_not_move_it(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    typed(talk, "/aside Where was I?")
    lease = talk.claim()
    talk.call(lease, "open_effort", name="Vacation")
    talk.finish(lease)
    assert talk.labels() == {}


def test_an_aside_stays_one_when_it_is_tried_again_or_asked_again(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.")
    typed(talk, "/aside What time is it?")
    talk.finish(talk.claim(), "", recording.STOPPED)
    actions.retry_turn(Turn.objects.get(number=2), actor=talk.session.owner)
    talk.finish(talk.claim())
    assert talk.labels() == {1: "bug"}
    again = actions.regenerate(talk.branch, 2, actor=talk.session.owner)
    fork = Talk(talk.session, again.branch)
    fork.finish(fork.claim())
    assert (fork.labels(), fork.active) == ({1: "bug"}, "bug")


def test_a_fork_after_an_aside_tells_it_as_the_rows_do(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.")
    typed(talk, "/aside What time is it?")
    talk.finish(talk.claim())
    talk.ask("Back to it.")
    fork = Talk(talk.session, actions.fork(talk.branch, after=2, actor=talk.session.owner))
    assert (fork.labels(), fork.active) == ({1: "bug"}, "bug")


# Notes


def test_a_rule_is_in_force_at_once_with_its_sentence(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    typed(talk, f"/rule {RULE}")
    rule = Constraint.objects.get()
    assert (rule.text, rule.state, rule.by) == (RULE, "in force", "person")
    assert rule.source is not None
    assert rule.source.text == f"/rule {RULE}"
    assert rule.source.text[rule.start : rule.end] == RULE


@pytest.mark.parametrize(("command", "kind"), [("todo", "open_work"), ("decided", "decision")])
def test_what_is_written_down_is_confirmed_with_its_sentence(talk: Talk, command: str, kind: str) -> None:
    typed(talk, f"/{command} Ask Dana\nfor the key.")
    row = LedgerEntry.objects.get()
    assert (row.kind, row.text, row.state, row.by) == (kind, "Ask Dana for the key.", EntryState.CONFIRMED, "person")
    assert row.confirmed_by == talk.session.owner
    assert row.source.text[row.start : row.end] == "Ask Dana\nfor the key."


def test_a_note_asks_no_model_and_moves_no_clock(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("It is in the parser.")
    typed(talk, "/todo Ask Dana for the key.")
    settle(talk)
    turn = Turn.objects.select_related("run").get(number=2)
    assert turn.run is not None
    assert (turn.run.state, talk.branch.clock) == (RunState.NOTED, 1)
    assert turn.messages.count() == 1
    assert not ContextPlan.objects.filter(run=turn.run).exists()
    assert talk.labels() == {1: "bug", 2: "bug"}
    assert told(talk)[-4:] == ["turn.sent", "ledger.confirmed", "run.started", "run.ended"]
    ended = Event.objects.filter(session=talk.session, kind="run.ended").last()
    assert ended is not None
    assert (ended.data["state"], ended.data["effort"]) == ("noted", "bug")


def test_a_note_is_a_sentence_of_its_effort_and_of_chosen_turns(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    typed(talk, f"/rule {RULE}")
    settle(talk)
    talk.ask("It is in the parser.")
    log = read_effort_log(talk.branch, talk.state("bug").effort)
    assert [turn.number for turn in log.turns] == [1, 2]
    assert RULE in log.source.said


def test_later_prompts_have_a_note_and_say_that_it_wants_no_reply(talk: Talk) -> None:
    typed(talk, "/todo Ask Dana for the key.")
    settle(talk)
    request = in_prompt(talk, "What next?")
    said = [message["content"] for message in request["messages"] if message["role"] == "user"]
    assert any("/todo Ask Dana for the key.\n[noted: no reply was asked for]" in text for text in said)


def test_a_note_typed_while_a_reply_is_written_holds_at_once_and_takes_its_place_after_it(talk: Talk) -> None:
    lease = talk.begin("A long question.")
    typed(talk, f"/rule {RULE}")
    assert Constraint.objects.get().state == "in force"
    assert recording.claim_runs("tests:1:x", 5) == []
    talk.finish(lease, "A long answer.")
    settle(talk)
    turns = list(Turn.objects.order_by("number"))
    assert [turn.tokens_before for turn in turns] == [0, turns[0].tokens]
    talk.ask("Next.")
    assert Turn.objects.get(number=3).tokens_before == turns[0].tokens + turns[1].tokens


def test_a_second_rule_of_the_same_words_is_refused_and_leaves_no_message(talk: Talk) -> None:
    typed(talk, f"/rule {RULE}")
    assert refusal(talk, f"/rule {RULE}") == "This rule is in force already."


def test_a_note_is_not_edited_or_asked_again(talk: Talk) -> None:
    typed(talk, f"/rule {RULE}")
    settle(talk)
    with pytest.raises(Refused, match="Turn 1 is a note"):
        actions.regenerate(talk.branch, 1, actor=talk.session.owner)


# Pins and chosen turns


def test_pin_takes_the_last_answered_turn_or_a_turn_or_an_effort(talk: Talk) -> None:
    assert refusal(talk, "/pin") == "No turn has been answered yet, so there is nothing to pin."
    slug = talk.concluded("Bug", "The parser drops the last token.", "It is mended.")
    typed(talk, "/todo Write a test.")
    settle(talk)
    for text in ("/pin", "/pin 1", f"/pin {slug}"):
        typed(talk, text)
    held = [(row.turn and row.turn.number, row.effort and row.effort.slug) for row in Hold.objects.order_by("pk")]
    assert held == [(2, None), (1, None), (None, slug)]
    assert set(Hold.objects.values_list("scope", flat=True)) == {str(HoldScope.ALWAYS)}


def test_summarise_asks_for_a_summary_of_these_turns(talk: Talk, port: Scripted) -> None:
    for number in range(4):
        talk.ask(f"The {number} thing about the parser.")
    typed(talk, "/summarise 2-3")
    draft = ScopeDraft.objects.get()
    assert (draft.turns, draft.kind, draft.actor) == ([2, 3], "intentional", talk.session.owner)


# By POST, as by the socket (tests/sockets/test_commands.py)


def post(client: Client, talk: Talk, text: str, **fields: str) -> Any:
    data = {"text": text, "client_id": f"p{Event.objects.count()}", **fields}
    return client.post(f"{talk.session.get_absolute_url()}send/", data, headers={"Accept": "application/json"})


def test_by_post_a_command_is_done_and_a_message_sent(as_alice: Client, talk: Talk) -> None:
    assert "turn" not in post(as_alice, talk, "/effort Bug").json()
    turn = post(as_alice, talk, "/rule Never on Fridays.").json()
    assert turn["turn"] == 1
    assert post(as_alice, talk, "/search key").json()["go"] == "/search/?q=key"
    refused = post(as_alice, talk, "/efort x")
    assert (refused.status_code, refused.json()["code"]) == (422, "doubtful")
    assert post(as_alice, talk, "/efort x", plain="1").json()["turn"] == 2
    assert post(as_alice, talk, "Hm?", aside="1").json()["turn"] == 3
    assert Branch.objects.get(session=talk.session).active_effort.slug == "bug"  # type: ignore[union-attr]
    assert [run.is_aside for run in Run.objects.order_by("turn__number")] == [False, False, True]
