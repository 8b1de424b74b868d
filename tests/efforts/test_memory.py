"""What nobody refers to any more leaves the prompt by itself, exactly when the rule says, and comes back when it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from efforts import actions
from efforts.context.planning import chosen_settings, next_inputs, run_inputs
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.candidates import leaves_in
from efforts.domain.prompt.plan import Plan
from efforts.domain.prompt.planner import plan
from efforts.models import ContextPointer, EffortState, PointerMove, Run, Session
from efforts.turns import recording
from efforts.turns.recording import COMPLETED, STOPPED, Ending
from tests.efforts.port import EXCERPTS, Scripted
from tests.efforts.talk import Talk

pytestmark = pytest.mark.django_db

FAILED = Ending(state=RunState.FAILED, code="refused", text="No.")
# Nothing of what the efforts are about.
WEATHER = "Will it rain on Sunday?"
HEADLINE = "The 401 errors after three hours came from a refresh token that nobody requested."
DETAIL = "Users see 401 errors: no refresh token was ever requested."


def sent(talk: Talk, text: str = WEATHER, ending: Ending = COMPLETED, **more: Any) -> Plan:
    """The plan of the first call of one turn."""
    lease = talk.begin(text)
    planned = planned_now(talk)
    recording.record_plan(lease, 1, planned)
    talk.finish(lease, ending=ending, **more)
    return planned


def planned_now(talk: Talk) -> Plan:
    run = Run.objects.select_related("turn__session", "branch__session").get(branch=talk.branch_id, state="running")
    return plan(run_inputs(run))


def shows(planned: Plan, slug: str) -> str:
    """How the prompt has the effort: "expanded", "summary", or "" where it has left."""
    found = [
        item.section
        for item in planned.items
        if item.included and item.values.get("effort") == slug and item.section in ("summary", "expanded", "awaiting")
    ]
    return found[0] if found else ""


@pytest.fixture
def auth(talk: Talk) -> str:
    """A concluded effort, nothing said since: its only turn was turn 1."""
    slug = actions.open_effort(talk.place, "Auth bug").effort.slug
    talk.ask(DETAIL)
    actions.close_effort(talk.place, slug)
    talk.summarise(slug, HEADLINE)
    return slug


# Turns without a reference after which a summary leaves; exactly when it does after the usual twenty is asked once.
SOON = 4


@pytest.fixture
def soon(talk: Talk) -> None:
    Session.objects.filter(pk=talk.session.pk).update(eviction_threshold=SOON)


def test_an_expansion_of_turn_1_stands_in_the_prompts_of_2_3_and_4_and_not_of_5(talk: Talk, auth: str) -> None:
    actions.expand_effort(talk.place, auth)
    assert [shows(sent(talk), auth) for _ in range(5)] == ["expanded"] * 3 + ["summary"] * 2
    assert talk.notices()[-1] == "--- Auto-collapsed effort: auth-bug (inactive for 3 turns) ---"
    (decayed,) = talk.events("effort.decayed")
    assert (decayed["turn"], decayed["clock"], decayed["turns"]) == (4, 4, 3)


@pytest.mark.usefixtures("soon")
def test_a_plan_counts_down_to_the_turn_in_which_each_leaves(talk: Talk, auth: str) -> None:
    def told(planned: Plan) -> tuple[str, int | None]:
        mine = [item for item in planned.items if item.included and item.whose == auth]
        return shows(planned, auth), leaves_in(mine[0]) if mine else None

    actions.expand_effort(talk.place, auth)
    said = [WEATHER, "And the auth bug?", *[WEATHER] * 5]
    assert [told(sent(talk, text)) for text in said] == [
        ("expanded", 3),
        # Three more, behind the turn that mentions it.
        ("expanded", 4),
        ("expanded", 3),
        ("expanded", 2),
        ("expanded", 1),
        ("summary", 1),
        ("", None),
    ]
    # What is pinned or in the focus does not leave by itself.
    for keep in (actions.pin_effort, actions.focus_effort):
        keep(talk.place, auth)
        assert [leaves_in(item) for item in sent(talk).items if item.whose == auth and item.included] == [None]


def test_a_mention_in_turn_4_keeps_it_until_7(talk: Talk, auth: str) -> None:
    actions.expand_effort(talk.place, auth)
    said = [WEATHER, WEATHER, "What was it with the auth bug?", *[WEATHER] * 4]
    assert [shows(sent(talk, text), auth) for text in said] == ["expanded"] * 6 + ["summary"]


@pytest.mark.parametrize("text", ["Auth-Bug again", "the auth_bug", "Is the AUTH BUG back?"])
def test_it_is_called_by_its_name_in_any_spelling(talk: Talk, auth: str, text: str) -> None:
    sent(talk, text)
    (reference,) = [event for event in talk.events("effort.referenced") if event["turn"] == 2]
    assert (reference["effort"], reference["by"], reference["how"]) == (auth, "user", "name")
    assert talk.state(auth).referenced_clock == 2


@pytest.mark.parametrize(
    "text", ["Fix the layout, please", "the author of auth-bugfix", "one token of thanks", "in three hours"]
)
def test_longer_words_and_single_words_are_no_reference(talk: Talk, auth: str, text: str) -> None:
    sent(talk, text)
    assert [event for event in talk.events("effort.referenced") if event["turn"] == 2] == []


def test_two_telling_words_of_its_summary_are_a_reference_by_either_side(talk: Talk, auth: str) -> None:
    sent(talk, "Why did we see the 401 before the refresh?")
    sent(talk, WEATHER, reply="No. But the refresh token is requested now, so no 401 either.")
    found = [(e["turn"], e["by"], e["how"], set(e["words"])) for e in talk.events("effort.referenced") if e["turn"] > 1]
    assert [(turn, by, how) for turn, by, how, _ in found] == [(2, "user", "keywords"), (3, "assistant", "keywords")]
    assert all(len(words) >= 2 for *_, words in found)
    assert talk.state(auth).referenced_clock == 3


def test_however_long_it_is_talked_of_in_the_same_words_it_stays(talk: Talk, auth: str) -> None:
    actions.expand_effort(talk.place, auth)
    said, reply = "The 401 after the refresh again!", "The refresh token expired, hence the 401."
    shown = {shows(sent(talk, said, reply=reply), auth) for _ in range(30)}
    assert shown == {"expanded"}


def test_words_that_are_said_of_something_else_all_the_time_become_common(talk: Talk, auth: str) -> None:
    for _ in range(25):
        sent(talk, "The refresh of the page.", reply="A token of thanks.")
    sent(talk, "Refresh the token?")
    assert [event["turn"] for event in talk.events("effort.referenced") if event["turn"] > 1] == []


def test_what_another_effort_says_all_the_time_becomes_common_although_it_referred_to_this_one(
    talk: Talk, auth: str
) -> None:
    actions.open_effort(talk.place, "Coat check")
    said = ["The refresh of the token of the coat." for _ in range(25)]
    for text in said:
        sent(talk, text)
    found = [event["turn"] for event in talk.events("effort.referenced") if event["how"] == "keywords"]
    assert found == list(range(2, 22))


def test_what_an_effort_says_itself_makes_its_words_not_common_once_it_is_reopened_either(
    talk: Talk, auth: str
) -> None:
    actions.reopen_effort(talk.place, auth)
    for _ in range(25):
        sent(talk, "No refresh token here.", reply="None requested, so 401.")
    actions.close_effort(talk.place, auth)
    talk.summarise(auth, HEADLINE)
    actions.expand_effort(talk.place, auth)
    sent(talk, "Did the refresh give 401?")
    assert talk.events("effort.referenced")[-1]["how"] == "keywords"


def test_a_summary_referred_to_in_turn_10_stands_in_the_prompt_of_30_and_not_of_31(talk: Talk, auth: str) -> None:
    said = {10: "What about the auth bug?"}
    shown = [shows(sent(talk, said.get(number, WEATHER)), auth) for number in range(2, 33)]
    assert shown == ["summary"] * 29 + [""] * 2
    (evicted,) = talk.events("effort.evicted")
    assert (evicted["effort"], evicted["turn"], evicted["clock"], evicted["turns"]) == (auth, 30, 30, 20)


def test_what_left_is_counted_in_the_plan_with_what_would_bring_it_back(talk: Talk, auth: str, soon: None) -> None:
    for _ in range(SOON):
        sent(talk)
    planned = sent(talk)
    (gone,) = [item for item in planned.items if item.reason == "headline_evicted"]
    assert (gone.title, gone.included) == ("1 concluded effort", False)
    assert gone.sentence == f"Nothing has mentioned them for {SOON} turns."
    assert "Mention one by its name" in gone.remedy
    assert "Not listed: 1 concluded effort. search_efforts finds them." in str(planned.request["messages"][-1])


@pytest.mark.parametrize("mention", ["Once more: the auth bug.", "Was it the 401, or the refresh?"])
def test_a_mention_of_an_evicted_effort_brings_its_summary_into_that_very_turn(
    talk: Talk, auth: str, mention: str, soon: None
) -> None:
    for _ in range(SOON):
        sent(talk)
    assert shows(sent(talk), auth) == ""
    assert shows(plan(next_inputs(talk.branch, chosen_settings(talk.session), mention, None)), auth) == "summary"
    assert shows(plan(next_inputs(talk.branch, chosen_settings(talk.session), WEATHER, None)), auth) == ""
    assert shows(sent(talk, mention), auth) == "summary"
    assert shows(sent(talk), auth) == "summary"


def test_what_comes_back_comes_last_and_is_not_thrown_out_again(talk: Talk, auth: str, soon: None) -> None:
    for _ in range(SOON):
        sent(talk)
    other = talk.concluded("Swiss rounding", "Rounding to 0.05 is wrong.")
    sent(talk)
    planned = sent(talk, "The auth bug once more.")
    assert [item.title for item in planned.items if item.section == "summary" and item.included] == [auth, other]
    notes = str(planned.request["messages"])
    assert notes.index(f"- {other} ") < notes.index(f"- {auth} ")


def test_a_search_that_finds_it_among_the_best_is_a_reference_at_once(talk: Talk, auth: str, soon: None) -> None:
    for _ in range(SOON):
        sent(talk)
    lease = talk.begin("How was that with the logins?")
    assert shows(planned_now(talk), auth) == ""
    (found,) = talk.call(lease, "search_efforts", query="401 errors")["matches"]
    assert found["id"] == auth
    assert shows(planned_now(talk), auth) == "summary"
    talk.finish(lease)
    assert talk.events("effort.referenced")[-1]["how"] == "search"


def test_reading_it_is_a_reference_and_asking_for_the_status_of_all_is_none(talk: Talk, auth: str) -> None:
    lease = talk.begin(WEATHER)
    talk.call(lease, "effort_status")
    assert talk.state(auth).referenced_clock == 1
    talk.call(lease, "read_effort", id=auth, from_turn=0, to_turn=0)
    assert talk.state(auth).referenced_clock == 2
    talk.finish(lease)


@pytest.mark.parametrize("ending", [STOPPED, FAILED, recording.INTERRUPTED])
def test_turns_that_are_not_completed_age_nothing(talk: Talk, auth: str, ending: Ending) -> None:
    actions.expand_effort(talk.place, auth)
    for _ in range(6):
        sent(talk, ending=ending)
    assert talk.branch.clock == 1
    assert [shows(sent(talk), auth) for _ in range(4)] == ["expanded"] * 3 + ["summary"]


def test_what_a_stopped_reply_refers_to_counts_in_its_turn_as_anywhere(talk: Talk, auth: str) -> None:
    actions.expand_effort(talk.place, auth)
    sent(talk)
    sent(talk, reply="It was the auth bug", ending=STOPPED)
    assert [event["clock"] for event in talk.events("effort.referenced")][-1] == talk.state(auth).referenced_clock == 3
    assert [shows(sent(talk), auth) for _ in range(5)] == ["expanded"] * 4 + ["summary"]


def test_what_fades_stands_as_its_summary_before_it_leaves(talk: Talk, auth: str) -> None:
    """Not both at the end of one turn, where an expansion lasts as long as a summary."""
    Session.objects.filter(pk=talk.session.pk).update(decay_threshold=2, eviction_threshold=2)
    actions.expand_effort(talk.place, auth)
    assert [shows(sent(talk), auth) for _ in range(4)] == ["expanded"] * 2 + ["summary", ""]


def test_cancelled_turns_age_nothing_and_refer_to_nothing(talk: Talk, auth: str) -> None:
    lease = talk.begin(WEATHER)
    actions.cancel_turn(talk.say("The auth bug?"), actor=talk.session.owner)
    talk.finish(lease)
    assert (talk.branch.clock, talk.state(auth).referenced_clock) == (2, 1)


def test_several_expansions_end_independently(talk: Talk, auth: str) -> None:
    other = talk.concluded("Swiss rounding", "Rounding to 0.05 is wrong.")
    actions.expand_effort(talk.place, auth)
    actions.expand_effort(talk.place, other)
    said = [WEATHER, "And swiss-rounding?", WEATHER, WEATHER, WEATHER, WEATHER]
    shown = [(shows(planned, auth), shows(planned, other)) for planned in (sent(talk, text) for text in said)]
    assert shown == [("expanded", "expanded")] * 3 + [("summary", "expanded")] * 2 + [("summary", "summary")]


def test_what_decayed_is_one_click_away(talk: Talk, auth: str) -> None:
    actions.expand_effort(talk.place, auth)
    for _ in range(3):
        sent(talk)
    (decayed,) = talk.events("effort.decayed")
    actions.undo(talk.place, decayed["seq"])
    assert [shows(sent(talk), auth) for _ in range(4)] == ["expanded"] * 3 + ["summary"]


@pytest.fixture
def awaiting(talk: Talk, port: Scripted) -> str:
    """A concluded effort whose summary waits for the person."""
    slug = actions.open_effort(talk.place, "Auth bug").effort.slug
    talk.ask(DETAIL)
    actions.close_effort(talk.place, slug)
    waits(slug)
    return slug


def waits(slug: str) -> None:
    EffortState.objects.filter(effort__slug=slug).update(summary="waiting", draft=HEADLINE, artifact="cv2_waits")


def beside(talk: Talk, slug: str) -> tuple[str, str, str]:
    state = talk.state(slug)
    return state.summary, state.artifact, state.draft


def test_of_an_effort_that_awaits_its_summary_the_excerpts_stand_after_20_turns(talk: Talk, awaiting: str) -> None:
    assert [shows(sent(talk), awaiting) for _ in range(22)] == ["awaiting"] * 20 + ["summary"] * 2
    assert beside(talk, awaiting) == ("digest", "cv2_waits", "Nobody has reviewed its summary.")
    assert talk.notices()[-1] == "--- Excerpts replace the turns of auth-bug (not mentioned for 20 turns) ---"
    pointer = ContextPointer.objects.get()
    assert (pointer.text, pointer.actor) == (EXCERPTS, None)
    assert PointerMove.objects.get().via == "aged"


def test_excerpts_stand_for_as_long_as_a_summary_would(talk: Talk, awaiting: str, soon: None) -> None:
    shown = [shows(sent(talk), awaiting) for _ in range(2 * SOON + 2)]
    assert shown == ["awaiting"] * SOON + ["summary"] * SOON + [""] * 2
    assert shows(sent(talk, "The auth bug!"), awaiting) == "summary"


def test_taken_back_its_log_stands_again_and_ages_from_then_on(talk: Talk, awaiting: str, soon: None) -> None:
    for _ in range(SOON + 2):
        sent(talk)
    (aged,) = talk.events("effort.aged")
    actions.undo(talk.place, aged["seq"])
    assert beside(talk, awaiting) == ("waiting", "cv2_waits", HEADLINE)
    assert [shows(sent(talk), awaiting) for _ in range(SOON + 2)] == ["awaiting"] * SOON + ["summary"] * 2


@pytest.mark.parametrize("summary", ["none", "failed", "rolled back"])
def test_whatever_its_summary_lacks_it_ages_to_excerpts_and_can_be_taken_back(
    talk: Talk, awaiting: str, summary: str, soon: None
) -> None:
    EffortState.objects.update(summary=summary, draft="It failed.", artifact="")
    for _ in range(SOON):
        sent(talk)
    assert talk.state(awaiting).summary == "digest"
    actions.undo(talk.place, talk.events("effort.aged")[0]["seq"])
    assert beside(talk, awaiting) == (summary, "", "It failed.")


def test_what_is_being_drafted_goes_on_to_be_while_excerpts_stand(talk: Talk, awaiting: str, soon: None) -> None:
    EffortState.objects.update(summary="drafting", draft="", artifact="", summary_owner="here/1")
    for _ in range(SOON):
        sent(talk)
    assert (talk.state(awaiting).summary, talk.state(awaiting).summary_owner) == ("drafting", "here/1")
    assert ContextPointer.objects.get().digest


@pytest.mark.parametrize("refused", [True, False])
def test_where_no_excerpts_may_stand_the_log_leaves_and_a_reference_brings_it_back(
    talk: Talk, port: Scripted, awaiting: str, refused: bool, soon: None
) -> None:
    port.quotes = refused
    port.refuses.add("digest-auth-bug-0")
    assert [shows(sent(talk), awaiting) for _ in range(SOON + 2)] == ["awaiting"] * SOON + [""] * 2
    assert shows(sent(talk, "The auth bug!"), awaiting) == "awaiting"
    assert beside(talk, awaiting) == ("waiting", "cv2_waits", HEADLINE)


def test_thirty_ambient_turns_leave_exactly_ten(talk: Talk) -> None:
    for _ in range(30):
        talk.ask(WEATHER)
    planned = sent(talk)
    (shown,) = [item for item in planned.items if item.section == "ambient" and item.included]
    assert shown.turns == (21, 30)


def test_the_thresholds_are_the_conversations(talk: Talk, auth: str) -> None:
    Session.objects.filter(pk=talk.session.pk).update(decay_threshold=1, eviction_threshold=2)
    actions.expand_effort(talk.place, auth)
    assert [shows(sent(talk), auth) for _ in range(3)] == ["expanded", "summary", ""]


def test_who_prefers_the_cache_has_summaries_leave_only_with_a_change_of_effort(
    talk: Talk, auth: str, soon: None
) -> None:
    Session.objects.filter(pk=talk.session.pk).update(prefer_cache=True)
    assert [shows(sent(talk), auth) for _ in range(SOON + 3)] == ["summary"] * (SOON + 3)
    actions.open_effort(talk.place, "Something else")
    assert shows(sent(talk), auth) == ""


@pytest.mark.parametrize(
    ("name", "said", "mention", "other"),
    [
        ("日本旅行", "京都の宿は三泊で四万円です。", "日本旅行の予算はいくらですか？", "明日の天気はどうですか？"),
        ("数据库迁移", "旧的数据库在星期二迁移到新的服务器。", "数据库迁移什么时候结束？", "明天会下雨吗？"),
    ],
)
def test_scripts_without_spaces_decay_and_are_kept(talk: Talk, name: str, said: str, mention: str, other: str) -> None:
    slug = talk.concluded(name, said)
    actions.expand_effort(talk.place, slug)
    texts = [other, mention, *[other] * 4]
    assert [shows(sent(talk, text), slug) for text in texts] == ["expanded"] * 5 + ["summary"]


def test_a_pinned_effort_neither_collapses_nor_leaves(
    talk: Talk, auth: str, pinned: Callable[[str], object], soon: None
) -> None:
    pinned(auth)
    for _ in range(SOON + 4):
        sent(talk)
    assert talk.events("effort.evicted") == []


@pytest.fixture
def pinned(talk: Talk) -> Callable[[str], object]:
    return lambda slug: actions.pin_effort(talk.place, slug)
