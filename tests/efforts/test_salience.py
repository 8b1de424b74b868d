"""What a text refers to: by name, and by the words of a headline."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from efforts.domain.effort.ageing import is_common, keywords_of, mentioned, shared, spoken, stale
from efforts.domain.effort.policy import MIN_KEYWORD_OVERLAP
from efforts.domain.text.terms import terms_of

AUTH = "Users got 401 after the token refresh. Fixed the clock skew of the middleware in auth/session.py."


def refers(headline: str, text: str) -> bool:
    return len(words(headline, text)) >= MIN_KEYWORD_OVERLAP


def words(headline: str, text: str) -> tuple[str, ...]:
    return shared(keywords_of(headline), terms_of(text), lambda word: False)


@pytest.mark.parametrize(
    ("last", "threshold", "stands_until"), [(1, 3, 3), (4, 3, 6), (10, 20, 29)], ids=["expanded", "mentioned", "20"]
)
def test_what_is_not_referenced_leaves_when_so_many_turns_are_settled(last, threshold, stands_until):
    left = [now for now in range(last, last + 30) if stale(now, last, threshold)]
    assert left[0] == stands_until + 1
    assert left == list(range(stands_until + 1, last + 30))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("ui", "They are building a house."),
        ("auth", "The author wrote it."),
        ("api", "The capital is Paris."),
        ("auth-bug", "See auth-bugfix."),
        ("auth-bug", "See auth-bug-2."),
        ("auth-bug", "See auth_bug_2."),
        ("auth-bug", "See pre-auth-bug."),
        ("auth-bug-2", "See auth-bug."),
        ("auth-bug", "First auth. Bug two is another."),
        ("バグ", "バグダッドに行く。"),
        ("猫", "猫背を直す。"),
        ("the", "The rest is fine."),
        ("---", "a --- b"),
    ],
)
def test_a_name_inside_a_longer_one_is_no_mention(name, text):
    assert mentioned([name], text) == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("auth-bug", "What about Auth-Bug?"),
        ("auth-bug", "What about auth_bug"),
        ("auth-bug", "(AUTH BUG)"),
        ("auth-bug", "the **auth‑bug**, again"),
        ("Auth bug", "[auth-bug, turn 12]"),
        ("auth-bug", "auth-bugを直した"),
        ("auth-bug-2", "It was auth bug 2."),
        ("Fix: the login", "let us fix the login"),
        ("Node.js upgrade", "the node.js-upgrade"),
        ("Café", "the cafe's menu"),
        ("日本旅行", "来月の日本旅行の予約を確認して"),
        ("日本 旅行", "来月の日本旅行の予約"),
        ("登录问题", "我们昨天的登录问题解决了吗"),
        ("人証バグ", "また人証バグが出た"),
        ("인증 버그", "인증 버그를 고쳤어요"),
        ("猫", "「猫」の続き"),
        ("ремонт", "Что с Ремонт?"),
    ],
)
def test_case_hyphen_space_and_underscore_are_alike_in_any_script(name, text):
    assert mentioned([name], text) == name


def test_the_id_counts_as_well_as_the_name_and_the_one_that_is_said_is_told():
    assert mentioned(["auth-bug", "Login trouble"], "the login trouble is back") == "Login trouble"
    assert mentioned(["auth-bug", "Login trouble"], "auth bug: login trouble") == "auth-bug"


NAMES = st.lists(st.text("abcdefgxyz0123456789", min_size=1, max_size=6), min_size=1, max_size=3)
JOINTS = st.sampled_from(["-", "_", " "])


@given(NAMES, JOINTS, JOINTS, st.booleans())
def test_however_it_is_joined_a_name_is_found(pieces, one, other, loud):
    name, said = one.join(pieces), other.join(pieces)
    assume(mentioned([name], name))
    assert mentioned([name], f"And {said.upper() if loud else said}, please") == name


@given(NAMES, JOINTS, st.text("abcxyz09", min_size=1, max_size=5), st.sampled_from(["{0}{1}", "{1}{0}"]))
@example(["auth", "bug"], "-", "fix", "{0}{1}")
def test_a_name_inside_a_longer_word_is_never_found(pieces, joint, more, form):
    name = joint.join(pieces)
    longer = form.format(name, more)
    # "b b" does stand in "b bb b"; a longer word that holds the name a second time is another matter.
    assume(not re.search(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", longer))
    assert mentioned([name], f"See {longer}.") == ""


@pytest.mark.parametrize(
    "text", ["the 401 after the token refresh", "TOKEN REFRESHES", "session middlewares", "auth_session, please"]
)
def test_two_words_of_the_headline_are_a_reference(text):
    assert refers(AUTH, text)


@pytest.mark.parametrize(
    "text",
    ["Fix the layout.", "We fixed it after that, and got the users' details.", "A new token.", "token tokens token's"],
)
def test_generic_words_and_one_word_said_often_are_none(text):
    assert not refers(AUTH, text)


@pytest.mark.parametrize(
    ("headline", "text"),
    [
        ("ログインのトークンの期限が切れる。", "トークンの期限はどう決めた？"),
        ("日本旅行の予約を京都で取った。", "京都の宿の予約は？"),
        ("登录令牌过期，重新登录失败。", "令牌过期以后怎么办？"),
        ("인증 토큰 갱신 오류", "토큰이 갱신되지 않아"),
    ],
)
def test_headlines_without_spaces_are_referred_to_by_their_words(headline, text):
    assert refers(headline, text)


@pytest.mark.parametrize(
    ("headline", "text"),
    [
        ("ログインのトークンの期限が切れる。", "それについて確認してください。"),
        ("ログインのトークンの期限が切れる。", "トークン。"),
        ("登录令牌过期，重新登录失败。", "我们现在可以开始了吗？"),
        ("登录令牌过期，重新登录失败。", "今天天气怎么样？"),
        ("服务器重启以后正常。", "服务器"),
        ("인증 토큰 갱신 오류를 수정했습니다.", "날씨를 확인했습니다."),
    ],
)
def test_their_grammar_and_a_single_word_are_none(headline, text):
    assert not refers(headline, text)


def test_what_our_headlines_say_around_the_words_is_no_keyword():
    brief = keywords_of("Brief effort: Garden fence (too short to summarize)")
    assert brief == keywords_of("Garden fence") == {"garden", "fenc"}
    assert keywords_of("Paint. Open: varnish; +7 more open.") == keywords_of("paint varnish")
    assert keywords_of("We did this and that for you.") == frozenset()


def test_an_identifier_counts_by_its_parts_and_not_once_more():
    assert keywords_of("auth_token") == {"auth", "token"}
    assert words("auth_token", "the auth-token") == ("auth", "token")


def test_common_words_do_not_count():
    assert shared({"token", "refresh"}, ["token", "refresh"], "token".__eq__) == ("refresh",)


def test_a_word_is_common_by_what_is_said_outside_the_effort_or_by_many_headlines():
    rare = {"elsewhere": 3, "passages": 300, "headlines": 1, "efforts": 30}
    assert not is_common(**rare)
    assert is_common(**rare | {"elsewhere": 30})
    assert is_common(**rare | {"headlines": 10})
    # A long message has by chance what a short one says on purpose.
    assert is_common(**rare | {"elsewhere": 6}, length=4)
    assert not is_common(**rare | {"elsewhere": 6}, length=1)
    # A share, once there is much of it.
    assert not is_common(**rare | {"elsewhere": 30, "passages": 10_000})


def test_half_a_number_is_no_word():
    assert keywords_of("A budget of 24,000 for the campaign") == keywords_of("A budget for the campaign")


@given(st.integers(0, 5), st.integers(0, 10))
def test_in_a_short_session_every_word_counts(elsewhere, passages):
    assert not is_common(elsewhere=min(elsewhere, passages), passages=passages, headlines=1, efforts=1)


def test_what_a_model_quotes_and_repeats_of_its_prompt_is_not_its_own_words():
    said = """It was the clock [auth-bug, turn 12].

> Turn 3, you: the vacation

[Notes, not instructions: concluded efforts in short]
- kitchen “New kitchen” (turns 3-9, 2026-03-05): Tiles and paint.
[End of notes]
[Effort garden, open, from turn 9]
[Turns of garden up to 8 (4 turns, 900 tokens) are not shown. read_effort reads them.]
[turn 10]
Today is 2026-03-05. This is turn 10.
Active effort: garden
Other open efforts: roof, cellar
Expanded, but there is no room to show them: loft
Names: roof is “Roof and gutter”
Shown in part: garden (3 of 7 turns). read_effort reads the rest.
Open work work-12: ask about the porch
--- Concluded effort: attic ---
[stopped here]
So it is done."""
    assert " ".join(spoken(said).split()) == "It was the clock [auth-bug, turn 12]. So it is done."
