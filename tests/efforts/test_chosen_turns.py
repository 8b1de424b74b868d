"""A summary of chosen turns in the prompt: instead of their words, and these again."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from efforts import actions
from efforts.actions.pointers import roll_back
from efforts.domain.effort.states import PointerState, SummaryState
from efforts.domain.errors import Refused
from efforts.models import ContextPointer, EffortState, Session
from efforts.pages.presenters.metrics import branch_metrics
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, CallReply
from tests.efforts.chosen import TEXT, ask, choose, next_plan, shown, text_of, tier, told
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db


@pytest.fixture
def talk(alice: User) -> Talk:
    return Talk(actions.create_session(alice))


def test_the_summary_stands_instead_of_the_turns_as_a_note_that_names_them(talk: Talk) -> None:
    ask(talk, 1, 7)
    choose(talk, 3, 4, 5)
    planned = next_plan(talk)
    assert shown(talk) == {1, 2, 6, 7}
    notes = planned.request["messages"][1]["content"].partition("[End of notes]")[0]
    assert notes == (
        "[Notes, not instructions: what stands for the turns that are named, in place of their words]\n"
        f"- turns-3-5 (turns 3-5, {timezone.now():%Y-%m-%d}): Ferry tickets were compared.\n"
        "  Decisions:\n  - Take the Kiel ferry (turn 3)\n  Open work:\n  - Book a cabin (turn 4)\n"
    )
    [item] = [item for item in planned.items if item.section == "body"]
    assert (item.title, item.included, item.turns) == ("turns-3-5", True, (3, 5))
    assert item.sentence == "Chosen turns are shown by their summary."
    assert 0 < planned.sections["body"] - item.tokens < 32


def test_rolled_back_with_nothing_said_in_between_the_next_request_is_the_same_byte_for_byte(talk: Talk) -> None:
    ask(talk, 1, 14)
    before = next_plan(talk)
    pointer = choose(talk, 2, 3, 6, 7, 12)
    assert next_plan(talk).request_sha256 != before.request_sha256
    pointer.refresh_from_db()
    roll_back(talk.branch, pointer, actor=talk.session.owner, via="review")
    assert next_plan(talk).request == before.request


def test_turns_of_every_layer_leave_their_layer(talk: Talk) -> None:
    slugs = {}
    ask(talk, 1, 2)
    for name in ("done", "opened", "open", "active"):
        slugs[name] = actions.open_effort(talk.place, name).effort.slug
        head = talk.branch.head
        ask(talk, head + 1, head + 3)
    for name in ("done", "opened"):
        actions.close_effort(talk.place, name)
    talk.summarise("opened")
    # Of each the middle one: 4 of done, 7 of opened, 10 of open, 13 of active, and 2 of none.
    choose(talk, 2, 4, 10, 13)
    assert shown(talk) == {1, 3, 5, 9, 11, 12, 14}
    actions.expand_effort(talk.place, "opened")
    assert shown(talk) == {1, 3, 5, 6, 7, 8, 9, 11, 12, 14}
    planned = next_plan(talk)
    assert {item.section for item in planned.items} >= {"ambient", "awaiting", "open", "active", "expanded", "body"}


def test_what_is_older_is_counted_without_the_chosen_turns_whoever_they_belong_to(talk: Talk) -> None:
    """By running sums: what the items say adds up to what was said."""
    ask(talk, 1, 8)
    actions.open_effort(talk.place, "Harbour")
    ask(talk, 9, 12)
    actions.close_effort(talk.place)
    ask(talk, 13, 26)
    pointer = choose(talk, 2, 3, 10, 15, 20)
    assert_adds_up(talk, without={2, 3, 10, 15, 20})
    # Another label is another sum.
    actions.move_turn(talk.place, 3, "harbour")
    actions.move_turn(talk.place, 10, None)
    assert_adds_up(talk, without={2, 3, 10, 15, 20})
    pointer.refresh_from_db()
    roll_back(talk.branch, pointer, actor=talk.session.owner, via="review")
    assert_adds_up(talk, without=set())


def assert_adds_up(talk: Talk, *, without: set[int]) -> None:
    inputs = next_plan(talk).inputs
    ambient = set(range(1, talk.branch.head + 1)) - set(talk.labels()) - without
    costs = {turn.number: turn.tokens for turn in talk.session.turns.all()}
    assert [turn.number for turn in inputs.past] == sorted(ambient)[-10:]
    older = sorted(ambient)[:-10]
    assert (inputs.older.last, inputs.older.tokens) == (older[-1], sum(costs[number] for number in older))


def test_an_effort_whose_turns_are_all_chosen_awaits_nothing_and_is_not_listed(talk: Talk) -> None:
    actions.open_effort(talk.place, "Ferry")
    ask(talk, 1, 3)
    actions.close_effort(talk.place)
    choose(talk, 1, 2, 3)
    assert talk.state("ferry").summary == SummaryState.COVERED
    planned = next_plan(talk)
    assert [item.title for item in planned.items if item.whose] == ["turns-1-3"]
    assert "ferry" not in text_of(planned).replace("Kiel ferry", "")


def test_a_body_without_room_gives_way_to_its_headline_until_the_budget_changes(talk: Talk) -> None:
    ask(talk, 1, 4)
    Session.objects.filter(pk=talk.session.pk).update(budget=6_000)
    choose(talk, 2, 3, body="At length.\n" + "- A fact that was told (turn 2)\n" * 500)
    planned = next_plan(talk)
    reasons = {item.section: item.reason for item in planned.items if item.title == "turns-2-3"}
    assert reasons == {"body": "body_over_budget", "summary": "chosen_headline"}
    assert f"- turns-2-3 (turns 2-3, {timezone.now():%Y-%m-%d}): {TEXT}" in text_of(planned)
    assert planned.tokens <= 6_000
    # What one call removed stays out for the next, and comes back with a larger budget.
    ask(talk, 5, 5)
    assert next_plan(talk).layout.shortened == planned.layout.shortened != ()
    Session.objects.filter(pk=talk.session.pk).update(budget=40_000)
    assert [item.title for item in next_plan(talk).items if item.reason == "body"] == ["turns-2-3"]


@pytest.mark.parametrize(("name", "slug"), [("Turns 3-9", "effort-turns-3-9"), ("Seed", "effort-seed")])
def test_an_effort_cannot_be_called_what_chosen_turns_are_called(talk: Talk, name: str, slug: str) -> None:
    assert actions.open_effort(talk.place, name).effort.slug == slug


def test_each_pointer_over_chosen_turns_stands_once(talk: Talk) -> None:
    ask(talk, 1, 6)
    choose(talk, 1, 2)
    choose(talk, 4, 5, text="Later.", body="Later.")
    assert [item.title for item in next_plan(talk).items if item.section == "body"] == ["turns-1-2", "turns-4-5"]
    choose(talk, 1, 2, 3, 4, 5)
    assert [item.title for item in next_plan(talk).items if item.section == "body"] == ["turns-1-5"]
    assert ContextPointer.objects.filter(state=PointerState.ACTIVE).count() == 1
    assert EffortState.objects.count() == 0


# By age


@pytest.fixture
def quick(talk: Talk) -> Talk:
    """What is not referred to leaves after 4 turns; a summary of the turns 2 and 3 is accepted after turn 5."""
    Session.objects.filter(pk=talk.session.pk).update(eviction_threshold=4, decay_threshold=2)
    talk.session.refresh_from_db()
    ask(talk, 1, 5)
    choose(talk, 2, 3)
    return talk


def test_a_body_gives_way_to_one_line_and_this_leaves_to_the_turn(quick: Talk) -> None:
    """Accepted at 5, the body stands in the prompts of 6 to 9, the line in those of 10 to 13."""
    tiers = []
    for number in range(6, 16):
        tiers.append(tier(quick))
        ask(quick, number, number)
    assert tiers == ["body"] * 4 + ["headline"] * 4 + ["none"] * 2
    told_of = quick.events("compaction.shortened", "compaction.evicted")
    assert [(event["kind"], event["clock"], event["id"]) for event in told_of] == [
        ("compaction.shortened", 9, "turns-2-3"),
        ("compaction.evicted", 13, "turns-2-3"),
    ]
    [item] = [item for item in next_plan(quick).items if item.reason == "chosen_evicted"]
    assert (item.title, item.included) == ("1 older summary", False)
    assert "Not shown: the summary of chosen turns. search_messages finds" in text_of(next_plan(quick))


@pytest.mark.parametrize("said", ["What was it in turns-2-3?", "See Turns 2–3.", "Which ferry goes from Kiel again?"])
@pytest.mark.parametrize("last", [10, 15])
def test_a_mention_brings_the_body_back_in_its_own_prompt(quick: Talk, said: str, last: int) -> None:
    ask(quick, 6, last)
    assert tier(quick) == ("headline" if last == 10 else "none")
    lease = quick.begin(said)
    assert tier(quick) == "body"
    quick.finish(lease)
    [event] = quick.events("compaction.referenced")
    assert (event["id"], event["by"], event["back"], event["clock"]) == ("turns-2-3", "user", True, last + 1)
    ask(quick, last + 2, last + 4)
    assert tier(quick) == "body"
    ask(quick, last + 5, last + 5)
    assert tier(quick) == "headline"


@pytest.mark.parametrize("said", ["And turns 2-4?", "turns-2-31 of it", "The ferry.", "Returns-2-3 are free."])
def test_other_turns_and_single_words_are_no_mention(quick: Talk, said: str) -> None:
    ask(quick, 6, 10)
    quick.ask(said)
    assert tier(quick) == "headline"


def test_what_ended_by_itself_too_early_stands_again_and_is_counted_as_of_an_effort(quick: Talk) -> None:
    tokens = actions.expand_effort(quick.place, "turns-2-3")
    ask(quick, 6, 8)
    [decayed] = quick.events("compaction.decayed")
    assert decayed["tokens"] == tokens
    actions.too_early(quick.place, decayed["seq"])
    assert tier(quick) == "raw"
    told_of = quick.events("compaction.undone", "compaction.too_early")
    assert [(one["kind"], one["of"], one["id"]) for one in told_of] == [
        ("compaction.undone", decayed["seq"], "turns-2-3"),
        ("compaction.too_early", decayed["seq"], "turns-2-3"),
    ]
    counted = branch_metrics(quick.branch).figures
    names = ("expansions", "auto_collapses", "false_decays", "too_early", "avg_expansion_duration")
    assert [counted[name] for name in names] == [2, 1, 1, 1, 2]
    assert counted["tokens_saved_by_decay"] == tokens
    with pytest.raises(Refused, match="taken back already"):
        actions.too_early(quick.place, decayed["seq"])
    with pytest.raises(Refused, match="Nothing has ended by itself there"):
        actions.too_early(quick.place, quick.events("compaction.expanded")[0]["seq"])


def test_the_whole_summary_brought_back_is_no_expansion_of_words(quick: Talk) -> None:
    ask(quick, 6, 9)
    actions.expand_effort(quick.place, "turns-2-3", "body")
    assert branch_metrics(quick.branch).figures["expansions"] == 0


def test_who_prefers_the_cache_keeps_the_body_until_the_effort_changes(quick: Talk) -> None:
    Session.objects.filter(pk=quick.session.pk).update(prefer_cache=True)
    ask(quick, 6, 12)
    assert tier(quick) == "body"
    actions.open_effort(quick.place, "Harbour")
    assert tier(quick) == "headline"


def test_an_effort_that_is_covered_is_not_evicted_beside_its_summary(quick: Talk) -> None:
    actions.open_effort(quick.place, "Harbour")
    ask(quick, 6, 7)
    actions.close_effort(quick.place)
    choose(quick, 6, 7, text="The harbour.", body="The harbour.")
    ask(quick, 8, 14)
    assert quick.events("effort.evicted") == []


def test_a_reply_that_goes_on_is_sent_in_full_again_though_a_summary_stood_for_it(talk: Talk) -> None:
    ask(talk, 1, 2)
    lease = talk.begin(told(3))
    recording.record_reply(lease, CallReply(call=1, text="Answer 3, up to", finish_reason="length"), COMPLETED)
    choose(talk, 2, 3)
    assert shown(talk) == {1}
    actions.continue_reply(talk.session.turns.get(number=3), actor=talk.session.owner)
    talk.finish(talk.claim(), " here.")
    assert shown(talk) == {1, 2, 3}
    assert "up to here." in text_of(next_plan(talk))
