"""What a text refers to, and when what nothing refers to any more leaves the prompt.

A word is common by what is said elsewhere: in passages that are neither the effort's own nor refer to it outside of
other efforts. Else the words of a long effort, or of one that everybody talks of, would tell least. Beside these
`is_common` needs the headlines of the session that have the word, and the length of the message; all up to then, this
message included.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from efforts.domain.effort.brief import BRIEF
from efforts.domain.effort.policy import COMMON_HEADLINE_SHARE, COMMON_HEADLINES, COMMON_PASSAGES, COMMON_SHARE
from efforts.domain.text.terms import SIGNS, STOPWORDS, TOKEN, UNSPACED, folded, stem, token_terms

LETTER = f"[^\\W_{UNSPACED}]"
PIECE = re.compile(rf"(?:[^\W_]|[{SIGNS}])+")
GAP = "\\s\\-_\u2010-\u2015"
KATAKANA = "\u30a0-\u30ff"
HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
HANGUL = "\uac00-\ud7af"

# Characters of a term in letters with spaces, digits of a number: shorter ones are in every talk.
SHORTEST = 3
HAN_WORD = re.compile(f"[{HAN}]{{2}}")
# A run of these is one word: in the one script names of things, in the other parted by spaces.
RUN_WORD = re.compile(f"[{KATAKANA}]{{2}}|[{HANGUL}]{{2}}")
PAIR = re.compile(f"[{UNSPACED}]{{2}}")
# Telling nowhere, whatever the talk is about.
EVERYDAY_WORDS = """
    able actually again already always another answer around ask away back bad based became become best better
    both bring call came cause change check come conversation course definitely different difficult done easy
    else end enough ensure especially even ever every everything exactly example fact feel felt find fine first
    following found full gave general get give given go going good got great guess had hand happen happy hard
    help here high hope idea important include instead issue keep kind know last later least leave left less
    life like likely line little live long look lot love made main make maybe mean might mind minute month more
    most move much must name need never new next nice nothing now often old open opportunity order other others
    own part people perhaps person piece place plan point possible pretty probably problem provide put question
    quite rather read ready real really reason right run saw see seem seen sense set several side simple since
    small something sometimes soon sort sound special specific start still stop such suggest support sure take
    task tell term thank thing think thought time today together tomorrow took try turn understand until use
    used useful using usually various wait want way week well went whether whole wonder word words work world
    worth write wrong wrote yeah year yesterday yet
"""
# The same: what any work consists of, and what any talk says of it.
GENERIC_WORDS = """
    accept achieve act add additional adjust agree allow along amazing amount appreciate approach area aspect
    attempt avoid aware awesome begin between beyond bit brief build care case challenge chance choice choose clear
    close common complete concern confirm consider consistent contain continue create current cut deal debug decide
    decision delete depend describe detail develop discuss discussion drop during edit effect effort enjoy exciting
    expect explain explore extra factor few finish fix focus form forward glad handle hello hey huge identify impact
    implement improve including increase individual inform initial involve item join level limit list low manage
    matter mention merge message method mistake move necessary number offer option organize overall particular past
    pick positive prepare present previous process proper purpose push quick range receive recent recommend reduce
    relate relevant remain remove replace require resolve resource respond response result return revert save select
    send share show similar simple situation solution solve spend state stay step strong submit success suggestion
    sum summary switch tackle test through tip topic total touch tough track true type unique update user value
    version view wait weekend within wow yep
    two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred thousand half double
    second third fourth fifth hour
"""
# The same in pairs of characters, with the endings of verbs.
GENERIC_PAIRS = """
    一个 一下 一些 什么 可以 没有 不是 就是 现在 时候 怎么 已经 还是 因为 所以 但是 如果 知道 问题 需要 今天
    明天 昨天 一起 自己 我们 你们 这个 那个 修复 修改 确认 完成 处理 解决 添加 删除 使用 进行
    应该 可能 觉得 然后 开始 结束
    今日 明日 昨日 問題 必要 時間 場合 自分 一緒 確認 修正 完了 対応 変更 追加 削除 作成 使用 実行
    解決 終了 開始 大丈 丈夫 結果 原因
    습니 니다 합니 입니 했습 하는 하고 해서 했어 에서 으로 이라 그리 리고 있는 있습 없는 없습 어요 아요 세요 주세
    문제 확인 수정 완료
"""
EVERYDAY = STOPWORDS | {stem(word) for word in EVERYDAY_WORDS.split()}
GENERIC = EVERYDAY | {stem(word) for word in GENERIC_WORDS.split()} | set(GENERIC_PAIRS.split())
GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[,'’]\d{3})+(?![\d,])")
# Particles and pronouns: a pair that has one is no word.
GRAMMATICAL = re.compile("[的了是我你他她它们們这這那吗嗎呢吧啊么麼也很]")

BRIEFLY = re.compile(re.escape(BRIEF).replace(r"\{name\}", "(.*)"), re.DOTALL)

# What models repeat of their prompt: quotations, the notes and their labels, notices.
NOT_SPOKEN = re.compile(
    r"""^\s*(?:
        >.*
        | \[(?:Notes\b|End\ of\ notes|Conversation\ from|Effort\ \S+,|Turns\ of|no\ reply:|stopped\ here|…)[^\[\]]*\]
        | \[turn\ \d+\]
        | Turn\ \d+(?:\ of\ \S+)?(?:,\ [\d-]+)?,\ (?:the\ user|the\ assistant|a\ tool):
        | (?:Active\ effort|Other\ open\ efforts|Expanded\ efforts|Concluded\ without\ summary\ yet):.*
        | (?:Expanded,\ but\ there\ is\ no\ room\ to\ show\ them|Shown\ in\ part|Not\ named\ here):.*
        | Today\ is\ [\d-]+\.\ This\ is\ turn\ \d+\. | No\ effort\ is\ active\. | Names:\ \S+\ is\ “.*
        | (?:Open\ work\ work|Decision\ decision)-\d+:.*
        | -\ \S+\ (?:“.*”\ )?\(turns?\ \d+-\d+(?:,\ [\d-]+)?\):.*
        | ---\ .*\ ---
    )\s*$""",
    re.VERBOSE,
)


def stale(now: int, last: int, threshold: int) -> bool:
    """Whether what was last referenced at `last` leaves when completed turn `now` is settled."""
    return not turns_left(now, last, threshold)


def turns_left(now: int, last: int, threshold: int) -> int:
    """Turns without a reference until it leaves; never more than the threshold, though what refers to it was sent with
    a turn that failed, or has not ended."""
    return min(max(last + threshold - now, 0), threshold)


# By name


def mentioned(names: Sequence[str], text: str) -> str:
    """The first of an effort's names that stands in the text as such, not in a longer word or name; "" if none."""
    said = plain(text)
    return next((name for name in names if (form := form_of(name)) and form.search(said)), "")


# All names are looked for in the same text.
@lru_cache(maxsize=16)
def plain(text: str) -> str:
    return folded(unicodedata.normalize("NFKC", text))


@lru_cache(maxsize=1 << 12)
def form_of(name: str) -> re.Pattern[str] | None:
    """None for a name that says nothing by itself."""
    name = plain(name)
    pieces = list(PIECE.finditer(name))
    if all(piece[0] in STOPWORDS for piece in pieces):
        return None
    form = re.escape(pieces[0][0])
    for piece, following in pairwise(pieces):
        form += gap(name[piece.end() - 1], name[piece.end() : following.start()], following[0][0])
        form += re.escape(following[0])
    alone = len(pieces) == 1 and len(pieces[0][0]) == 1
    return re.compile(before(pieces[0][0][0], alone=alone) + form + after(pieces[-1][0][-1], alone=alone))


def gap(left: str, between: str, right: str) -> str:
    often = "*" if re.fullmatch(f"[{UNSPACED}]{{2}}", left + right) else "+"
    return f"[{GAP}{re.escape(between)}]{often}"


def before(first: str, *, alone: bool) -> str:
    """Inside a sentence without spaces a name has no edge."""
    if re.match(f"[{UNSPACED}]", first):
        return edge("(?<!", first, alone=alone)
    return rf"(?<!{LETTER})(?<![{SIGNS}])(?<![^\W_][-_])"


def after(last: str, *, alone: bool) -> str:
    if re.match(f"[{UNSPACED}]", last):
        return edge("(?!", last, alone=alone)
    return rf"(?!{LETTER}|[{SIGNS}]|[-_][^\W_])"


def edge(look: str, character: str, *, alone: bool) -> str:
    script = KATAKANA if re.match(f"[{KATAKANA}]", character) else UNSPACED if alone else ""
    return f"{look}[{script}])" if script else ""


def name_words(name: str) -> frozenset[str]:
    """Terms of which a text that mentions the name has one."""
    tokens = TOKEN.findall(unicodedata.normalize("NFKC", name))
    terms = token_terms(tokens[-1]) if tokens else ()
    return frozenset(terms[-2:])


# By keywords


def keywords_of(headline: str) -> frozenset[str]:
    """Its terms that could tell what it is about."""
    brief = BRIEFLY.fullmatch(headline.strip())
    return frozenset(telling(unicodedata.normalize("NFKC", brief[1] if brief else headline)))


def telling(text: str) -> Iterator[str]:
    # Halves of 24,000 would be words of their own.
    for token in TOKEN.findall(GROUPED.sub(" ", text)):
        if folded(token) in STOPWORDS:
            continue
        terms = token_terms(token)
        unspaced = re.match(f"[{UNSPACED}]", token)
        # An identifier's parts are its words; itself it would be one more.
        yield from filter(is_telling, terms if unspaced or len(terms) == 1 else terms[:-1])


def is_telling(term: str) -> bool:
    if term in GENERIC:
        return False
    if re.match(f"[{UNSPACED}]", term):
        # Of other scripts without spaces a pair of characters is no word.
        return bool(RUN_WORD.fullmatch(term) or (HAN_WORD.fullmatch(term) and not GRAMMATICAL.search(term)))
    return len(term) >= SHORTEST or not term.isascii()


def shared(keywords: Collection[str], text_terms: Iterable[str], is_common: Callable[[str], bool]) -> tuple[str, ...]:
    """The distinct salient keywords that a text has; `text_terms` in their order, as `terms_of` gives them."""
    found: dict[str, None] = {}
    held = ""
    for term in text_terms:
        # A word of three characters has two pairs and is one word.
        goes_on = bool(held) and bool(PAIR.fullmatch(term)) and held[-1] == term[0]
        counts = term in keywords and not goes_on and not is_common(term)
        if counts:
            found[term] = None
        held = term if counts or (goes_on and RUN_WORD.fullmatch(term)) else ""
    return tuple(found)


def is_common(*, elsewhere: int, passages: int, headlines: int, efforts: int, length: int = 1) -> bool:
    """Of one word: the passages outside the effort that have it, of so many outside it; the headlines of the session
    that have it, of so many. `length`: the passages of the message that is read, for a long one has words by chance."""
    often = elsewhere * length > max(COMMON_PASSAGES, COMMON_SHARE * passages)
    return often or headlines > max(COMMON_HEADLINES, COMMON_HEADLINE_SHARE * efforts)


def spoken(text: str) -> str:
    """What of a model's message is its own words."""
    return "\n".join(line for line in text.split("\n") if not NOT_SPOKEN.match(line))
