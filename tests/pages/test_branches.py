"""Branches: every page of a conversation is also that of each of its branches."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.context.planning import main_branch, run_inputs
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.planner import plan
from efforts.models import Branch, ContextPlan, ContextPointer, Run, Session
from efforts.turns import recording
from efforts.turns.recording import STOPPED
from efforts.turns.summaries import summarise_now
from tests.compaction.artifacts import rolled_back_by_its_owner
from tests.efforts.logs import WEBHOOK
from tests.efforts.talk import Talk

from .conftest import HTMX, Scene


@pytest.fixture
def branch(scene: Scene) -> Branch:
    """From turn 1 of two."""
    scene.ask("What is a webhook?", "A call back.")
    scene.ask("And a queue?", "A line.")
    return actions.fork(main_branch(scene.session), after=1, actor=scene.session.owner)


def test_its_page_has_the_shared_turns_and_every_address_on_it_leads_to_it(as_alice: Client, branch: Branch) -> None:
    page = as_alice.get(branch.get_absolute_url()).content.decode()
    assert re.findall(r'id="turn-(\d+)"', page) == ["1"]
    base = f"/s/{branch.session_id}/"
    of_the_session = {"settings", "rename", "archive", "favourite", "delete", "plans", "metrics"}
    of_the_session |= {"export", "instructions", "files"}
    left = {found.split("/")[0] for found in re.findall(rf'(?:href|action|hx-get|data-price)="{base}([^"]+)"', page)}
    assert left <= of_the_session | {"b"}
    assert f'data-chat="{branch.get_absolute_url()}"' in page


def test_the_main_branch_keeps_the_short_addresses(as_alice: Client, branch: Branch) -> None:
    main = main_branch(branch.session)
    assert main.get_absolute_url() == branch.session.get_absolute_url()
    page = as_alice.get(main.get_absolute_url()).content.decode()
    assert re.findall(r'id="turn-(\d+)"', page) == ["1", "2"]
    # But for the list beside it, which leads to the fork: it was begun last.
    assert f"/s/{branch.session_id}/b/" not in page.partition("<main")[2]


def test_what_is_sent_and_changed_there_stays_there(as_alice: Client, branch: Branch) -> None:
    base = branch.get_absolute_url()
    said = {"text": "And a topic?", "client_id": "there"}
    answer = as_alice.post(f"{base}send/", said, headers={"Accept": "text/html"})
    assert answer["Location"] == base
    assert branch.turns.get().number == 2
    as_alice.post(f"{base}efforts/new/", {"name": "queues"})
    assert branch.effort_states.get().effort.slug == "queues"
    assert not main_branch(branch.session).effort_states.exists()


def test_a_turn_that_is_not_in_the_branch_is_not_there(as_alice: Client, branch: Branch) -> None:
    base = branch.get_absolute_url()
    assert as_alice.get(f"{base}turns/1/", headers=HTMX).status_code == 200
    assert as_alice.get(f"{base}turns/2/", headers=HTMX).status_code == 404
    assert as_alice.get(f"{base}turns/2/move/").status_code == 404


@pytest.mark.parametrize("rest", ["", "log/", "context/", "efforts/", "where/", "turns/1/"])
def test_others_find_nothing(as_bob: Client, branch: Branch, rest: str) -> None:
    assert as_bob.get(f"{branch.get_absolute_url()}{rest}").status_code == 404


def test_a_branch_of_another_conversation_is_not_there(as_alice: Client, alice: User, branch: Branch) -> None:
    other: Session = actions.create_session(alice)
    assert as_alice.get(f"{other.get_absolute_url()}b/{branch.pk}/").status_code == 404


# Other words, the same again, a fork


def test_an_edited_message_leads_to_its_sibling(as_alice: Client, branch: Branch) -> None:
    base = branch.session.get_absolute_url()
    form = as_alice.get(f"{base}turns/2/edit/", headers=HTMX).content.decode()
    assert "And a queue?</textarea>" in form
    client_id = re.search(r'name="client_id" value="(\w+)"', form)
    assert client_id
    said = {"text": "And a stack?", "client_id": client_id[1]}
    first, second = (as_alice.post(f"{base}turns/2/edit/", said, headers=HTMX) for _ in range(2))
    sibling = branch.session.branches.get(name="Edited turn 2")
    assert first["HX-Redirect"] == second["HX-Redirect"] == f"{sibling.get_absolute_url()}#turn-2"
    page = as_alice.get(sibling.get_absolute_url()).content.decode()
    assert "And a stack?" in page
    assert "And a queue?" not in page
    assert "2/2" in page
    assert f'rel="prev" id="previous-of-2" href="{base}#turn-2"' in page


def test_the_lists_lead_back_to_the_branch_that_was_used_last(
    as_alice: Client, scene: Scene, address: Callable[..., str]
) -> None:
    scene.ask("What is a queue?", "A row.")
    assert links_to(as_alice) == {address()}
    sent = as_alice.post(address("turns/1/edit/"), {"text": "What is a topic?", "client_id": "edited"}, headers=HTMX)
    edited, _, _ = sent["HX-Redirect"].partition("#")
    assert edited != address()
    assert links_to(as_alice) == {edited}
    actions.send_message(scene.session, text="And a line?", client_id="later", actor=scene.session.owner)
    assert links_to(as_alice) == {address()}


def links_to(client: Client) -> set[str]:
    """In the list beside the pages, and in the search dialog."""
    beside = client.get("/").content.decode()
    found = client.get("/search/box/", headers=HTMX).content.decode()
    return {link for page in (beside, found) for link in re.findall(r'href="(/s/[^"/]+/(?:b/[^"/]+/)?)"', page)}


def test_an_empty_edit_is_refused_with_the_form_and_without_htmx_it_is_a_page(as_alice: Client, branch: Branch) -> None:
    address = f"{branch.session.get_absolute_url()}turns/2/edit/"
    refused = as_alice.post(address, {"text": " ", "client_id": "one"}, headers=HTMX)
    assert refused.status_code == 422
    assert "The message is empty." in refused.content.decode()
    assert "Edit the message of turn 2</h2>" in as_alice.get(address).content.decode()
    sent = as_alice.post(address, {"text": "And a stack?", "client_id": "two"})
    assert sent["Location"].endswith("#turn-2")


def test_asked_again_it_goes_to_the_new_version(as_alice: Client, branch: Branch) -> None:
    address = f"{branch.session.get_absolute_url()}turns/2/again/"
    go = as_alice.post(address, headers={"Accept": "application/json"}).json()["go"]
    sibling = branch.session.branches.get(name="Regenerated turn 2")
    assert go == f"{sibling.get_absolute_url()}#turn-2"
    assert as_alice.post(address, headers={"Accept": "text/html"})["Location"].endswith("#turn-2")
    assert "2/3" in as_alice.get(sibling.get_absolute_url()).content.decode()


def test_a_fork_after_a_reply_is_empty_and_one_before_a_message_has_its_words_in_the_composer(
    as_alice: Client, branch: Branch
) -> None:
    base = branch.session.get_absolute_url()
    after = as_alice.post(f"{base}turns/2/fork/", headers={"Accept": "text/html"})["Location"]
    assert branch.session.branches.get(name="From turn 2").get_absolute_url() == after
    before = as_alice.post(f"{base}turns/2/fork/", {"before": "1"}, headers={"Accept": "text/html"})["Location"]
    page = as_alice.get(before).content.decode()
    assert re.findall(r'id="turn-(\d+)"', page) == ["1"]
    assert "And a queue?</textarea>" in page


def test_the_words_of_somebody_else_s_message_are_not_to_be_had(as_bob: Client, bob: User, branch: Branch) -> None:
    message = branch.session.messages.filter(role="user").first()
    assert message
    theirs = actions.create_session(bob)
    page = as_bob.get(f"{theirs.get_absolute_url()}?words={message.pk}")
    assert message.text not in page.content.decode()


def test_what_has_not_ended_is_refused_on_the_page(as_alice: Client, scene: Scene) -> None:
    scene.say("Hello?")
    refused = as_alice.post(f"{scene.session.get_absolute_url()}turns/1/fork/", headers={"Accept": "text/html"})
    assert refused.status_code == 422
    assert "Turn 1 has not ended." in refused.content.decode()


# Their tree


def test_the_tree_names_each_branch_and_says_which_one_runs(as_alice: Client, branch: Branch) -> None:
    actions.send_message(
        branch.session, text="And a topic?", client_id="there", actor=branch.session.owner, branch=branch
    )
    tree = as_alice.get(f"{branch.session.get_absolute_url()}branches/", headers=HTMX).content.decode()
    for words in ("main</b>", "From turn 1</a>", "after turn 1 · 1 turn</span>", "Waiting", "you are here"):
        assert words in tree, words
    chip = as_alice.get(branch.session.get_absolute_url()).content.decode()
    assert "1 running" in chip
    assert "1 running" not in as_alice.get(branch.get_absolute_url()).content.decode()


def test_there_is_no_chip_where_there_is_one_branch(as_alice: Client, scene: Scene) -> None:
    scene.ask("Hello?", "Yes.")
    assert 'id="branch-chip"' not in as_alice.get(scene.session.get_absolute_url()).content.decode()


def test_a_branch_is_renamed_put_away_and_brought_back(as_alice: Client, branch: Branch) -> None:
    base = branch.get_absolute_url()
    assert as_alice.post(f"{base}branches/rename/", {"name": "The plan"}, headers=HTMX).status_code == 204
    taken = as_alice.post(f"{base}branches/rename/", {"name": "main"}, headers=HTMX)
    assert (taken.status_code, "Another branch has that name." in taken.content.decode()) == (422, True)
    tree = as_alice.post(f"{base}branches/archive/", {"archived": "1"}, headers=HTMX).content.decode()
    assert "1 archived" in tree
    assert "Bring back The plan" in tree
    as_alice.post(f"{base}branches/archive/", {"archived": "0"})
    assert Branch.objects.get(name="The plan").archived_at is None
    main = as_alice.post(f"{branch.session.get_absolute_url()}branches/archive/", {"archived": "1"}, headers=HTMX)
    assert (main.status_code, "The main branch cannot be archived." in main.content.decode()) == (422, True)


# Two side by side


def test_two_branches_stand_side_by_side_from_where_they_part(as_alice: Client, branch: Branch) -> None:
    actions.send_message(
        branch.session, text="And a topic?", client_id="there", actor=branch.session.owner, branch=branch
    )
    address = f"{branch.session.get_absolute_url()}compare/"
    for page in (as_alice.get(address), as_alice.get(f"{address}?b={branch.pk}")):
        html = page.content.decode()
        assert "Turn 1 is the same in both." in html
        assert re.findall(r'aria-label="(Turn \d+ of [^"]+)"', html) == ["Turn 2 of main", "Turn 2 of From turn 1"]
        assert "A call back." not in html
    assert as_alice.get(f"{address}?a={branch.pk}&b={branch.pk}").status_code == 200


def test_beside_the_main_branch_stands_the_newest_where_none_is_named(as_alice: Client, branch: Branch) -> None:
    newest = actions.fork(main_branch(branch.session), after=2, actor=branch.session.owner)
    html = as_alice.get(f"{branch.session.get_absolute_url()}compare/").content.decode()
    right = html.partition('name="b"')[2].partition("</select>")[0]
    assert re.findall(r'value="([^"]+)" selected', right) == [str(newest.pk)]


def test_only_branches_of_the_conversation_are_compared(as_alice: Client, alice: User, branch: Branch) -> None:
    address = f"{actions.create_session(alice).get_absolute_url()}compare/"
    assert as_alice.get(address).status_code == 200
    for named in (branch.pk, "x"):
        assert as_alice.get(f"{address}?a={named}").status_code == 404
        assert as_alice.get(f"{address}?b={named}").status_code == 404


POSTS = ("turns/1/edit/", "turns/1/again/", "turns/1/fork/", "branches/rename/", "branches/archive/")


@pytest.mark.parametrize("rest", [*POSTS, "branches/", "branches/chip/"])
def test_others_can_do_nothing(as_bob: Client, branch: Branch, rest: str) -> None:
    ask = as_bob.post if rest in POSTS else as_bob.get
    assert ask(f"{branch.get_absolute_url()}{rest}").status_code == 404
    assert branch.session.branches.count() == 2


def test_the_first_plan_of_a_fork_follows_the_last_that_it_shares(
    as_alice: Client, branch: Branch, scene: Scene
) -> None:
    shared = ContextPlan.objects.get(run__turn__number=1)
    turn = actions.send_message(
        branch.session, text="And a topic?", client_id="there", actor=branch.session.owner, branch=branch
    )
    lease = scene.start()
    run = Run.objects.select_related("turn__session", "branch").get(pk=lease.run_id)
    recording.record_plan(lease, 1, plan(run_inputs(run)))
    first = ContextPlan.objects.get(run=turn.run_id)
    page = as_alice.get(first.get_absolute_url()).content.decode()
    assert f'rel="prev" href="{shared.get_absolute_url()}"' in page
    assert f'href="{branch.get_absolute_url()}"' in page
    sendings = as_alice.get(f"{branch.get_absolute_url()}turns/1/plans/").content.decode()
    assert first.get_absolute_url() in sendings
    assert (
        first.get_absolute_url()
        not in as_alice.get(f"{branch.session.get_absolute_url()}turns/1/plans/").content.decode()
    )


# What the program noted


def test_a_fork_shows_what_was_noted_before_it_and_takes_none_of_it_back(as_alice: Client, alice: User) -> None:
    talk = Talk(actions.create_session(alice))
    talk.ask("On the bug.", ("open_effort", {"name": "bug"}))
    talk.ask("It is fixed.", ("close_effort", {}))
    talk.summarise("bug", "A null check was missing.")
    talk.ask("On the holidays.", ("open_effort", {"name": "holidays"}))
    other = actions.fork(talk.branch, after=2, actor=alice)
    page = as_alice.get(other.get_absolute_url()).content.decode()
    for words in ("Started effort: bug", "Concluded effort: bug", "Summary: A null check was missing."):
        assert words in page, words
    assert "holidays" not in page
    assert f"{other.get_absolute_url()}efforts/undo/" not in page
    assert (
        f"{talk.session.get_absolute_url()}efforts/undo/"
        in as_alice.get(talk.session.get_absolute_url()).content.decode()
    )


def test_a_new_version_says_at_its_beginning_what_it_takes_back_and_once(as_alice: Client, alice: User) -> None:
    talk = Talk(actions.create_session(alice))
    actions.open_effort(talk.place, "bug")
    for said, reply in WEBHOOK:
        talk.ask(said, reply=reply)
    actions.close_effort(talk.place, "bug")
    summarise_now(talk.state("bug"))
    talk.ask("On the login.", ("open_effort", {"name": "login"}))
    talk.ask("What else?")
    last = len(WEBHOOK) + 2
    actions.close_effort(talk.place, "login")
    rolled_back_by_its_owner(talk.session, ContextPointer.objects.get(effort__slug="bug").artifact)
    again = actions.regenerate(talk.branch, last, actor=alice)
    page = as_alice.get(again.branch.get_absolute_url()).content.decode()
    active = "In this version login is active again: it was concluded later in the other version."
    used = "In this version the excerpts of bug are used: they were rolled back later in the other version."
    for words in (active, used):
        assert page.count(words) == 1, words
        assert page.index(f'id="turn-{last - 1}"') < page.index(words) < page.index(f'id="turn-{last}"')
    assert "In this version" not in as_alice.get(talk.session.get_absolute_url()).content.decode()
    Run.objects.update(state=RunState.COMPLETED)
    later = actions.fork(again.branch, after=last, actor=alice)
    assert "In this version" not in as_alice.get(later.get_absolute_url()).content.decode()


def test_a_rule_names_its_turn_only_where_that_turn_is(as_alice: Client, branch: Branch) -> None:
    main = main_branch(branch.session)
    actions.set_constraint(actions.here(branch.session, actor=branch.session.owner), "And a queue?", turn=2)
    rule = re.compile(r"around=2#turn-2")
    assert rule.search(as_alice.get(main.get_absolute_url()).content.decode())
    page = as_alice.get(branch.get_absolute_url()).content.decode()
    assert "And a queue?" in page
    assert not rule.search(page)


def test_a_turn_that_a_fork_shares_offers_to_ask_again_instead_of_retry(as_alice: Client, scene: Scene) -> None:
    scene.ask("Hello?", "Well", ending=STOPPED)
    base = scene.session.get_absolute_url()
    assert f'action="{base}turns/1/retry/"' in as_alice.get(base).content.decode()
    child = actions.fork(main_branch(scene.session), after=1, actor=scene.session.owner)
    for address in (base, child.get_absolute_url()):
        page = as_alice.get(address).content.decode()
        assert "turns/1/retry/" not in page
        assert "Regenerate in a new branch" in page
    refused = as_alice.post(f"{base}turns/1/retry/", headers={"Accept": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (422, "shared")


def test_a_branch_that_nobody_has_named_is_called_in_the_readers_language(as_alice: Client, branch: Branch) -> None:
    owner = branch.session.owner
    again = actions.fork(branch, after=1, actor=owner)
    edited = actions.edit_turn(main_branch(branch.session), 2, text="And a topic?", client_id="edited", actor=owner)
    named = actions.fork(branch, after=1, actor=owner, name="Edited for Ana")
    german = {"accept-language": "de"}
    tree = as_alice.get(f"{branch.get_absolute_url()}branches/", headers=german).content.decode()
    for name in ("Hauptzweig", "Ab Runde 1", "Ab Runde 1 (2)", "Runde 2 bearbeitet", "Edited for Ana"):
        assert f">{name}<" in tree
    assert (again.name, edited.branch.name, named.label) == ("From turn 1 (2)", "Edited turn 2", "Edited for Ana")
    assert "Ab Runde 1" in as_alice.get(branch.get_absolute_url(), headers=german).content.decode()
    assert ">Edited turn 2<" in as_alice.get(f"{branch.get_absolute_url()}branches/").content.decode()
