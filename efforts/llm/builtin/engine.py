"""From a request to a reply: a pure function, the same for the same request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from efforts.domain.sentences import sentences
from efforts.llm.builtin import replies
from efforts.llm.builtin.cues import ABOUT_ITSELF, ASKS, CUES, GREETING, OVERVIEW, SEARCH, THANKS
from efforts.llm.builtin.passages import (
    GOOD_SCORE,
    QUESTION_MARK,
    SURE_SCORE,
    Passage,
    Text,
    cut,
    overview,
    quotes,
    rank,
)
from efforts.llm.builtin.prompt import Prompt, ToolResult, error_of, read, texts_of
from efforts.llm.builtin.terms import keywords, terms
from efforts.llm.protocol import ToolCall

JUST_NOW = "you, just now"
# Shorter messages without a verb of their own are taken for a question: "release date".
TERSE_WORDS = 4
# In longer messages the phrases of `cues` are likely part of what is told.
LONGEST_CUED = 300
LONGEST_SMALL_TALK = 80


@dataclass(frozen=True, kw_only=True)
class Reply:
    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()


def answer(request: Mapping[str, Any]) -> Reply:
    prompt = read(request)
    # Before the cues: the message that called for a search is still there, and would call for it again and again.
    if prompt.results:
        return Reply(text=_from_results(prompt))
    call = _cued_call(prompt)
    if call is not None:
        return _calling(call, request)
    if text := _small_talk(prompt.question):
        return Reply(text=text)
    return _from_prompt(prompt, request)


def _from_prompt(prompt: Prompt, request: Mapping[str, Any]) -> Reply:
    if OVERVIEW.search(prompt.question) and (begun := overview(prompt.said)):
        return Reply(text=replies.quoting(replies.OVERVIEW, begun))
    asked, told = _asked_and_told(prompt.question)
    if not asked:
        return Reply(text=replies.noted())
    # A message may tell something and ask about it in one breath.
    just_said = Text(text=told, where=JUST_NOW, by_user=True, order=len(prompt.said))
    passages = cut([*prompt.said, just_said])
    query = " ".join(keywords(asked))
    may_search = prompt.hidden and SEARCH in prompt.tools and bool(query)
    # While earlier turns can be searched, half an answer in sight is not settled for.
    if good := rank(asked, passages, at_least=SURE_SCORE if may_search else GOOD_SCORE):
        return Reply(text=replies.quoting(replies.SAID, quotes(good)))
    if may_search:
        return _calling((SEARCH, {"query": query}), request)
    return Reply(text=replies.nothing(searched=False))


def _from_results(prompt: Prompt) -> str:
    """Quotes what the tools found; what was asked for is what was searched for."""
    last = prompt.results[-1]
    if error := error_of(last):
        return replies.failed(error)
    opening = replies.FOUND if last.name == SEARCH else replies.TOOL_SAID
    found = cut(texts_of(last))
    wanted = _searched_for(last) or prompt.question
    best = rank(wanted, cut([*texts_of(last), *prompt.said])) or _sharing_a_word(found, wanted)
    return replies.quoting(opening, quotes(best)) if best else replies.nothing(searched=True)


def _sharing_a_word(found: Sequence[Passage], wanted: str) -> list[Passage]:
    """The search ranks whole messages; where no passage stands out, the first that has to do with it will do."""
    return [passage for passage in found if not passage.is_question and passage.terms & terms(wanted)][:1]


def _searched_for(result: ToolResult) -> str:
    try:
        arguments = json.loads(result.arguments)
    except ValueError:
        return ""
    return str(arguments.get("query", "")) if isinstance(arguments, dict) else ""


def _cued_call(prompt: Prompt) -> tuple[str, dict[str, Any]] | None:
    for cue in CUES if len(prompt.question) <= LONGEST_CUED else ():
        match = cue.phrase.search(prompt.question) if cue.tool in prompt.tools else None
        if match:
            return cue.tool, cue.arguments(match)
    return None


def _calling(call: tuple[str, dict[str, Any]], request: Mapping[str, Any]) -> Reply:
    name, arguments = call
    # Not random: the same request must give the same bytes.
    id_ = f"call_{fingerprint(request)[:16]}"
    return Reply(tool_calls=(ToolCall(id_, name, json.dumps(arguments, ensure_ascii=False)),))


def _small_talk(message: str) -> str:
    if len(message) > LONGEST_SMALL_TALK:
        return ""
    if GREETING.fullmatch(message):
        return replies.hello()
    if THANKS.fullmatch(message):
        return replies.WELCOME
    return replies.about() if ABOUT_ITSELF.search(message) else ""


def _asked_and_told(message: str) -> tuple[str, str]:
    """The questions of a message, and the rest of it."""
    pieces = [sentence for line in message.splitlines() for sentence in sentences(line)]
    asked = [piece for piece in pieces if QUESTION_MARK.search(piece) or ASKS.match(piece)]
    told = [piece for piece in pieces if piece not in asked]
    if not asked and len(message.split()) <= TERSE_WORDS and not message.rstrip().endswith((".", "!", "。")):
        return message, ""
    return " ".join(asked), "\n".join(told)


def fingerprint(request: Mapping[str, Any]) -> str:
    canonical = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
