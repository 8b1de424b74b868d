"""A focus that a person names: where recall looks first, and what stays in the prompt meanwhile."""

from __future__ import annotations

from functools import partial

import pytest
from django.contrib.auth.models import User

from efforts import actions
from efforts.context.courses import course_at
from efforts.context.efforts import effort_views
from efforts.context.planning import chosen_settings, next_inputs
from efforts.context.replanning import plan_again
from efforts.domain.effort.states import Via
from efforts.domain.errors import Refused
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.models import ContextPlan, Event, RetrievalSet, Run, Session
from efforts.tools.again import Repeated, retrieve_again
from efforts.turns import recording
from efforts.turns.orchestrator import first_inputs, look_back
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db
QUESTION = "Which port does the staging server listen on?"
BOOSTED = "Boosted: the focus is on its effort."


@pytest.fixture
def talk(alice: User) -> Talk:
    """Two concluded efforts with the same words, so long ago that no prompt shows what was said in them."""
    talk = Talk(actions.create_session(alice))
    Session.objects.update(eviction_threshold=2)
    talk.concluded("Billing", "The staging server of billing listens on port 7443.")
    talk.concluded("Shop", "Port of the shop: its staging server does listen, on 9000.")
    for number in range(3):
        talk.ask(f"Aside number {number} about the weather.")
    return talk


def next_plan(talk: Talk, text: str = QUESTION) -> Plan:
    return plan(next_inputs(talk.branch, chosen_settings(talk.session), text, None))


def first_quoted(planned: Plan) -> str:
    """Of what was found the best."""
    return planned.inputs.recalled[0].effort


def answered(talk: Talk, text: str = QUESTION) -> ContextPlan:
    """A turn as a runner makes it: what is recalled for it is kept, then it is planned."""
    lease = talk.begin(text)
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    drafted = plan(first_inputs(run))
    found = look_back(run, drafted)
    recording.record_plan(lease, 1, found.added_to(drafted), partial(found.keep, run))
    talk.finish(lease)
    return ContextPlan.objects.get(run=lease.run_id)


@pytest.mark.parametrize(("slug", "port"), [("billing", "7443"), ("shop", "9000")])
def test_what_was_said_in_the_focus_is_recalled_first_and_the_plan_says_why(talk: Talk, slug: str, port: str) -> None:
    actions.focus_effort(talk.place, slug)
    row = answered(talk)
    [recall] = RetrievalSet.objects.all()
    assert recall.params["focus"] == slug
    best = recall.items.get(rank=1)
    assert best.effort is not None
    assert best.message is not None
    assert (best.effort.slug, port in best.message.text, BOOSTED in best.why) == (slug, True, True)
    [quoted] = [one for one in row.body["items"] if one["section"] == "recall" and one["values"]["effort"] == slug]
    assert quoted["included"]
    assert BOOSTED in quoted["values"]["why"]
    assert all(BOOSTED not in one.why for one in recall.items.exclude(effort__slug=slug))


def test_without_a_focus_the_words_decide_and_nothing_is_boosted(talk: Talk) -> None:
    assert first_quoted(next_plan(talk)) == "billing"
    actions.focus_effort(talk.place, "shop")
    assert first_quoted(next_plan(talk)) == "shop"
    actions.end_focus(talk.place)
    planned = next_plan(talk)
    assert first_quoted(planned) == "billing"
    assert all(BOOSTED not in one.why for one in planned.inputs.recalled)


def test_what_the_prompt_shows_of_something_else_does_not_keep_the_focus_out(talk: Talk) -> None:
    talk.ask("The staging server: which port does it listen on, port 1, port 2?", reply="The staging server listens.")
    assert next_plan(talk).inputs.recalled == ()
    actions.focus_effort(talk.place, "shop")
    assert first_quoted(next_plan(talk)) == "shop"
    # What asks nothing recalls nothing, there as elsewhere.
    assert next_plan(talk, "The staging server has a port.").inputs.recalled == ()


def test_in_a_long_conversation_its_words_are_not_crowded_out(talk: Talk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("efforts.retrieval.candidates.MOST", 2)
    monkeypatch.setattr("efforts.retrieval.candidates.find.__kwdefaults__", {"snapshot": None, "most": 2})
    monkeypatch.setattr("efforts.retrieval.recall.MOST", 1)
    for number in range(12):
        talk.ask(f"The staging server {number} listens on a port.", reply=f"Which port, staging server {number}?")
    assert "shop" not in {one.effort for one in next_plan(talk).inputs.recalled}
    actions.focus_effort(talk.place, "shop")
    assert first_quoted(next_plan(talk)) == "shop"


def test_its_summary_stays_and_ages_from_the_end_of_the_focus(talk: Talk) -> None:
    assert talk.state("shop").evicted_clock is not None
    actions.focus_effort(talk.place, "shop")
    for number in range(5):
        talk.ask(f"Remark {number} about the garden.")
    assert talk.state("shop").evicted_clock is None
    [view] = [one for one in effort_views(talk.branch) if one.focused]
    assert (view.slug, view.leaves_in) == ("shop", None)
    actions.end_focus(talk.place)
    talk.ask("A remark about the garden.")
    assert talk.state("shop").evicted_clock is None
    talk.ask("Another.")
    assert talk.state("shop").evicted_clock is not None


def test_every_plan_and_every_retrieval_can_be_made_again_whatever_has_the_focus_since(talk: Talk) -> None:
    answered(talk)
    actions.focus_effort(talk.place, "shop")
    answered(talk)
    actions.focus_effort(talk.place, "billing")
    answered(talk)
    actions.end_focus(talk.place)
    plans = ContextPlan.objects.select_related("branch", "run")
    assert [again.problem for again in map(plan_again, plans) if again.problem or again.apart] == []
    rows = RetrievalSet.objects.select_related("branch", "run__turn").order_by("created_at")
    assert [row.params.get("focus") for row in rows] == [None, "shop", "billing"]
    assert [retrieve_again(row) for row in rows] == [Repeated(same=True)] * 3


def test_a_fork_has_the_focus_of_that_moment_and_is_apart_after_it(talk: Talk, alice: User) -> None:
    head = talk.branch.head
    actions.focus_effort(talk.place, "shop")
    talk.ask("Something else.")
    actions.end_focus(talk.place)
    talk.ask("And again.")
    later = Talk(talk.session, actions.fork(talk.branch, after=head + 1, actor=alice))
    assert later.focus is None
    actions.focus_effort(talk.place, "billing")
    talk.ask("More.")
    fork = Talk(talk.session, actions.fork(talk.branch, after=head + 3, actor=alice))
    actions.end_focus(talk.place)
    assert (talk.focus, fork.focus) == (None, "billing")
    assert course_at(fork.branch, fork.branch.head)[0].focus == "billing"


def test_in_a_fork_what_the_focus_went_on_from_ages_from_then_too(talk: Talk, alice: User) -> None:
    first, second = talk.concluded("Auth bug"), talk.concluded("Vacation")
    actions.focus_effort(talk.place, first)
    talk.ask("Something else.")
    actions.focus_effort(talk.place, second)
    talk.ask("And more.")
    fork = Talk(talk.session, actions.fork(talk.branch, after=talk.branch.head, actor=alice))
    assert fork.state(first).referenced_clock == talk.state(first).referenced_clock


def test_it_is_told_and_taken_back(talk: Talk) -> None:
    actions.focus_effort(talk.place, "shop")
    actions.focus_effort(talk.place, "Billing")
    # In another tab, once more.
    actions.focus_effort(talk.place, "billing")
    first, second = Event.objects.filter(kind="effort.focused").order_by("seq")
    assert [one.data["notice"] for one in (first, second)] == [
        "--- Focus on effort: shop ---",
        "--- Focus on effort: billing ---",
    ]
    assert second.data["before"] == "shop"
    with pytest.raises(Refused, match="changed since"):
        actions.undo(talk.place, first.seq)
    actions.undo(talk.place, second.seq)
    assert talk.focus == "shop"
    actions.end_focus(talk.place)
    ended = Event.objects.get(kind="effort.unfocused")
    assert (ended.data["effort"], ended.data["notice"]) == ("shop", "--- Focus ended: shop ---")
    actions.undo(talk.place, ended.seq)
    assert talk.focus == "shop"


def test_with_an_effort_whose_opening_is_taken_back_the_focus_ends(talk: Talk) -> None:
    actions.open_effort(talk.place, "Garden")
    actions.focus_effort(talk.place, "garden")
    actions.undo(talk.place, Event.objects.get(kind="effort.opened", data__effort="garden").seq)
    assert talk.focus is None
    assert Event.objects.filter(kind="effort.unfocused").count() == 1
    assert course_at(talk.branch, talk.branch.head)[0].focus is None


def test_it_moves_no_turn_and_leaves_the_active_effort_alone(talk: Talk) -> None:
    actions.open_effort(talk.place, "Garden")
    epoch = talk.branch.effort_epoch
    actions.focus_effort(talk.place, "shop")
    assert (talk.active, talk.branch.effort_epoch) == ("garden", epoch)
    talk.ask("Which roses?")
    assert talk.labels()[talk.branch.head] == "garden"


def test_what_cannot_be_is_refused(talk: Talk) -> None:
    with pytest.raises(Refused, match="on no effort"):
        actions.end_focus(talk.place)
    with pytest.raises(Refused, match=r"There is no effort 'shpo' here\. Close to it: shop"):
        actions.focus_effort(talk.place, "shpo")
    actions.focus_effort(talk.place, "shop")
    with pytest.raises(Refused, match="not on billing"):
        actions.end_focus(talk.place, "billing")
    model = actions.Place(branch=talk.branch, turn=talk.branch.head, via=Via.MODEL)
    for act in (lambda: actions.focus_effort(model, "shop"), lambda: actions.end_focus(model)):
        with pytest.raises(Refused, match="Only the user"):
            act()
    assert talk.focus == "shop"
