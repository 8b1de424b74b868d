"""Metrics: what a page says its JSON says, of one branch and of all; nobody else's."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from compaction.models import Check, DraftRun
from efforts import actions
from efforts.context.planning import main_branch, run_inputs
from efforts.domain.effort.metrics import Sent, measure
from efforts.domain.effort.reducer import Happening
from efforts.domain.effort.states import RunState
from efforts.domain.errors import Refused
from efforts.domain.prompt.planner import plan
from efforts.llm.recorded import RECORDED_MODEL
from efforts.log.timelines import branch_events
from efforts.models import Branch, ContextPlan, Run, Session
from efforts.pages.charts import Field, point, strokes
from efforts.pages.presenters.figures import HOW, metrics_view
from efforts.pages.presenters.metrics import all_metrics, branch_metrics
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, Ending
from tests.efforts.talk import Talk
from tests.efforts.test_metrics import naively
from tests.house.process import ROOT

LONG = "The token of the login expires after an hour because the clock of the server runs ahead. " * 6


@pytest.fixture
def talk(session: Session) -> Talk:
    return Talk(session)


def ask(talk: Talk, text: str = "And now?", ending: Ending = COMPLETED) -> ContextPlan:
    """One turn with the plan of its call, as a runner would have made it."""
    lease = talk.begin(text)
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    recording.record_plan(lease, 1, plan(run_inputs(run)))
    talk.finish(lease, ending=ending)
    return ContextPlan.objects.get(run=run)


def concluded(talk: Talk, name: str = "Auth bug") -> str:
    slug = actions.open_effort(talk.place, name).effort.slug
    ask(talk, LONG)
    actions.close_effort(talk.place, slug)
    talk.summarise(slug)
    return slug


def told(talk: Talk) -> str:
    """An expansion after turn 2 that fades at the end of 5, and is back after 7."""
    slug = concluded(talk)
    ask(talk)
    actions.expand_effort(talk.place, slug)
    for _ in range(5):
        ask(talk)
    actions.expand_effort(talk.place, slug)
    return slug


def figures(client: Client, address: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(client.get(f"{address}?format=json").content)["figures"]
    return found


def test_tokens_are_those_of_the_last_call_of_each_turn(as_alice: Client, talk: Talk) -> None:
    first, second = ask(talk, LONG), ask(talk)
    found = figures(as_alice, f"{talk.session.get_absolute_url()}metrics/")
    assert found["context_tokens"] == second.tokens
    assert found["context_tokens_mean"] == (first.tokens + second.tokens) / 2
    assert found["context_tokens_peak"] == max(first.tokens, second.tokens)


def test_naive_is_the_system_text_with_all_that_was_said_and_this_turn(talk: Talk) -> None:
    first, second = ask(talk, LONG), ask(talk)
    [one, two] = branch_metrics(talk.branch).sent
    assert one.naive == first.tokens
    sections = second.body["sections"]
    said = talk.session.turns.get(number=1).tokens
    assert two.naive == sections["system"] + said + sections["turn"]


def test_the_other_baseline_has_the_whole_log_of_an_effort_for_its_summary(talk: Talk) -> None:
    concluded(talk)
    row = ask(talk)
    sent = branch_metrics(talk.branch).sent[-1]
    log = talk.session.turns.get(number=1).tokens
    assert row.body["sections"]["summary"] > 0
    assert sent.effort_logs == row.tokens - row.body["sections"]["summary"] + log


def test_an_expansion_is_measured_from_its_price_to_its_end(talk: Talk) -> None:
    told(talk)
    metrics = branch_metrics(talk.branch)
    [faded, again] = metrics.expansions
    assert (faded.turn, faded.ended_turn, faded.how) == (2, 5, "decayed")
    assert (again.turn, again.how) == (7, "")
    assert metrics.figures["false_decay_rate"] == 1
    assert metrics.figures["tokens_saved_by_decay"] == 2 * faded.tokens
    assert [one.expanded > 0 for one in metrics.sent] == [False, False, True, True, True, False, False]


def test_of_a_turn_that_was_tried_again_the_last_attempt_counts(talk: Talk) -> None:
    ask(talk, ending=recording.INTERRUPTED)
    again = actions.retry_turn(talk.session.turns.get(number=1), actor=talk.session.owner)
    assert branch_metrics(talk.branch).sent == ()
    lease = talk.claim()
    run = Run.objects.select_related("turn__session", "branch").get(pk=again.pk)
    recording.record_plan(lease, 1, plan(run_inputs(run)))
    recording.record_plan(lease, 2, plan(run_inputs(run, offer_tools=False)))
    last = ContextPlan.objects.get(run=run, call=2)
    talk.finish(lease)
    assert [one.tokens for one in branch_metrics(talk.branch).sent] == [last.tokens]


def test_the_page_says_what_the_json_says(as_alice: Client, talk: Talk) -> None:
    told(talk)
    address = f"{talk.session.get_absolute_url()}metrics/"
    page, found = as_alice.get(address).content.decode(), figures(as_alice, address)
    for key in ("context_tokens", "naive_tokens", "tokens_saved_by_decay"):
        assert f"<b>{found[key]:,}</b>" in page
    assert f"<b>{100 * found['false_decay_rate']:.1f}%</b>" in page
    assert f"<b>{found['manual_collapses']} / {found['auto_collapses']}</b>" in page
    assert page.count('class="chart"') == 3
    assert "style=" not in page.split("<main", 1)[1].split("</main>")[0]


def test_every_figure_says_why_and_leads_to_its_turns(as_alice: Client, talk: Talk) -> None:
    told(talk)
    view = metrics_view(branch_metrics(talk.branch), {})
    every = [figure for group in view.groups for figure in group.figures]
    assert all(figure.why for figure in every)
    page = as_alice.get(f"{talk.session.get_absolute_url()}metrics/").content.decode()
    assert page.count("Why?") == len(every)
    [collapses] = [figure for figure in every if figure.key == "auto_collapses"]
    assert collapses.turns == (5,)
    assert f'<a href="{talk.branch.address_of_turn(5)}">turn 5</a>' in page


def test_the_page_says_what_all_calls_of_the_conversation_took(as_alice: Client, talk: Talk) -> None:
    ask(talk)
    usage = {"prompt_tokens": 1_000, "completion_tokens": 30}
    ContextPlan.objects.update(**usage)
    sibling = actions.fork(main_branch(talk.session), after=1, actor=talk.session.owner)
    page = as_alice.get(f"/s/{talk.session.pk}/metrics/").content.decode()
    assert 'has taken <b class="num">1,000</b> tokens in and <b class="num">30</b> out, in 1 call.' in page
    for said in ("All its branches", "counted here, because"):
        assert said not in page
    plan = ask(talk)
    ContextPlan.objects.filter(pk=plan.pk).update(branch=sibling, prompt_tokens=None, tokens=500)
    page = as_alice.get(f"/s/{talk.session.pk}/metrics/").content.decode()
    assert '>1,500</b> tokens in and <b class="num">30</b> out, in 2 calls. All its branches are in that sum.' in page
    assert "Some of it was counted here, because the provider did not report it." in page


def test_where_more_was_sent_the_card_is_headed_so_and_has_one_figure(as_alice: Client, talk: Talk) -> None:
    ask(talk, "The webhook times out.")
    ContextPlan.objects.update(tokens=100_000)
    for address in (f"/s/{talk.session.pk}/metrics/", "/metrics/"):
        page = as_alice.get(address).content.decode()
        [card] = re.findall(
            r'<article class="measure" aria-labelledby="savings_vs_naive_all">(.*?)</article>', page, re.S
        )
        face, _, folded = card.partition("<details")
        assert re.search(r">More sent</h3>\s*<p><b>\+[\d,.]+%</b></p>", face)
        assert "against sending everything, over all turns" in face
        assert "Rules, summaries, earlier passages and the notes beside turns added more than was left out." in face
        assert face.count("%") == 1
        assert re.search(r"Against the full logs of all efforts [\d,.]+% more was sent, over all turns", folded)
    page = as_alice.get(f"/s/{talk.session.pk}/metrics/").content.decode()
    assert re.search(r"The last call sent [\d,.]+% more: what was added to it outweighs what was left out", page)


def test_what_was_saved_is_said_as_less_that_was_sent(as_alice: Client, talk: Talk) -> None:
    ask(talk, LONG)
    last = ask(talk)
    ContextPlan.objects.update(tokens=10)
    page = as_alice.get(f"/s/{talk.session.pk}/metrics/").content.decode()
    assert ">Savings</h3>" in page
    assert "The last call alone" not in page
    naive = as_alice.get(f"/s/{talk.session.pk}/metrics/?format=json").json()["figures"]["naive_tokens"]
    # What stands beside the figure of all turns is that of the last call, which may have gone the other way.
    ContextPlan.objects.filter(pk=last.pk).update(tokens=naive + 1)
    other = as_alice.get(f"/s/{talk.session.pk}/metrics/").content.decode()
    face = other.partition('id="savings_vs_naive_all"')[2].partition("<details")[0]
    assert face.startswith(">Savings<")
    assert "The last call alone sent more than sending everything would have." in face
    assert re.search(r"The last call sent [\d,.]+% less than everything said so far", page)


def test_the_page_says_what_summaries_took_here_and_whether_that_is_more_than_was_saved(
    as_alice: Client, talk: Talk
) -> None:
    ask(talk, LONG)
    address = f"/s/{talk.session.pk}/metrics/"
    assert "No model was asked for summaries here." in as_alice.get(address).content.decode()
    mine = DraftRun.objects.create(session=talk.session, branch=talk.branch, tokens=900_000, model="small")
    page = as_alice.get(address).content.decode()
    assert 'Making summaries took <b class="num">900,000</b> tokens. That ' in page
    Check.objects.create(run=mine, family="of-it", tokens=50, model=RECORDED_MODEL, attempt=1)
    page = as_alice.get(address).content.decode()
    assert '<b class="num">900,050</b> tokens, 50 of them recorded for the example.' in page
    ContextPlan.objects.update(tokens=100_000)
    assert "That comes on top: so far more was sent" in as_alice.get(address).content.decode()
    ContextPlan.objects.update(tokens=1)
    assert re.search(r"That is more than was saved so far: [\d,]+ tokens", as_alice.get(address).content.decode())


def test_who_accepts_json_gets_it_at_the_same_address(as_alice: Client, talk: Talk) -> None:
    ask(talk)
    address = f"{talk.session.get_absolute_url()}metrics/"
    response = as_alice.get(address, headers={"accept": "application/json"})
    assert response["Content-Type"] == "application/json"
    assert response.json() == as_alice.get(f"{address}?format=json").json()
    assert response.json()["session"] == str(talk.session.pk)
    assert [turn["turn"] for turn in response.json()["turns"]] == [1]


def test_a_branch_has_its_parent_s_turns_and_then_its_own(as_alice: Client, talk: Talk) -> None:
    ask(talk)
    ask(talk)
    ask(talk)
    other = Talk(talk.session, actions.fork(talk.branch, after=2, actor=talk.session.owner))
    ask(other, LONG)
    found = as_alice.get(f"{other.branch.address('metrics')}?format=json").json()
    assert [turn["turn"] for turn in found["turns"]] == [1, 2, 3]
    assert found["branch"] == str(other.branch_id)
    assert found["figures"]["context_tokens"] == ContextPlan.objects.get(branch=other.branch_id).tokens


def test_of_all_conversations_no_turn_counts_twice(alice: User, as_alice: Client, talk: Talk) -> None:
    told(talk)
    other = Talk(talk.session, actions.fork(talk.branch, after=5, actor=alice))
    ask(other)
    second = Talk(actions.create_session(alice, title="Another"))
    ask(second, LONG)
    overall = all_metrics(alice)
    assert {one.session.title: len(one.metrics.sent) for one in overall.sessions}["Another"] == 1
    assert len(overall.metrics.sent) == ContextPlan.objects.count()
    assert overall.metrics.figures["auto_collapses"] == 1
    [first] = [one.metrics for one in overall.sessions if one.session != second.session]
    price = first.decays[0].tokens
    # Two turns of the main branch, one of the other: in all three it would have stood.
    assert first.figures["tokens_saved_by_decay"] == 3 * price
    assert "context_tokens" not in figures(as_alice, "/metrics/")
    assert figures(as_alice, "/metrics/")["context_tokens_peak"] == max(
        ContextPlan.objects.values_list("tokens", flat=True)
    )


def test_the_page_of_all_leads_to_each(as_alice: Client, talk: Talk) -> None:
    told(talk)
    page = as_alice.get("/metrics/").content.decode()
    assert f'href="/s/{talk.session.pk}/metrics/"' in page
    named = set(re.findall(r"In the JSON: <code>(\w+)</code>", page))
    assert "savings_vs_naive_all" in named
    assert named <= set(figures(as_alice, "/metrics/"))
    assert 'href="/metrics/"' in as_alice.get("/settings/health/").content.decode()
    chat = as_alice.get(talk.session.get_absolute_url()).content.decode()
    assert f'href="/s/{talk.session.pk}/metrics/"' in chat


def test_the_pages_use_no_word_of_the_design_without_saying_what_it_is(as_alice: Client, talk: Talk) -> None:
    told(talk)
    for where in ("/metrics/", f"{talk.session.get_absolute_url()}metrics/"):
        page = as_alice.get(where).content.decode()
        words = re.sub(r"<code>.*?</code>|<[^>]+>", " ", page.partition("<main")[2]).casefold()
        assert "without context management" in words
        assert not [one for one in ("naive", "decay", "auto-collapse", "eviction", "headline") if one in words]


def test_before_anything_was_sent_the_pages_say_what_comes(as_alice: Client, talk: Talk) -> None:
    assert "Nothing was sent here yet." in as_alice.get(f"{talk.session.get_absolute_url()}metrics/").content.decode()
    assert "Nothing was sent yet." in as_alice.get("/metrics/").content.decode()
    ask(talk)
    assert "Nothing was expanded yet." in as_alice.get(f"{talk.session.get_absolute_url()}metrics/").content.decode()


def test_others_conversations_are_not_measured(as_bob: Client, talk: Talk) -> None:
    told(talk)
    assert as_bob.get(f"{talk.session.get_absolute_url()}metrics/").status_code == 404
    assert as_bob.get("/metrics/?format=json").json()["sessions"] == []


def test_only_a_signed_in_person_has_any(anyone: Client, talk: Talk) -> None:
    assert anyone.get("/metrics/").status_code == 302
    assert anyone.get(f"{talk.session.get_absolute_url()}metrics/").status_code == 302


@pytest.mark.parametrize("address", ["{session}metrics/", "/metrics/"])
def test_more_turns_and_expansions_ask_no_more_of_the_database(as_alice: Client, talk: Talk, address: str) -> None:
    address = address.format(session=talk.session.get_absolute_url())
    slug = told(talk)
    with CaptureQueriesContext(connection) as few:
        as_alice.get(address)
    for _ in range(3):
        for _ in range(4):
            ask(talk)
        actions.expand_effort(talk.place, slug)
    concluded(talk, "Another")
    with CaptureQueriesContext(connection) as many:
        as_alice.get(address)
    assert len(many) == len(few)


def wander(talk: Talk, random: Random) -> None:
    """Expands and collapses, speaks of an effort or of nothing, fails, takes back, begins anew."""
    efforts = [talk.concluded("Auth bug"), talk.concluded("Perf fix")]
    steps = ["expand", "collapse", "mention", "fail", "undo", "work", *["pass"] * 8]
    for step in random.choices(steps, k=60):
        slug = random.choice(efforts)
        with suppress(Refused):
            act(talk, step, slug)


def act(talk: Talk, step: str, slug: str) -> None:
    match step:
        case "expand":
            actions.expand_effort(talk.place, slug)
        case "collapse":
            actions.collapse_effort(talk.place, slug)
        case "undo":
            actions.undo(talk.place, max([0, *(event["seq"] for event in talk.events("effort.decayed"))]))
        case "work":
            actions.new_work_session(talk.place)
        case "fail":
            talk.ask("And now?", ending=Ending(state=RunState.FAILED, code="rate_limited"))
        case _:
            talk.ask(f"What about {slug}?" if step == "mention" else "And now?")


@pytest.mark.parametrize("seed", [1, 2])
def test_wherever_a_conversation_wanders_another_count_of_its_events_says_the_same(
    as_alice: Client, talk: Talk, seed: int
) -> None:
    wander(talk, Random(seed))
    other = Talk(talk.session, actions.fork(talk.branch, after=talk.branch.head - 10, actor=talk.session.owner))
    for _ in range(5):
        other.ask("And now?")
    for branch in (talk.branch, other.branch):
        rows = branch_events(branch).values_list("seq", "kind", "data")
        expected = naively([Happening(seq=seq, kind=kind, data=data) for seq, kind, data in rows])
        found = figures(as_alice, branch.address("metrics"))
        assert {name: found[name] for name in expected} == {
            name: value if value is None else round(value, 4) for name, value in expected.items()
        }
        assert found["tokens_saved_by_decay"] > 0


def test_what_the_person_finds_too_early_is_on_the_page(as_alice: Client, talk: Talk) -> None:
    actions.expand_effort(talk.place, concluded(talk))
    for _ in range(6):
        ask(talk)
    [decay] = talk.events("effort.decayed")
    actions.too_early(talk.place, decay["seq"])
    found = figures(as_alice, talk.branch.address("metrics"))
    # It stands again, but after the third turn: that is no false decay, and said all the same.
    assert (found["too_early"], found["false_decays"], found["expansions"]) == (1, 0, 2)
    assert "reported too early: 1" in as_alice.get(talk.branch.address("metrics")).content.decode()


def test_evictions_and_returns_are_on_the_page(as_alice: Client, talk: Talk) -> None:
    Session.objects.update(eviction_threshold=2)
    slug = concluded(talk)
    for _ in range(4):
        ask(talk)
    ask(talk, f"What was {slug} again?")
    found = as_alice.get(f"{talk.branch.address('metrics')}?format=json").json()
    assert found["evictions"] == [{"effort": slug, "turn": 3, "age": 2, "back_turn": 6}]
    assert (found["figures"]["evictions"], found["figures"]["returns"]) == (1, 1)
    page = as_alice.get(talk.branch.address("metrics")).content.decode()
    assert f'<a href="{talk.branch.address_of_turn(6)}">6</a>' in page


def test_main_branch_is_the_conversation_s_address(talk: Talk) -> None:
    assert main_branch(talk.session).address("metrics") == f"/s/{talk.session.pk}/metrics/"
    assert Branch.objects.get(pk=talk.branch_id).parent_id is None


def test_the_document_names_every_field_and_no_other(as_alice: Client, talk: Talk) -> None:
    told(talk)
    Session.objects.update(eviction_threshold=1)
    for _ in range(5):
        ask(talk)
    found = as_alice.get(f"{talk.branch.address('metrics')}?format=json").json()
    _, figures_table, lists_table, *_ = (ROOT / "docs/metrics.md").read_text().split("\n## ")
    assert set(re.findall(r"`([a-z_]+)`", first_cells(figures_table))) == set(found["figures"])
    for name in ("turns", "expansions", "auto_collapses", "evictions"):
        [row] = [line for line in lists_table.splitlines() if line.startswith(f"| `{name}`")]
        named = set(re.findall(r"`([a-z_]+)`", row.split("|")[2])) - set(HOW)
        assert named == set(found[name][0])


def first_cells(table: str) -> str:
    return " ".join(line.split("|")[1] for line in table.splitlines() if line.startswith("|"))


def test_lines_far_above_the_layers_are_cut_and_say_how_far_they_go() -> None:
    sections = {"system": 1_000, "turn": 50}
    sent = [Sent(turn=n, tokens=1_050, sections=sections, said_before=1_000 * n, logs_before=0) for n in range(1, 41)]
    picture = metrics_view(measure([], sent), {}).tokens_picture
    assert "Without context management (up to 41,050)" in picture
    assert "40,000" not in picture  # of the axis
    assert "Without context management (up to" not in metrics_view(measure([], sent[:1]), {}).tokens_picture


def test_a_line_goes_through_its_values_and_begins_anew_behind_a_gap() -> None:
    field = Field(places=5, step=10, top=100, head=0)
    points = {place: point(field.x(place + 0.5), field.y(10 * place)) for place in (0, 1, 3, 4)}
    assert "".join(strokes([0, 10, None, 30, 40], field)) == f"M{points[0]}L{points[1]}M{points[3]}L{points[4]}"


def test_of_a_long_conversation_the_prompts_of_the_newest_turns_are_measured_and_all_that_faded(
    as_alice: Client, talk: Talk, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(talk)
    address = talk.branch.address("metrics")
    whole = figures(as_alice, address)
    monkeypatch.setattr("efforts.pages.presenters.metrics.NEWEST_TURNS", 3)
    monkeypatch.setattr("efforts.pages.views.metrics.NEWEST_TURNS", 3)
    found = as_alice.get(f"{address}?format=json").json()
    assert [turn["turn"] for turn in found["turns"]] == [5, 6, 7]
    of_decay = ("auto_collapses", "tokens_saved_by_decay", "avg_expansion_duration")
    assert {name: found["figures"][name] for name in of_decay} == {name: whole[name] for name in of_decay}
    page = as_alice.get(address).content.decode()
    assert "Prompts are those of the newest 3 turns." in page
    assert f"<b>{whole['tokens_saved_by_decay']:,}</b>" in page
