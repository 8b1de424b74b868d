"""What a message asks to be done with efforts: the tools to call first, in order; most messages ask for nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from efforts.domain.effort.resolution import CLAUSE, SENTENCE, plain_text, resolving_sentences
from efforts.llm.builtin.cues import efforts as cues
from efforts.llm.builtin.cues import ledger
from efforts.llm.builtin.cues.talk import ASKS, GREETING, HAS_READ, THANKS
from efforts.llm.builtin.passages import QUESTION_MARK, SURE_SCORE, cut, rank
from efforts.llm.builtin.prompt import SUMMARY, Prompt
from efforts.llm.builtin.terms import keywords, terms
from efforts.llm.builtin.topics import ACHE, SHARED_TERMS, closest, name_share, name_terms, named, topic_of

Act = tuple[str, dict[str, Any]]

OPEN, CLOSE, REOPEN, SWITCH = "open_effort", "close_effort", "reopen_effort", "switch_effort"
SUGGEST_PIN = "suggest_pin"
RECORD, RESOLVE = "record", "resolve_open_work"
EXPAND, COLLAPSE, STATUS, SEARCH_EFFORTS = "expand_effort", "collapse_effort", "effort_status", "search_efforts"

# What is longer was pasted: its phrases are nobody's wish.
LONGEST_READ = 700
LONGEST_STATUS = 90
LONGEST_HEADING = 6
PART_OF_NAME = 0.3
TURN = re.compile(r"\bturn \d+")
WHY_PINNED = "You asked for a suggestion."
CODE = re.compile(r"^(?:```.*?```|(?:    |\t|>).*?)$", re.MULTILINE | re.DOTALL)
# Words of a question that say what kind of thing is asked for, and not which.
ASKED_KINDS = terms(
    "name names guy person place stuff bit tiny again called call sister brother cousin friend mother need needs"
    " wanna pass buy exact exactly details detail point run look dig find found give sent told asked sure once time ago"
    " already ever earlier before back got get went made done new old number please standing want forgot us today now"
    " tomorrow yesterday"
)


@dataclass(frozen=True, kw_only=True)
class View:
    """One message, and the efforts it is said among."""

    prompt: Prompt

    @cached_property
    def text(self) -> str:
        return plain_text(CODE.sub("", self.prompt.question)).strip()[:LONGEST_READ]

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        return tuple(sentence for sentence in SENTENCE.split(self.text) if sentence and sentence.strip())

    @cached_property
    def logs(self) -> dict[str, str]:
        """What is shown of each open effort."""
        logs = self.prompt.logs
        return {id_: "\n".join(said.text for said in logs.get(id_, ())) for id_ in self.prompt.state.open}


def acts_of(prompt: Prompt) -> tuple[Act, ...]:
    view = View(prompt=prompt)
    if not view.text or GREETING.fullmatch(view.text):
        return ()
    if THANKS.fullmatch(view.text):
        return _has_read(view)
    for rule in RULES:
        if acts := tuple(act for act in rule(view) if act[0] in prompt.tools):
            return acts
    return ()


def _has_read(view: View) -> tuple[Act, ...]:
    done = HAS_READ.search(view.text) and COLLAPSE in view.prompt.tools
    return tuple((COLLAPSE, {"id": id_}) for id_ in view.prompt.state.expanded) if done else ()


def _suggest_pin(view: View) -> tuple[Act, ...]:
    """What the message names, else the last thing that was said."""
    if not cues.SUGGEST_PIN.search(view.text):
        return ()
    turn = TURN.search(view.text) or next(
        filter(None, (TURN.search(said.where) for said in view.prompt.said[::-1])), None
    )
    ref = named(view.text, view.prompt.state.concluded) or (turn[0] if turn else "")
    return ((SUGGEST_PIN, {"ref": ref, "why": WHY_PINNED}),) if ref else ()


def _note(view: View) -> tuple[Act, ...]:
    """What the person dictates for the ledger, in their own words."""
    said = view.prompt.question
    if len(said) > LONGEST_READ:
        return ()
    found = ((kind, phrase.fullmatch(said)) for kind, phrase in ledger.NOTES.items())
    return tuple((RECORD, {"kind": kind, "text": note[1].strip()}) for kind, note in found if note)


def _resolve(view: View) -> tuple[Act, ...]:
    ids = dict.fromkeys(done[1] or done[2] for done in ledger.WORK_DONE.finditer(view.text))
    return tuple((RESOLVE, {"id": id_}) for id_ in ids)


def _status(view: View) -> tuple[Act, ...]:
    state = view.prompt.state
    asked = len(view.text) <= LONGEST_STATUS and cues.STATUS.search(view.text)
    return ((STATUS, {}),) if asked and not named(view.text, (*state.open, *state.concluded)) else ()


def _collapse(view: View) -> tuple[Act, ...]:
    expanded = view.prompt.state.expanded
    for sentence in view.sentences if expanded else ():
        pieces = [piece for piece in CLAUSE.split(sentence) if not cues.KEEPS.search(piece)]
        for piece in (*pieces, " ".join(pieces)):
            if id_ := _put_away(view, piece):
                return ((COLLAPSE, {"id": id_}),)
    return ()


def _put_away(view: View, piece: str) -> str:
    state = view.prompt.state
    id_ = named(piece, state.expanded)
    outright, let_go = cues.COLLAPSE.search(piece), cues.LETS_GO.search(piece)
    if id_ and (outright or let_go or resolving_sentences(piece)):
        return "" if state.active and named(piece, state.open) and not outright else id_
    only = state.expanded[0] if len(state.expanded) == 1 else ""
    pronoun = outright and not named(piece, state.open)
    return only if pronoun or (let_go and not state.open) else ""


def _reopen(view: View) -> tuple[Act, ...]:
    state = view.prompt.state
    for sentence in view.sentences:
        looks_up = QUESTION_MARK.search(sentence) or cues.READS.search(sentence)
        if looks_up or not cues.REOPEN.search(sentence) or named(sentence, state.open):
            continue
        if id_ := named(sentence, state.concluded):
            return ((REOPEN, {"id": id_}),)
    return ()


def _conclude(view: View) -> tuple[Act, ...]:
    """The open effort that a resolving sentence names, else the active one; and what the message goes on to."""
    ended = resolving_sentences(view.text)
    state = view.prompt.state
    if not ended:
        return ()
    # "The passport is here. That's settled."
    before = [first for first, second in pairwise(view.sentences) if second in ended and POINTS_BACK.match(second)]
    told = ((sentence, state.open) for sentence in ended)
    id_ = next(
        (found for text, ids in (*told, *((text, state.others) for text in before)) if (found := named(text, ids))), ""
    )
    id_ = id_ or state.active
    if not id_:
        return ()
    rest = " ".join(sentence for sentence in view.sentences if sentence not in ended)
    return ((CLOSE, {"id": id_, **_said(view, ended)}), *_next_work(view, ended, rest, id_))


def _said(view: View, ended: tuple[str, ...]) -> dict[str, str]:
    """The sentence that ends it, as the person wrote it."""
    written = (sentence.strip() for sentence in SENTENCE.split(view.prompt.question) if sentence)
    found = next((sentence for sentence in written if plain_text(sentence) in {one.strip() for one in ended}), "")
    return {"said": found} if found else {}


POINTS_BACK = re.compile(r"^\W*(?:(?:so|and|ok|now|then|please) )*(?:that|this|it)(?:'s| )")


def _next_work(view: View, ended: tuple[str, ...], rest: str, closed: str) -> tuple[Act, ...]:
    left = tuple(id_ for id_ in view.prompt.state.open if id_ != closed)
    after = [piece for sentence in ended for piece in CLAUSE.split(sentence)[1:]]
    for piece in (*after, rest):
        if (id_ := _goes_to(piece, left)) and len(left) > 1:
            return ((SWITCH, {"id": id_}),)
        begun = cues.BEGINS.search(piece)
        if begun and not named(piece, left) and (topic := topic_of(piece, begun.end())):
            return ((OPEN, {"name": topic}),)
    return ()


def _expand(view: View) -> tuple[Act, ...]:
    state = view.prompt.state
    whole = named(view.text, state.in_short)
    places = [view.text] if whole and name_share(view.text, whole) == 1 else view.sentences
    asked = (found for place in places if _asks(place) and (found := named(place, state.in_short)))
    id_ = next(asked, "") or _heading(view)
    if not id_:
        return ()
    rival = named(view.text, state.open)
    if rival and len(name_terms(rival) & terms(view.text)) > len(name_terms(id_) & terms(view.text)):
        return ()
    return ((EXPAND, {"id": id_}),)


def _heading(view: View) -> str:
    """An effort in short whose whole name stands before a comma or colon, and what is wanted of it after."""
    first, *rest = CLAUSE.split(view.text)
    id_ = named(first, view.prompt.state.in_short) if rest else ""
    return id_ if id_ and name_share(first, id_) == 1 and len(first.split()) <= LONGEST_HEADING else ""


def _asks(text: str) -> bool:
    cued = (cues.DETAILS, cues.IMPERATIVE, cues.QUESTION_WORD)
    return bool(QUESTION_MARK.search(text) or ASKS.match(text) or any(cue.search(text) for cue in cued))


def _switch(view: View) -> tuple[Act, ...]:
    state = view.prompt.state
    left = cues.ENOUGH.search(view.text) or cues.LEAVES.search(view.text)
    elsewhere = cues.ENOUGH.sub(" ", view.text)
    if id_ := _goes_to(elsewhere, state.others):
        return ((SWITCH, {"id": id_}),)
    if id_ := _goes_to(elsewhere, state.in_short, returns=True):
        return ((REOPEN, {"id": id_}),)
    if (id_ := named(elsewhere, state.others)) and _is_meant(view, elsewhere, id_):
        return ((SWITCH, {"id": id_}),)
    if id_ := _speaks_of(view, elsewhere):
        return ((SWITCH, {"id": id_}),)
    # What is named is meant, although another log may have more of its words.
    elsewhere_named = cues.NEW_TOPIC.search(view.text) or named(elsewhere, state.expanded)
    if (id_ := closest(elsewhere, view.logs, state.active)) and not elsewhere_named:
        return ((SWITCH, {"id": id_}),)
    # Enough of the active one, and there is only one other to go to.
    if left and named(left["topic"], (state.active,)) and len(state.others) == 1 and not cues.BEGINS.search(elsewhere):
        return ((SWITCH, {"id": state.others[0]}),)
    return ()


def _is_meant(view: View, text: str, id_: str) -> bool:
    """A name alone leads to its effort where the active one is not spoken of."""
    active = view.prompt.state.active
    if _begins(view) and name_share(text, id_) < 1:
        return False
    return not active or not named(text, (active,))


def _speaks_of(view: View, text: str) -> str:
    """The other open effort that alone has spoken of what the person goes to."""
    if cues.NEW_TOPIC.search(text):
        return ""
    for found in cues.LEADS.finditer(text):
        said = terms(re.split(r"[.?!,;:\n]", text[found.end() :], maxsplit=1)[0])
        holders = [id_ for id_, log in view.logs.items() if said & (terms(log) | name_terms(id_))]
        if len(holders) == 1 and holders[0] != view.prompt.state.active:
            return holders[0]
    return ""


RETURNS = re.compile(r"\b(?:back|return|returning|zurück|volver|revenons)\b")


def _goes_to(text: str, ids: tuple[str, ...], *, returns: bool = False) -> str:
    """What is named right after a word that leads there."""
    for found in cues.GOES_TO.finditer(text):
        if returns and not RETURNS.search(found[0]):
            continue
        rest = re.split(r"[.?!,;:\n]", text[found.end() :], maxsplit=1)[0]
        if id_ := named(rest, ids):
            return id_
    return ""


def _past(view: View) -> tuple[Act, ...]:
    """Something of an effort that is not named, and that nothing in sight answers."""
    state = view.prompt.state
    asks = any(_asks(sentence) for sentence in view.sentences)
    if not (asks and (state.in_short or state.unlisted) and _recalls(view)):
        return ()
    # A summary is no answer to somebody who asks what was said.
    said = [text for text in view.prompt.said if not text.where.startswith(SUMMARY)]
    if rank(view.text, cut(said), at_least=SURE_SCORE):
        return ()
    query = _query(view)
    return ((SEARCH_EFFORTS, {"query": query}),) if query else ()


def _recalls(view: View) -> bool:
    """Whether it asks for something of the past; somebody who begins something has to say so outright."""
    if cues.RECALLS.search(view.text):
        return True
    return not _begins(view) and bool(cues.PAST.search(view.text) or _in_headline(view))


def _in_headline(view: View) -> bool:
    """Whether a summary in the prompt speaks of what is asked for."""
    asked = terms(view.text) - ASKED_KINDS
    headlines = view.prompt.state.headlines
    held = [
        asked & (terms(text) | name_terms(id_)) for id_, text in headlines.items() if id_ in view.prompt.state.in_short
    ]
    return max(map(len, held), default=0) >= (1 if cues.DETAILS.search(view.text) else SHARED_TERMS)


def _query(view: View) -> str:
    """The telling words, those of the question first: a search takes only so many."""
    asking = [sentence for sentence in view.sentences if _asks(sentence)]
    words = keywords(" ".join((*asking, *(sentence for sentence in view.sentences if sentence not in asking))))
    telling = [word for word in words if not terms(word) <= ASKED_KINDS]
    return " ".join(telling or words)


def _find_effort(view: View) -> tuple[Act, ...]:
    found = cues.FIND_EFFORT.search(view.text)
    query = (found["query"] or found["about"]).strip(" .?!\"'") if found else ""
    return ((SEARCH_EFFORTS, {"query": query}),) if query else ()


def _open(view: View) -> tuple[Act, ...]:
    state = view.prompt.state
    if not _begins(view):
        return ()
    found = (cues.BEGINS.search(view.text), cues.WISHES.search(view.text))
    name = topic_of(view.text, *(match.end() for match in found if match))
    if not name:
        return ()
    known = next((id_ for id_ in (*state.open, *state.concluded) if name_terms(id_) == terms(name)), "")
    if not known:
        return ((OPEN, {"name": name}),)
    if known in state.concluded:
        return ((REOPEN, {"id": known}),)
    return ((SWITCH, {"id": known}),) if known != state.active else ()


def _begins(view: View) -> bool:
    """Whether enough speaks for a piece of work of its own; more is asked for where another one is going on."""
    weight = sum(points for cue, points in POINTS.items() if cue.search(view.text))
    weight += LONG_POINTS if len(view.text.split()) >= LONG else 0
    active = view.prompt.state.active
    if not active:
        return weight >= ENOUGH
    new = cues.NEW_TOPIC.search(view.text)
    if new and new[0] not in cues.IN_PASSING:
        return weight >= ENOUGH
    weight -= POINTS[cues.NEW_TOPIC] if new else 0
    weight -= AGAIN_POINTS if cues.SAME_THING.search(view.text) else 0
    return weight >= MORE_THAN_ENOUGH and not _related(view, active)


def _related(view: View, id_: str) -> bool:
    """Whether a message speaks of the same things as an effort's log."""
    said = terms(view.text) - COMMON_TALK
    shared = said & terms(view.logs.get(id_, ""))
    return bool(named(view.text, (id_,))) or len(shared) >= max(2, RELATED_SHARE * len(said))


# What speaks for a new piece of work, and against it.
POINTS = {
    cues.BEGINS: 2.0,
    cues.WISHES: 1.5,
    cues.TROUBLE: 1.0,
    cues.LASTING: 1.0,
    cues.LOST: 1.0,
    cues.WORKS: 1.0,
    cues.NEW_TOPIC: 0.5,
    re.compile(r"\b(?:my|our)\b"): 0.5,
    ACHE: 1.5,
    cues.ONE_OFF: -2.0,
    cues.SMALL_TALK: -2.0,
}
LONG, LONG_POINTS = 8, 0.5
ENOUGH, MORE_THAN_ENOUGH = 1.5, 2.5
# What is done to “it” is done to what was spoken of.
AGAIN_POINTS = 1.0
RELATED_SHARE = 0.25
COMMON_TALK = terms("help plan find start begin use work week day time good new need want make")

Rule = Callable[[View], tuple[Act, ...]]
# The first that finds something to do is heeded.
RULES: tuple[Rule, ...] = (
    _suggest_pin,
    _note,
    _resolve,
    _status,
    _find_effort,
    _collapse,
    _reopen,
    _conclude,
    _expand,
    _switch,
    _past,
    _open,
)
