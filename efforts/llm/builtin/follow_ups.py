"""What comes after the tools have answered: another tool, or what is told of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from efforts.domain.effort.resolution import plain_text
from efforts.llm.builtin import acts, replies
from efforts.llm.builtin.acts import ASKED_KINDS, EXPAND, SEARCH_EFFORTS, STATUS, Act
from efforts.llm.builtin.cues.efforts import FIND_EFFORT
from efforts.llm.builtin.cues.talk import SEARCH
from efforts.llm.builtin.passages import QUOTES, Quote, QuotedPassage, cut, quotes, rank
from efforts.llm.builtin.prompt import Prompt, ToolResult, answer_of, arguments_of, error_of, texts_of
from efforts.llm.builtin.terms import keywords, terms
from efforts.llm.builtin.topics import name_terms

MOST_ROUNDS = 4
# What a match tells of its effort.
NAME_WEIGHT = 3
MATCHED = ("name", "headline", "passage")
READ = "read_effort"
# An answer in the log of the effort that was asked for may share only a word with the question.
LOOSE_SCORE = 0.12
LOG_QUOTES = 6


def next_acts(prompt: Prompt) -> tuple[Act, ...]:
    """What to call after what was called; nothing twice, and not for ever."""
    if prompt.rounds >= MOST_ROUNDS:
        return ()
    done = {(result.name, _key(arguments_of(result))) for result in prompt.results}
    return tuple(act for act in _wanted(prompt) if act[0] in prompt.tools and (act[0], _key(act[1])) not in done)


def told(prompt: Prompt) -> str:
    """The reply that tells what the tools did, and quotes what they brought."""
    last = prompt.results[-1]
    if last.name == STATUS and not error_of(last):
        return replies.efforts([_in_a_line(effort) for effort in _dicts(answer_of(last).get("efforts"))])
    if last.name == SEARCH_EFFORTS and FIND_EFFORT.search(plain_text(prompt.question)) and not error_of(last):
        return replies.efforts([_in_a_line(match) for match in _dicts(answer_of(last).get("matches"))], found=True)
    if any(result.name in replies.DONE for result in prompt.results):
        return "\n\n".join(_deeds(prompt))
    return _from_search(prompt)


def _wanted(prompt: Prompt) -> Iterator[Act]:
    last = prompt.results[-1]
    if last.name == SEARCH_EFFORTS and not FIND_EFFORT.search(plain_text(prompt.question)):
        yield from _after_search(prompt, _dicts(answer_of(last).get("matches")))
    elif last.name == EXPAND and error_of(last) and (place := _found_turn(prompt, str(arguments_of(last).get("id")))):
        yield READ, place


def _after_search(prompt: Prompt, matches: Sequence[Mapping[str, Any]]) -> Iterator[Act]:
    """The best match is opened where only its summary is in sight; without any, the messages are searched."""
    best = _best(prompt.question, matches)
    if best and best.get("status") == "concluded" and best.get("id") not in prompt.state.expanded:
        yield EXPAND, {"id": str(best["id"])}
    elif not matches and (query := " ".join(keywords(prompt.question))):
        yield SEARCH, {"query": query}


def _best(question: str, matches: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """The match that has most to do with the question, rare words counting more; of equals the first."""
    asked = terms(question) - ASKED_KINDS
    held = [asked & terms(" ".join(str(match.get(key) or "") for key in MATCHED)) for match in matches]
    counts = Counter(term for found in held for term in found)
    names = [terms(str(match.get("id", "")).replace("-", " ")) for match in matches]
    weights = [
        round(sum((NAME_WEIGHT if term in name else 1) / counts[term] for term in sorted(found)), 4)
        for found, name in zip(held, names, strict=True)
    ]
    return matches[weights.index(max(weights))] if matches else {}


def _found_turn(prompt: Prompt, id_: str) -> dict[str, Any] | None:
    """Where a search of this turn found something of an effort that does not fit as a whole."""
    found = [match for result in prompt.results for match in _dicts(answer_of(result).get("matches"))]
    turn = next((match.get("turn") for match in found if match.get("id") == id_), None)
    return {"id": id_, "from_turn": turn, "to_turn": turn} if isinstance(turn, int) else None


def _deeds(prompt: Prompt) -> Iterator[str]:
    """A paragraph for each thing done or refused, and what can be quoted to what is asked."""
    for result in prompt.results:
        if error := error_of(result):
            yield replies.failed(error)
        elif result.name in replies.DONE:
            yield replies.done(result.name, _subject(result))
    opened = [_subject(result) for result in prompt.results if result.name == EXPAND and not error_of(result)]
    if opened:
        yield replies.quoting(replies.LOG_SAYS, _from_log(prompt, opened[-1]))
    elif prompt.results[-1].name in (SEARCH, READ, SEARCH_EFFORTS):
        yield _from_search(prompt)
    elif prompt.results[0].name == acts.OPEN:
        yield replies.LATER


def _subject(result: ToolResult) -> str:
    """The id that a tool answered with, else the one it was called with."""
    answer = answer_of(result)
    named = [
        answer.get(key) for key in ("opened", "concluded", "reopened", "switched", "expanded", "collapsed", "active")
    ]
    return next((str(id_) for id_ in named if id_), str(arguments_of(result).get("id", "")))


def _from_log(prompt: Prompt, id_: str) -> Sequence[Quote]:
    """What the log holds on the question, its name apart; where nothing stands out, the last that the person told."""
    passages = cut(prompt.logs.get(id_, ()))
    asked = " ".join(word for word in keywords(prompt.question) if not terms(word) & name_terms(id_))
    if best := rank(asked, passages, at_least=LOOSE_SCORE):
        return quotes(best)
    told = [passage for passage in passages if passage.by_user and not passage.is_question]
    return quotes((told or passages)[-LOG_QUOTES:])


def _from_search(prompt: Prompt) -> str:
    """Quotes what the tools found; what was asked for is what was searched for."""
    last = prompt.results[-1]
    if error := error_of(last):
        return replies.failed(error)
    searched = last.name in (SEARCH, SEARCH_EFFORTS)
    found = cut(texts_of(last))
    wanted = str(arguments_of(last).get("query", "")) or prompt.question
    best = rank(wanted, cut([*texts_of(last), *prompt.said])) or _sharing_a_word(found, wanted)
    if not best:
        return replies.nothing(searched=True)
    return replies.quoting(replies.FOUND if searched else replies.TOOL_SAID, quotes(best[:QUOTES]))


def _sharing_a_word(found: Sequence[QuotedPassage], wanted: str) -> list[QuotedPassage]:
    """The search ranks whole messages; where no passage stands out, the first that has to do with it will do."""
    return [passage for passage in found if not passage.is_question and passage.terms & terms(wanted)][:1]


def _in_a_line(effort: Mapping[str, Any]) -> str:
    marks = [mark for mark in ("active", "expanded") if effort.get(mark)]
    headline = str(effort.get("headline") or "")
    state = ", ".join([str(effort.get("status", "")), *marks])
    return f"{effort.get('id')}: {state}" + (f". {headline}" if headline else "")


def _dicts(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _key(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, str(value)) for key, value in arguments.items()))
