"""What a model gets from the tools of efforts: results that say what is now, errors that say what to do."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.utils import timezone

from efforts import actions
from efforts.context.planning import run_inputs
from efforts.domain.errors import Refused
from efforts.domain.prompt.conversation import ToolCall
from efforts.domain.prompt.planner import plan
from efforts.domain.text.canonical import canonical_json
from efforts.models import ContextPlan, EffortState, Event, Message, Run, Session
from efforts.models.threads import read, write
from efforts.standins.compacting import Summary
from efforts.turns import recording
from efforts.turns.recording import LeaseLost
from efforts.turns.runner import Runner
from tests.efforts.port import Scripted
from tests.efforts.talk import Talk
from tests.fakes.provider import Call, FakeProvider, Reply
from tests.turns.conftest import Stage

OTHER_EFFORTS = [
    ("client A onboarding", "client B onboarding"),
    ("invoice 2024-05", "invoice 2024-06"),
    ("weekly report 41", "weekly report 42"),
    ("release 1.4.1", "release 1.4.2"),
    ("release 1.4.1", "release 14.1"),
    ("flight to Austria", "flight to Australia"),
    ("Müller contract", "Möller contract"),
    ("C build", "C++ build"),
    ("budget 2025", "budget 2025s"),
    ("a" * 90 + " one", "a" * 90 + " two"),
]


def one(talk: Talk, tool: str, text: str = "Go on.", /, **arguments: Any) -> Any:
    [result] = talk.ask(text, (tool, arguments))
    return result


def calling(tool: str, /, **arguments: Any) -> Call:
    return Call(tool, json.dumps(arguments))


# What they say


def test_opening_and_concluding(talk: Talk) -> None:
    assert one(talk, "open_effort", name="Payment webhook") == {"opened": "payment-webhook", "name": "Payment webhook"}
    assert one(talk, "open_effort", name="Vacation") == {"opened": "vacation", "name": "Vacation"}
    assert one(talk, "close_effort") == {
        "concluded": "vacation",
        "active": "payment-webhook",
        "summary": "waits for the user",
    }
    assert one(talk, "close_effort", id="payment-webhook")["active"] is None


def test_what_the_model_does_is_on_record_as_the_model_s(talk: Talk) -> None:
    one(talk, "open_effort", name="Bug")
    one(talk, "close_effort")
    assert [(event["kind"], event["via"], event["turn"]) for event in talk.events()] == [
        ("effort.opened", "model", 1),
        ("effort.concluded", "model", 2),
    ]
    assert talk.state("bug").via == "model"
    assert {row.actor for row in Event.objects.filter(kind__startswith="effort.")} == {None}


def test_reopening_switching_expanding_and_collapsing(talk: Talk) -> None:
    talk.concluded("Bug")
    talk.concluded("Tax return")
    actions.open_effort(talk.place, "Vacation")
    expanded = one(talk, "expand_effort", id="tax-return")
    assert expanded["expanded"] == "tax-return"
    assert expanded["tokens"] > 0
    assert expanded["note"] == "Its one turn is shown: answer from it."
    assert one(talk, "collapse_effort", id="tax-return") == {"collapsed": "tax-return"}
    assert one(talk, "reopen_effort", id="bug") == {"reopened": "bug", "active": "bug"}
    assert one(talk, "switch_effort", id="vacation") == {"active": "vacation"}


@pytest.mark.parametrize("name", ["payment webhooks", "PAYMENT-WEBHOOK", "Payment  webhook."])
def test_the_name_of_an_open_effort_leads_to_it_and_the_result_says_so(talk: Talk, name: str) -> None:
    actions.open_effort(talk.place, "Payment webhook")
    actions.open_effort(talk.place, "Vacation")
    assert one(talk, "open_effort", name=name) == {
        "already_open": "payment-webhook",
        "name": "Payment webhook",
        "note": "Nothing new was opened; it is active now.",
    }
    assert talk.active == "payment-webhook"


@pytest.mark.parametrize(("first", "second"), OTHER_EFFORTS)
def test_a_name_that_is_only_similar_is_another_effort(talk: Talk, first: str, second: str) -> None:
    one(talk, "open_effort", name=first)
    assert one(talk, "open_effort", name=second)["name"] == second
    assert [state.effort.name for state in EffortState.objects.order_by("pk")] == [first, second]
    assert talk.active == EffortState.objects.get(effort__name=second).effort.slug


def test_of_two_versions_with_one_spelling_of_their_ids_each_is_found_by_its_name(talk: Talk) -> None:
    for name in ("Release 1.4.1", "Release 14.1"):
        one(talk, "open_effort", name=name)
    assert list(talk.states()) == ["release-141", "release-141-2"]
    assert one(talk, "switch_effort", id="Release 1.4.1") == {"active": "release-141"}
    assert one(talk, "switch_effort", id="release 14.1") == {"active": "release-141-2"}
    assert one(talk, "close_effort", id="release 141")["concluded"] == "release-141"


def test_work_that_recurs_is_offered_another_name(talk: Talk) -> None:
    talk.concluded("Weekly report")
    assert one(talk, "open_effort", name="weekly report")["error"] == (
        'weekly-report is concluded. reopen_effort("weekly-report") opens it again, expand_effort("weekly-report") '
        "shows it. For new work of the same kind call open_effort with another name, such as one with a date or number."
    )
    with pytest.raises(Refused, match="For new work of the same kind choose another name"):
        actions.open_effort(talk.place, "Weekly report")
    assert one(talk, "open_effort", name="Weekly report 42")["opened"] == "weekly-report-42"


@pytest.mark.parametrize("said", ["It works now", "it  works\nnow, thanks", "works now", "thanks"])
def test_the_user_s_own_words_make_the_conclusion_the_user_s(talk: Talk, said: str) -> None:
    actions.open_effort(talk.place, "Bug")
    text = "So it works\nnow, thanks. It works now."
    assert one(talk, "close_effort", text, said=said)["summary"] == "follows after this turn"
    assert talk.state("bug").said == " ".join(said.split())


def test_a_single_short_word_counts_where_it_is_all_that_was_said(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    one(talk, "close_effort", "Done.", said="Done.")
    assert talk.state("bug").said == "Done."


@pytest.mark.parametrize("said", ["It is solved.", "works  then", "now", "It Works Now"])
def test_words_that_the_user_did_not_write_leave_it_the_model_s_and_it_is_told_so(talk: Talk, said: str) -> None:
    actions.open_effort(talk.place, "Bug")
    assert one(talk, "close_effort", "It works now.", said=said) == {
        "concluded": "bug",
        "active": None,
        "summary": "the user's words were not found in the message or are too few, so the summary waits for the user",
    }
    assert (talk.state("bug").status, talk.state("bug").said) == ("concluded", "")


def test_words_of_an_earlier_message_do_not_count(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    talk.ask("The fix works now.")
    one(talk, "close_effort", "And what is next?", said="The fix works now.")
    assert talk.state("bug").said == ""


@pytest.mark.parametrize(
    ("mode", "follows"),
    [("always", "waits for the user, who reviews each"), ("never", "none: the user has none drafted")],
)
def test_the_result_says_what_follows_in_a_conversation_that_is_set_otherwise(
    talk: Talk, mode: str, follows: str
) -> None:
    Session.objects.update(review_mode=mode)
    actions.open_effort(talk.place, "Bug")
    assert one(talk, "close_effort", "It works now.", said="It works now.")["summary"] == follows


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("You can close auth bug now; let's switch to the vacation.", "You can close auth bug now"),
        ("Close it please, I'll come back to it if it breaks.", "Close it please"),
        ("That's all for today, the bug is fixed.", "the bug is fixed"),
    ],
)
def test_the_user_s_words_conclude_whatever_else_the_message_says(talk: Talk, text: str, said: str) -> None:
    actions.open_effort(talk.place, "Auth bug")
    assert one(talk, "close_effort", text, said=said)["summary"] == "follows after this turn"
    assert (talk.state("auth-bug").status, talk.state("auth-bug").said) == ("concluded", said)


def test_without_the_user_s_words_it_is_the_model_s_conclusion_and_waits(talk: Talk) -> None:
    actions.open_effort(talk.place, "Bug")
    assert one(talk, "close_effort", "Let's pause here.")["summary"] == "waits for the user"
    assert (talk.state("bug").status, talk.state("bug").said) == ("concluded", "")


# Errors, each of which says what to do


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("open_effort", {"name": ""}, "The name is empty."),
        ("open_effort", {"name": "../.."}, "no letter or digit"),
        ("open_effort", {"name": "a\x00b"}, "no database takes"),
        ("open_effort", {"name": "Done thing"}, 'reopen_effort("done-thing") opens it again'),
        ("open_effort", {}, "name must be of type string"),
        ("open_effort", {"title": "x"}, "open_effort has no argument 'title'"),
        ("close_effort", {"id": "nothing-like-it"}, "There is no effort 'nothing-like-it' here."),
        ("close_effort", {"id": "done-thing"}, "done-thing is concluded already."),
        ("reopen_effort", {"id": "bug"}, "bug is open already."),
        ("switch_effort", {"id": "done-thing"}, 'reopen_effort("done-thing")'),
        ("switch_effort", {"id": "bug"}, "bug is already active."),
        ("switch_effort", {"id": "done-thin"}, "Close to it: done-thing."),
        ("expand_effort", {"id": "bug"}, "bug is open. It has no finished turns."),
        ("expand_effort", {"id": "shown"}, "shown is expanded already. Its one turn is shown: answer from it."),
        ("expand_effort", {"id": "unsummed"}, "unsummed has no summary yet. It has no finished turns."),
        ("expand_effort", {"id": "what"}, "search_efforts finds efforts"),
        ("expand_effort", {"id": ""}, "There is no effort ''"),
        ("collapse_effort", {"id": "done-thing"}, "is not expanded"),
        ("search_efforts", {"query": " ? "}, "The query is empty"),
        ("read_effort", {"id": "done-thing", "from_turn": 50}, "Its turns lie between 1 and 1."),
        ("read_effort", {"id": "who"}, "There is no effort 'who'"),
    ],
)
def test_each_mistake_is_told_and_changes_nothing(talk: Talk, name: str, arguments: dict[str, Any], told: str) -> None:
    talk.concluded("Done thing")
    actions.expand_effort(talk.place, talk.concluded("Shown"))
    actions.open_effort(talk.place, "Unsummed")
    actions.close_effort(talk.place)
    actions.open_effort(talk.place, "Bug")
    before = (talk.states(), talk.active, len(talk.events()))
    assert told in one(talk, name, **arguments)["error"]
    assert (talk.states(), talk.active, len(talk.events())) == before


@pytest.mark.parametrize("kind", ["open", "expanded", "awaiting"])
def test_of_a_log_larger_than_its_room_the_answer_says_how_much_of_it_is_shown(talk: Talk, kind: str) -> None:
    Session.objects.update(budget=4_000)
    long = ["The server log says: " + "timeout " * 300] * 9
    actions.open_effort(talk.place, "Outage")
    for text in long:
        talk.ask(text)
    if kind != "open":
        actions.close_effort(talk.place)
    if kind == "expanded":
        # Room for all of it when it was expanded, and less now.
        talk.summarise("outage")
        Session.objects.update(budget=32_000)
        actions.expand_effort(talk.place, "outage")
        Session.objects.update(budget=4_000)
    lease = talk.begin("Go on.")
    error = talk.call(lease, "expand_effort", id="outage")["error"]
    found = re.search(r"(\d+|None) of its 9 turns (?:are|is) shown; read_effort reads (?:the rest|them)", error)
    assert found, error
    # The plan of the next call tells the same.
    recipe = plan(run_inputs(Run.objects.get(pk=lease.run_id))).recipe
    spans = [entry["turns"] for entry in recipe if entry.get("effort") == "outage"]
    shown = sum(last - first + 1 for first, last in spans)
    assert shown < 9
    assert found[1] == (str(shown) if shown else "None")


def test_with_sixty_open_efforts_there_is_room_for_hello_at_the_smallest_budget(talk: Talk) -> None:
    Session.objects.update(budget=4_000)
    for number in range(60):
        actions.open_effort(talk.place, f"Errand {number}")
    lease = talk.begin("hello")
    planned = plan(run_inputs(Run.objects.get(pk=lease.run_id)))
    assert planned.tokens <= 4_000
    assert "Not named here: 52 more open." in planned.request["messages"][-1]["content"]


def test_what_is_recorded_and_what_is_renamed_is_in_the_next_prompt(talk: Talk) -> None:
    talk.concluded("Tax")
    actions.rename_effort(talk.place, "tax", "Tax return 2025")
    actions.open_effort(talk.place, "Bug")
    actions.rename_effort(talk.place, "bug", "Login outage")
    [recorded] = talk.ask("Ask Dana about it.", ("record", {"kind": "open_work", "text": "Ask Dana about it."}))
    lease = talk.begin("And now?")
    run = Run.objects.get(pk=lease.run_id)
    sent = json.dumps(plan(run_inputs(run)).request, ensure_ascii=False)
    assert f"Open work {recorded['id']}: Ask Dana about it." in sent
    assert "Names: bug is “Login outage”" in sent
    assert f"- tax “Tax return 2025” (turn 1, {run.turn.created_at.date()}): In short." in sent
    assert f"Today is {run.turn.created_at.date()}. This is turn 3." in sent


def test_concluding_when_nothing_is_active_is_told(talk: Talk) -> None:
    assert one(talk, "close_effort")["error"].startswith("No effort is active.")


@pytest.mark.parametrize(
    ("name", "id"),
    [
        ("../../evil", "evil"),
        ("日本旅行", "日本旅行"),
        ("\u202eתיקון הבאג", "תיקון-הבאג"),
        ("إصلاح الخطأ", "إصلاح-الخطأ"),
    ],
)
def test_names_of_any_script_are_opened_concluded_and_found(talk: Talk, name: str, id: str) -> None:
    assert one(talk, "open_effort", name=name)["opened"] == id
    assert one(talk, "search_efforts", query=id)["matches"][0]["id"] == id
    assert one(talk, "close_effort", id=id)["concluded"] == id


def test_a_batch_is_run_in_order_each_call_with_its_own_result(talk: Talk) -> None:
    results = talk.ask(
        "That's done, now the offsite.",
        ("close_effort", {}),
        ("open_effort", {"name": "Offsite"}),
        ("open_effort", {"name": ""}),
        ("close_effort", {"id": "offsite"}),
        ("expand_effort", {"id": "offsite"}),
    )
    assert ["error" in result for result in results] == [True, False, True, False, True]
    assert talk.states() == {"offsite": "concluded"}


# Status, search, reading


def test_the_status_lists_every_effort_with_its_costs(talk: Talk) -> None:
    talk.concluded("Bug")
    actions.expand_effort(talk.place, talk.concluded("Tax return"))
    actions.open_effort(talk.place, "Vacation")
    status = one(talk, "effort_status")
    assert status["active"] == "vacation"
    by_id = {effort["id"]: effort for effort in status["efforts"]}
    assert {id: (effort["status"], effort["active"], effort["expanded"]) for id, effort in by_id.items()} == {
        "vacation": ("open", True, False),
        "tax-return": ("concluded", False, True),
        "bug": ("concluded", False, False),
    }
    raw = talk.state("tax-return").tokens
    assert (by_id["tax-return"]["raw_tokens"], by_id["tax-return"]["prompt_tokens"]) == (raw, raw)
    assert 0 < by_id["bug"]["prompt_tokens"] < by_id["bug"]["raw_tokens"] + 20
    assert status["expansions"]["tokens"] == raw
    assert status["expansions"]["free"] > 0


def test_what_the_status_says_of_the_prompt_is_what_the_next_plan_has(talk: Talk) -> None:
    Session.objects.update(budget=4_000, decay_threshold=50)
    talk.concluded("Gone")
    EffortState.objects.update(evicted_clock=1)
    slug = talk.concluded("Long", *["The server log says: " + "timeout " * 300] * 6)
    Session.objects.update(budget=32_000)
    actions.expand_effort(talk.place, slug)
    Session.objects.update(budget=4_000)
    actions.open_effort(talk.place, "Outage")
    for _ in range(9):
        talk.ask("The server log says: " + "timeout " * 200)
    lease = talk.begin("Where are we?")
    items = plan(run_inputs(Run.objects.get(pk=lease.run_id))).items
    has = {slug: sum(item.tokens for item in items if item.included and item.whose == slug) for slug in talk.states()}
    status = talk.call(lease, "effort_status")
    assert {one["id"]: one["prompt_tokens"] for one in status["efforts"]} == has
    assert status["expansions"]["tokens"] == has["long"]
    raw = {one["id"]: one["raw_tokens"] for one in status["efforts"]}
    assert has["gone"] == 0
    assert 0 < has["long"] < raw["long"]
    assert 0 < has["outage"] < raw["outage"]


def test_the_status_of_very_many_efforts_stays_short(talk: Talk) -> None:
    for number in range(30):
        actions.open_effort(talk.place, f"Effort number {number}")
    status = one(talk, "effort_status")
    assert len(status["efforts"]) == 20
    assert status["not_listed"] == "10; search_efforts finds them"
    assert status["active"] == "effort-number-29"


@pytest.mark.parametrize("query", ["401", "auth fix", "token refresh", "AUTH-BUG", "expired"])
def test_an_effort_is_found_by_id_name_headline_and_what_was_said(talk: Talk, query: str) -> None:
    talk.concluded("Vacation", "Two weeks in Italy.")
    talk.concluded("Auth bug", "The login answers 401.", "The token is not refreshed.")
    talk.session.branches.get().pointers.filter(effort__slug="auth-bug").update(headline="The token had expired.")
    [match] = one(talk, "search_efforts", query=query)["matches"]
    assert (match["id"], match["status"], match["headline"]) == ("auth-bug", "concluded", "The token had expired.")


def test_what_was_said_is_shown_with_its_turn(talk: Talk) -> None:
    talk.concluded("Auth bug", "Hello there.", "The login answers 401.")
    [match] = one(talk, "search_efforts", query="401")["matches"]
    assert (match["passage"], match["turn"]) == ("The login answers 401.", 2)


def test_open_and_awaiting_efforts_are_found_too(talk: Talk) -> None:
    actions.open_effort(talk.place, "Auth bug")
    actions.close_effort(talk.place)
    actions.open_effort(talk.place, "Auth docs")
    matches = one(talk, "search_efforts", query="auth")["matches"]
    assert [(match["id"], match["status"], match["headline"]) for match in matches] == [
        ("auth-bug", "concluded", None),
        ("auth-docs", "open", None),
    ]


def test_an_effort_named_so_comes_before_one_that_only_mentions_it(talk: Talk) -> None:
    talk.concluded("A trip", "I have a bug in my tent.")
    talk.concluded("Bug", "It is in the parser.")
    assert [match["id"] for match in one(talk, "search_efforts", query="bug")["matches"]] == ["bug", "a-trip"]


def test_nothing_found_is_no_error(talk: Talk) -> None:
    found = one(talk, "search_efforts", query="zeppelin")
    assert (found["matches"], found["of"]) == ([], 0)


def test_turns_of_an_effort_are_read_as_far_as_they_fit(talk: Talk) -> None:
    talk.concluded("Bug", *(f"Part {number}: " + "word " * 290 for number in range(1, 6)))
    first = one(talk, "read_effort", id="bug")
    assert [turn["turn"] for turn in first["turns"]] == [1, 2, 3]
    assert first["next"] == {"turn": 4}
    rest = one(talk, "read_effort", id="bug", from_turn=4)
    assert [turn["turn"] for turn in rest["turns"]] == [4, 5]
    assert rest["next"] is None
    assert rest["turns"][0]["messages"][0]["text"].startswith("Part 4: word")
    assert rest["turns"][0]["messages"][1] == {"role": "assistant", "text": "All right."}
    assert [turn["turn"] for turn in one(talk, "read_effort", id="bug", from_turn=2, to_turn=2)["turns"]] == [2]


def test_of_a_very_long_turn_the_beginnings_are_read_and_the_rest_by_message(talk: Talk) -> None:
    talk.concluded("Bug", "word " * 5_000)
    result = one(talk, "read_effort", id="bug")
    message = result["turns"][0]["messages"][0]
    row = Message.objects.filter(role="user").order_by("id").first()
    assert row is not None
    assert message["cut"] == row.pk
    assert len(canonical_json(result)) < 6_000
    again = one(talk, "read_message", id=message["cut"], offset=len(message["text"]))
    assert row.text.startswith(message["text"] + again["text"])


# One transaction with its record


def test_a_lost_lease_changes_nothing(talk: Talk) -> None:
    lease = talk.begin("Let's find the bug.")
    Run.objects.update(lease_owner="somebody:else:x", lease_expires_at=timezone.now())
    with pytest.raises(LeaseLost):
        talk.call(lease, "open_effort", name="Bug")
    assert talk.states() == {}
    assert Message.objects.filter(role="tool").count() == 0


def test_what_cannot_be_recorded_was_not_done(talk: Talk) -> None:
    lease = talk.begin("Let's find the bug.")

    def tool() -> str:
        actions.open_effort(talk.place, "Bug")
        return "\ud800"  # as no database takes it

    with pytest.raises(UnicodeEncodeError):
        recording.run_and_record(lease, 1, ToolCall(id="c1", name="open_effort", arguments="{}"), tool)
    assert talk.states() == {}


# In a turn with a runner


async def test_a_batch_with_errors_goes_on_to_the_answer(stage: Stage, provider: FakeProvider, runner: Runner) -> None:
    calls = (
        calling("open_effort", name="Bug"),
        calling("switch_effort", id="bug"),
        Call("close_effort", "{"),
        calling("fly"),
    )
    provider.script = [Reply("", calls=calls), Reply("It is open.")]
    turn = await stage.ask("Let's find the bug.")
    results = [json.loads(m["content"]) for m in provider.requests[-1]["messages"] if m["role"] == "tool"]
    assert ["error" in result for result in results] == [False, True, True, True]
    assert turn.run is not None
    assert turn.run.state == "completed"
    assert (await stage.texts(turn))[-1] == ("assistant", "It is open.")


async def test_an_effort_expanded_is_readable_in_the_same_turn(
    stage: Stage, provider: FakeProvider, runner: Runner, port: Scripted
) -> None:
    port.made = Summary(brief="The parser broke.")
    await write(lambda: actions.configure_session(stage.session, actor=stage.session.owner, context_mode="off"))
    provider.script = [Reply("", calls=(calling("open_effort", name="Bug"),)), Reply("The parser, then.")]
    await stage.ask("The semicolon in line 80 breaks the parser.")
    await write(lambda: actions.close_effort(Talk(stage.session).place))
    await stage.logged("effort.summarised")
    provider.script = [Reply("", calls=(calling("expand_effort", id="bug"),)), Reply("Line 80.")]
    await stage.ask("In which line?")
    before, after = (canonical_json(request["messages"]) for request in provider.requests[-2:])
    assert "The parser, then." not in before
    assert "The parser, then." in after
    tokens = await read(lambda: list(ContextPlan.objects.order_by("created_at").values_list("tokens", flat=True)))
    assert tokens[-1] > tokens[-2]
