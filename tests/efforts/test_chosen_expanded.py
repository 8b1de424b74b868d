"""What a summary stands for brought back: its words, or the whole of the summary."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from efforts import actions
from efforts.actions.pointers import StandIn, set_pointer
from efforts.context.efforts import Standing, effort_views
from efforts.context.prompts import system_text
from efforts.context.sources import read_summary_log
from efforts.domain.errors import Refused
from efforts.domain.text.canonical import sha256
from efforts.management.commands.verify_plans import differences
from efforts.models import ContextPlan, ContextPointer, Fragment, Session
from efforts.standins import compacting
from tests.efforts.chosen import BODY, ask, choose, next_plan, shown, text_of, tier, told
from tests.efforts.talk import Talk
from tests.efforts.test_memory import sent

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(alice: User) -> Talk:
    """What is not referred to leaves after 4 turns, an expansion after 2; turns 2 and 3 are in short."""
    talk = Talk(actions.create_session(alice))
    Session.objects.filter(pk=talk.session.pk).update(eviction_threshold=4, decay_threshold=2)
    talk.session.refresh_from_db()
    ask(talk, 1, 5)
    choose(talk, 2, 3)
    return talk


def test_chosen_turns_are_expanded_for_their_price_and_collapsed_to_the_same_bytes(talk: Talk) -> None:
    before = next_plan(talk)
    tokens = actions.expand_effort(talk.place, "turns-2-3")
    planned = next_plan(talk)
    assert planned.tokens - before.tokens == tokens
    assert shown(talk) == {1, 2, 3, 4, 5}
    assert "[Conversation turns-2-3, expanded, from turn 2]" in text_of(planned)
    assert tier(talk) == "raw"
    [event] = talk.events("compaction.expanded")
    assert (event["id"], event["tokens"], event["what"]) == ("turns-2-3", tokens, "raw")
    assert actions.collapse_effort(talk.place, "turns-2-3") == "turns-2-3"
    assert next_plan(talk).request == before.request


def test_of_a_plan_that_shows_them_only_what_was_changed_is_named(talk: Talk) -> None:
    actions.expand_effort(talk.place, "turns-2-3")
    sent(talk)
    sha = sha256(system_text())
    Fragment.objects.filter(sha256=sha).update(text="Be rude.")
    [row] = ContextPlan.objects.filter(branch=talk.branch_id)
    assert list(differences(row)) == [f"fragment {sha}"]


def test_an_expansion_of_chosen_turns_ends_by_itself_to_the_turn(talk: Talk) -> None:
    actions.expand_effort(talk.place, "turns-2-3")
    tiers = []
    for number in range(6, 9):
        tiers.append(tier(talk))
        ask(talk, number, number)
    assert tiers == ["raw", "raw", "body"]
    [event] = talk.events("compaction.decayed")
    assert (event["clock"], event["turns"]) == (7, 2)


def test_the_model_expands_reads_and_collapses_chosen_turns_by_the_same_tools(talk: Talk) -> None:
    lease = talk.begin("What did we say of the tickets?")
    assert talk.call(lease, "expand_effort", id="turns-2-3")["expanded"] == "turns-2-3"
    assert "expanded already" in talk.call(lease, "expand_effort", id="turns-2-3")["error"]
    assert [turn["turn"] for turn in talk.call(lease, "read_effort", id="turns-2-3")["turns"]] == [2, 3]
    assert talk.call(lease, "collapse_effort", id="turns-2-3") == {"collapsed": "turns-2-3"}
    talk.finish(lease)
    assert tier(talk) == "body"


@pytest.mark.parametrize("id", ["Turns 2-3", "turns 2–3", " turns_2_3 "])
def test_the_model_may_spell_the_id_as_people_do(talk: Talk, id: str) -> None:
    lease = talk.begin("What did we say of the tickets?")
    assert talk.call(lease, "expand_effort", id=id)["expanded"] == "turns-2-3"
    assert talk.call(lease, "collapse_effort", id=id) == {"collapsed": "turns-2-3"}
    assert "There is no effort" in talk.call(lease, "expand_effort", id="turns 2-4")["error"]


@pytest.mark.parametrize("last", [10, 15])
def test_the_whole_summary_comes_back_where_one_line_or_none_stands(talk: Talk, last: int) -> None:
    ask(talk, 6, last)
    before = next_plan(talk)
    tokens = actions.expand_effort(talk.place, "turns-2-3", "body")
    assert tier(talk) == "body"
    assert next_plan(talk).tokens - before.tokens == tokens
    with pytest.raises(Refused, match="expanded already"):
        actions.expand_effort(talk.place, "turns-2-3", "body")


def test_what_is_too_large_is_refused_with_the_numbers(talk: Talk) -> None:
    long = "A long saying. " * 1_500
    for _ in range(2):
        talk.ask(long)
    choose(talk, 6, 7, text="Long.", body="Long.")
    Session.objects.filter(pk=talk.session.pk).update(budget=6_000)
    with pytest.raises(Refused, match=r"turns-6-7 needs [\d,]+ tokens, [\d,]+ free\. Pin the turns you mean"):
        actions.expand_effort(talk.place, "turns-6-7")
    assert not ContextPointer.objects.exclude(expanded_turn=None).exists()


def test_the_model_is_told_what_stands_for_chosen_turns_and_how(talk: Talk) -> None:
    lease = talk.begin("Where are we?")
    assert talk.call(lease, "effort_status")["summaries"] == [{"id": "turns-2-3", "in_prompt_as": "summary"}]
    talk.call(lease, "expand_effort", id="turns-2-3")
    status = talk.call(lease, "effort_status")
    assert status["summaries"] == [{"id": "turns-2-3", "in_prompt_as": "log"}]
    assert status["expansions"]["tokens"] == sum(turn.tokens for turn in talk.session.turns.filter(number__in=(2, 3)))


def test_a_new_work_session_collapses_chosen_turns_too(talk: Talk) -> None:
    actions.expand_effort(talk.place, "turns-2-3")
    assert actions.new_work_session(talk.place) == 1
    assert tier(talk) == "body"
    assert [event["why"] for event in talk.events("compaction.collapsed")] == ["work_session"]


def test_what_is_not_expanded_is_not_collapsed(talk: Talk) -> None:
    with pytest.raises(Refused, match="turns-2-3 is not expanded"):
        actions.collapse_effort(talk.place, "turns-2-3")


def test_of_a_concluded_effort_the_whole_summary_stands_instead_of_its_line(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compacting.registered(), "body_of", lambda artifact: BODY, raising=True)
    slug = talk.concluded("Harbour")
    ContextPointer.objects.filter(effort__slug=slug).update(artifact="cc")
    before = next_plan(talk)
    tokens = actions.expand_effort(talk.place, slug, "body")
    planned = next_plan(talk)
    assert planned.tokens - before.tokens == tokens
    assert f"- {slug} (turn 6, {timezone.now():%Y-%m-%d}): Ferry tickets were compared.\n  Decisions:" in text_of(
        planned
    )
    assert "In short." not in text_of(planned)
    assert {item.reason.value for item in planned.items if item.whose == slug} == {"expanded_body"}
    assert talk.state(slug).expanded_what == "body"
    actions.collapse_effort(talk.place, slug)
    assert next_plan(talk).request == before.request


def test_a_summary_that_replaces_one_shown_whole_is_shown_whole_too(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = expanded_whole(talk, monkeypatch)
    log = read_summary_log(talk.branch, talk.state(slug).effort)
    monkeypatch.setattr(compacting.registered(), "body_of", lambda artifact: f"Of {artifact}.\nAll of it.")
    standing = StandIn(text="Edited.", headline="Edited.", tokens=2, artifact="dd")
    set_pointer(talk.branch, talk.state(slug).effort, log, standing, actor=talk.session.owner, via="review")
    assert f"- {slug} (turn 6, {timezone.now():%Y-%m-%d}): Of dd.\n  All of it." in text_of(next_plan(talk))
    # That of the chosen turns is left.
    assert text_of(next_plan(talk)).count(BODY.splitlines()[0]) == 1
    assert standing_in_panel(talk, slug) == Standing.EXPANDED


def test_where_the_summary_shown_whole_is_gone_the_panel_says_that_its_log_stands(
    talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    slug = expanded_whole(talk, monkeypatch)
    actions.move_turn(talk.place, 5, slug)
    assert told(5) in text_of(next_plan(talk))
    assert standing_in_panel(talk, slug) == Standing.AWAITING


def expanded_whole(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> str:
    """A concluded effort of turn 6, its whole summary in the prompt."""
    monkeypatch.setattr(compacting.registered(), "body_of", lambda artifact: BODY)
    slug = talk.concluded("Harbour")
    ContextPointer.objects.filter(effort__slug=slug).update(artifact="cc")
    actions.expand_effort(talk.place, slug, "body")
    return slug


def standing_in_panel(talk: Talk, slug: str) -> Standing:
    return next(row.standing for row in effort_views(talk.branch) if row.slug == slug)


def test_a_summary_of_one_line_has_no_longer_one(talk: Talk) -> None:
    slug = talk.concluded("Harbour")
    with pytest.raises(Refused, match="no more than its line"):
        actions.expand_effort(talk.place, slug, "body")
