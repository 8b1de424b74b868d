"""Plain phrases that say what to do with efforts: one table as data, each with an example, which is its test.

Precise rather than complete. A phrase is a whole sentence or clause but for politeness around it, and nothing is done
on doubt: what needs understanding is a model's business.

In `words`, (a|b) is a choice and [a] may be missing. {effort} stands for words that name an effort and no other thing,
{topic} for what is begun, {words} for whatever follows; {end} for a word that says that work has ended.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from efforts.domain.effort.names import same_name
from efforts.domain.text.sentences import CLAUSE, sentence_places
from efforts.domain.text.terms import STOPWORDS, terms_of

# Longer messages are told or pasted: their phrases are nobody's wish. In characters.
LONGEST_SAID = 400
LONGEST_TOPIC = 5
AROUND_WORDS = " .,;:!?…*_()\"'“”„"
# The share of an effort's name that must be said.
NAMED = 0.5


class Wish(StrEnum):
    OPEN = "open"
    # Said of something that may well be a part of what is going on.
    BEGIN = "begin"
    CONCLUDE = "conclude"
    SWITCH = "switch"
    REOPEN = "reopen"
    EXPAND = "expand"
    COLLAPSE = "collapse"
    STATUS = "status"
    FIND_EFFORTS = "find_efforts"
    SEARCH = "search"


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """`asked`: it may be put as a question."""

    wish: Wish
    words: str
    example: str
    asked: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        tokens = re.findall(r"\[[^\]]*\]|\([^)]*\)|\S+", self.words)
        return re.compile(BEFORE + "".join(map(token_pattern, tokens)) + AFTER)


@dataclass(frozen=True, kw_only=True)
class Known:
    """The efforts that a message is said among, by id; `names` where they are known, too.

    `open` has the active one among them, `concluded` not the expanded ones.
    """

    active: str = ""
    open: Collection[str] = ()
    concluded: Collection[str] = ()
    expanded: Collection[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Said:
    """One wish. `effort`: the id of the effort that is meant, `words`: the topic, or what is looked for.

    `sentence` is copied from the message. `outright`: an effort is named, or the message says nothing but wishes.
    """

    wish: Wish
    effort: str = ""
    words: str = ""
    sentence: str
    outright: bool


END = "done|finished|solved|fixed|resolved|settled|complete|completed|booked|sent|submitted|paid"
WORK = (
    "(work on|start on|start with|debug|fix|repair|plan|prepare|organise|organize|build|write|draft|design|migrate"
    "|refactor|investigate|look into|track down|find out|tackle|set up|implement|sort out)"
)
LED = "(let's|let us|i want to|i would like to|we want to|i need to|we need to|i have to|we have to|time to)"
GO = "(switch|go back|get back|come back|return|back|over|move on|change|jump)"
NEW = "(a|an|a new|another|a separate)"
KIND = "(effort|topic|task|project)"
DETAILS = "(details|log|history|messages|conversation|discussion)"
CLOSE = "(close|conclude|finish|finish off|wrap up|close out|complete)"

TABLE = (
    # The first that fits is heeded: what has a name is gone on with before it is begun.
    Phrase(wish=Wish.SWITCH, words=f"[{GO[1:-1]}] to {{effort}}", example="Back to the boiler.", asked=True),
    Phrase(
        wish=Wish.SWITCH,
        words="(continue|resume|carry on|go on|keep going|get on|pick up) [with] {effort}",
        example="Let's continue with the boiler.",
        asked=True,
    ),
    Phrase(wish=Wish.SWITCH, words="work on {effort}", example="I want to work on the boiler.", asked=True),
    Phrase(wish=Wish.SWITCH, words="make {effort} [the] active [one|effort]", example="Make the boiler active."),
    Phrase(wish=Wish.SWITCH, words="{effort} (now|again|instead|next)", example="The boiler next."),
    Phrase(
        wish=Wish.OPEN,
        words=f"(open|start|begin|create) {NEW} {KIND} [for|on|about|called|named] {{topic}}",
        example="Open an effort for the boiler.",
        asked=True,
    ),
    Phrase(wish=Wish.OPEN, words=f"[a] (new|another|next|different) {KIND} {{topic}}", example="New topic: the boiler"),
    Phrase(
        wish=Wish.OPEN,
        words=f"track {{topic}} as (an|its own|a separate) {KIND}",
        example="Track the leak as an effort.",
    ),
    Phrase(wish=Wish.BEGIN, words=f"{LED} {WORK} {{topic}}", example="Let's plan the summer party."),
    Phrase(
        wish=Wish.BEGIN,
        words="(let's|let us) (start|begin) [with] (the|our|my|a|an) {topic}",
        example="Let us start with the summer party.",
    ),
    Phrase(
        wish=Wish.BEGIN, words="(we are|i am) [now] working on {topic}", example="I am working on the summer party."
    ),
    Phrase(wish=Wish.BEGIN, words=f"help me [to] {WORK} {{topic}}", example="Help me fix the boiler.", asked=True),
    Phrase(wish=Wish.CONCLUDE, words="(that|this|it) is [now|all] {end}", example="That's done."),
    Phrase(wish=Wish.CONCLUDE, words="[all] {end} [with (it|this|that)]", example="Solved!"),
    Phrase(wish=Wish.CONCLUDE, words="[it|this|that|everything] works [now|again]", example="It works now."),
    Phrase(
        wish=Wish.CONCLUDE,
        words="(that|this) (did it|did the trick|solved it|solves it|fixed it|fixes it)",
        example="That did the trick.",
    ),
    Phrase(wish=Wish.CONCLUDE, words="[the|that] (problem|bug|issue) [is] {end}", example="Problem solved."),
    Phrase(wish=Wish.CONCLUDE, words="(we are|i am) (done|finished|through) [here]", example="We're done here."),
    Phrase(
        wish=Wish.CONCLUDE,
        words="[we are|i am] (done|finished|through) with (it|this|that) [one|effort|topic]",
        example="We are done with this effort.",
    ),
    Phrase(
        wish=Wish.CONCLUDE,
        words=f"{CLOSE} (it|this|that) [one|effort|topic]",
        example="Can we close this?",
        asked=True,
    ),
    Phrase(wish=Wish.CONCLUDE, words="(wrap|finish) (it|this|that) (up|off)", example="Let's wrap it up.", asked=True),
    Phrase(
        wish=Wish.CONCLUDE,
        words="(call|mark|consider) (it|this|that) [as] {end}",
        example="Call it done.",
        asked=True,
    ),
    Phrase(wish=Wish.CONCLUDE, words="nothing (left|more|else) to do", example="Nothing left to do."),
    Phrase(
        wish=Wish.CONCLUDE,
        words="{effort} (is|are) [now|all|finally] {end} [and {end}]",
        example="The boiler is fixed.",
    ),
    Phrase(wish=Wish.CONCLUDE, words="{effort} works [now|again]", example="The boiler works again."),
    Phrase(wish=Wish.CONCLUDE, words=f"{CLOSE} {{effort}}", example="Close boiler-repair.", asked=True),
    Phrase(wish=Wish.CONCLUDE, words="mark {effort} as {end}", example="Mark the boiler as done.", asked=True),
    Phrase(
        wish=Wish.CONCLUDE,
        words="[we are|i am] (done|finished|through) with {effort}",
        example="We're done with the boiler.",
    ),
    Phrase(wish=Wish.CONCLUDE, words="that is (it|all) for {effort}", example="That's all for the boiler."),
    Phrase(wish=Wish.REOPEN, words="(reopen|open) {effort} [again]", example="Reopen the boiler.", asked=True),
    Phrase(wish=Wish.REOPEN, words="{effort} is (broken|open) again", example="The boiler is broken again."),
    Phrase(
        wish=Wish.EXPAND,
        words="(expand|unfold|show|load|read|see|pull up|bring back|bring up) [me] {effort}",
        example="Expand the boiler.",
        asked=True,
    ),
    Phrase(
        wish=Wish.EXPAND,
        words="(show|give|tell|remind|need|want|let) [me|us] [see|of|in] [all] [the|every|full|whole]"
        f" {DETAILS} (of|about|for|from|on) {{effort}}",
        example="Give me the details of the boiler.",
        asked=True,
    ),
    Phrase(
        wish=Wish.EXPAND,
        words="what [exactly] did (we|i|you) (do|say|change|decide|agree|write|use) [on|about|in|for|with] {effort}",
        example="What exactly did we say about the boiler?",
        asked=True,
    ),
    Phrase(wish=Wish.COLLAPSE, words="(collapse|fold|hide) (it|this|that|{effort})", example="Collapse it."),
    Phrase(wish=Wish.COLLAPSE, words="put {effort} away", example="Put the boiler away.", asked=True),
    Phrase(wish=Wish.COLLAPSE, words="enough (about|of) {effort}", example="Enough about the boiler."),
    # Who has read the details needs them no longer.
    Phrase(wish=Wish.COLLAPSE, words="(got it|understood|i see) [thanks|thank you]", example="Got it, thanks!"),
    Phrase(
        wish=Wish.STATUS,
        words="(what|which) efforts (are|do) (there|open|we have|i have)",
        example="Which efforts are open?",
        asked=True,
    ),
    Phrase(wish=Wish.STATUS, words="(list|show) [me] [all] [my|our|the] efforts", example="List my efforts."),
    Phrase(wish=Wish.STATUS, words="where (are we|do we stand|was i)", example="Where was I?", asked=True),
    Phrase(
        wish=Wish.FIND_EFFORTS,
        words="(find|search [for]) (the|an) effort (about|on|where|with|for) {words}",
        example="Find the effort about the boiler.",
        asked=True,
    ),
    Phrase(
        wish=Wish.SEARCH,
        words="(search|look) [back] [in|through] [our|my|the|all] [old|older|earlier]"
        " [messages|conversation|history|log] for {words}",
        example="Search our messages for the boiler.",
        asked=True,
    ),
    Phrase(
        wish=Wish.SEARCH,
        words="find (where|when|what) (we|i|you) (said|talked|wrote|decided|mentioned) [about] {words}",
        example="Find where we talked about the boiler.",
        asked=True,
    ),
)

# Politeness and little words around a phrase.
BEFORE = (
    r"(?:(?:ok|okay|so|and|now|then|also|yes|yeah|great|good|perfect|thanks|hey|hi|please|actually|finally|just|i"
    r" think|let's|let us|can we|could we|can you|could you|would you|can i|you can|we can|i want to|i would like to"
    r"|i would rather|i need to|i think we can|let me)[,!]? )*"
)
AFTER = r"(?:(?:please|now|then|thanks|thank you|again|too|as well|here|i think|first|ok)[,]? )*"
SLOTS = {
    "{effort}": r"(?P<effort>[^,;:?!]{2,60}?)",
    "{topic}": r"(?P<topic>.+?)",
    "{words}": r"(?P<words>.+?)",
    "{end}": f"(?:{END})",
}
SHORT_FORMS = (
    (r"\b(that|this|it|what|where|who)'s\b", r"\1 is"),
    (r"'re\b", " are"),
    (r"'m\b", " am"),
    (r"\bi'd\b", "i would"),
    (r"[“”\"]", ""),
)
# What says nothing more beside a wish.
SMALL = re.compile(r"(?:\w+ |(?:thanks?|thank you|very|good|great|perfect|a lot|so much|nice work|well done)[,!]? )+")
TAKEN_BACK = re.compile(r"\b(?:but|except|only|though|not|almost|nearly|if|when|once|until|unless|yet|still)\b|n't\b")
# No effort is called so, whoever says it.
NAMELESS = frozenset(
    ("this", "that", "it", "them", "these", "those", "something", "anything", "everything", "things", "you", "me")
)
# What stands before the name of a topic.
PREPARED = re.compile(
    rf"^(?:help me (?:to )?{WORK.replace('(', '(?:', 1)} )?"
    r"(?:(?:the|a|an|my|our|your|his|her|their|some|new|out|why|how|whether|where|what|for|to) )*"
)
TOPIC_ENDS = re.compile(
    r"[.,;:!?()]|\s[-–—]\s|\b(?:that|which|who|because|since|so|before|after|when|while|until|if|as|in|on|at|by|from"
    r"|with|without|and (?:i|we|it)|it|i|we|please|today|tomorrow|tonight|next|this|last|now)\b"
)
OF_EFFORTS = frozenset(terms_of("effort topic one thing discussion work project summary effort's again active"))


def token_pattern(token: str) -> str:
    """A word, a choice or an optional choice of a phrase, and the space after it."""
    inner = token[1:-1] if token[0] in "[(" else token
    for slot, pattern in SLOTS.items():
        inner = inner.replace(slot, pattern)
    return rf"(?:(?:{inner})[:,]? )" + ("?" if token[0] == "[" else "")


def wishes(text: str, known: Known) -> tuple[Said, ...]:
    """What a message says to do with efforts, in its order; most messages say nothing. Names resolve among `known`."""
    if len(text) > LONGEST_SAID or "```" in text:
        return ()
    found: list[tuple[Phrase, re.Match[str], str]] = []
    more = False
    for start, end in sentence_places(text):
        sentence = text[start:end]
        said = list(of_sentence(sentence, known))
        found += [(phrase, match, sentence) for phrase, match in filter(None, said)]
        more = more or None in said
    told = (resolved(phrase, match, sentence, known, alone=not more) for phrase, match, sentence in found)
    return tuple(said for said in told if said)


def of_sentence(sentence: str, known: Known) -> Iterator[tuple[Phrase, re.Match[str]] | None]:
    """What each clause of a sentence wishes, or the whole of it; None where it says something else."""
    asked = sentence.rstrip("\"'”’)* ").endswith(("?", "？"))
    if whole := matched(sentence, known, asked=asked):
        yield whole
        return
    clauses = CLAUSE.split(sentence)
    found = [matched(clause, known, asked=asked) for clause in clauses]
    for at, (clause, match) in enumerate(zip(clauses, found, strict=True)):
        # "It's done, but the logo is wrong", "Once it's booked, we go".
        if match and match[0].wish == Wish.CONCLUDE and any(TAKEN_BACK.search(one) for one in clauses[at:]):
            yield None
        elif match or not SMALL.fullmatch(plain(clause)) or len(plain(clause).split()) > 1:
            yield match


def matched(text: str, known: Known, *, asked: bool) -> tuple[Phrase, re.Match[str]] | None:
    said = plain(text)
    for phrase in TABLE:
        if asked and not phrase.asked:
            continue
        match = phrase.pattern.fullmatch(said)
        if match and resolved(phrase, match, text, known, alone=True):
            return phrase, match
    return None


def plain(text: str) -> str:
    """The text as phrases are looked for in it, with one space after each word and none of the marks at its end."""
    told = unicodedata.normalize("NFC", text).casefold().replace("’", "'")
    for short, full in SHORT_FORMS:
        told = re.sub(short, full, told)
    return " ".join(told.split()).strip(" .!?…*_()") + " "


def resolved(phrase: Phrase, match: re.Match[str], sentence: str, known: Known, *, alone: bool) -> Said | None:
    """The wish with its effort or topic; None where the words name none."""
    groups = match.groupdict()
    wish, slot = phrase.wish, (groups.get("effort") or "").strip()
    if groups.get("topic") is not None:
        return of_topic(wish, word_by_word(topic_of(groups["topic"]), sentence), sentence, known, alone=alone)
    if words := groups.get("words"):
        return Said(wish=wish, words=as_written(words.strip(), sentence), sentence=sentence, outright=True)
    if slot:
        return of_named(wish, slot, sentence, known)
    if wish == Wish.CONCLUDE:
        named = Said(wish=wish, effort=known.active, sentence=sentence, outright=alone)
        return named if known.active else None
    if wish == Wish.COLLAPSE:
        only = next(iter(known.expanded), "") if len(known.expanded) == 1 else ""
        return Said(wish=wish, effort=only, sentence=sentence, outright=True) if only else None
    return Said(wish=wish, sentence=sentence, outright=True)


def of_topic(wish: Wish, topic: str, sentence: str, known: Known, *, alone: bool) -> Said | None:
    """An effort that exists by that name is gone on with."""
    if not topic:
        return None
    for ids, other in ((known.open, Wish.SWITCH), ((*known.concluded, *known.expanded), Wish.REOPEN)):
        for id_ in ids:
            if same_name(topic, id_) or same_name(topic, known.names.get(id_, "")):
                return Said(wish=other, effort=id_, sentence=sentence, outright=True) if id_ != known.active else None
    return Said(wish=wish, words=topic, sentence=sentence, outright=alone or wish == Wish.OPEN)


def of_named(wish: Wish, slot: str, sentence: str, known: Known) -> Said | None:
    concluded = (*known.concluded, *known.expanded)
    among: dict[Wish, Collection[str]] = {
        Wish.CONCLUDE: known.open,
        Wish.SWITCH: [id_ for id_ in known.open if id_ != known.active],
        Wish.REOPEN: concluded,
        Wish.EXPAND: known.concluded,
        Wish.COLLAPSE: known.expanded,
    }
    # “Back to the party” is said of the summer party for the office, if there is no other.
    least = NAMED if wish in (Wish.CONCLUDE, Wish.EXPAND) else 0.0
    id_ = named(slot, among[wish], known, alone=wish != Wish.EXPAND, least=least)
    if not id_ and wish == Wish.SWITCH and (id_ := named(slot, concluded, known, alone=True)):
        wish = Wish.REOPEN
    return Said(wish=wish, effort=id_, sentence=sentence, outright=True) if id_ else None


def named(text: str, ids: Collection[str], known: Known, *, alone: bool, least: float = NAMED) -> str:
    """The one effort whose name the text holds most of; empty where there is none, or several.

    `least`: the share of the name that is asked for. `alone`: the text says nothing beside it; “the login part” does,
    and is no effort called login-page.
    """
    said = set(terms_of(text)) - STOPWORDS - OF_EFFORTS
    shares = dict.fromkeys(ids, 0.0)
    for id_ in ids:
        # Names change, ids stay: an effort is known by either.
        for name in (id_, known.names.get(id_, id_)):
            words = set(terms_of(name.replace("-", " "))) - STOPWORDS or {name}
            if not alone or said <= words | set(terms_of(name)):
                shares[id_] = max(shares[id_], len(words & said) / len(words))
    most = max(shares.values(), default=0.0)
    found = [id_ for id_, share in shares.items() if share and share == most >= least]
    return found[0] if len(found) == 1 else ""


def topic_of(words: str) -> str:
    """One to five words that name what is begun; empty where the words name nothing."""
    rest = PREPARED.sub("", words.strip(" '"))
    stop = TOPIC_ENDS.search(rest)
    kept = [word for word in (rest[: stop.start()] if stop else rest).split() if word not in ("the", "a", "my", "our")]
    kept = kept[:LONGEST_TOPIC]
    while kept and kept[-1] in ("for", "of", "and", "to", "or"):
        kept.pop()
    names_nothing = not kept or kept[0] in NAMELESS or not set(terms_of(" ".join(kept))) - STOPWORDS
    return "" if names_nothing else " ".join(kept)


def word_by_word(words: str, sentence: str) -> str:
    """Each of them as the person wrote it: names keep their capitals."""
    written: dict[str, str] = {}
    for word in unicodedata.normalize("NFC", sentence).split():
        bare = word.strip(AROUND_WORDS)
        written.setdefault(bare.casefold().replace("’", "'"), bare)
    return " ".join(written.get(word, word) for word in words.split())


def as_written(words: str, sentence: str) -> str:
    """Words found in the plain text, as the person wrote them."""
    at = sentence.casefold().replace("’", "'").rfind(words)
    written = sentence[at : at + len(words)] if at >= 0 else words
    return written.strip(" \"'“”")
