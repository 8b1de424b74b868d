"""From a request to a reply: a pure function, the same for the same request."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from efforts.domain.effort.resolution import sounds_paused
from efforts.domain.text.sentences import sentences
from efforts.llm.builtin import follow_ups, replies
from efforts.llm.builtin.acts import Act, acts_of
from efforts.llm.builtin.cues.talk import ABOUT_ITSELF, ASKS, CUES, GREETING, OVERVIEW, SEARCH, THANKS
from efforts.llm.builtin.passages import GOOD_SCORE, QUESTION_MARK, SURE_SCORE, Text, cut, overview, quotes, rank
from efforts.llm.builtin.prompt import Prompt, read
from efforts.llm.builtin.terms import keywords
from efforts.llm.protocol import RawToolCall

JUST_NOW = "you, just now"
# Shorter messages without a verb of their own are taken for a question: "release date".
TERSE_WORDS = 4
# In longer messages the phrases of `cues` are likely part of what is told.
LONGEST_CUED = 300
LONGEST_SMALL_TALK = 80


@dataclass(frozen=True, kw_only=True)
class EngineReply:
    text: str = ""
    tool_calls: tuple[RawToolCall, ...] = ()


def answer(request: Mapping[str, Any]) -> EngineReply:
    prompt = read(request)
    # Before the cues: the message that called for a tool is still there, and would call for it again and again.
    if prompt.results:
        return _calling(request, *follow_ups.next_acts(prompt)) or EngineReply(text=follow_ups.told(prompt))
    called = _calling(request, *(_searches(prompt) or acts_of(prompt)))
    if called:
        return called
    if text := _small_talk(prompt.question):
        return EngineReply(text=text)
    return _from_prompt(prompt, request)


def _from_prompt(prompt: Prompt, request: Mapping[str, Any]) -> EngineReply:
    if OVERVIEW.search(prompt.question) and (begun := overview(prompt.said)):
        return EngineReply(text=replies.quoting(replies.OVERVIEW, begun))
    asked, told = _asked_and_told(prompt.question)
    if not asked:
        return EngineReply(text=replies.noted())
    # A message may tell something and ask about it in one breath.
    just_said = Text(text=told, where=JUST_NOW, by_user=True, order=len(prompt.said))
    passages = cut([*prompt.said, just_said])
    query = " ".join(keywords(asked))
    may_search = prompt.incomplete and SEARCH in prompt.tools and bool(query)
    # While earlier turns can be searched, half an answer in sight is not settled for.
    if good := rank(asked, passages, at_least=SURE_SCORE if may_search else GOOD_SCORE):
        return EngineReply(text=replies.quoting(replies.SAID, quotes(good)))
    searching = _calling(request, (SEARCH, {"query": query})) if may_search else None
    return searching or EngineReply(text=replies.nothing(searched=False))


def _searches(prompt: Prompt) -> tuple[Act, ...]:
    for cue in CUES if len(prompt.question) <= LONGEST_CUED else ():
        match = cue.phrase.search(prompt.question) if cue.tool in prompt.tools else None
        if match:
            return ((cue.tool, cue.arguments(match)),)
    return ()


def _calling(request: Mapping[str, Any], *acts: Act) -> EngineReply | None:
    # Not random: the same request must give the same bytes.
    id_ = f"call_{fingerprint(request)[:16]}"
    calls = tuple(
        RawToolCall(f"{id_}_{number}" if number else id_, name, json.dumps(arguments, ensure_ascii=False))
        for number, (name, arguments) in enumerate(acts)
    )
    return EngineReply(tool_calls=calls) if calls else None


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
    terse = len(message.split()) <= TERSE_WORDS and not sounds_paused(message)
    if not asked and terse and not message.rstrip().endswith((".", "!", "。")):
        return message, ""
    return " ".join(asked), "\n".join(told)


def fingerprint(request: Mapping[str, Any]) -> str:
    canonical = json.dumps(request, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
