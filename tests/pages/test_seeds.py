"""The pages of packages: what they would take, how they come along, and the conversation that starts from one."""

from __future__ import annotations

import re
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.test import Client

from compaction.models import Artifact, Exam, SeedPackage
from compaction.seeds import packages
from efforts import actions
from efforts.context.planning import main_branch
from efforts.context.plans import preview
from efforts.domain.errors import Refused
from efforts.models import ContextPointer, Endpoint, ScopeDraft, Session
from efforts.turns.drafts import claim_from, draft_and_settle
from efforts.turns.scopes import SCOPES
from tests.compaction.review import MODEL, aside, examined, run
from tests.efforts.talk import Talk
from tests.fakes.provider import FakeProvider
from tests.fakes.summariser import Summariser

from .conftest import HTMX

PAGE = "/review/seeds/"
# Of each conversation what its summary says: how it ended, and a decision.
SAID = (
    ("The shop is moved to the new server.", "We decided to move it in one night."),
    ("The orders are exported every hour.", "We decided on one file for each hour."),
    ("Labels are printed by the carrier.", "We decided that the carrier prints the labels."),
)


@pytest.fixture
def talks(alice: User, provider: FakeProvider) -> list[Session]:
    """Three conversations of three turns, with a model that drafts and checks."""
    endpoint = Endpoint.objects.create(owner=alice, name="fake", base_url=provider.url, model=MODEL, timeout_seconds=5)
    examined(alice, provider, passed=True)
    provider.otherwise = model = Summariser()
    for result, decision in SAID:
        model.writes("result", result)
        model.writes("decision", decision)
    return [talk_of(alice, endpoint, *said) for said in SAID]


def talk_of(owner: User, endpoint: Endpoint, *said: str) -> Session:
    session = actions.create_session(owner)
    Session.objects.filter(pk=session.pk).update(endpoint=endpoint)
    talk = Talk(Session.objects.get(pk=session.pk))
    for number, text in enumerate((*said, "Thank you, that is all for today."), start=1):
        talk.ask(f"{text} {aside(2 * number)}", reply=aside(2 * number + 1))
    return talk.session


def drafted(package: SeedPackage) -> SeedPackage:
    """All stages that are due, as a runner drafts them."""
    for job in claim_from([SCOPES], "tests:1:a", 9):
        run(draft_and_settle(job))
    return package


@pytest.fixture
def package(alice: User, talks: list[Session]) -> SeedPackage:
    return drafted(packages.create_package(alice, talks))


def address(package: SeedPackage, rest: str = "") -> str:
    return f"{PAGE}{package.pk}/{rest}"


def test_what_it_takes_is_shown_before_anything_begins(as_alice: Client, alice: User, talks: list[Session]) -> None:
    sessions = talks
    ids = {"session": [str(session.pk) for session in sessions[:2]]}
    shown = as_alice.get(f"{PAGE}new/", ids, headers=HTMX).content.decode()
    assert "<html" not in shown
    for window in packages.offer(alice, sessions[:2]).windows:
        assert f"<td>{window.tokens:,}</td>" in shown
    assert "turns 1-3" in shown
    assert "Make the package" in shown
    assert shown.count('type="hidden"') == 2
    assert not ScopeDraft.objects.exists()
    whole = as_alice.get(f"{PAGE}new/", ids).content.decode()
    assert whole.count(" checked>") == 2


def test_what_is_refused_says_why_and_makes_nothing(as_alice: Client, alice: User) -> None:
    session = Session.objects.create(owner=alice, title="Empty one")
    session.branches.create()
    refused = as_alice.post(f"{PAGE}new/", {"session": [str(session.pk)]})
    assert refused.status_code == 422
    assert packages.NOTHING_SAID in refused.content.decode()
    assert as_alice.post(f"{PAGE}new/", {}).status_code == 422
    assert not SeedPackage.objects.exists()


def test_in_german_nothing_of_a_package_is_english(as_alice: Client, alice: User, talks: list[Session]) -> None:
    german = {"accept-language": "de"}
    ids = {"session": [str(session.pk) for session in talks]}
    assert "Mindestens eine Unterhaltung auswählen." in as_alice.post(f"{PAGE}new/", {}, headers=german).text
    offered = as_alice.get(f"{PAGE}new/", ids, headers=german).text
    assert ("Runden 1-3" in offered, "turns 1-3" in offered) == (True, False)
    assert offered.count(">Öffnen</a>") == 3
    as_alice.post(f"{PAGE}new/", ids, headers=german)
    package = drafted(SeedPackage.objects.get())
    assert package.title == "Aus 3 Unterhaltungen"
    packages.put_together(package, alice)
    assert "Womit die neue Unterhaltung beginnt" in as_alice.get(address(package), headers=german).text


def test_conversations_of_others_cannot_be_chosen(as_bob: Client, talks: list[Session]) -> None:
    ids = [str(session.pk) for session in talks]
    assert as_bob.post(f"{PAGE}new/", {"session": ids}).status_code == 422
    assert not SeedPackage.objects.exists()


def test_from_choice_to_a_conversation_that_starts_from_it(as_alice: Client, alice: User, talks: list[Session]) -> None:
    ids = [str(session.pk) for session in talks]
    made = as_alice.post(f"{PAGE}new/", {"session": ids, "title": "Going on"})
    package = SeedPackage.objects.get()
    assert made.headers["Location"] == address(package)
    waiting = as_alice.get(address(package)).content.decode()
    assert "0 of 3 stages ready" in waiting
    assert 'hx-trigger="every 2s"' in waiting
    drafted(package)
    ready = as_alice.get(address(package)).content.decode()
    assert "3 of 3 stages ready" in ready
    assert "every 2s" not in ready
    for shown in (ready, as_alice.get(PAGE).content.decode()):
        assert ("In the making" in shown, "Ready to put together" in shown) == (False, True)
    assert 'id="package-stop"' in waiting
    assert 'id="package-stop"' not in ready
    assert re.search(r"[\d,]+ tokens used; at most [\d,]+ were expected", ready)
    together = as_alice.post(address(package, "together/"), headers=HTMX).content.decode()
    assert SAID[2][1] in together
    assert "Start a conversation" in together
    # Each stage was judged by its own log.
    assert "Conversations that contradict each other are not noticed, so look for that." in together
    started = as_alice.post(address(package, "start/"))
    session = Session.objects.get(title="Going on")
    assert started.headers["Location"] == session.get_absolute_url()
    assert ContextPointer.objects.filter(branch__session=session, state="active").count() == 1
    assert as_alice.post(address(package, "start/")).headers["Location"] == session.get_absolute_url()
    assert "Started" in as_alice.get(PAGE).content.decode()


def test_a_package_whose_stages_are_not_done_says_so(as_alice: Client, alice: User, talks: list[Session]) -> None:
    package = packages.create_package(alice, talks)
    refused = as_alice.post(address(package, "together/"), headers=HTMX)
    assert refused.status_code == 422
    assert packages.NOT_PASSED in refused.content.decode()
    assert packages.NOT_READY in as_alice.post(address(package, "start/")).content.decode()


def test_a_stopped_stage_can_be_drafted_again(as_alice: Client, alice: User, talks: list[Session]) -> None:
    package = packages.create_package(alice, talks)
    ScopeDraft.objects.filter(stage__place=2).update(state="failed", why="Gate C: a decision is missing.")
    page = as_alice.get(address(package)).content.decode()
    assert "Gate C: a decision is missing." in page
    as_alice.post(address(package, "stages/2/redraft/"), headers=HTMX)
    assert ScopeDraft.objects.get(stage__place=2).state == "due"
    assert as_alice.post(address(package, "stages/9/redraft/")).status_code == 404


def test_stopped_it_stays_as_it_is(as_alice: Client, alice: User, talks: list[Session]) -> None:
    package = packages.create_package(alice, talks)
    stopped = as_alice.post(address(package, "stop/"), headers=HTMX).content.decode()
    assert "Stopped" in stopped
    again = re.search(r'id="package-anew" href="([^"]+)"', stopped)
    assert again
    assert as_alice.get(unescape(again[1])).content.decode().count(" checked>") == 3
    assert as_alice.post(address(package, "stop/")).status_code == 422


def test_packages_of_others_do_not_exist(as_bob: Client, package: SeedPackage) -> None:
    assert as_bob.get(address(package)).status_code == 404
    for verb in ("together/", "stop/", "start/", "stages/1/redraft/"):
        assert as_bob.post(address(package, verb)).status_code == 404
    assert package.title not in as_bob.get(PAGE).content.decode()


def test_the_review_page_of_a_seed_opens(as_alice: Client, package: SeedPackage, alice: User) -> None:
    artifact = packages.put_together(package, alice)
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    assert SAID[2][1] in page


def test_who_has_checked_the_stages_has_checked_what_they_are_put_together_to(
    as_alice: Client, package: SeedPackage, alice: User
) -> None:
    artifact = packages.put_together(package, alice)
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    assert "not read" not in page
    assert f'data-to-checks dir="auto">{MODEL}, which also wrote it' in page
    session = packages.start_conversation(package, alice)
    notice = as_alice.get(f"/s/{session.pk}/").content.decode()
    assert f"Checked by {MODEL}, which wrote it." in notice
    assert "Nobody has checked it." not in notice


def test_what_a_package_is_made_of_is_used_on_the_page_of_the_package_and_nowhere_else(
    as_alice: Client, package: SeedPackage, alice: User
) -> None:
    stage = packages.standing_for(packages.stages_of(package)[0].draft)
    assert stage is not None
    page = as_alice.get(stage.get_absolute_url()).content.decode()
    assert "It is one part of what a new conversation starts from, and is used there alone." in page
    assert "Accept it, and the model" not in page
    assert "to settle first" not in page
    assert f'id="accept" href="{address(package)}"' in page

    seed = packages.put_together(package, alice)
    page = as_alice.get(seed.get_absolute_url()).content.decode()
    assert '<h1 dir="auto">What this conversation starts from</h1>' in page
    assert "Start the conversation on the page of its package, and every prompt there has this text." in page
    assert "It comes into the prompt once the conversation is started." in page
    assert "the model sees the log of" not in page
    # It is put together again instead.
    assert 'id="ask-new"' not in page
    assert f'id="accept" href="{address(package)}"' in page

    packages.start_conversation(package, alice)
    page = as_alice.get(seed.get_absolute_url()).content.decode()
    assert "Every prompt of this conversation has this text. “Roll back” takes it out from the next call on." in page
    assert "instead of what this conversation starts from" not in page
    assert 'id="rollback"' in page


def test_its_log_says_of_which_conversation_each_turn_is(
    as_alice: Client, package: SeedPackage, alice: User, talks: list[Session]
) -> None:
    Session.objects.filter(pk=talks[1].pk).update(title="Exported orders")
    artifact = packages.put_together(package, alice)
    page = as_alice.get(artifact.get_absolute_url()).content.decode()
    # Said in the second turn, whose message is the third.
    cite = re.search(r">(\d:\d+\.\d+)<", page[page.index(SAID[1][1]) :])
    assert cite
    assert cite[1] == "2:2.1"
    assert "are the conversation, the turn and the sentence" in page
    log = page[page.index('id="source-log"') :]
    (heading,) = re.findall(r"<h3[^>]*>(?:(?!</h3>).)*Exported orders.*?</h3>", log, re.DOTALL)
    assert f'href="{talks[1].get_absolute_url()}"' in heading
    assert log.count("<h3") == 3
    assert f'href="{main_branch(talks[1]).address_of_turn(2)}"' in log
    assert f'href="{main_branch(artifact.session).address_of_turn(2)}"' not in log


def test_what_a_conversation_starts_from_is_called_so_wherever_it_is_named(
    as_alice: Client, package: SeedPackage, alice: User
) -> None:
    packages.put_together(package, alice)
    session = packages.start_conversation(package, alice)
    chat = f"/s/{session.pk}/"
    notice = as_alice.get(chat).content.decode()
    assert "The summary in the prompt is what this conversation starts from." in notice
    panel = as_alice.get(f"{chat}efforts/", headers=HTMX).content.decode()
    assert "What this conversation starts from" in panel
    items = {item.title: item.reason for item in preview(main_branch(session)).included}
    assert items["What this conversation starts from"].startswith("What this conversation starts from")
    for text in (notice, panel, *items):
        assert not re.search("chosen turns|turns? (0|None)", text, re.IGNORECASE)
    ContextPointer.objects.update(shortened_clock=0)
    assert "expand-summary" in as_alice.get(f"{chat}efforts/seed/price/", headers=HTMX).content.decode()
    as_alice.post(f"{chat}efforts/seed/expand-summary/")
    assert ContextPointer.objects.get().shortened_clock is None
    with pytest.raises(Refused, match="has no turns here"):
        actions.expand_effort(actions.here(session, actor=alice), "seed")


def test_a_stage_that_nobody_has_checked_says_so_and_keeps_the_package_from_starting(
    as_alice: Client, alice: User, talks: list[Session]
) -> None:
    Exam.objects.update(passed=False)
    package = drafted(packages.create_package(alice, talks))
    page = as_alice.get(address(package)).content.decode()
    assert "0 of 3 stages ready" in page
    assert page.count("Not checked</span>") == 3
    assert "Needs you" in page
    assert 'id="redraft-1"' in page
    assert as_alice.post(address(package, "together/"), headers=HTMX).status_code == 422
    stage = packages.standing_for(packages.stages_of(package)[0].draft)
    assert stage is not None
    said = as_alice.get(stage.get_absolute_url()).content.decode()
    assert "unchecked" not in said
    assert "Choose another checker, then make it again on the page of its package." in said


def test_a_stage_of_which_only_excerpts_were_made_says_so(as_alice: Client, alice: User, talks: list[Session]) -> None:
    Session.objects.update(endpoint=None)
    package = drafted(packages.create_package(alice, Session.objects.filter(owner=alice)[:1]))
    page = as_alice.get(address(package)).content.decode()
    assert "0 of 1 stage ready" in page
    assert "Excerpts, no summary" in page
    assert "No model is set up to write summaries." in page
    assert "Draft this stage again." in page


def test_what_came_out_as_excerpts_can_be_left_out_of_a_new_package(as_alice: Client, package: SeedPackage) -> None:
    stage = packages.stages_of(package)[0]
    left_out, artifact = stage.draft.branch.session, packages.standing_for(stage.draft)
    assert artifact is not None
    Artifact.objects.filter(pk=artifact.pk).update(kind="digest", state="advisory")
    page = as_alice.get(address(package)).content.decode()
    link = page.partition('Draft this stage again, or <a href="')[2].partition('"')[0]
    offered = as_alice.get(link.replace("&amp;", "&")).content.decode()
    assert f'value="{left_out.pk}" id="session-{left_out.pk}">' in offered
    others = {row.draft.branch.session_id for row in packages.stages_of(package)} - {left_out.pk}
    assert others
    assert all(f'value="{pk}" id="session-{pk}" checked>' in offered for pk in others)


def test_a_stage_of_an_earlier_form_is_to_be_drafted_again(as_alice: Client, package: SeedPackage) -> None:
    Artifact.objects.filter(kind="stage").update(schema_version="compaction.v1")
    page = as_alice.get(address(package)).content.decode()
    assert page.count("Made in an earlier form") == 3
    assert 'id="redraft-3"' in page


def test_copies_of_one_title_are_told_apart_by_turns_time_and_first_words(
    as_alice: Client, talks: list[Session]
) -> None:
    Session.objects.filter(pk__in=[talks[0].pk, talks[1].pk]).update(title="Orders")
    Session.objects.filter(pk=talks[2].pk).update(title="Labels")
    shown = unescape(as_alice.get(f"{PAGE}new/").content.decode())
    assert shown.count("3 turns · last used 20") == 3
    assert f"“{SAID[0][0]}" in shown
    assert f"“{SAID[1][0]}" in shown
    assert SAID[2][0] not in shown
