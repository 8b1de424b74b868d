"""From a request to a reply: a pure function, the same for the same request.

It quotes the passages of its prompt that fit best, does with efforts what plain phrases say, and tells what it can't.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from efforts.domain.effort.phrases import Known, Said, Wish, wishes
from efforts.domain.text.citations import CODE_CITATION
from efforts.domain.text.sentences import sentences
from efforts.domain.text.terms import STOPWORDS, query_terms, spelled, terms_of
from efforts.llm.builtin import replies
from efforts.llm.builtin.prompt import Prompt, ToolResult, answer_of, arguments_of, error_of, read, texts_of
from efforts.llm.builtin.quoting import GOOD, LOOSE, QUESTION_MARK, SURE, Quote, Text, best, last_told, overview
from efforts.llm.protocol import RawToolCall

SEARCH = "search_messages"
EDIT = "propose_edit"
JUST_NOW = "you, just now"
# Shorter messages without a verb of their own are taken for a question: "release date".
TERSE_WORDS = 4
LONGEST_SMALL_TALK = 80
# Each wish, the tool that fulfils it, and what it is called with.
TOOLS: Mapping[Wish, tuple[str, Mapping[str, str]]] = {
    Wish.OPEN: ("open_effort", {"name": "words"}),
    Wish.BEGIN: ("open_effort", {"name": "words"}),
    Wish.CONCLUDE: ("close_effort", {"id": "effort", "said": "sentence"}),
    Wish.SWITCH: ("switch_effort", {"id": "effort"}),
    Wish.REOPEN: ("reopen_effort", {"id": "effort"}),
    Wish.EXPAND: ("expand_effort", {"id": "effort"}),
    Wish.COLLAPSE: ("collapse_effort", {"id": "effort"}),
    Wish.STATUS: ("effort_status", {}),
    Wish.FIND_EFFORTS: ("search_efforts", {"query": "words"}),
    Wish.SEARCH: (SEARCH, {"query": "words"}),
}
# What a message may go on to after it has concluded an effort.
GOES_ON = (Wish.OPEN, Wish.BEGIN, Wish.SWITCH, Wish.REOPEN)

GREETING = re.compile(
    r"(?:hi|hello|hey|good (?:morning|afternoon|evening|day)|hallo|hola|bonjour|你好|こんにちは)"
    r"(?: (?:there|all|again|you))?"
    r"(?:[,!. ]*(?:how are you(?: doing)?|how(?:'s| is) it going|what's up))?[\W_]*",
    re.IGNORECASE,
)
THANKS = re.compile(
    r"(?!ok(?:ay)?[\W_]*$)(?:(?:thanks?|thank you|thx|cheers|great|perfect|got it|i see|understood|ok(?:ay)?)"
    r"(?: (?:a lot|so much|very much))*[,;.! ]*)+",
    re.IGNORECASE,
)
ABOUT_ITSELF = re.compile(
    r"\bwhat (?:else )?can (?:you|i) (?:do|ask)\b|\b(?:who|what) are you\b"
    r"|\bare you an? (?:ai|bot|human|(?:language )?model)\b"
    r"|\bhow (?:do|can) i connect a model\b|^help[\W_]*$",
    re.IGNORECASE,
)
OVERVIEW = re.compile(
    r"\bsummar(?:y of|i[sz]e) (?:this|our|the) (?:conversation|chat|talk)\b"
    r"|\bwhat (?:have|did) we (?:talk(?:ed)? about|discuss(?:ed)?)(?: so far)?[\W_]*$",
    re.IGNORECASE,
)
ASKS = re.compile(
    r"(?:what|who|whose|when|where|why|how|which|is|are|was|were|do|does|did|can|could|will|would|should|has|have|had"
    r"|tell|show|list|find|search|look|explain|remind|give|describe|quote|summari[sz]e|recall|name|compare|repeat)\b",
    re.IGNORECASE,
)

Act = tuple[str, dict[str, Any]]


@dataclass(frozen=True, kw_only=True)
class EngineReply:
    text: str = ""
    tool_calls: tuple[RawToolCall, ...] = ()


def answer(request: Mapping[str, Any]) -> EngineReply:
    prompt = read(request)
    # Before the phrases: the message that called for a tool is still there, and would call for it again and again.
    if prompt.results:
        return EngineReply(text="\n\n".join(told(prompt)))
    if acts := acts_of(prompt):
        return calling(request, acts)
    if text := small_talk(prompt.question):
        return EngineReply(text=text)
    return from_prompt(prompt, request)


def acts_of(prompt: Prompt) -> tuple[Act, ...]:
    """The tools that a message calls for: the first wish; after a conclusion also what it goes on to."""
    state = prompt.state
    known = Known(active=state.active, open=state.open, concluded=state.in_short, expanded=state.expanded)
    said = [
        one
        for one in wishes(prompt.question, known)
        if (one.outright or begins_with_it(one, prompt))
        and TOOLS[one.wish][0] in prompt.tools
        and not is_part_of_the_active(one, prompt)
    ]
    following = [one for one in said[1:] if one.wish in GOES_ON] if said and said[0].wish == Wish.CONCLUDE else []
    return tuple(act_of(one) for one in (*said[:1], *following[:1]))


def begins_with_it(said: Said, prompt: Prompt) -> bool:
    """Who says first what they work on, and then all about it, has begun it where nothing else is going on."""
    return said.wish == Wish.BEGIN and not prompt.state.active and prompt.question.lstrip().startswith(said.sentence)


def is_part_of_the_active(said: Said, prompt: Prompt) -> bool:
    """Nothing is begun anew that the active effort already speaks of."""
    if said.wish != Wish.BEGIN or not prompt.state.active:
        return False
    log = " ".join((prompt.state.active, *(text.text for text in prompt.logs.get(prompt.state.active, ()))))
    return bool((set(terms_of(said.words)) - STOPWORDS) & set(terms_of(log)))


def act_of(said: Said) -> Act:
    tool, places = TOOLS[said.wish]
    return tool, {key: getattr(said, place) for key, place in places.items()}


def calling(request: Mapping[str, Any], acts: Sequence[Act]) -> EngineReply:
    # Not random: the same request must give the same bytes.
    id_ = f"call_{fingerprint(request)[:16]}"
    calls = tuple(
        RawToolCall(f"{id_}_{number}" if number else id_, name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(acts)
    )
    return EngineReply(tool_calls=calls)


def small_talk(message: str) -> str:
    if len(message) > LONGEST_SMALL_TALK:
        return ""
    if GREETING.fullmatch(message):
        return replies.hello()
    if THANKS.fullmatch(message):
        return replies.WELCOME
    return replies.about() if ABOUT_ITSELF.search(message) else ""


def from_prompt(prompt: Prompt, request: Mapping[str, Any]) -> EngineReply:
    if prompt.line:
        return EngineReply(text=replies.in_order(prompt.line))
    if OVERVIEW.search(prompt.question) and (begun := overview(prompt.said)):
        return EngineReply(text=replies.quoting(replies.OVERVIEW, begun))
    asked, rest = asked_and_told(prompt.question)
    if not asked:
        return EngineReply(text=replies.noted(has_code=EDIT in prompt.tools))
    # A message may tell something and ask about it in one breath.
    just_said = Text(text=rest, where=JUST_NOW, by_user=True, order=len(prompt.said))
    typed = spelled(asked)
    query = " ".join(dict.fromkeys(typed[term] for term in query_terms(asked)))
    may_search = prompt.incomplete and SEARCH in prompt.tools and bool(query)
    # While earlier turns can be searched, half an answer in sight is not settled for.
    if found := best(asked, [*prompt.said, just_said], at_least=SURE if may_search else GOOD):
        opening = replies.IN_CODE if all(CODE_CITATION.fullmatch(one.where) for one in found) else replies.SAID
        return EngineReply(text=replies.quoting(opening, found))
    if may_search:
        return calling(request, [(SEARCH, {"query": query})])
    return EngineReply(text=replies.nothing(searched=False))


def asked_and_told(message: str) -> tuple[str, str]:
    """The questions of a message, and the rest of it."""
    pieces = [sentence for line in message.splitlines() for sentence in sentences(line)]
    asked = [piece for piece in pieces if QUESTION_MARK.search(piece) or ASKS.match(piece)]
    rest = [piece for piece in pieces if piece not in asked]
    if not asked and len(message.split()) <= TERSE_WORDS and not message.rstrip().endswith((".", "!", "。")):
        return message, ""
    return " ".join(asked), "\n".join(rest)


def told(prompt: Prompt) -> Iterator[str]:
    """A paragraph for each thing that tools did or refused, and what can be quoted of what they brought."""
    for result in prompt.results:
        answered = answer_of(result)
        if error := error_of(result):
            yield replies.failed(error)
        elif result.name == "effort_status":
            yield replies.efforts(answered.get("efforts"))
        elif result.name == "search_efforts":
            yield replies.efforts(answered.get("matches"), found=True)
        elif result.name in replies.DONE:
            yield replies.done(result.name, str(answered.get("name") or subject(result)))
            if result.name == "expand_effort":
                yield replies.quoting(replies.LOG_SAYS, from_log(prompt, subject(result)))
        else:
            yield found_by(result, prompt)
    if prompt.results[0].name == "open_effort" and not error_of(prompt.results[0]):
        yield replies.LATER


def subject(result: ToolResult) -> str:
    """The id that a tool answered with, else the one it was called with."""
    answered = answer_of(result)
    keys = ("opened", "concluded", "reopened", "switched", "expanded", "collapsed", "active")
    return next((str(answered[key]) for key in keys if answered.get(key)), str(arguments_of(result).get("id", "")))


def from_log(prompt: Prompt, id_: str) -> Sequence[Quote]:
    """What the log holds on the question, its name apart; where nothing stands out, the last that the person told."""
    log = prompt.logs.get(id_, ())
    name = set(terms_of(id_))
    asked = " ".join(word for word in prompt.question.split() if not set(terms_of(word)) & name)
    return best(asked, log, at_least=LOOSE) or last_told(log)


def found_by(result: ToolResult, prompt: Prompt) -> str:
    """Quotes what a search found, beside what the prompt shows; what was asked for is what was searched for."""
    found = texts_of(result)
    wanted = str(arguments_of(result).get("query", "")) or prompt.question
    # The search ranks whole messages: where no passage stands out, one that has to do with it will do.
    quoted = best(wanted, [*found, *prompt.said]) or best(wanted, found, at_least=LOOSE)[:1]
    if not quoted:
        return replies.nothing(searched=True)
    return replies.quoting(replies.FOUND if result.name == SEARCH else replies.TOOL_SAID, quoted)


def fingerprint(request: Mapping[str, Any]) -> str:
    canonical = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
