"""What may be done to an effort, what it leaves behind, and what is refused with which words."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from efforts import actions
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused
from efforts.models import Branch, ContextPointer, Effort, EffortState, Event, PointerTurn, Session
from tests.efforts.talk import Talk


def refused(code: str) -> pytest.RaisesExc[Refused]:
    return pytest.RaisesExc(Refused, check=lambda refusal: refusal.code == code)


# Opening


def test_an_opened_effort_is_active_and_says_so(talk: Talk) -> None:
    state = actions.open_effort(talk.place, "Payment webhook").state
    assert (state.effort.slug, state.effort.name, state.status) == ("payment-webhook", "Payment webhook", "open")
    assert talk.active == "payment-webhook"
    [event] = talk.events()
    assert event["notice"] == "--- Started effort: payment-webhook ---"
    assert (event["kind"], event["name"], event["before"], event["via"]) == (
        "effort.opened",
        "Payment webhook",
        None,
        "control",
    )


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Auth Bug", "auth-bug"),
        ("../../evil", "evil"),
        ("日本旅行", "日本旅行"),
        ("תיקון הבאג", "תיקון-הבאג"),
        ("إصلاح الخطأ", "إصلاح-الخطأ"),
        ("  two \n lines ", "two-lines"),
        ("x" * 200, "x" * 80),
        ("401", "401"),
        ("<b>bold</b>", "bboldb"),
    ],
)
def test_ids_are_slugs_of_any_script(talk: Talk, name: str, slug: str) -> None:
    assert actions.open_effort(talk.place, name).effort.slug == slug
    assert talk.states() == {slug: "open"}


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("", "empty"),
        (" \n ", "empty"),
        ("...", "no_letters"),
        ("🐛", "no_letters"),
        ("x" * 201, "too_long"),
        ("a\x00b", "not_text"),
        ("a\x1bb", "not_text"),
        ("a\ud800b", "not_text"),
    ],
)
def test_a_name_that_makes_no_id_is_refused(talk: Talk, name: str, code: str) -> None:
    with refused(code):
        actions.open_effort(talk.place, name)
    assert talk.states() == {}
    assert talk.events() == []


def test_opening_the_active_effort_again_changes_nothing(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    epoch = talk.branch.effort_epoch
    assert actions.open_effort(talk.place, "auth BUG").effort.slug == "auth-bug"
    assert talk.notices() == ["--- Started effort: auth-bug ---"]
    assert talk.branch.effort_epoch == epoch


def test_opening_another_open_effort_again_switches_to_it(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.open_effort(talk.place, "Vacation")
    actions.open_effort(talk.place, "Auth bug")
    assert talk.active == "auth-bug"
    assert talk.notices()[-1] == "--- Switched to effort: auth-bug ---"


def test_opening_a_concluded_effort_offers_to_reopen_it(talk: Talk) -> None:
    talk.concluded("Auth bug")
    with pytest.raises(Refused, match=r"Reopen it in the list of efforts, or type /expand auth-bug"):
        actions.open_effort(talk.place, "Auth bug")
    assert talk.states() == {"auth-bug": "concluded"}


def test_a_twin_in_a_sibling_branch_gets_the_next_id_and_keeps_it(talk: Talk) -> None:
    sibling = Talk(talk.session, fork(talk.session))
    actions.open_effort(talk.place, "Auth bug")
    assert actions.open_effort(sibling.place, "Auth bug").effort.slug == "auth-bug-2"
    assert actions.open_effort(sibling.place, "Auth bug").effort.slug == "auth-bug-2"
    assert (talk.states(), sibling.states()) == ({"auth-bug": "open"}, {"auth-bug-2": "open"})


def test_a_twin_of_a_long_name_has_an_id_of_at_most_80_characters(talk: Talk) -> None:
    sibling = Talk(talk.session, fork(talk.session))
    actions.open_effort(talk.place, "x" * 100)
    assert actions.open_effort(sibling.place, "x" * 100).effort.slug == "x" * 78 + "-2"


def fork(session: Session) -> Branch:
    main = Branch.objects.get(session=session, parent=None)
    return actions.fork(main, after=0, actor=session.owner)


# Concluding


def test_a_concluded_effort_waits_for_its_summary(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    talk.ask("The token is refused.")
    state = actions.close_effort(talk.place)
    assert (state.status, state.summary, state.via, state.concluded_turn) == ("concluded", "due", "control", 1)
    assert talk.active is None
    event = talk.events()[-1]
    assert event["notice"] == "--- Concluded effort: auth-bug ---"
    assert (event["was_active"], event["next"]) == (True, None)


def test_the_open_effort_that_was_active_last_becomes_active(talk: Talk) -> None:
    for name in ("First", "Second", "Third"):
        actions.open_effort(talk.place, name)
        talk.ask(f"Of the {name}.")
    actions.switch_effort(talk.place, "first")
    talk.ask("Of the first again.")
    actions.switch_effort(talk.place, "third")
    talk.ask("Of the third again.")
    actions.close_effort(talk.place)
    assert talk.active == "first"
    assert talk.events()[-1]["next"] == "first"


def test_concluding_another_than_the_active_effort_leaves_that_active(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.open_effort(talk.place, "Vacation")
    actions.close_effort(talk.place, "auth-bug")
    assert talk.active == "vacation"
    assert talk.events()[-1]["was_active"] is False
    assert talk.events()[-1]["next"] == "vacation"


def test_concluding_none_names_the_open_ones(talk: Talk) -> None:
    with pytest.raises(Refused, match=r"No effort is active. None is open"):
        actions.close_effort(talk.place)
    actions.open_effort(talk.place, "Auth bug")
    Branch.objects.update(active_effort=None)
    with pytest.raises(Refused, match=r"No effort is active. Open: auth-bug\. Name the one"):
        actions.close_effort(talk.place)


def test_a_concluded_effort_is_not_concluded_again(talk: Talk) -> None:
    talk.concluded("Auth bug")
    with refused("concluded"):
        actions.close_effort(talk.place, "auth-bug")


# Reopening


def test_a_reopened_effort_is_active_and_its_summary_stands_no_longer(talk: Talk) -> None:
    talk.concluded("Auth bug")
    actions.open_effort(talk.place, "Vacation")
    state = actions.reopen_effort(talk.place, "auth-bug")
    assert (state.status, state.summary, state.concluded_turn, state.via) == ("open", "none", None, "")
    assert talk.active == "auth-bug"
    assert talk.events()[-1]["notice"] == "--- Reopened effort: auth-bug ---"
    assert talk.events()[-1]["before"] == "vacation"
    assert [pointer.state for pointer in ContextPointer.objects.all()] == ["invalidated"]
    assert not PointerTurn.objects.filter(active=True).exists()


def test_reopening_an_expanded_effort_collapses_it_first(talk: Talk) -> None:
    talk.concluded("Auth bug")
    actions.expand_effort(talk.place, "auth-bug")
    assert actions.reopen_effort(talk.place, "auth-bug").expanded_turn is None
    assert talk.notices()[-2:] == [
        "--- Collapsed effort: auth-bug (back to summary) ---",
        "--- Reopened effort: auth-bug ---",
    ]
    assert talk.events("effort.collapsed")[0]["why"] == "reopened"


def test_an_open_effort_is_not_reopened(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    with refused("open"):
        actions.reopen_effort(talk.place, "auth-bug")


# Switching


def test_new_messages_belong_to_the_effort_switched_to(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.open_effort(talk.place, "Vacation")
    actions.switch_effort(talk.place, "auth-bug")
    assert talk.events()[-1]["notice"] == "--- Switched to effort: auth-bug ---"
    assert talk.events()[-1]["before"] == "vacation"
    talk.ask("The token is refused.")
    assert talk.labels() == {1: "auth-bug"}


def test_a_concluded_effort_is_not_switched_to(talk: Talk) -> None:
    talk.concluded("Auth bug")
    with pytest.raises(Refused, match=r"Reopen it in the list of efforts"):
        actions.switch_effort(talk.place, "auth-bug")


def test_the_active_effort_is_not_switched_to(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    with pytest.raises(Refused, match="auth-bug is already active"):
        actions.switch_effort(talk.place, "auth-bug")


# Expanding and collapsing


def test_expanding_tells_what_it_adds_to_the_prompt(talk: Talk) -> None:
    talk.concluded("Auth bug", "word " * 3_000)
    tokens = actions.expand_effort(talk.place, "auth-bug")
    assert tokens > 1_000
    assert talk.state("auth-bug").expanded_turn == 1
    assert talk.events()[-1]["tokens"] == tokens
    assert talk.events()[-1]["notice"] == f"--- Expanded effort: auth-bug ({tokens:,} tokens loaded) ---"
    assert "," in talk.events()[-1]["notice"]


def test_collapsing_brings_the_summary_back(talk: Talk) -> None:
    talk.concluded("Auth bug")
    actions.expand_effort(talk.place, "auth-bug")
    assert actions.collapse_effort(talk.place, "Auth bug") == "auth-bug"
    assert talk.state("auth-bug").expanded_turn is None
    assert talk.events()[-1]["notice"] == "--- Collapsed effort: auth-bug (back to summary) ---"
    assert talk.events()[-1]["why"] == "asked"


@pytest.mark.parametrize(
    ("via", "instead"),
    [
        (Via.MODEL, "read_effort shows a span. Only the user can raise the budget"),
        (Via.CONTROL, "Pin the turns you mean, or raise the budget in the settings."),
    ],
)
def test_what_does_not_fit_is_not_expanded(talk: Talk, via: Via, instead: str) -> None:
    talk.concluded("Auth bug", "word " * 12_000)
    with pytest.raises(Refused, match=rf"needs 12,\d{{3}} tokens, [\d,]+ free\. {instead}"):
        actions.expand_effort(replace(talk.place, via=via), "auth-bug")
    assert talk.state("auth-bug").expanded_turn is None


def test_an_open_effort_is_not_expanded(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    with pytest.raises(Refused, match=r"auth-bug is open\. Its log is in the prompt already"):
        actions.expand_effort(talk.place, "auth-bug")


def test_an_expanded_effort_is_not_expanded_again(talk: Talk) -> None:
    talk.concluded("Auth bug")
    actions.expand_effort(talk.place, "auth-bug")
    with refused("expanded"):
        actions.expand_effort(talk.place, "auth-bug")


def test_an_effort_without_summary_is_not_expanded(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.close_effort(talk.place)
    with pytest.raises(Refused, match=r"auth-bug has no summary yet\. Its log is in the prompt already"):
        actions.expand_effort(talk.place, "auth-bug")


def test_an_effort_without_turns_is_not_expanded(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.close_effort(talk.place)
    talk.summarise("auth-bug")
    with refused("no_turns"):
        actions.expand_effort(talk.place, "auth-bug")


def test_an_unknown_effort_is_told_with_those_close_to_it(talk: Talk) -> None:
    talk.concluded("Auth bug")
    with pytest.raises(Refused, match=r"no effort 'auth-bog' here\. Close to it: auth-bug\."):
        actions.expand_effort(talk.place, "auth-bog")
    with pytest.raises(Refused, match=r"no effort 'zzz' here\.$"):
        actions.expand_effort(talk.place, "zzz")


def test_what_is_not_expanded_is_not_collapsed(talk: Talk) -> None:
    talk.concluded("Auth bug")
    with refused("not_expanded"):
        actions.collapse_effort(talk.place, "auth-bug")


def test_an_effort_is_found_by_its_name_too(talk: Talk) -> None:
    talk.concluded("Auth bug")
    actions.rename_effort(talk.place, "auth-bug", "Token trouble")
    actions.expand_effort(talk.place, "token trouble")
    assert talk.state("auth-bug").expanded_turn is not None


# Work sessions


def test_a_new_work_session_collapses_everything(talk: Talk) -> None:
    for name in ("Auth bug", "Vacation"):
        actions.expand_effort(talk.place, talk.concluded(name))
    assert actions.new_work_session(talk.place) == 2
    assert [event["why"] for event in talk.events("effort.collapsed")] == ["work_session", "work_session"]
    assert actions.new_work_session(talk.place) == 0


@pytest.mark.parametrize(("hours", "collapsed"), [(7.9, 0), (8.1, 1)])
def test_a_message_after_eight_idle_hours_begins_a_new_work_session(talk: Talk, hours: float, collapsed: int) -> None:
    actions.expand_effort(talk.place, talk.concluded("Auth bug"))
    Event.objects.update(created_at=timezone.now() - timedelta(hours=hours))
    Session.objects.update(last_activity_at=timezone.now() - timedelta(hours=hours))
    talk.say("Good morning")
    assert len(talk.events("effort.collapsed")) == collapsed
    assert (talk.state("auth-bug").expanded_turn is None) == bool(collapsed)


def test_what_is_expanded_on_coming_back_stays_expanded_for_the_message_that_follows(talk: Talk) -> None:
    old, new = talk.concluded("Auth bug"), talk.concluded("Vacation")
    actions.expand_effort(talk.place, old)
    away = timezone.now() - timedelta(hours=9)
    Event.objects.update(created_at=away)
    Session.objects.update(last_activity_at=away)
    actions.expand_effort(talk.place, new)
    talk.say("Good morning. About the vacation:")
    assert [one["effort"] for one in talk.events("effort.collapsed")] == [old]
    assert talk.state(new).expanded_turn is not None


def test_every_branch_is_told_of_a_new_work_session_though_nothing_is_expanded(talk: Talk) -> None:
    talk.ask("Good evening")
    other = Talk(talk.session, actions.fork(talk.branch, after=1, actor=talk.session.owner))
    Session.objects.update(last_activity_at=timezone.now() - timedelta(hours=9))
    talk.say("Good morning")
    actions.new_work_session(other.place)
    told = [(event["branch"], event["why"], event["turn"]) for event in talk.events("session.resumed")]
    assert sorted(told[:2]) == sorted((str(one.branch_id), "idle", 1) for one in (talk, other))
    assert told[2:] == [(str(other.branch_id), "asked", 1)]


# Names, and where turns belong


def test_a_name_changes_and_the_id_stays(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    assert actions.rename_effort(talk.place, "auth-bug", "Token trouble").effort.name == "Token trouble"
    assert talk.states() == {"auth-bug": "open"}
    [event] = talk.events("effort.renamed")
    assert (event["name"], event["old"]) == ("Token trouble", "Auth bug")
    assert "notice" not in event


def test_two_efforts_do_not_get_one_name(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.open_effort(talk.place, "Vacation")
    with pytest.raises(Refused, match="auth-bug has that name already"):
        actions.rename_effort(talk.place, "vacation", "Auth Bug")


def test_a_moved_turn_counts_where_it_is(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    talk.ask("The token is refused.")
    actions.open_effort(talk.place, "Vacation")
    talk.ask("And it expires after an hour.")
    actions.move_turn(talk.place, 2, "auth-bug")
    assert talk.labels() == {1: "auth-bug", 2: "auth-bug"}
    assert (talk.state("auth-bug").turns, talk.state("vacation").turns) == (2, 0)
    assert talk.state("vacation").tokens == 0
    [event] = talk.events("turn.moved")
    assert (event["moved"], event["source"], event["target"], event["effort"]) == (
        2,
        "vacation",
        "auth-bug",
        "auth-bug",
    )


def test_a_turn_moved_to_no_effort_is_ambient(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    talk.ask("By the way, hello.")
    actions.move_turn(talk.place, 1, None)
    assert talk.labels() == {}
    assert talk.events("turn.moved")[0]["target"] is None


def test_moving_a_turn_to_where_it_is_does_nothing(talk: Talk) -> None:
    talk.ask("Hello.")
    actions.move_turn(talk.place, 1, None)
    assert talk.events("turn.moved") == []


def test_a_concluded_effort_that_gains_or_loses_a_turn_is_summarised_anew(talk: Talk) -> None:
    talk.concluded("Auth bug", "The token is refused.")
    actions.expand_effort(talk.place, "auth-bug")
    talk.ask("It was the clock.")
    actions.move_turn(talk.place, 2, "auth-bug")
    state = talk.state("auth-bug")
    assert (state.summary, state.turns, state.expanded_turn) == ("due", 2, 1)
    talk.summarise("auth-bug")
    actions.move_turn(talk.place, 2, None)
    assert talk.state("auth-bug").summary == "due"
    assert [pointer.state for pointer in ContextPointer.objects.order_by("pk")] == ["invalidated", "invalidated"]


def test_only_finished_turns_are_moved_and_only_to_efforts_that_are_here(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    lease = talk.begin("The token is refused.")
    with refused("unfinished"):
        actions.move_turn(talk.place, 1, None)
    talk.finish(lease)
    with refused("unknown_turn"):
        actions.move_turn(talk.place, 7, None)
    with refused("unknown"):
        actions.move_turn(talk.place, 1, "vacation")
    assert talk.labels() == {1: "auth-bug"}


# Summaries


def test_a_waiting_summary_stands_after_the_persons_yes(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    talk.ask("The token is refused.")
    actions.close_effort(talk.place)
    EffortState.objects.update(summary="waiting", draft="The token had expired.")
    actions.use_summary(talk.place, "auth-bug")
    pointer = ContextPointer.objects.get()
    assert (pointer.state, pointer.text, pointer.actor) == ("active", "The token had expired.", talk.session.owner)
    assert [row.turn.number for row in pointer.scope.all()] == [1]
    assert (talk.state("auth-bug").summary, talk.state("auth-bug").draft) == ("stands", "")
    assert talk.events()[-1]["notice"] == "--- Concluded effort: auth-bug ---\nSummary: The token had expired."


def test_only_a_waiting_summary_is_used_and_only_a_failed_one_tried_again(talk: Talk) -> None:
    talk.concluded("Auth bug")
    with refused("no_draft"):
        actions.use_summary(talk.place, "auth-bug")
    with refused("not_failed"):
        actions.retry_summary(talk.place, "auth-bug")
    EffortState.objects.update(summary="failed", draft="The model did not answer.")
    actions.retry_summary(talk.place, "auth-bug")
    assert (talk.state("auth-bug").summary, talk.state("auth-bug").draft) == ("due", "")


def test_each_change_of_effort_is_counted(talk: Talk) -> None:
    before = talk.branch.effort_epoch
    actions.open_effort(talk.place, "Auth bug")
    actions.open_effort(talk.place, "Vacation")
    actions.switch_effort(talk.place, "auth-bug")
    actions.close_effort(talk.place)
    actions.reopen_effort(talk.place, "auth-bug")
    assert talk.branch.effort_epoch == before + 5


def test_efforts_of_one_branch_are_not_there_in_another(talk: Talk) -> None:
    sibling = Talk(talk.session, fork(talk.session))
    actions.open_effort(talk.place, "Auth bug")
    with refused("unknown"):
        actions.close_effort(sibling.place, "auth-bug")
    assert Effort.objects.count() == 1
