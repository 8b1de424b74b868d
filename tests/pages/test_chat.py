"""The page of one conversation and the parts it is read again by."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from efforts import actions
from efforts.domain.effort.states import RunState
from efforts.llm.protocol import ReportedUsage
from efforts.models import ContextPlan, Endpoint, Message, Run, Session, Turn
from efforts.turns.recording import STOPPED, Delta, Ending, write_deltas

from .conftest import HTMX, Scene

Address = Callable[..., str]
FAILED = Ending(state=RunState.FAILED, code="timeout", text="The model sent nothing for 5 seconds.")
TOO_LARGE = Ending(state=RunState.FAILED, code="over_budget", text="It does not fit.", needed=20_000)
JSON = {"Accept": "application/json"}
NASTY = "<script>alert(1)</script><img src=x onerror=alert(2)>"


def test_it_shows_what_was_said_and_answered(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("What is **bold**?", "This is **bold**.")
    page = as_alice.get(address()).content.decode()
    assert "What is **bold**?" in page
    assert "This is <strong>bold</strong>." in page


def test_a_stranger_finds_nothing(as_bob: Client, scene: Scene, address: Address) -> None:
    turn = scene.ask("Mine", "Yours")
    plan = ContextPlan.objects.get(run=turn.run_id)
    for rest in ("", "log/", "turns/1/", "context/", "settings/", "rename/", "delete/", f"plans/{plan.pk}/"):
        assert as_bob.get(address(rest)).status_code == 404, rest
    for rest in (
        "send/",
        "price/",
        "budget/",
        "context-mode/",
        "archive/",
        "turns/1/retry/",
        "turns/1/cancel/",
        f"runs/{turn.run_id}/stop/",
    ):
        assert as_bob.post(address(rest), {"text": "x", "client_id": "x"}).status_code == 404, rest


def test_who_is_not_signed_in_is_asked_to(anyone: Client, session: Session, address: Address) -> None:
    assert anyone.get(address()).headers["Location"].startswith("/sign-in/")


@pytest.mark.parametrize("rest", ["send/", "price/", "context-mode/", "archive/", "turns/1/retry/", "turns/1/cancel/"])
def test_changes_are_made_by_post_alone(rest: str, as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("Hello")
    assert as_alice.get(address(rest)).status_code == 405


@pytest.mark.parametrize("rest", ["", "log/", "turns/1/", "context/"])
def test_what_is_read_is_not_posted_to(rest: str, as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("Hello")
    assert as_alice.post(address(rest)).status_code == 405


def test_script_in_messages_and_titles_is_inert(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask(NASTY, NASTY)
    for headers in ({}, HTMX):
        page = as_alice.get(address("log/"), headers=headers).content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page


def test_parts_say_that_they_depend_on_who_asks(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("Hello")
    for rest in ("log/", "context/"):
        whole, part = as_alice.get(address(rest)), as_alice.get(address(rest), headers=HTMX)
        assert "<html" in whole.content.decode()
        assert "<html" not in part.content.decode()
        assert "HX-Request" in part.headers["Vary"]


def test_a_turn_by_itself_is_the_turn_of_the_page(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi")
    part = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert part.strip().startswith("<article")
    assert 'data-state="completed"' in part
    assert as_alice.get(address("turns/1/")).headers["Location"].endswith("#turn-1")
    assert as_alice.get(address("turns/2/"), headers=HTMX).status_code == 404


def test_the_log_says_which_event_it_includes(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi")
    scene.session.refresh_from_db()
    page = as_alice.get(address("log/"), headers=HTMX).content.decode()
    assert f'data-seq="{scene.session.event_seq}" data-title="{scene.session.title}"' in page


def test_what_happened_to_efforts_is_read_once_for_all_places_of_the_log(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    actions.open_effort(actions.here(scene.session, actor=scene.session.owner), "Before the first word")
    scene.ask("Begin.", "Begun.")
    actions.open_effort(actions.here(scene.session, actor=scene.session.owner), "After it")
    with CaptureQueriesContext(connection) as asked:
        page = as_alice.get(address()).content.decode()
    assert "Before the first word" in page
    assert "After it" in page
    by_turn = [query["sql"] for query in asked.captured_queries if re.search(r"data.*turn.*IN", query["sql"])]
    assert sum('FROM "efforts_event"' in sql for sql in by_turn) == 1


def test_earlier_turns_come_when_asked_for(as_alice: Client, scene: Scene, address: Address) -> None:
    asked = {}
    for number in range(1, 43):
        scene.ask(f"Message number {number}.", "Noted.")
        if number in (21, 42):
            with CaptureQueriesContext(connection) as queries:
                as_alice.get(address())
            asked[number] = len(queries)
    # However long it is, one page of it is read.
    assert asked[42] <= asked[21] + 1
    newest = as_alice.get(address("log/"), headers=HTMX).content.decode()
    assert "Message number 2." not in newest
    assert "log/?before=3" in newest
    earlier = as_alice.get(address("log/?before=3"), headers=HTMX).content.decode()
    assert "Message number 2." in earlier
    assert re.search(r'id="earlier"[^>]* hidden>', earlier)
    assert 'id="later"' not in earlier
    assert "Message number 1." in as_alice.get(address("log/?before=3")).content.decode()


def test_the_log_is_read_on_in_both_directions_from_any_turn(as_alice: Client, scene: Scene, address: Address) -> None:
    for number in range(1, 103):
        scene.say(f"Message number {number}.")

    def shown(where: str, **more: Any) -> tuple[list[int], list[str]]:
        page = as_alice.get(address(f"log/{where}"), **more).content.decode()
        return [int(number) for number in re.findall(r'id="turn-(\d+)"', page)], re.findall(
            r'id="(?:earlier|later)" href="[^"]*(\?[^"]*)"[^>]*drop">', page
        )

    assert shown("?around=50") == (list(range(31, 71)), ["?before=31", "?after=70"])
    assert shown("?around=50", headers=HTMX)[0] == list(range(31, 71))
    assert shown("?before=31", headers=HTMX) == (list(range(1, 31)), [])
    assert shown("?after=70", headers=HTMX) == (list(range(71, 103)), [])
    assert shown("?around=101") == (list(range(82, 103)), ["?before=82"])
    # A conversation opens with more than a screen; what is read again is as much as one may have loaded.
    assert shown("", headers=HTMX) == (list(range(63, 103)), ["?before=63"])
    opened = as_alice.get(address()).content.decode()
    assert re.findall(r'id="turn-(\d+)"', opened) == [str(number) for number in range(91, 103)]
    assert "log/?before=91" in opened


@pytest.mark.parametrize("before", ["0", "-1", "x", "99999999999999999999", "9" * 5_000])
def test_a_number_that_is_none_finds_nothing(before: str, as_alice: Client, session: Session, address: Address) -> None:
    assert as_alice.get(address(f"log/?before={before}")).status_code == 404


def test_text_that_streams_is_there_with_its_length_in_code_points(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.say("Hello")
    lease = scene.start()
    write_deltas([Delta(lease=lease, call=1, offset=0, text="Grüße 🌍")])
    part = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert 'data-call="1"' in part
    assert 'data-length="7"' in part
    assert ">Grüße 🌍</div>" in part


def test_the_next_call_is_the_one_after_those_that_stand(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.say("Hello")
    scene.start()
    assert 'data-call="1"' in as_alice.get(address("turns/1/"), headers=HTMX).content.decode()


def test_a_stopped_turn_keeps_its_text_and_offers_retry(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Half a rep", STOPPED)
    page = as_alice.get(address()).content.decode()
    assert "Half a rep" in page
    assert "Stopped" in page
    assert address("turns/1/retry/") in page


def test_a_failed_turn_says_why(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "", FAILED)
    page = as_alice.get(address()).content.decode()
    assert "The model sent nothing for 5 seconds." in page
    assert "Retry" in page


@pytest.mark.parametrize(("code", "offered"), [("unreachable", True), ("unauthorised", True), ("timeout", False)])
def test_a_turn_that_failed_by_its_connection_leads_to_it(
    code: str, offered: bool, as_alice: Client, alice: User, scene: Scene, address: Address
) -> None:
    scene.ask("Hello", "", Ending(state=RunState.FAILED, code=code, text="No model answers."))
    # Whoever runs this installation has set what answers: nobody else can edit it.
    assert "Edit the connection" not in as_alice.get(address()).content.decode()
    own = Endpoint.objects.create(owner=alice, name="Lab", base_url="http://127.0.0.1:9/v1", model="nova-2")
    Session.objects.filter(pk=scene.session.pk).update(endpoint=own)
    page = as_alice.get(address()).content.decode()
    assert (f'href="/settings/endpoints/{own.pk}/">Edit the connection</a>' in page) is offered


def test_a_cancelled_message_can_be_put_back(as_alice: Client, scene: Scene, address: Address) -> None:
    turn = scene.say("Never mind")
    assert as_alice.post(address(f"turns/{turn.number}/cancel/")).json() == {"turn": 1}
    page = as_alice.get(address()).content.decode()
    assert "Not sent: Never mind" in page
    assert "data-put-back" in page


def test_a_message_is_sent_once_whatever_the_browser_does(as_alice: Client, session: Session, address: Address) -> None:
    message = {"client_id": "abc", "text": "Hello"}
    first = as_alice.post(address("send/"), json.dumps(message), content_type="application/json")
    again = as_alice.post(address("send/"), message)
    assert first.json() == again.json()
    assert first.json()["turn"] == 1
    assert Turn.objects.filter(session=session).count() == 1


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ({"client_id": "a", "text": "  "}, "empty"),
        ({"client_id": "a", "text": "nul \x00"}, "nul"),
        ({"client_id": "", "text": "Hello"}, "bad_client_id"),
        ({"client_id": "a", "text": 7}, "bad_request"),
        ({"client_id": "a", "text": "\ud800"}, "not_text"),
        ([], "bad_request"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_words(
    message: object, code: str, as_alice: Client, session: Session, address: Address
) -> None:
    answer = as_alice.post(address("send/"), json.dumps(message), content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["code"] == code
    assert answer.json()["text"].endswith(".")
    assert not Turn.objects.filter(session=session).exists()


def test_a_script_is_refused_in_the_readers_language_too(as_alice: Client, address: Address) -> None:
    answer = as_alice.post(
        address("send/"),
        json.dumps({"text": "/swich x", "client_id": "a"}),
        content_type="application/json",
        headers={"accept-language": "de"},
    )
    assert answer.json()["text"].startswith("Einen Befehl /swich gibt es nicht.")


def test_what_is_not_json_is_refused(as_alice: Client, session: Session, address: Address) -> None:
    answer = as_alice.post(address("send/"), "{", content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_request")


def test_a_plain_form_comes_back_to_the_page(as_alice: Client, session: Session, address: Address) -> None:
    browser = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    answer = as_alice.post(address("send/"), {"client_id": "a", "text": "Hello"}, headers=browser)
    assert answer.headers["Location"] == address()
    refused = as_alice.post(address("send/"), {"client_id": "", "text": "Keep me"}, headers=browser)
    assert refused.status_code == 422
    assert "Keep me</textarea>" in refused.content.decode()


def test_stopping_what_waits_cancels_it(as_alice: Client, scene: Scene, address: Address) -> None:
    turn = scene.say("Hello")
    answer = as_alice.post(address(f"runs/{turn.run_id}/stop/"))
    assert answer.json()["state"] == "cancelled"
    assert as_alice.post(address(f"runs/{uuid4()}/stop/")).status_code == 404


def test_what_is_over_cannot_be_cancelled_or_retried(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi")
    for verb in ("cancel", "retry"):
        answer = as_alice.post(address(f"turns/1/{verb}/"))
        assert answer.status_code == 409, verb
    assert as_alice.post(address("turns/9/retry/")).status_code == 404


def test_a_failed_turn_is_tried_again(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "", FAILED)
    assert as_alice.post(address("turns/1/retry/")).json()["state"] == "queued"


def test_a_message_that_does_not_fit_offers_the_larger_budget(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "", TOO_LARGE)
    assert "Raise the budget to 20,000" in as_alice.get(address()).content.decode()
    as_alice.post(address("turns/1/retry/"), {"fix": "0"})
    scene.session.refresh_from_db()
    assert scene.session.budget == 20_000


def test_a_failed_turn_offers_no_budget_that_the_window_does_not_permit(
    as_alice: Client, scene: Scene, alice: User, address: Address
) -> None:
    small = Endpoint.objects.create(owner=alice, name="small", base_url="http://x.test/v1", context_window=20_000)
    Session.objects.filter(pk=scene.session.pk).update(endpoint=small)
    scene.ask("Hello", "", TOO_LARGE)
    page = as_alice.get(address("turns/1/"), headers=HTMX).content.decode()
    assert "Raise the budget" not in page
    assert "Send only the beginning and end" in page


def test_a_fix_that_is_not_offered_is_refused(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "", FAILED)
    assert as_alice.post(address("turns/1/retry/"), {"fix": "0"}).status_code == 422


def test_what_is_being_written_stands_in_meter_panel_and_price_and_nowhere_else(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    scene.ask("Hello", "Hi")
    before = rows()
    shown = as_alice.post(address("price/"), {"text": "Hello there"}, headers=HTMX).content.decode()
    empty = as_alice.post(address("price/"), {"text": " "}, headers=HTMX).content.decode()
    assert "~2 tokens" in shown
    assert "~0 tokens" not in empty
    one = as_alice.post(address("price/"), {"text": "Hello"}, headers=HTMX).content.decode()
    assert ">~1 token<" in one
    assert priced(shown) == priced(empty) + 2
    assert "does not fit" not in shown
    assert rows() == before


def rows() -> list[int]:
    return [model._default_manager.count() for model in apps.get_models()]


def priced(answer: str) -> int:
    """What this turn has in the meter."""
    [tokens] = re.findall(r'aria-label="This turn: ([\d,]+) tokens"', answer)
    return int(tokens.replace(",", ""))


def test_what_does_not_fit_is_met_before_it_is_sent_with_the_ways_out(as_alice: Client, address: Address) -> None:
    shown = as_alice.post(address("price/"), {"text": "word " * 20_000}, headers=HTMX).content.decode()
    assert "over the budget" in shown
    fit = shown.partition('id="fit"')[2]
    assert re.search(r"needs 2\d,\d\d\d tokens \(.*your message 20,\d\d\d.*\); the budget is 16,000", fit)
    assert re.search(r'name="budget" value="2\d000">Raise the budget to 2\d,000<', fit)
    assert 'form="composer" name="cut" value="1">Send only the beginning and end<' in fit


def test_where_the_models_window_is_smaller_than_the_setting_the_budget_is_what_it_leaves(
    as_alice: Client, session: Session, alice: User, address: Address
) -> None:
    page = as_alice.get(address()).content.decode()
    assert ("<span>16,000</span></a>" in page, "leaves room for" in page) == (True, False)
    small = Endpoint.objects.create(owner=alice, name="small", base_url="http://x.test/v1", context_window=8_192)
    Session.objects.filter(pk=session.pk).update(endpoint=small)
    page = as_alice.get(address()).content.decode()
    # On the chip and in the panel alike.
    assert "<span>5,888</span></a>" in page
    assert "It is set to 16,000, but the model’s context window leaves room for 5,888." in page


def test_a_budget_is_offered_only_where_the_models_window_permits(
    as_alice: Client, session: Session, alice: User, address: Address
) -> None:
    small = Endpoint.objects.create(owner=alice, name="small", base_url="http://x.test/v1", context_window=20_000)
    Session.objects.filter(pk=session.pk).update(endpoint=small)
    fit = as_alice.post(address("price/"), {"text": "word " * 20_000}, headers=HTMX).content.decode()
    assert "The model has no room for a larger one." in fit
    assert "Raise the budget" not in fit
    assert "Send only the beginning and end" in fit
    nearly = as_alice.post(address("price/"), {"text": "word " * 15_500}, headers=HTMX).content.decode()
    assert "Raise the budget to 17,696" in nearly, "the window less reply and safety"


def test_the_budget_is_raised_and_nothing_else_changes(as_alice: Client, session: Session, address: Address) -> None:
    Session.objects.filter(pk=session.pk).update(ambient_window=7, quiet_notices=True)
    as_alice.post(address("budget/"), {"budget": "24000"}, headers=JSON)
    session.refresh_from_db()
    assert (session.budget, session.ambient_window, session.quiet_notices) == (24_000, 7, True)
    for wrong in ("12", "much", ""):
        assert as_alice.post(address("budget/"), {"budget": wrong}, headers=JSON).status_code == 422
    session.refresh_from_db()
    assert session.budget == 24_000


def test_beginning_and_end_are_sent_of_a_message_that_is_kept_whole(
    as_alice: Client, scene: Scene, session: Session, address: Address
) -> None:
    text = "word " * 20_000
    as_alice.post(address("send/"), {"text": text, "client_id": "long", "cut": "1"}, headers=JSON)
    lease = scene.start()
    scene.plan(lease, Run.objects.select_related("turn__session", "branch").get())
    stored = ContextPlan.objects.get()
    assert stored.tokens <= stored.budget
    assert "current_message_cut" in {item["reason"] for item in stored.body["items"]}
    assert Message.objects.get().text == text


def test_the_meter_and_the_lists_show_the_next_call(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi")
    part = as_alice.get(address("context/"), headers=HTMX).content.decode()
    assert "of 16,000 tokens" in part
    assert 'hx-swap-oob="innerHTML"' in part
    assert 'class="layer-ambient"' in part
    assert "style=" not in part


@pytest.mark.parametrize(
    ("words", "said"), [(9_000, ""), (11_500, "Filling up"), (13_500, "Nearly full"), (20_000, "Too long")]
)
def test_the_meter_says_in_words_that_the_prompt_fills_up(
    as_alice: Client, address: Address, words: int, said: str
) -> None:
    shown = as_alice.post(address("price/"), {"text": "word " * words}, headers=HTMX).content.decode()
    meter = shown.partition('class="meter-text')[2].partition("</form>")[0]
    assert [one for one in ("Filling up", "Nearly full", "Too long") if one in meter] == ([said] if said else [])


def test_of_a_turn_its_model_tokens_time_and_plan_are_told(as_alice: Client, scene: Scene, address: Address) -> None:
    turn = scene.ask("Hello", "Hi", usage=ReportedUsage(prompt_tokens=1_234, completion_tokens=56, cached_tokens=1_024))
    plan = ContextPlan.objects.get(run=turn.run_id)
    facts = as_alice.get(address("turns/1/"), headers=HTMX).content.decode().partition('id="facts-1"')[2]
    assert "1,234 in" in facts
    assert "1,234 tokens in, 1,024 of them cached, 56 out" in facts
    assert f"{plan.tokens:,} tokens in" in facts
    assert "Built-in engine" in facts
    assert f'<time datetime="{turn.created_at.isoformat()[:16]}' in facts
    assert address(f"plans/{plan.pk}/") in facts


def test_where_the_prompt_begins_there_is_a_line(as_alice: Client, scene: Scene, address: Address) -> None:
    Session.objects.filter(pk=scene.session.pk).update(ambient_window=1)
    for number in range(4):
        scene.ask(f"Message {number}", "Noted.")
    log = as_alice.get(address("log/"), headers=HTMX).content.decode()
    assert log.index("Message 0") < log.index("Turns above this line are not sent in full") < log.index("Message 3")


def test_the_line_stands_above_what_was_left_out_right_before_the_first_turn_that_is_sent(
    as_alice: Client, scene: Scene, address: Address
) -> None:
    """What was left out says so itself: no search finds it."""
    Session.objects.filter(pk=scene.session.pk).update(ambient_window=1)
    for number in range(1, 6):
        scene.ask(f"Message {number}", "Noted.")

    def begins() -> str:
        [begin] = re.findall(r'data-window="(\d*)"', as_alice.get(address("log/"), headers=HTMX).content.decode())
        return str(begin)

    def leave_out(number: int) -> None:
        as_alice.post(address(f"turns/{number}/leave-out/"))

    assert begins() == "5"
    leave_out(2)
    assert begins() == "5", "two turns lie between"
    leave_out(4)
    assert begins() == "4"
    leave_out(3)
    assert begins() == "2", "all that was left out, in one piece"


def test_where_all_was_left_out_the_conversation_has_no_line(as_alice: Client, scene: Scene, address: Address) -> None:
    scene.ask("Hello", "Hi.")
    as_alice.post(address("turns/1/leave-out/"))
    page = as_alice.get(address()).content.decode()
    assert 'data-window=""' in page
    assert '<div hidden><div class="rule" id="window"' in page


def test_a_message_is_left_out_of_prompts_and_put_back_at_its_menu(
    as_alice: Client, scene: Scene, address: Callable[..., str]
) -> None:
    scene.ask("Hello", "Hi.")
    scene.ask("And now?", "Now.")
    turn = address("turns/1/")
    assert "Leave out of prompts" in as_alice.get(turn, headers=HTMX).content.decode()
    as_alice.post(address("turns/1/leave-out/"))
    page = as_alice.get(turn, headers=HTMX).content.decode()
    assert "Left out of prompts</span>" in page
    # No search finds it, so nothing says that one would.
    assert '<div hidden><div class="rule" id="window"' in as_alice.get(address()).content.decode()
    assert "Put back into prompts" in page
    as_alice.post(address("turns/1/leave-out/"), {"back": "1"})
    assert "Left out of prompts</span>" not in as_alice.get(turn, headers=HTMX).content.decode()
