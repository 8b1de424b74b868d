"""Efforts on the page: the panel, the notices in the log, where the next message goes, and every control."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from compaction.models import Artifact
from efforts import actions
from efforts.actions import Place
from efforts.context import efforts
from efforts.context.efforts import efforts_view, where_view
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.domain.effort.states import EffortStatus, PointerState, SummaryState, Via
from efforts.domain.errors import Refused
from efforts.log import events
from efforts.models import (
    Branch,
    ContextPointer,
    Effort,
    EffortState,
    Endpoint,
    Event,
    PointerTurn,
    Session,
    Turn,
    TurnLabel,
)
from efforts.standins import compacting
from efforts.turns.summaries import WHOLE
from tests.compaction.review import SLUG, STATES, Room

from .conftest import HTMX, Scene

Address = Callable[..., str]
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
SUMMARY = "The webhook answered too late; it stores the event first and retries 3 times."


class Work:
    """What a person or the model does to the efforts of one conversation."""

    def __init__(self, scene: Scene) -> None:
        self.scene, self.session = scene, scene.session

    def place(self, via: Via = Via.CONTROL) -> Place:
        return actions.here(Session.objects.get(pk=self.session.pk), actor=self.session.owner, via=via)

    def by_model(self) -> Place:
        branch = main_branch(self.session)
        return Place(branch=branch, turn=branch.head, via=Via.MODEL)

    def open(self, name: str, *talk: str) -> str:
        slug = actions.open_effort(self.place(), name).effort.slug
        for text in talk:
            self.scene.ask(text, f"Noted: {text}")
        return slug

    def conclude(self, name: str, *talk: str, summary: str = SUMMARY) -> str:
        """Concluded, with a summary that stands."""
        slug = self.open(name, *talk or ("It times out.", "It works now."))
        state = actions.close_effort(self.place(), slug)
        self.stands(state, summary)
        return slug

    def stands(self, state: EffortState, text: str) -> None:
        """As the summary of a concluded effort comes to stand."""
        pointer = ContextPointer.objects.create(
            branch=state.branch, effort=state.effort, text=text, headline=text, tokens=18, source_sha256="0" * 64
        )
        for label in TurnLabel.objects.filter(branch=state.branch, effort=state.effort):
            PointerTurn.objects.create(pointer=pointer, branch=state.branch, turn=label.turn)
        EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.STANDS)
        self.note("effort.summarised", state.effort.slug, text=text, tokens=18, drafter="builtin")

    def note(self, kind: str, slug: str, **more: object) -> int:
        branch = main_branch(self.session)
        data = {"turn": branch.head, "branch": str(branch.pk), "effort": slug, "via": "model", **more}
        return events.append(self.session.pk, kind, data)

    def state(self, slug: str) -> EffortState:
        return EffortState.objects.get(effort__session=self.session, effort__slug=slug)

    def active(self) -> str | None:
        effort = Branch.objects.select_related("active_effort").get(session=self.session).active_effort
        return effort.slug if effort else None

    def focus(self) -> str | None:
        return Branch.objects.values_list("focus__slug", flat=True).get(session=self.session)

    def last(self, kind: str) -> Event:
        return Event.objects.filter(session=self.session, kind=kind).latest("seq")


@pytest.fixture
def work(scene: Scene) -> Work:
    return Work(scene)


def shown(client: Client, where: str) -> str:
    answer = client.get(where, headers=HTMX)
    assert answer.status_code == 200
    return answer.content.decode()


# The panel


def test_a_conversation_without_efforts_says_how_one_begins(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi")
    page = as_alice.get(address()).content.decode()
    assert "None yet. Say “New effort:” and its name, or press +." in page


def test_the_panel_lists_active_open_expanded_awaiting_concluded_in_this_order(
    as_alice: Client, work: Work, address: Address
) -> None:
    work.conclude("perf fix")
    expanded = work.conclude("auth bug")
    waiting = work.open("tax return", "The form is due in May.")
    actions.close_effort(work.place(), waiting)
    work.open("guild feature", "We plan the guild.")
    work.open("payment webhook", "The webhook times out.")
    actions.expand_effort(work.place(), expanded)
    panel = shown(as_alice, address("efforts/"))
    places = [panel.index(f'id="effort-{slug}"') for slug in ("payment-webhook", "guild-feature", "auth-bug")]
    places += [panel.index(f'id="effort-{slug}"') for slug in ("tax-return", "perf-fix")]
    assert places == sorted(places)
    for word in ("Active", "Open", "Expanded", "Being summarised", "Concluded"):
        assert word in panel


def test_only_controls_that_apply_are_offered(as_alice: Client, work: Work, address: Address) -> None:
    work.conclude("perf fix")
    work.open("guild feature")
    work.open("payment webhook")
    panel = shown(as_alice, address("efforts/"))
    offered = {
        (slug, verb)
        for slug in ("perf-fix", "guild-feature", "payment-webhook")
        for verb in ("switch", "conclude", "reopen", "expand", "collapse")
        if address(f"efforts/{slug}/{verb}/") in panel.split("destination")[0]
    }
    assert offered == {
        ("perf-fix", "reopen"),
        ("perf-fix", "expand"),
        ("guild-feature", "switch"),
        ("guild-feature", "conclude"),
        ("payment-webhook", "conclude"),
    }


def test_what_an_effort_costs_is_a_link_to_the_plan(as_alice: Client, work: Work, address: Address) -> None:
    work.conclude("perf fix")
    answer = as_alice.get(address("efforts/"), headers=HTMX)
    planned = preview(main_branch(work.session)).tokens_of("perf-fix")
    link = f'href="{address("context/")}" data-section="summary">{planned} tokens in the prompt'
    assert 0 < planned < 60
    assert link in answer.content.decode()
    # Beside what its summary takes stands what it saves: the size of the log is no third figure to subtract from.
    assert "tokens in full" not in answer.content.decode()


def test_an_effort_that_does_not_fit_says_how_much_of_it_does(as_alice: Client, work: Work, address: Address) -> None:
    for number in range(12):
        work.open("guild feature", f"Part {number}. " + "The guild has ranks and members. " * 400)
    [effort] = efforts_view(main_branch(work.session), plan=preview(main_branch(work.session))).rows
    assert 0 < effort.prompt_tokens < effort.tokens
    assert f"{effort.prompt_tokens:,} tokens in the prompt" in shown(as_alice, address("efforts/"))


def test_more_than_eight_concluded_are_folded(as_alice: Client, work: Work, address: Address) -> None:
    for number in range(10):
        work.conclude(f"job {number}", "Done.")
    panel = shown(as_alice, address("efforts/"))
    assert "2 more concluded" in panel
    folded = panel.index("2 more concluded")
    assert panel.index('id="effort-job-9"') < folded < panel.index('id="effort-job-0"')


def test_of_a_great_many_concluded_a_page_shows_the_newest_and_counts_the_others(
    as_alice: Client, work: Work, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(efforts, "MOST_ROWS", 9)
    for number in range(12):
        work.conclude(f"job {number}", "Done.")
    work.open("guild feature")
    panel = shown(as_alice, address("efforts/"))
    assert "1 more concluded" in panel
    assert "3 older efforts: find them by name above." in panel
    assert 'id="effort-guild-feature"' in panel
    assert ['id="effort-job-3"' in panel, 'id="effort-job-2"' in panel] == [True, False]
    assert 'id="effort-job-2"' in shown(as_alice, address("efforts/?efforts=job-2"))
    assert "3 more: keep typing to narrow down." in shown(as_alice, address("efforts/?efforts=job"))


def test_a_search_finds_by_id_name_and_headline(as_alice: Client, work: Work, address: Address) -> None:
    work.conclude("perf fix", summary="The query lacked an index.")
    work.open("guild feature")
    for query in ("INDEX", "perf-fix", "fix perf"):
        panel = shown(as_alice, address(f"efforts/?efforts={query}"))
        assert 'id="effort-perf-fix"' in panel
        assert 'id="effort-guild-feature"' not in panel
    assert "No effort contains “sailing”." in shown(as_alice, address("efforts/?efforts=sailing"))


def test_a_search_leaves_the_destination_alone(as_alice: Client, work: Work, address: Address) -> None:
    work.open("guild feature")
    assert 'data-active="guild-feature"' in shown(as_alice, address("efforts/?efforts=sailing"))


def test_a_quiet_open_effort_is_offered_for_concluding(as_alice: Client, work: Work, address: Address) -> None:
    work.open("guild feature", "We plan the guild.")
    work.open("payment webhook")
    Branch.objects.filter(session=work.session).update(head=40)
    panel = shown(as_alice, address("efforts/"))
    assert "quiet for 39 turns · Conclude?" in panel
    as_alice.post(address("efforts/guild-feature/conclude/"), {"via": "offer"})
    assert work.state("guild-feature").via == Via.OFFER


def test_the_panel_has_a_page_of_its_own(as_alice: Client, work: Work, address: Address) -> None:
    work.open("guild feature")
    whole = as_alice.get(address("efforts/"))
    assert "<html" in whole.content.decode()
    assert 'id="effort-guild-feature"' in whole.content.decode()
    assert "HX-Request" in whole.headers["Vary"]


def test_names_are_inert_and_of_any_script(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("日本旅行")
    work.open("<script>alert(1)</script>")
    page = as_alice.get(address()).content.decode()
    assert "<script>alert" not in page
    assert as_alice.post(address(f"efforts/{slug}/switch/")).status_code == 200
    assert work.active() == "日本旅行"


# Controls


def test_the_price_is_shown_before_it_is_paid(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.conclude("auth bug", "The token expires after an hour. " * 40, "Fixed.")
    told = shown(as_alice, address(f"efforts/{slug}/price/"))
    as_alice.post(address(f"efforts/{slug}/expand/"))
    assert f"+{work.last('effort.expanded').data['tokens']:,} tokens" in told


def test_the_price_of_what_cannot_be_expanded_says_why(as_alice: Client, work: Work, address: Address) -> None:
    assert as_alice.get(address("efforts/nothing/price/"), headers=HTMX).status_code == 404
    slug = work.conclude("auth bug", "The token expires after an hour. " * 1_500, "Fixed.")
    assert "are free" in shown(as_alice, address(f"efforts/{slug}/price/"))


def test_what_does_not_fit_is_offered_a_larger_budget_in_which_it_does_and_its_turns_for_pinning(
    as_alice: Client, work: Work, address: Address
) -> None:
    slug = work.conclude("auth bug", "The token expires after an hour. " * 1_500, "Fixed.")
    told = shown(as_alice, address(f"efforts/{slug}/price/"))
    assert f"{address('pins/new/')}?first=" in told
    offered = re.search(r'name="budget" value="(\d+)"', told)
    assert offered
    with pytest.raises(Refused, match="Pin the turns you mean, or raise the budget"):
        actions.expand_effort(work.place(), slug)
    as_alice.post(address("budget/"), {"budget": offered[1]})
    assert "Expanding: <b>+" in shown(as_alice, address(f"efforts/{slug}/price/"))
    actions.expand_effort(work.place(), slug)
    assert work.state(slug).expanded_turn is not None


def test_the_whole_summary_has_a_price_of_its_own_and_is_shown_for_it(
    as_alice: Client, work: Work, address: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = work.conclude("auth bug")
    assert "whole summary" not in shown(as_alice, address(f"efforts/{slug}/price/"))
    ContextPointer.objects.filter(effort__slug=slug).update(artifact="cc")
    monkeypatch.setattr(compacting.registered(), "body_of", lambda artifact: "Fixed.\nDecisions:\n- Renew (turn 1)")
    assert "Full summary only: about <b>+" in shown(as_alice, address(f"efforts/{slug}/price/"))
    assert as_alice.post(address(f"efforts/{slug}/expand-summary/")).status_code == 200
    assert (work.state(slug).expanded_what, work.state(slug).expanded_turn is None) == ("body", False)


def test_the_page_says_where_the_focus_is_and_ends_it(as_alice: Client, work: Work, address: Address) -> None:
    slug, other = work.conclude("auth bug"), work.open("payment webhook")
    page = as_alice.get(address()).content.decode()
    assert "Focus on" not in page
    for one in (slug, other):
        assert f'id="effort-{one}-focus"' in page
    actions.focus_effort(work.place(), slug)
    for where in (as_alice.get(address()).content.decode(), shown(as_alice, address("efforts/"))):
        assert "Focus on auth bug" in where
        assert 'aria-label="The focus is on auth bug. End it"' in where
        assert f'id="effort-{slug}-end-focus"' in where
        assert f'id="effort-{slug}-focus"' not in where
        assert f'id="effort-{other}-focus"' in where
        assert "The focus is on it: it stays in the prompt." in where
    assert "Focus on effort: auth bug" in as_alice.get(address()).content.decode()
    assert as_alice.post(address(f"efforts/{slug}/end-focus/"), headers=HTMX).status_code == 200
    after = as_alice.get(address()).content.decode()
    assert "Focus on auth bug" not in after
    assert "Focus ended: auth bug" in after


def test_a_focus_that_has_moved_on_is_not_ended_by_an_old_page(as_alice: Client, work: Work, address: Address) -> None:
    slug, other = work.conclude("auth bug"), work.conclude("perf fix")
    actions.focus_effort(work.place(), other)
    answer = as_alice.post(address(f"efforts/{slug}/end-focus/"))
    assert answer.status_code == 422
    assert work.focus() == other


def test_what_was_reopened_meanwhile_has_no_price(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.conclude("auth bug")
    actions.reopen_effort(work.place(), slug)
    assert "Nothing of auth-bug can be expanded now." in shown(as_alice, address(f"efforts/{slug}/price/"))


def test_every_control_is_the_action_of_the_same_name(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.conclude("auth bug")
    other = work.open("guild feature")
    work.open("payment webhook")

    def does(verb: str, to: str) -> None:
        answer = as_alice.post(address(f"efforts/{to}/{verb}/"))
        assert (answer.status_code, answer.json()) == (200, {"effort": to})

    does("expand", slug)
    assert work.state(slug).expanded_turn is not None
    does("collapse", slug)
    assert work.state(slug).expanded_turn is None
    does("focus", slug)
    assert work.focus() == slug
    does("end-focus", slug)
    assert work.focus() is None
    does("switch", other)
    assert work.active() == other
    does("reopen", slug)
    assert (work.active(), work.state(slug).status) == (slug, "open")
    does("conclude", slug)
    assert (work.state(slug).status, work.state(slug).via) == ("concluded", "control")


def test_a_control_that_does_not_apply_is_refused_in_words(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug")
    for verb in ("switch", "reopen", "expand", "collapse", "use-summary"):
        answer = as_alice.post(address(f"efforts/{slug}/{verb}/"))
        assert answer.status_code in (409, 422), verb
        assert answer.json()["text"].endswith((".", ".")), verb
    assert as_alice.post(address("efforts/nothing/conclude/")).status_code == 422
    assert as_alice.post(address(f"efforts/{slug}/explode/")).status_code == 404


def test_a_plain_form_comes_back_to_the_page(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug")
    refused = as_alice.post(address(f"efforts/{slug}/collapse/"), headers=BROWSER)
    assert refused.status_code == 422
    assert "is not expanded" in refused.content.decode()
    assert as_alice.post(address(f"efforts/{slug}/conclude/"), headers=BROWSER).headers["Location"] == address()


@pytest.mark.parametrize("rest", ["efforts/x/conclude/", "efforts/undo/1/", "efforts/work-session/"])
def test_changes_are_made_by_post_alone(rest: str, as_alice: Client, work: Work, address: Address) -> None:
    assert as_alice.get(address(rest)).status_code == 405


def test_a_stranger_reaches_no_effort(as_bob: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug", "Hello")
    for rest in ("efforts/", "where/", "efforts/new/", f"efforts/{slug}/price/", f"efforts/{slug}/rename/"):
        assert as_bob.get(address(rest), headers=HTMX).status_code == 404, rest
    for rest in (f"efforts/{slug}/conclude/", "efforts/undo/1/", "efforts/work-session/", "turns/1/move/"):
        assert as_bob.post(address(rest)).status_code == 404, rest
    assert work.state(slug).status == "open"


def test_a_new_effort_is_begun_by_its_name(as_alice: Client, work: Work, address: Address) -> None:
    assert 'name="name"' in shown(as_alice, address("efforts/new/"))
    answer = as_alice.post(address("efforts/new/"), {"name": "Guild feature"}, headers=HTMX)
    assert (answer.status_code, json.loads(answer.headers["HX-Trigger"])) == (
        204,
        {"closeDialog": None, "efforts": None},
    )
    assert work.active() == "guild-feature"
    refused = as_alice.post(address("efforts/new/"), {"name": "…"}, headers=HTMX)
    assert refused.status_code == 422
    assert 'class="error"' in refused.content.decode()


def test_an_effort_gets_another_name_and_keeps_its_id(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug")
    assert 'value="auth bug"' in shown(as_alice, address(f"efforts/{slug}/rename/"))
    as_alice.post(address(f"efforts/{slug}/rename/"), {"name": "Sign-in bug"}, headers=HTMX)
    assert Effort.objects.get(slug=slug).name == "Sign-in bug"
    assert as_alice.get(address("efforts/nothing/rename/"), headers=HTMX).status_code == 404


def test_a_new_work_session_collapses_what_is_expanded(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.conclude("auth bug")
    assert "New work session" not in shown(as_alice, address("efforts/"))
    actions.expand_effort(work.place(), slug)
    assert "New work session" in shown(as_alice, address("efforts/"))
    assert as_alice.post(address("efforts/work-session/")).json() == {"collapsed": 1}
    assert work.state(slug).expanded_turn is None


def test_a_turn_shows_its_effort_and_can_be_moved(as_alice: Client, work: Work, address: Address) -> None:
    work.scene.ask("Hello", "Hi")
    work.open("guild feature", "We plan the guild.")
    chip = re.search(r'<a class="chip of-turn".*?</a>', shown(as_alice, address("turns/2/")), re.DOTALL)
    assert chip
    assert re.sub(r"<[^>]*>", " ", chip[0]).split() == ["2", "guild", "feature"]
    assert "guild-feature" not in chip[0]
    choices = shown(as_alice, address("turns/1/move/"))
    assert 'value="guild-feature"' in choices
    assert as_alice.post(address("turns/1/move/"), {"effort": "guild-feature"}, headers=HTMX).status_code == 204
    assert work.state("guild-feature").turns == 2
    as_alice.post(address("turns/1/move/"), {"effort": ""}, headers=HTMX)
    assert work.state("guild-feature").turns == 1
    assert as_alice.post(address("turns/1/move/"), {"effort": "nothing"}, headers=HTMX).status_code == 422


# Notices


def test_a_notice_stands_after_the_turn_it_belongs_to_without_its_dashes(
    as_alice: Client, work: Work, address: Address
) -> None:
    work.scene.ask("Hello", "Hi")
    actions.open_effort(work.by_model(), "guild feature")
    work.scene.ask("Next", "Yes")
    log = shown(as_alice, address("log/")).partition(">")[2]
    assert log.index("Hello") < log.index("Started effort: guild feature") < log.index("Next")
    assert "---" not in log


def test_a_notice_names_an_effort_where_it_speaks_of_it_though_its_id_be_a_word_of_the_notice(
    as_alice: Client, work: Work, address: Address
) -> None:
    for slug in ("effort", "log", "turns"):
        work.open(slug)
        actions.rename_effort(work.place(), slug, f"Fleet {slug}")
    work.scene.ask("Hello", "Hi")
    actions.close_effort(work.place(), "turns")
    back = {"artifact": "0" * 64, "own": False, "digest": False}
    work.note("effort.rolled_back", "log", **back)
    work.note("effort.evicted", "turns", turns=20)
    work.note("effort.aged", "turns", turns=1)
    part = shown(as_alice, address("log/"))
    for told in (
        "Started effort: Fleet effort",
        "Concluded effort: Fleet turns",
        "· Fleet log is active again",
        "Rolled back: the log of Fleet log is in the prompt.",
        "Dropped out of the prompt: Fleet turns (not mentioned for 20 turns). A mention brings it back.",
        "Excerpts replace the turns of Fleet turns (not mentioned for 1 turn)",
    ):
        assert told in html.unescape(part).replace("\u00a0", " "), told


def test_what_is_done_before_the_first_turn_stands_above_it(as_alice: Client, work: Work, address: Address) -> None:
    work.open("guild feature", "We plan the guild.")
    log = shown(as_alice, address("log/")).partition(">")[2]
    assert log.index("Started effort: guild feature") < log.index("We plan the guild.")


def test_undo_is_offered_on_the_last_thing_the_model_did(as_alice: Client, work: Work, address: Address) -> None:
    work.scene.ask("Hello", "Hi")
    actions.open_effort(work.by_model(), "guild feature")
    opened = work.last("effort.opened").seq
    assert address(f"efforts/undo/{opened}/") in shown(as_alice, address("turns/1/"))
    actions.close_effort(work.by_model(), "guild-feature")
    concluded = work.last("effort.concluded").seq
    part = shown(as_alice, address("turns/1/"))
    assert address(f"efforts/undo/{opened}/") not in part
    assert address(f"efforts/undo/{concluded}/") in part


def test_a_switch_is_undone_only_while_it_is_the_last_one(as_alice: Client, work: Work, address: Address) -> None:
    work.scene.ask("Hello", "Hi")
    first, _ = work.open("guild feature"), work.open("payment webhook")
    actions.switch_effort(work.by_model(), first)
    switched = address(f"efforts/undo/{work.last('effort.switched').seq}/")
    assert switched in shown(as_alice, address("turns/1/"))
    work.open("tax return")
    assert switched not in shown(as_alice, address("turns/1/"))


def test_what_a_person_did_offers_undo_and_says_which_effort_became_active_with_it(
    as_alice: Client, work: Work, address: Address
) -> None:
    work.open("mail migration")
    slug = work.open("guild feature", "We plan the guild.")
    for act, kind in ((actions.close_effort, "effort.concluded"), (actions.reopen_effort, "effort.reopened")):
        act(work.place(), slug)
        seq = work.last(kind).seq
        part = shown(as_alice, address("turns/1/"))
        assert address(f"efforts/undo/{seq}/") in part
        assert part.count("mail migration is active again") == 1
    assert as_alice.post(address(f"efforts/undo/{seq}/")).status_code == 200
    assert work.state(slug).status == EffortStatus.CONCLUDED
    concluded = address(f"efforts/undo/{work.last('effort.concluded').seq}/")
    assert as_alice.post(concluded).status_code == 200
    assert work.active() == slug
    assert "is active again" not in shown(as_alice, address("turns/1/"))


def test_a_conclusion_of_what_was_not_active_says_of_no_other_that_it_is_active_again(
    as_alice: Client, work: Work, address: Address
) -> None:
    slug = work.open("guild feature", "We plan the guild.")
    work.open("mail migration")
    actions.close_effort(work.place(), slug)
    part = shown(as_alice, address("turns/1/"))
    assert "Concluded effort: guild feature" in part
    assert "is active again" not in part


def test_what_was_undone_is_marked_as_taken_back(as_alice: Client, work: Work, address: Address) -> None:
    work.scene.ask("Hello", "Hi")
    actions.open_effort(work.by_model(), "guild feature")
    opened = work.last("effort.opened").seq
    assert as_alice.post(address(f"efforts/undo/{opened}/")).json() == {"undone": opened}
    part = shown(as_alice, address("turns/1/"))
    assert "taken back" in part
    assert "/undo/" not in part
    assert as_alice.post(address(f"efforts/undo/{opened}/")).status_code in (409, 422)


def test_a_conclusion_gains_its_summary(as_alice: Client, work: Work, address: Address) -> None:
    work.scene.ask("Hello", "Hi")
    state = actions.close_effort(work.place(), work.open("auth bug"))
    assert "Its summary will be written next." in shown(as_alice, address("turns/1/"))
    EffortState.objects.filter(pk=state.pk).update(summary=SummaryState.DRAFTING)
    assert "Its summary is being prepared." in shown(as_alice, address("turns/1/"))
    work.stands(state, SUMMARY)
    part = shown(as_alice, address("turns/1/"))
    assert f"Summary: {SUMMARY}" in part
    assert "being prepared" not in part


def test_a_summary_that_waits_is_asked_about(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug", "It fails.", "It works now.")
    actions.close_effort(work.by_model(), slug)
    EffortState.objects.update(summary=SummaryState.WAITING, draft=SUMMARY)
    work.note("effort.summary_waiting", slug, text=SUMMARY)
    part = shown(as_alice, address("turns/2/"))
    assert "Use the summary?" in part
    assert part.count("/undo/") == 1
    assert as_alice.post(address(f"efforts/{slug}/use-summary/")).status_code == 200
    assert ContextPointer.objects.get(state=PointerState.ACTIVE).text == SUMMARY
    assert "Use the summary?" not in shown(as_alice, address("turns/2/"))


def test_why_a_summary_waits_is_said(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug", "It fails.", "It works now.")
    actions.close_effort(work.by_model(), slug)
    EffortState.objects.update(summary=SummaryState.WAITING, draft=SUMMARY)
    work.note("effort.summary_waiting", slug, text=SUMMARY, why="The model concluded it on its own.")
    assert "The model concluded it on its own." in shown(as_alice, address("turns/2/"))


@pytest.mark.parametrize(("state", "word"), [("rejected", "Blocked"), ("unchecked", "Not checked")])
def test_what_cannot_be_used_as_it_is_offers_its_review_another_draft_and_the_excerpts_and_no_yes(
    as_alice: Client, room: Room, state: str, word: str
) -> None:
    row = STATES["reviewed"](room)
    Artifact.objects.filter(pk=row.pk).update(state=state)
    turn, panel = (reverse(name, args=[row.session_id, *more]) for name, more in (("turn", [3]), ("efforts", [])))
    for part in (shown(as_alice, turn), shown(as_alice, panel)):
        assert word in part
        assert "use-summary/" not in part
        assert f"/review/{row.pk}/" in part
        assert f"efforts/{SLUG}/draft/" in part
        assert f"efforts/{SLUG}/use-excerpts/" in part
        assert ("Choose a checker" in part) == (word == "Not checked")
    Artifact.objects.filter(pk=row.pk).update(state="replaceable")
    for part in (shown(as_alice, turn), shown(as_alice, panel)):
        assert "use-summary/" in part
    again = reverse("effort_draft", args=[row.session_id, SLUG])
    assert as_alice.post(again, headers=HTMX).status_code == 204


def test_where_excerpts_stand_notice_and_panel_say_why_and_what_can_be_done(
    as_alice: Client, work: Work, address: Address
) -> None:
    slug = work.open("auth bug", "It fails.")
    work.stands(actions.close_effort(work.place(), slug), SUMMARY)
    ContextPointer.objects.update(digest=True, artifact="cv2_digest")
    state = EffortState.objects.filter(pk=work.state(slug).pk)
    state.update(summary=SummaryState.DIGEST, draft="The model did not answer.")
    # Said once on a page: the row says what to do about it.
    assert "The model did not answer." in shown(as_alice, address("turns/1/"))
    assert "The model did not answer." not in shown(as_alice, address("efforts/"))
    for part in (shown(as_alice, address("turns/1/")), shown(as_alice, address("efforts/"))):
        assert "The model sees excerpts instead of" in part
        assert "No model has checked the excerpts." in part
        # No model is connected, so none could.
        assert "Draft again" not in part
        assert "Connect a model</a>" in part
        assert "Review the draft" not in part
    assert "/review/cv2_digest/" in shown(as_alice, address("efforts/"))
    # One is connected, and this conversation does not use it.
    Endpoint.objects.create(owner=work.session.owner, name="Aurora", base_url="http://127.0.0.1:1/v1")
    for part in (shown(as_alice, address("turns/1/")), shown(as_alice, address("efforts/"))):
        assert ("Connect a model" in part, "Choose a model</a>" in part) == (False, True)
    state.update(artifact="cv2_draft")
    for part in (shown(as_alice, address("turns/1/")), shown(as_alice, address("efforts/"))):
        assert "Review the draft" in part
        assert "/review/cv2_draft/" in part
    assert as_alice.post(address(f"efforts/{slug}/draft/"), headers=HTMX).status_code == 204
    assert work.state(slug).summary == SummaryState.DUE


def test_a_summary_that_was_rolled_back_is_reached_from_its_row_also_where_excerpts_stand(
    as_alice: Client, work: Work, address: Address
) -> None:
    slug = work.conclude("auth bug")
    ContextPointer.objects.update(artifact="cv2_summary", state=PointerState.ROLLED_BACK)
    PointerTurn.objects.all().delete()
    work.stands(work.state(slug), "Excerpts")
    ContextPointer.objects.filter(artifact="").update(artifact="cv2_digest", digest=True)
    EffortState.objects.update(summary=SummaryState.DIGEST, draft="Its summary was rolled back.")
    row = shown(as_alice, address("efforts/"))
    assert "Its summary was rolled back." in row
    assert "Review the rolled-back summary" in row
    assert "/review/cv2_summary/" in row
    # Where another draft waits, that one is the one to look at.
    EffortState.objects.update(artifact="cv2_draft")
    assert "/review/cv2_summary/" not in shown(as_alice, address("efforts/"))


def test_a_summary_that_failed_says_why_and_can_be_retried(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug", "It fails.")
    actions.close_effort(work.place(), slug)
    EffortState.objects.update(summary=SummaryState.FAILED, draft="The model sent nothing.")
    part = shown(as_alice, address("turns/1/"))
    assert "There is no summary. The model sent nothing." in part
    assert "Until you decide, its turns are sent in full. 20 turns after it was last mentioned, excerpts take" in part
    assert "Waits for you</span>" in part
    assert "Blocked" not in part
    assert f"efforts/{slug}/use-excerpts/" in part
    assert as_alice.post(address(f"efforts/{slug}/draft/"), headers=HTMX).status_code == 204
    assert work.state(slug).summary == SummaryState.DUE


def test_of_a_log_that_is_too_short_to_shorten_no_draft_is_offered(
    as_alice: Client, work: Work, address: Address
) -> None:
    slug = work.open("auth bug", "It fails.")
    actions.close_effort(work.place(), slug)
    EffortState.objects.update(summary=SummaryState.NONE, draft=WHOLE)
    for part in (shown(as_alice, address("turns/1/")), shown(as_alice, address("efforts/"))):
        assert WHOLE in part
        assert "Draft one" not in part
        assert "Retry" not in part
        assert "failed" not in part


def test_an_offer_asks_until_something_happens_to_the_effort(as_alice: Client, work: Work, address: Address) -> None:
    slug = work.open("auth bug", "It works now.")
    offered = work.note("effort.offered", slug, why="resolved")
    part = shown(as_alice, address("turns/1/"))
    assert "Conclude auth bug?" in part
    assert f'data-offer="{offered}"' in part
    as_alice.post(address(f"efforts/{slug}/conclude/"), {"via": "offer"})
    assert work.state(slug).via == Via.OFFER
    assert "Conclude auth bug?" not in shown(as_alice, address("turns/1/"))


def test_several_alike_are_one_line_that_opens(as_alice: Client, work: Work, address: Address) -> None:
    for slug in [work.conclude(name) for name in ("auth bug", "perf fix")]:
        actions.expand_effort(work.place(), slug)
    work.scene.ask("Hello", "Hi")
    actions.new_work_session(work.place())
    number = Turn.objects.filter(session=work.session).count()
    part = shown(as_alice, address(f"turns/{number}/"))
    assert "Collapsed effort ×2" in part
    assert "Collapsed effort: auth bug" in part
    assert "Collapsed effort: perf fix" in part
    assert part.count("/undo/") == 2


def test_the_quiet_setting_folds_notes_but_not_questions(as_alice: Client, work: Work, address: Address) -> None:
    work.scene.ask("Hello", "Hi")
    work.open("perf fix")
    slug = work.open("auth bug")
    work.note("effort.offered", slug, why="resolved")
    form = {
        "endpoint": "",
        "budget": "16000",
        "ambient_window": "10",
        "decay_threshold": "3",
        "eviction_threshold": "20",
        "context_mode": "light",
        "review_mode": "automatic",
        "quiet_notices": "on",
    }
    form["endpoint"] = initial_endpoint(as_alice, address)
    assert as_alice.post(address("settings/"), form, headers=HTMX).status_code == 204
    part = shown(as_alice, address("turns/1/"))
    assert ">2 notes<" in part
    assert part.index("2 notes") < part.index("Conclude auth bug?")
    assert part.index("</details>", part.index("2 notes")) < part.index("Conclude auth bug?")


def initial_endpoint(client: Client, address: Address) -> str:
    form = client.get(address("settings/"), headers=HTMX).context["form"]
    return str(form.initial["endpoint"])


# Where the next message goes, and where one was


def test_the_composer_names_the_active_effort(as_alice: Client, work: Work, address: Address) -> None:
    assert ">no effort<" in as_alice.get(address()).content.decode()
    work.open("guild feature")
    work.open("payment webhook")
    page = as_alice.get(address()).content.decode()
    chip = page[page.index('id="destination"') :]
    assert 'data-active="payment-webhook"' in chip
    assert address("efforts/guild-feature/switch/") in chip


def test_who_comes_back_after_an_hour_is_told_where_things_were_left(
    as_alice: Client, work: Work, address: Address
) -> None:
    work.open("guild feature", "Guilds have at most 40 members.")
    actions.close_effort(work.place(), work.open("tax return", "It is due in May."))
    assert 'id="where"' not in as_alice.get(address()).content.decode()
    Session.objects.update(last_activity_at=timezone.now() - timedelta(hours=2))
    page = as_alice.get(address()).content.decode()
    block = page[page.index('id="where"') :]
    assert "Guilds have at most 40 members." in block
    assert "Being summarised" in block
    assert "Guilds have at most 40 members." in shown(as_alice, address("where/"))


@pytest.mark.parametrize("gone", [False, True])
@pytest.mark.parametrize(
    ("summary", "stands"),
    [
        (SummaryState.ROLLED_BACK, "Rolled back"),
        (SummaryState.WAITING, "Waits for you"),
        (SummaryState.FAILED, "Waits for you"),
        (SummaryState.NONE, "Not summarised"),
    ],
)
def test_where_i_was_says_of_a_concluded_effort_what_the_panel_says(
    summary: SummaryState, stands: str, gone: bool, as_alice: Client, work: Work, address: Address
) -> None:
    slug = work.open("tax return", "It is due in May.")
    state = actions.close_effort(work.place(), slug)
    EffortState.objects.filter(pk=state.pk).update(summary=summary, evicted_clock=1 if gone else None)
    line = f"{stands} · {'not in the prompt' if gone else 'its turns are sent in full'}"
    assert line in shown(as_alice, address("where/"))
    assert line in shown(as_alice, address("efforts/"))
    # The dialog that moves a turn does too, of any effort but the turn's own.
    work.open("guild feature", "Guilds have at most 40 members.")
    EffortState.objects.filter(pk=state.pk).update(summary=summary)
    assert f">{stands}</span>" in shown(as_alice, address("turns/2/move/"))


def test_where_i_was_names_efforts_in_which_nothing_was_said(work: Work) -> None:
    work.open("guild feature")
    view = where_view(main_branch(work.session))
    assert [effort.slug for effort in view.untouched] == ["guild-feature"]
    assert not view.is_empty


def test_where_nothing_is_open_i_am_told_what_was_concluded_and_said_last(
    as_alice: Client, work: Work, address: Address
) -> None:
    for name, words in (("boiler", "It leaks."), ("tax return", "It is due in May.")):
        work.conclude(name, words, summary=f"The {name} is done.")
    turn = work.scene.ask("How many working days has March?", "23.").number
    where = shown(as_alice, address("where/"))
    assert "Nothing is open." in where
    assert "The tax return is done." in where
    assert "boiler" not in where
    assert "How many working days has March?" in where
    assert f"?around={turn}#turn-{turn}" in where
    # What is open comes first, and makes the rest needless.
    work.open("guild feature", "Guilds have at most 40 members.")
    assert "concluded last" not in shown(as_alice, address("where/"))


def test_first_words_are_cut_at_a_word(work: Work) -> None:
    work.open("guild feature", "guild " * 60)
    [left] = where_view(main_branch(work.session)).open
    assert left.asked.endswith("guild …")
    assert len(left.asked) < 150


def test_first_words_have_no_signs_of_a_quotation(work: Work) -> None:
    work.open("guild feature", "> Guilds have at most `40` members.\n>\n> > So it was said.")
    [left] = where_view(main_branch(work.session)).open
    assert left.asked == "Guilds have at most 40 members. So it was said."


def test_an_effort_without_a_state_in_the_branch_is_not_there(work: Work) -> None:
    Effort.objects.create(session=work.session, slug="elsewhere", name="Elsewhere")
    assert efforts_view(main_branch(work.session)).rows == ()
