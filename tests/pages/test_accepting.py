"""Accepting and rolling back by their pages: what would change, what has changed, and who did it."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from compaction.models import Acceptance, Artifact, Check, DraftRun, GateRun, Reviewer
from compaction.review.claims import dropped, not_needed
from compaction.standing.accepting import accept_compaction, rollback_compaction
from compaction.standing.history import history_in
from compaction.standing.previewing import effect_of_accepting, effect_of_rolling_back
from efforts import actions
from efforts.context import plans
from efforts.context.planning import chosen_settings, next_inputs
from efforts.context.plans import preview
from efforts.domain.prompt.plan import Plan, PlanInputs
from efforts.domain.prompt.planner import plan
from efforts.models import Branch, EffortState, Event, PointerMove
from efforts.turns.recording import count
from tests.compaction.artifacts import LongTalk, of_turns
from tests.compaction.review import CLAIMS, SLUG, STATES, Room
from tests.efforts.talk import Talk
from tests.pages.conftest import HTMX

DECIDED = CLAIMS["postgres"][2]


@pytest.fixture
def artifact(drafted: Artifact) -> Artifact:
    """An effort was concluded; the summary of its three turns waits for a yes."""
    return drafted


@pytest.fixture
def talk(room: Room, artifact: Artifact) -> Talk:
    return room.talk


@pytest.fixture
def accepted(artifact: Artifact, alice: User) -> Artifact:
    accept_compaction(artifact.pk, artifact.session_id, 1, 3, actor=alice)
    return artifact


def page(client: Client, name: str, row: Artifact, *, status: int = 200, htmx: bool = False) -> str:
    response = client.get(reverse(name, args=[row.pk]), headers=HTMX if htmx else {})
    assert response.status_code == status
    return response.content.decode()


def scope(row: Artifact, **changes: Any) -> dict[str, Any]:
    return {"session": str(row.session_id), "first": row.source_start, "last": row.source_end, **changes}


def post(client: Client, name: str, row: Artifact, data: dict[str, Any] | None = None, *, headers: Any = None) -> Any:
    return client.post(reverse(name, args=[row.pk]), data or {}, headers=headers)


def on_its_page(row: Artifact) -> dict[str, str]:
    return {**HTMX, "HX-Current-URL": f"http://testserver{row.get_absolute_url()}"}


def request_hash(talk: Talk, text: str = "And now?") -> str:
    return plan(next_inputs(talk.branch, chosen_settings(talk.session), text, None)).request_sha256


def all_rows() -> dict[str, list[Any]]:
    models = [*apps.get_app_config("efforts").get_models(), *apps.get_app_config("compaction").get_models()]
    return {model.__name__: list(model._default_manager.order_by("pk").values()) for model in models}


def kinds() -> list[str]:
    return list(PointerMove.objects.order_by("pk").values_list("kind", flat=True))


def test_the_dialog_says_what_leaves_what_comes_in_and_what_it_saves(artifact: Artifact, as_alice: Client) -> None:
    html = page(as_alice, "accept", artifact, htmx=True)
    assert "<html" not in html
    assert "the log of turns 1-3" in html
    assert DECIDED in html
    assert "→" in html
    assert "All that changes in the next prompt" in html
    assert "you can roll back at any time" in html
    assert "<html" in page(as_alice, "accept", artifact)


# By where its effort is: what the head says, what the dialog says of the text, and of what it saves.
NOT_AT_ONCE = {
    "left": (
        {"evicted_clock": 3},
        "Accept it, and the model sees this text once a message mentions the effort.",
        "Used once a message mentions the effort",
        "Not in the prompt now",
    ),
    "expanded": (
        {"expanded_turn": 3},
        "Accept it, and the model sees this text once the effort is collapsed.",
        "Used once the effort is collapsed",
        "Saves nothing while it is expanded",
    ),
}


@pytest.mark.parametrize("case", NOT_AT_ONCE)
def test_what_the_model_would_not_see_at_once_is_not_said_to_enter_the_next_prompt(
    room: Room, as_alice: Client, alice: User, case: str
) -> None:
    artifact = STATES["loses"](room)
    [missed] = dropped(artifact)
    not_needed(artifact, missed.key, "decided otherwise since", actor=alice)
    fields, head, entered, saving = NOT_AT_ONCE[case]
    EffortState.objects.filter(branch=artifact.branch, effort=artifact.effort).update(**fields)
    shown = page(as_alice, "review_top", artifact, htmx=True)
    assert head in shown
    assert "excerpts take the log’s place" not in shown
    dialog = page(as_alice, "accept", artifact, htmx=True)
    assert f"<dt>{entered}</dt>" in dialog
    assert "<dt>No longer used</dt>" in dialog
    assert "Taken out of the next prompt" not in dialog
    assert "Put into the next prompt" not in dialog
    assert saving in dialog
    assert saving in page(as_alice, "review_saving", artifact, htmx=True)


def test_looking_writes_nothing_and_rings_no_bell(
    talk: Talk, artifact: Artifact, alice: User, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    before = all_rows()
    with django_capture_on_commit_callbacks() as rings:
        effect = effect_of_accepting(artifact, alice)
    assert effect.move.kind == "accepted"
    assert all_rows() == before
    assert rings == []
    accept_compaction(artifact.pk, artifact.session_id, 1, 3, actor=alice)
    before = all_rows()
    with django_capture_on_commit_callbacks() as rings:
        assert effect_of_rolling_back(artifact, alice, talk.branch).move.kind == "rolled back"
    assert all_rows() == before
    assert rings == []


@pytest.mark.django_db(transaction=True)
def test_nor_does_it_outside_of_any_other_transaction(artifact: Artifact, as_alice: Client) -> None:
    before = all_rows()
    page(as_alice, "accept", artifact)
    assert {name: rows for name, rows in all_rows().items() if rows != before[name]} == {}


def test_nothing_is_planned_while_others_have_to_wait(
    artifact: Artifact, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    depths, outside = [], len(connection.savepoint_ids)

    def planned(inputs: PlanInputs) -> Plan:
        depths.append(len(connection.savepoint_ids))
        with CaptureQueriesContext(connection) as queries:
            made = plan(inputs)
        assert not queries.captured_queries
        return made

    monkeypatch.setattr(plans, "plan", planned)
    effect_of_accepting(artifact, alice)
    assert depths == [outside] * 2


def test_what_is_foretold_is_what_comes(talk: Talk, artifact: Artifact, alice: User) -> None:
    foretold = effect_of_accepting(artifact, alice)
    accept_compaction(artifact.pk, artifact.session_id, 1, 3, actor=alice)
    back = effect_of_rolling_back(artifact, alice, talk.branch)
    assert (back.now.tokens, back.then.tokens) == (foretold.then.tokens, foretold.now.tokens)
    assert foretold.difference is not None
    assert [change.turns for change in foretold.difference.left] == [(1, 2, 3)]
    assert [one.name for one in foretold.move.before] == ["the log of turns 1-3"]
    assert [one.name for one in back.move.after] == ["the log of turns 1-3"]


def test_a_pinned_turn_is_not_said_to_come_or_go(talk: Talk, artifact: Artifact, as_alice: Client, alice: User) -> None:
    actions.pin_turn(talk.place, 2)
    assert [one.name for one in effect_of_accepting(artifact, alice).move.before] == ["the log of turns 1, 3"]
    accept_compaction(artifact.pk, artifact.session_id, 1, 3, actor=alice)
    back = effect_of_rolling_back(artifact, alice, talk.branch)
    assert [one.name for one in back.move.after] == ["the log of turns 1, 3"]
    assert "In the prompt instead of turns 1, 3." in page(as_alice, "standing", artifact, htmx=True)
    for turn in (1, 3):
        actions.pin_turn(talk.place, turn)
    back = effect_of_rolling_back(artifact, alice, talk.branch)
    assert [one.name for one in back.move.after] == ["nothing"]


def test_accepting_answers_with_roll_back_and_the_history(artifact: Artifact, as_alice: Client) -> None:
    response = post(as_alice, "accept", artifact, scope(artifact), headers=on_its_page(artifact))
    html = response.content.decode()
    assert response.status_code == 200
    assert response["HX-Retarget"] == "#standing"
    assert "In the prompt instead of turns 1-3." in html
    assert "Roll back… <kbd>Shift R</kbd></a>" in html
    assert "the log of turns 1-3" in html
    assert "alice" in html
    assert kinds() == ["accepted"]


def test_rolling_back_answers_with_the_history_in_which_it_stands_first(artifact: Artifact, as_alice: Client) -> None:
    post(as_alice, "accept", artifact, scope(artifact))
    html = post(as_alice, "rollback", artifact, headers=on_its_page(artifact)).content.decode()
    _, _, history = html.partition('id="moves"')
    assert history.index("Rolled back") < history.index("Accepted")
    assert "alice" in history


def test_what_the_model_is_shown_follows_at_once_and_back_again(
    talk: Talk, artifact: Artifact, as_alice: Client
) -> None:
    before = request_hash(talk)
    post(as_alice, "accept", artifact, scope(artifact))
    assert request_hash(talk) != before
    post(as_alice, "rollback", artifact, {"reason": "It misses the timeout."})
    assert request_hash(talk) == before
    html = page(as_alice, "history", artifact)
    assert html.index("Rolled back") < html.index("Accepted")
    assert "It misses the timeout." in html


def test_twice_is_once(artifact: Artifact, as_alice: Client) -> None:
    for _ in range(2):
        assert post(as_alice, "accept", artifact, scope(artifact), headers=on_its_page(artifact)).status_code == 200
    assert kinds() == ["accepted"]
    for _ in range(2):
        html = post(as_alice, "rollback", artifact, headers=on_its_page(artifact)).content.decode()
        assert "Rolled back." in html
        assert "Use again" in html
    assert kinds() == ["accepted", "rolled back"]


def test_without_scripts_both_lead_back_to_the_page(artifact: Artifact, as_alice: Client) -> None:
    assert post(as_alice, "accept", artifact, scope(artifact))["Location"] == artifact.get_absolute_url()
    assert "Roll back" in as_alice.get(artifact.get_absolute_url()).content.decode()
    assert post(as_alice, "rollback", artifact)["Location"] == artifact.get_absolute_url()


def test_from_another_page_the_dialog_closes_and_that_page_reads_itself_again(
    artifact: Artifact, as_alice: Client
) -> None:
    response = post(as_alice, "accept", artifact, scope(artifact), headers=HTMX)
    assert response.status_code == 204
    assert "standing" in response["HX-Trigger"]


@pytest.mark.parametrize("wrong", [{"first": 2}, {"last": "x"}, {"session": "no-session"}, {"first": ""}])
def test_a_wrong_scope_is_refused_in_words_and_nothing_changes(
    artifact: Artifact, as_alice: Client, wrong: dict[str, Any]
) -> None:
    response = post(as_alice, "accept", artifact, scope(artifact, **wrong), headers=HTMX)
    assert response.status_code == 422
    assert "Open it again from its page" in response.content.decode()
    assert kinds() == []


def test_what_does_not_pass_names_each_gate_and_leads_there(artifact: Artifact, as_alice: Client) -> None:
    run = GateRun.objects.get(artifact=artifact)
    for verdict, says in ((run.verdicts[1], "1 claim has no words."), (run.verdicts[2], "1 decision is missing.")):
        verdict.update(outcome="fail", says=says)
    GateRun.objects.filter(pk=run.pk).update(passed=False, verdicts=run.verdicts, tags=["insufficient_fidelity"])
    Artifact.objects.filter(pk=artifact.pk).update(state="rejected")
    html = page(as_alice, "accept", artifact, htmx=True)
    assert "Gate B: 1 claim has no words." in html
    assert f'href="{artifact.get_absolute_url()}#gate-C"' in html
    assert 'class="button primary"' not in html
    assert 'aria-disabled="true"' in as_alice.get(artifact.get_absolute_url()).content.decode()
    assert post(as_alice, "accept", artifact, scope(artifact), headers=HTMX).status_code == 422


def test_an_effort_that_is_open_again_must_be_concluded_first(talk: Talk, artifact: Artifact, as_alice: Client) -> None:
    actions.reopen_effort(talk.place, SLUG)
    html = page(as_alice, "accept", artifact, htmx=True)
    assert "Conclude it in the chat" in html
    assert f'href="{talk.branch.get_absolute_url()}"' in html


def test_rolling_back_what_never_stood_is_refused_in_words(artifact: Artifact, as_alice: Client) -> None:
    assert "is not in use" in page(as_alice, "rollback", artifact, htmx=True)
    response = post(as_alice, "rollback", artifact, headers=HTMX)
    assert response.status_code == 422
    assert "nothing to roll back" in response.content.decode()


def test_the_rollback_dialog_says_what_stands_then_and_asks_why(accepted: Artifact, as_alice: Client) -> None:
    html = page(as_alice, "rollback", accepted, htmx=True)
    assert f"the summary of {SLUG} (turns 1-3), accepted by alice" in html
    assert "the log of turns 1-3" in html
    assert 'name="reason"' in html


def test_the_rollback_dialog_of_what_somebody_has_just_rolled_back_foretells_nothing(
    accepted: Artifact, as_alice: Client, alice: User
) -> None:
    rollback_compaction(accepted.pk, actor=alice)
    text = page(as_alice, "rollback", accepted, htmx=True)
    assert "This is done already, so nothing would change." in text
    assert 'name="reason"' not in text


def test_in_a_fork_it_is_rolled_back_by_itself(talk: Talk, accepted: Artifact, as_alice: Client, alice: User) -> None:
    fork = actions.fork(talk.branch, after=3, actor=alice)
    assert fork.name in page(as_alice, "artifact", accepted)
    post(as_alice, "rollback", accepted, {"branch": str(fork.pk)})
    states = Branch.objects.order_by("created_at").values_list("pointers__state", flat=True)
    assert list(states) == ["active", "rolled back"]


def test_a_branch_of_another_conversation_is_none(accepted: Artifact, as_alice: Client, alice: User) -> None:
    other = Branch.objects.get(session=actions.create_session(alice))
    for branch in (str(other.pk), "x"):
        assert post(as_alice, "rollback", accepted, {"branch": branch}).status_code == 404
    assert kinds() == ["accepted"]


def test_strangers_find_nothing(accepted: Artifact, as_bob: Client) -> None:
    for name in ("accept", "rollback", "standing", "history"):
        page(as_bob, name, accepted, status=404)
    assert post(as_bob, "rollback", accepted).status_code == 404
    assert as_bob.get(reverse("summaries", args=[accepted.session_id])).status_code == 404
    assert kinds() == ["accepted"]


def test_a_named_reviewer_accepts_and_rolls_back_without_seeing_the_rest(
    talk: Talk, artifact: Artifact, as_bob: Client, bob: User, alice: User
) -> None:
    talk.ask("Something else entirely about the kitchen.")
    Reviewer.objects.create(session=talk.session, user=bob, named_by=alice)
    html = page(as_bob, "accept", artifact, htmx=True)
    assert "tokens (" in html
    assert "All that changes" not in html
    post(as_bob, "accept", artifact, scope(artifact))
    assert PointerMove.objects.get().actor == bob
    assert talk.branch.get_absolute_url() not in page(as_bob, "history", artifact, htmx=True)
    assert as_bob.get(reverse("summaries", args=[artifact.session_id])).status_code == 404


def test_the_conversation_lists_what_stands_and_how_it_came(talk: Talk, accepted: Artifact, as_alice: Client) -> None:
    address = talk.branch.address("summaries")
    html = as_alice.get(address).content.decode()
    assert accepted.get_absolute_url() in html
    assert f"{reverse('rollback', args=[accepted.pk])}?branch={talk.branch.pk}" in html
    assert "Accepted" in html
    assert "<html" not in as_alice.get(address, headers=HTMX).content.decode()
    assert address in as_alice.get(talk.branch.get_absolute_url()).content.decode()


def test_the_history_is_paged_and_asks_as_often_however_long(
    talk: Talk, artifact: Artifact, as_alice: Client, alice: User
) -> None:
    def again() -> None:
        accept_compaction(artifact.pk, artifact.session_id, 1, 3, actor=alice)
        rollback_compaction(artifact.pk, actor=alice)

    def asked() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(as_alice, "history", artifact, htmx=True)
        return len(queries)

    again()
    few = asked()
    for _ in range(12):
        again()
    assert asked() == few
    assert "Page 1 of 3" in page(as_alice, "history", artifact)
    later = as_alice.get(reverse("history", args=[artifact.pk]), {"page": 2}).content.decode()
    assert "Page 2 of 3" in later
    assert later.count("Used again") == 5


def test_what_was_rolled_back_in_a_branch_that_took_it_along_is_accepted_again_there(
    accepted: Artifact, talk: Talk, as_alice: Client, alice: User
) -> None:
    there = actions.fork(talk.branch, after=3, actor=alice)
    rollback_compaction(accepted.pk, actor=alice, branch=there)
    address = f"{reverse('accept', args=[accepted.pk])}?branch={there.pk}"
    told = page(as_alice, "standing", accepted, htmx=True)
    assert f"It was rolled back in the branch {there.name}." in told
    assert f'href="{address}"' in told
    form = as_alice.get(address).content.decode()
    assert f"in the branch {there.name}" in form
    assert f'name="branch" value="{there.pk}"' in form
    assert "tokens" in form
    data = {"session": str(accepted.session_id), "first": "1", "last": "3", "branch": str(there.pk)}
    assert as_alice.post(reverse("accept", args=[accepted.pk]), data).status_code == 302
    assert PointerMove.objects.filter(branch=there).latest("pk").kind == "accepted"
    told = page(as_alice, "standing", accepted, htmx=True)
    assert f"It is in use in the branch “{there.name}” too." in told


def test_a_branch_of_another_conversation_is_not_there(accepted: Artifact, as_alice: Client, alice: User) -> None:
    other = Branch.objects.get(session=actions.create_session(alice))
    assert as_alice.get(reverse("accept", args=[accepted.pk]), {"branch": str(other.pk)}).status_code == 404


def test_in_the_chat_what_stands_says_so_and_is_rolled_back(talk: Talk, accepted: Artifact, as_alice: Client) -> None:
    turn = reverse("turn", args=[talk.session.pk, 3])
    words = "The model sees the summary instead of turns 1-3. When a message refers to details of these turns, "
    assert words in as_alice.get(turn, headers=HTMX).content.decode()
    address = f"{reverse('rollback', args=[accepted.pk])}?branch="
    assert address in as_alice.get(turn, headers=HTMX).content.decode()
    post(
        as_alice,
        "rollback",
        accepted,
        headers={**HTMX, "HX-Current-URL": f"http://testserver{talk.session.get_absolute_url()}"},
    )
    shown = as_alice.get(turn, headers=HTMX).content.decode()
    assert "Its summary was rolled back, so its turns are sent in full. You can use it again." in shown
    assert "Rolled back</span>" in shown
    assert "Waits for you" not in shown
    assert f"{reverse('accept', args=[accepted.pk])}?branch=" in shown
    assert address not in shown
    moves = page(as_alice, "history", accepted)
    assert moves.index("alice · in the chat") < moves.index("alice · on its review page")


def test_what_is_accepted_once_more_is_told_where_it_was_rolled_back(
    talk: Talk, accepted: Artifact, as_alice: Client, alice: User
) -> None:
    talk.ask("Something else.")
    rollback_compaction(accepted.pk, actor=alice)
    turn = reverse("turn", args=[talk.session.pk, 4])
    again = "In use again: the summary of storage took the place of its log."
    rolled_back = as_alice.get(turn, headers=HTMX).content.decode()
    assert "Rolled back: the log of storage is in the prompt." in rolled_back
    assert again not in rolled_back
    accept_compaction(accepted.pk, accepted.session_id, 1, 3, actor=alice)
    told = as_alice.get(turn, headers=HTMX).content.decode()
    assert told.index("Rolled back: the log") < told.index(again)


def chat_and_panel(talk: Talk, client: Client) -> str:
    shown = client.get(reverse("turn", args=[talk.session.pk, 3]), headers=HTMX).content.decode()
    return shown + client.get(reverse("efforts", args=[talk.session.pk]), headers=HTMX).content.decode()


def test_what_was_rolled_back_is_called_that_on_its_page_and_leads_back(accepted: Artifact, as_alice: Client) -> None:
    rollback_compaction(accepted.pk, actor=accepted.session.owner)
    top = page(as_alice, "review_top", accepted, htmx=True)
    assert "Rolled back</strong>" in top
    assert "It does not come back by itself: “Use again” puts it back. The model sees the log now." in top
    assert "Accepted by alice" in top


def test_excerpts_that_are_accepted_again_stand_and_wait_for_nobody(room: Room, as_alice: Client, alice: User) -> None:
    row = STATES["no model"](room)
    rollback_compaction(row.pk, actor=alice)
    gone = chat_and_panel(room.talk, as_alice)
    assert "Its excerpts were rolled back, so its turns are sent in full. You can use them again." in gone
    assert "Waits for you" not in gone
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    stands = chat_and_panel(room.talk, as_alice)
    # In the notice, and in the panel.
    assert stands.count("In use</span>") == 2
    assert "Waits for you" not in stands
    assert "Review the draft" not in stands
    assert room.state.artifact == ""


def test_who_puts_it_back_unread_is_not_said_to_have_accepted_it(room: Room, as_alice: Client, alice: User) -> None:
    row = STATES["stands"](room)
    assert "Came into use without a review" in page(as_alice, "review_top", row, htmx=True)
    rollback_compaction(row.pk, actor=alice)
    accept_compaction(row.pk, row.session_id, row.source_start, row.source_end, actor=alice)
    top = page(as_alice, "review_top", row, htmx=True)
    assert "Used again by alice" in top
    assert "Accepted by alice" not in top
    history = re.findall(r"</svg>([^<]+)</b>", page(as_alice, "history", row))
    assert history == ["Used again", "Rolled back", "In use without a review"]


def test_what_ended_as_its_effort_was_opened_again_is_accepted_anew_and_not_used_again(
    room: Room, as_alice: Client, alice: User
) -> None:
    row = STATES["reviewed"](room)
    accept_compaction(row.pk, row.session_id, row.source_start, row.source_end, actor=alice)
    actions.reopen_effort(room.talk.place, SLUG)
    assert room.draft().pk == row.pk
    accept_compaction(row.pk, row.session_id, row.source_start, row.source_end, actor=alice)
    top = page(as_alice, "review_top", row, htmx=True)
    assert "Accepted by alice" in top
    assert "Used again" not in top


def test_it_says_after_how_many_turns_it_drops_out_unless_it_stays(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    turns = room.talk.session.eviction_threshold
    assert f"After {turns} more turns without a mention of the effort" in page(as_alice, "review_top", row, htmx=True)
    actions.expand_effort(room.talk.place, SLUG)
    assert "more turns without a mention" not in page(as_alice, "review_top", row, htmx=True)


def test_what_is_opened_again_is_not_called_blocked_and_what_comes_then_nobody_accepted(
    room: Room, as_alice: Client, alice: User
) -> None:
    row = STATES["no model"](room)
    rollback_compaction(row.pk, actor=alice)
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    actions.reopen_effort(room.talk.place, SLUG)
    top = page(as_alice, "review_top", row, htmx=True)
    assert "Not in use</strong>" in top
    assert "Its effort was opened again, so the model sees turns 1-3." in top
    assert "Ask for a new draft" not in top
    assert "its effort was opened again" in page(as_alice, "standing", row, htmx=True)
    assert "No longer in use 1" in as_alice.get(reverse("reviews")).content.decode()
    again = room.draft()
    assert again.pk == row.pk
    assert "Came into use without a review" in page(as_alice, "review_top", row, htmx=True)
    told = Event.objects.filter(session=row.session_id, kind="effort.accepted_again")
    assert told.count() == 1


def test_what_gave_way_as_its_effort_went_on_says_that_another_replaces_its_turns(room: Room, as_alice: Client) -> None:
    row = STATES["no model"](room)
    actions.reopen_effort(room.talk.place, SLUG)
    room.talk.ask("Which tables are there?", reply="Orders, and one for each year.")
    room.draft()
    top = page(as_alice, "review_top", row, htmx=True)
    assert "Not in use</strong>" in top
    assert "The model sees the excerpts of storage (turns 1-4) now." in top
    assert "the excerpts of storage (turns 1-4)" in page(as_alice, "standing", row, htmx=True)


def test_the_memory_dates_what_was_accepted_again_by_the_turn_in_which_it_was(
    talk: Talk, accepted: Artifact, as_alice: Client, alice: User
) -> None:
    talk.ask("Something else.")
    rollback_compaction(accepted.pk, actor=alice)
    accept_compaction(accepted.pk, accepted.session_id, 1, 3, actor=alice)
    memory = as_alice.get(reverse("memory", args=[talk.session.pk])).content.decode()
    changed = memory[memory.index("What changed") :]
    assert re.findall(r">Turn (\d)</a>", changed)[:3] == ["4", "4", "3"]
    assert "2 replaced by a summary or excerpts, 1 rolled back, 0 expanded" in changed


def test_what_nothing_replaces_says_so_in_the_next_call_and_not_that_a_summary_is_coming(
    talk: Talk, accepted: Artifact, as_alice: Client, alice: User
) -> None:
    rollback_compaction(accepted.pk, actor=alice)
    shown = as_alice.get(reverse("context", args=[talk.session.pk]), headers=HTMX).content.decode()
    assert "shown in full while nothing replaces its turns" in shown
    why = as_alice.get(reverse("effort_memory", args=[talk.session.pk, SLUG]), headers=HTMX).content.decode()
    assert "What replaced its turns was rolled back, so its log is in the prompt." in why


def test_an_expansion_that_a_rollback_ended_has_no_undo(
    talk: Talk, accepted: Artifact, as_alice: Client, alice: User
) -> None:
    lease = talk.begin("What was it about storage?")
    talk.call(lease, "expand_effort", id=SLUG)
    talk.finish(lease, "Here it is.")
    turn = reverse("turn", args=[talk.session.pk, 4])
    assert "Undo: Expanded effort" in as_alice.get(turn, headers=HTMX).content.decode()
    rollback_compaction(accepted.pk, actor=alice)
    told = as_alice.get(turn, headers=HTMX).content.decode()
    assert "Expanded effort: storage" in told
    assert "Undo: Expanded effort" not in told


def test_excerpts_are_called_excerpts_where_they_are_rolled_back(room: Room, as_alice: Client, alice: User) -> None:
    row = STATES["no model"](room)
    assert "Roll back the excerpts of storage" in chat_and_panel(room.talk, as_alice)
    rollback_compaction(row.pk, actor=alice)
    gone = chat_and_panel(room.talk, as_alice)
    assert "Review the excerpts of storage" in gone
    assert "Review the summary of storage" not in gone
    memory = as_alice.get(reverse("memory", args=[room.talk.session.pk])).content.decode()
    assert "Its excerpts were rolled back" in memory


def test_rolling_back_says_that_an_expansion_ends_with_it(accepted: Artifact, talk: Talk, as_alice: Client) -> None:
    assert "It is expanded now." not in page(as_alice, "rollback", accepted, htmx=True)
    actions.expand_effort(talk.place, SLUG)
    dialog = page(as_alice, "rollback", accepted, htmx=True)
    assert "It is expanded now, and rolling back ends that:" in dialog
    assert "Taken out of the next prompt" not in dialog
    assert "No longer used" in dialog
    later = re.search(r"Nothing now, as it is expanded. You give up (\d+) tokens a call", dialog)
    actions.collapse_effort(talk.place, SLUG)
    assert later
    assert f"Each call takes {later[1]} tokens more" in page(as_alice, "rollback", accepted, htmx=True)


def test_the_history_tells_a_person_s_yes_from_what_came_into_use_by_itself(room: Room, as_alice: Client) -> None:
    row = STATES["stands"](room)
    moves = page(as_alice, "history", row, htmx=True)
    assert "In use without a review" in moves
    assert "CCM Web · after the effort was concluded" in moves
    assert "Accepted" not in moves


def test_a_later_yes_is_none_to_what_a_branch_took_along_before(room: Room, alice: User) -> None:
    row = STATES["stands"](room)
    there = actions.fork(room.talk.branch, after=3, actor=alice)
    rollback_compaction(row.pk, actor=alice)
    accept_compaction(row.pk, row.session_id, 1, 3, actor=alice)
    ((copied,), (here,)) = (history_in(branch).moves[0].after for branch in (there, room.talk.branch))
    assert (copied.by, here.by) == ("", "alice")


def test_a_yes_in_the_chat_is_a_person_s(room: Room, as_alice: Client) -> None:
    row = STATES["waits"](room)
    actions.use_summary(room.talk.place, SLUG)
    moves = page(as_alice, "history", row, htmx=True)
    assert "Accepted" in moves
    assert "alice · in the chat" in moves
    assert "accepted by alice" in as_alice.get(row.get_absolute_url()).content.decode()


def test_who_accepts_more_than_leaves_is_told_so(artifact: Artifact, as_alice: Client, alice: User) -> None:
    assert "tokens larger" not in page(as_alice, "accept", artifact)
    talk = LongTalk(actions.create_session(alice))
    talk.ask("It crashes at noon.")
    type(talk.session).objects.filter(pk=talk.session.pk).update(ambient_window=1)
    talk.ask("And at night.")
    larger = of_turns(talk.branch, [1], "It crashes.")
    dialog = page(as_alice, "accept", larger)
    assert re.search(r"It makes the next prompt larger by \d+ tokens, not smaller", dialog)
    refused = post(as_alice, "accept", larger, scope(larger), headers=HTMX)
    assert refused.status_code == 422
    assert "Tick “Use it all the same”" in refused.content.decode()
    assert not PointerMove.objects.exists()
    assert post(as_alice, "accept", larger, scope(larger, larger="1"), headers=HTMX).status_code == 204
    saved = Acceptance.objects.get().saved
    assert saved is not None
    assert saved < 0


SAVES = re.compile(
    r"(?:Saves|Would save) ([\d,]+) tokens a call\. It cost ([\d,]+) tokens, "
    r"which (\d+) calls? (?:will|would) earn back\."
)


def saves(html: str) -> tuple[str, ...]:
    found = SAVES.search(html)
    assert found, html
    return found.groups()


def test_the_same_saving_is_on_header_dialogs_notice_and_panel_and_is_what_the_next_prompt_lost(
    talk: Talk, artifact: Artifact, as_alice: Client, alice: User
) -> None:
    def part_of(name: str, *args: Any) -> str:
        return as_alice.get(reverse(name, args=[talk.session.pk, *args]), headers=HTMX).content.decode()

    before = preview(Branch.objects.get(pk=talk.branch_id)).tokens
    foretold = saves(page(as_alice, "review_saving", artifact, htmx=True))
    assert saves(page(as_alice, "accept", artifact)) == foretold
    for html in (page(as_alice, "review_saving", artifact, htmx=True), page(as_alice, "accept", artifact)):
        assert "Saves" not in html
    accept_compaction(artifact.pk, talk.session.pk, 1, 3, actor=alice)
    saved = before - preview(Branch.objects.get(pk=talk.branch_id)).tokens
    spent = sum(run.tokens or 0 for run in DraftRun.objects.filter(artifacts=artifact)) + Check.objects.get().tokens
    assert foretold == (f"{saved:,}", f"{spent:,}", str(-(-spent // saved)))
    assert saves(page(as_alice, "review_saving", artifact, htmx=True)) == foretold
    assert "Would" not in page(as_alice, "review_saving", artifact, htmx=True)
    # Who rolls it back is told what that costs.
    back = page(as_alice, "rollback", artifact, htmx=True)
    assert "What rolling back costs" in back
    assert re.search(r"Each call takes [\d,]+ tokens more", back)
    assert "Saves" not in back
    # Header, notice, panel and list ask one address for it.
    asked = reverse("review_saving", args=[artifact.pk])
    assert asked in page(as_alice, "artifact", artifact)
    for html in (part_of("turn", 3), part_of("efforts"), part_of("summaries")):
        assert f"{asked}?branch={talk.branch_id}" in html
        assert "tokens a call" not in html


def test_a_saving_against_a_log_that_will_leave_anyhow_says_when(
    talk: Talk, artifact: Artifact, as_alice: Client, alice: User
) -> None:
    told = "This compares it with the log, which excerpts replace after 20 more turns without a mention."
    assert told in page(as_alice, "review_saving", artifact, htmx=True)
    assert told in page(as_alice, "accept", artifact, htmx=True)
    accept_compaction(artifact.pk, talk.session.pk, 1, 3, actor=alice)
    assert "This compares it with the log" not in page(as_alice, "review_saving", artifact, htmx=True)


def test_what_other_figures_of_its_size_count_is_said_beside_them(room: Room, as_alice: Client) -> None:
    row, session = STATES["stands"](room), room.talk.session.pk
    panel = as_alice.get(reverse("efforts", args=[session]), headers=HTMX).content.decode()
    assert re.search(r"\d+ tokens in the prompt</a>, heading included", panel)
    price = as_alice.get(reverse("effort_price", args=[session, SLUG]), headers=HTMX).content.decode()
    assert "(Rolling back can differ a little, as the turns then have another heading.)" in price
    memory = as_alice.get(reverse("memory", args=[session])).content.decode()
    assert f"{count(row.standing)} tokens of summaries and excerpts without their headings: 1 in the prompt" in memory


def test_where_ways_to_send_the_turns_again_meet_they_are_told_apart(room: Room, as_alice: Client) -> None:
    row, session = STATES["stands"](room), room.talk.session.pk
    panel = as_alice.get(reverse("efforts", args=[session]), headers=HTMX).content.decode()
    assert "Three ways to have the turns sent again: Expand, for a while; Roll back, until something is put" in panel
    only = "To see the turns sent only for a while, expand them in the chat instead; to go on with the effort, reopen"
    assert only in page(as_alice, "rollback", row, htmx=True)
    assert "“Roll back” sends it again from the next call on; “Expand”, in the chat, sends it for a while." in page(
        as_alice, "review_top", row, htmx=True
    )
    actions.expand_effort(room.talk.place, SLUG)
    assert only not in page(as_alice, "rollback", row, htmx=True)


def test_a_summary_that_replaces_excerpts_saves_what_the_next_prompt_loses_by_it(
    room: Room, as_alice: Client, alice: User
) -> None:
    draft = STATES["unchecked"](room)
    branch = Branch.objects.get(pk=room.talk.branch_id)
    with_excerpts = preview(branch).tokens
    foretold = saved_in(page(as_alice, "accept", draft, htmx=True))
    assert saved_in(page(as_alice, "review_saving", draft, htmx=True)) == foretold
    accept_compaction(draft.pk, room.talk.session.pk, 1, 3, actor=alice, unchecked=True)
    with_summary = preview(branch).tokens
    assert with_summary != with_excerpts
    assert foretold == with_excerpts - with_summary
    assert saved_in(page(as_alice, "review_saving", draft, htmx=True)) == foretold
    rollback_compaction(draft.pk, actor=alice)
    assert preview(branch).tokens == with_excerpts
    assert saved_in(page(as_alice, "review_saving", draft, htmx=True)) == foretold


def saved_in(html: str) -> int:
    """Below zero where calls get larger."""
    found = re.search(r"(?:Saves|Would save) ([\d,]+) tokens? a call|each call ([\d,]+) tokens? larger", html)
    assert found, html
    saved, more = found.groups()
    return int(saved.replace(",", "")) if saved else -int(more.replace(",", ""))


# What nobody has checked


@pytest.fixture
def unchecked(room: Room) -> Artifact:
    """The digest stands, and the draft waits beside it."""
    return STATES["unchecked"](room)


def test_what_nobody_has_checked_is_accepted_only_where_the_person_says_so(
    unchecked: Artifact, room: Room, as_alice: Client
) -> None:
    assert "Accept unchecked" in as_alice.get(unchecked.get_absolute_url()).content.decode()
    html = page(as_alice, "accept", unchecked, htmx=True)
    assert "nobody has checked this against its log" in html
    assert 'name="unchecked" value="1"' in html
    refused = post(as_alice, "accept", unchecked, scope(unchecked), headers=HTMX)
    assert refused.status_code == 422
    assert "Nobody has checked this summary" in refused.content.decode()
    assert room.standing != [unchecked.standing]
    answer = post(as_alice, "accept", unchecked, scope(unchecked, unchecked="1"), headers=on_its_page(unchecked))
    assert answer.status_code == 200
    assert room.standing == [unchecked.standing]


def test_it_is_marked_as_not_checked_as_long_as_it_stands(
    unchecked: Artifact, artifact_checked: Artifact, as_alice: Client
) -> None:
    post(as_alice, "accept", unchecked, scope(unchecked, unchecked="1"))
    assert "Not checked</span>" in page(as_alice, "standing", unchecked, htmx=True)
    post(as_alice, "accept", artifact_checked, scope(artifact_checked))
    assert "Not checked</span>" not in page(as_alice, "standing", artifact_checked, htmx=True)


@pytest.fixture
def artifact_checked(alice: User) -> Artifact:
    talk = LongTalk(actions.create_session(alice))
    talk.ask("It crashes at noon.")
    return of_turns(talk.branch, [1], "It crashes at noon.")


def test_one_turn_is_named_as_one(artifact_checked: Artifact, as_alice: Client) -> None:
    html = post(
        as_alice, "accept", artifact_checked, scope(artifact_checked), headers=on_its_page(artifact_checked)
    ).content.decode()
    assert "In the prompt instead of turn 1." in html
    assert "turns 1-1" not in page(as_alice, "artifact", artifact_checked) + page(
        as_alice, "rollback", artifact_checked
    )
