"""What pages say the model sees now, what was left out of that, and who changed it."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from compaction.models import Artifact
from compaction.standing.accepting import accept_compaction, rollback_compaction
from efforts import actions
from efforts.context.inspection import differing
from efforts.context.planning import chosen_settings, next_inputs
from efforts.domain.effort.states import EntryKind, SummaryState
from efforts.domain.prompt.difference import QUOTED, MadePlan
from efforts.domain.prompt.planner import plan
from efforts.models import EffortState
from efforts.turns.summaries import SUMMARIES, WHOLE
from tests.compaction.review import BACKUPS, MOVE, POSTGRES, SLUG, STATES, Room
from tests.pages.conftest import HTMX

FOUND = "When a message refers to details of these turns, matching passages are found and sent with it."


def shown(client: Client, name: str, *args: object, **query: str) -> str:
    answer = client.get(reverse(name, args=args), query, headers=HTMX)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def card(client: Client, room: Room) -> str:
    return shown(client, "turn", room.talk.session.pk, 3)


def sidebar(client: Client, room: Room) -> str:
    return shown(client, "efforts", room.talk.session.pk)


def forgotten(room: Room) -> None:
    """Nothing has mentioned the effort for too long."""
    EffortState.objects.filter(effort__slug=SLUG).update(evicted_clock=1)


def mentioned(room: Room) -> None:
    EffortState.objects.filter(effort__slug=SLUG).update(evicted_clock=None)


def pages_of(client: Client, room: Room, row: Artifact) -> list[str]:
    return [
        card(client, room),
        sidebar(client, room),
        shown(client, "review_top", row.pk),
    ]


def test_card_list_and_review_say_that_excerpts_are_seen_instead(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    for page in pages_of(as_alice, room, row)[:2]:
        assert f"The model sees excerpts instead of turns 1-3. {FOUND} No model" in page
    assert "instead of turns 1-3" in shown(as_alice, "review_top", row.pk)


def test_a_pinned_turn_is_named_as_staying(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    actions.pin_turn(room.talk.place, 2)
    for page in pages_of(as_alice, room, row)[:2]:
        assert "The model sees excerpts instead of turns 1, 3. Pinned, so still sent: turn 2." in page
    assert "In the prompt instead of turns 1, 3." in shown(as_alice, "standing", row.pk)
    assert "Turn 2 is pinned and stays in the prompt." in shown(as_alice, "standing", row.pk)
    assert f"2 quotes instead of turns 1, 3. Pinned, so still sent: turn 2. {FOUND}" in shown(
        as_alice, "review_top", row.pk
    )
    forgotten(room)
    assert "Nothing in place of turns 1-3. Pinned, so still sent: turn 2." in shown(as_alice, "review_top", row.pk)


def test_the_review_says_at_a_glance_what_is_in_the_prompt(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    assert "2 quotes instead of turns 1-3" in shown(as_alice, "review_top", row.pk)
    forgotten(room)
    assert "Nothing in place of turns 1-3." in shown(as_alice, "review_top", row.pk)
    mentioned(room)
    actions.expand_effort(room.talk.place, SLUG)
    assert "The log of turns 1-3, as it is expanded" in shown(as_alice, "review_top", row.pk)


def test_a_pinned_turn_is_told_apart_from_the_log_that_a_summary_would_replace(room: Room, as_alice: Client) -> None:
    row = STATES["reviewed"](room)
    actions.pin_turn(room.talk.place, 2)
    told = shown(as_alice, "review_top", row.pk).partition('id="in-prompt"')[2]
    assert "The log of turns 1, 3. Pinned, so sent in any case: turn 2." in told


def test_while_it_is_expanded_every_page_says_that_the_turns_are_seen(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    actions.expand_effort(room.talk.place, SLUG)
    for page in pages_of(as_alice, room, row):
        assert "The model sees turns 1-3 now." in page


@pytest.mark.parametrize(
    ("state", "words"),
    [("no model", "Das Modell sieht Auszüge statt Runden 1-3."), ("stands", ", von dem sie auch stammt.")],
)
def test_in_german_it_is_said_in_german_alone(room: Room, as_alice: Client, state: str, words: str) -> None:
    STATES[state](room)
    answer = as_alice.get(reverse("turn", args=[room.talk.session.pk, 3]), headers={**HTMX, "accept-language": "de"})
    page = " ".join(answer.content.decode().split())
    assert words in page
    assert "which wrote it" not in page
    assert "excerpts statt" not in page


def test_what_nothing_mentioned_is_said_to_be_seen_nowhere(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    forgotten(room)
    for page in pages_of(as_alice, room, row):
        assert "The model sees nothing of turns 1-3 now" in page


def test_a_draft_beside_excerpts_that_dropped_out_does_not_say_that_the_model_sees_them(
    room: Room, as_alice: Client
) -> None:
    draft = STATES["loses"](room)
    assert "The model sees <a" in shown(as_alice, "standing", draft.pk)
    forgotten(room)
    foot = shown(as_alice, "standing", draft.pk)
    assert "The model sees" not in foot
    assert "Not in the prompt, nor is the log of turns 1-3" in foot


def test_a_pinned_turn_neither_leaves_nor_enters_as_its_effort_is_replaced(room: Room) -> None:
    actions.pin_turn(room.talk.place, 2)
    before = planned(room)
    STATES["no model"](room)
    found = differing(before, planned(room), room.talk.branch, more=0)
    assert all(2 not in one.turns for one in found.left)
    assert not [one for one in found.entered if one.section == "pin"]
    assert [one.why for one in found.changed if one.section == "pin"] == [QUOTED]


def planned(room: Room) -> MadePlan:
    made = plan(next_inputs(room.talk.branch, chosen_settings(room.talk.session), "And now?", None))
    return MadePlan.from_body(made.inputs.current.number, made.body())


def test_who_rolled_it_back_is_named_and_when(room: Room, as_alice: Client, alice: User) -> None:
    row = STATES["no model"](room)
    rollback_compaction(row.pk, actor=alice)
    top = shown(as_alice, "review_top", row.pk)
    assert re.search(r"They are not in the prompt: you rolled them back on \d+ \w+ \d{4}, \d\d:\d\d", top)
    assert "Earlier: " in top


def test_what_is_accepted_in_the_chat_is_not_said_to_be_accepted_on_its_page(
    room: Room, as_alice: Client, alice: User
) -> None:
    row = STATES["no model"](room)
    rollback_compaction(row.pk, actor=alice)
    scope = {"session": str(row.session_id), "first": row.source_start, "last": row.source_end, "larger": "1"}
    at = {**HTMX, "HX-Current-URL": f"http://testserver{room.talk.session.get_absolute_url()}"}
    as_alice.post(reverse("accept", args=[row.pk]), scope, headers=at)
    history = shown(as_alice, "history", row.pk)
    assert "alice · in the chat" in history


def test_a_rollback_that_was_overtaken_says_so(room: Room, as_alice: Client, alice: User) -> None:
    row = STATES["no model"](room)
    rollback_compaction(row.pk, actor=alice)
    turn = room.talk.session.turns.latest("number").number
    told = "This has changed since."
    now = shown(as_alice, "turn", room.talk.session.pk, turn)
    assert told not in now
    assert "is in the prompt." in now
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    later = shown(as_alice, "turn", room.talk.session.pk, turn)
    assert f"went back into the prompt. {told}" in later


def test_an_open_to_do_is_open_where_no_effort_is(room: Room, as_alice: Client) -> None:
    room.note(EntryKind.OPEN_WORK, POSTGRES, "Ask about the licence.")
    STATES["no model"](room)
    where = shown(as_alice, "where", room.talk.session.pk)
    assert "No effort is open, but these to-dos are:" in where
    assert "Ask about the licence." in where
    assert "Nothing is open." not in where


@pytest.mark.parametrize("state", ["no model", "stands"])
def test_every_sentence_that_was_left_out_is_listed_with_its_place_and_those_of_the_person_first(
    room: Room, as_alice: Client, state: str
) -> None:
    claims = shown(as_alice, "claims", STATES[state](room).pk)
    counted = re.search(r"(\d+) of (?:the )?\d+ sentences of (?:these turns|turns 1-3)", claims)
    assert counted
    listed = claims[claims.index('id="left-out-sentences"') :].partition("</details>")[0]
    assert listed.count("data-to-source>") == int(counted[1]) > 3
    assert re.findall(r"<h3[^>]*>([^<]*)", listed) == ["In messages", "In replies and tool results"]
    assert "Hide what was left out" in listed


def test_new_excerpts_come_with_a_link_or_the_word_that_they_are_the_same(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    EffortState.objects.filter(effort__slug=SLUG).update(summary="due")
    assert "New excerpts of these turns are being made." in shown(as_alice, "review_top", row.pk)
    SUMMARIES.draft_now(EffortState.objects.get(effort__slug=SLUG))
    top = shown(as_alice, "review_top", row.pk, drafting="")
    assert "The new excerpts are the same as these." in top
    room.note(EntryKind.DECISION, POSTGRES, "We take Postgres.")
    EffortState.objects.filter(effort__slug=SLUG).update(summary="due")
    SUMMARIES.draft_now(EffortState.objects.get(effort__slug=SLUG))
    assert "Open the new excerpts" in shown(as_alice, "review_top", row.pk, drafting="")
    assert EffortState.objects.get(effort__slug=SLUG).draft != WHOLE


def test_where_the_list_does_not_fit_the_turns_stay_in_the_prompt(room: Room, as_alice: Client) -> None:
    for number, words in enumerate((POSTGRES, BACKUPS, MOVE)):
        room.note(EntryKind.DECISION, words, f"Decision {number}: " + "the crew carries barrels and " * 8)
    # Nothing that lacks an entry is kept at all.
    with pytest.raises(Artifact.DoesNotExist):
        STATES["no model"](room)
    assert (room.state.summary, room.standing) == (SummaryState.FAILED, [])
    assert "The model sees excerpts" not in card(as_alice, room)
