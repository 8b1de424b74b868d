"""A reply says where it has something from, and the page leads there."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client

from efforts import actions
from efforts.context.planning import main_branch
from efforts.turns.recording import Delta, write_deltas

from .conftest import HTMX, Scene

Address = Callable[..., str]
LINK = re.compile(r'<a href="([^"]*)" class="cite"[^>]*>([^<]*)</a>')


def test_citations_of_turns_and_efforts_that_are_there_are_links(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    actions.open_effort(actions.here(scene.session, actor=scene.session.owner), "Auth bug")
    scene.ask("The token expires after 15 minutes.", "Noted.")
    scene.ask("When?", "After 15 minutes [auth-bug, turn 1], as you said [Turn 1]. Not [other, turn 1], not [turn 9].")
    expected = [(address("log/?around=1#turn-1"), "[Auth bug, turn 1]"), (address("log/?around=1#turn-1"), "[Turn 1]")]
    for page in (as_alice.get(address()), as_alice.get(address("turns/2/"), headers=HTMX)):
        assert LINK.findall(page.content.decode()) == expected


def test_an_effort_is_called_by_the_name_that_it_has_now(as_alice: Client, scene: Scene, address: Address) -> None:
    here = actions.here(scene.session, actor=scene.session.owner)
    actions.open_effort(here, "Auth bug")
    scene.ask("Hello", "See [AUTH-BUG, turns 1-1].")
    actions.rename_effort(here, "auth-bug", "**A** [x](http://y.example) <b>")
    page = as_alice.get(address()).content.decode()
    shown = "[**A** [x](http://y.example) &lt;b&gt;, turns 1-1]"
    assert LINK.findall(page) == [(address("log/?around=1#turn-1"), shown)]


def test_where_it_leads_the_turn_stands(as_alice: Client, scene: Scene, address: Address) -> None:
    for number in range(1, 44):
        scene.ask(f"Message {number}", "See [turn 1]." if number == 43 else "")
    page = as_alice.get(address()).content.decode()
    assert 'id="turn-1"' not in page
    [(leads_to, _)] = LINK.findall(page)
    assert 'id="turn-1"' in as_alice.get(leads_to).content.decode()


def test_a_turn_that_came_later_is_never_cited(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("When?", "See [turn 2] and [turn 0].")
    scene.ask("And now?", "Still.")
    assert not LINK.findall(as_alice.get(address()).content.decode())


def test_each_branch_leads_to_its_own_turns(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("First", "One.")
    scene.ask("Second", "See [turn 1].")
    branch = actions.fork(main_branch(scene.session), after=2, actor=scene.session.owner)
    page = as_alice.get(branch.get_absolute_url()).content.decode()
    assert [leads_to for leads_to, _ in LINK.findall(page)] == [branch.address_of_turn(1)]
    assert str(branch.pk) in branch.address_of_turn(1)


def test_what_the_person_writes_is_no_citation(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("I mean [turn 1].", "`[turn 1]` is how turns are cited.")
    assert not LINK.findall(as_alice.get(address()).content.decode())


def test_what_streams_is_shown_as_it_is(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("Hello")
    lease = scene.start()
    write_deltas([Delta(lease=lease, call=1, offset=0, text="<b>[turn 1]</b>")])
    page = as_alice.get(address()).content.decode()
    assert "&lt;b&gt;[turn 1]&lt;/b&gt;" in page
    assert not LINK.findall(page)
