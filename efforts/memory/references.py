"""What a turn refers to: the one door for all who ask. Each reference is an event with its evidence.

Every function belongs inside the transaction of a caller.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import F, QuerySet

from efforts.context.contents import BranchContents
from efforts.context.keywords import ALL
from efforts.context.mentions import Mention, find_mentions
from efforts.context.references import Reference, find_references
from efforts.domain.effort.ageing import keywords_of, name_words, spoken
from efforts.domain.effort.states import RunState
from efforts.domain.prompt.conversation import LogMessage
from efforts.log import events, labels
from efforts.log.timelines import clock_of, said_in
from efforts.models import (
    Branch,
    ContextPointer,
    Effort,
    EffortState,
    EffortWord,
    Event,
    Message,
    Passage,
    PointerWord,
    Run,
)
from efforts.standins.chosen import find_chosen

TURN = re.compile(r"\bturns? (\d{1,9})\b", re.IGNORECASE)
# What each of these tools gave names what it read.
READERS = ("read_effort", "read_message")
SEARCH = "search_efforts"
# Of the results of a search the first so many refer to what they found, with at least this share of the first's score.
TOP, SHARE = 3, 0.5


def learn_name(effort: Effort) -> None:
    """From now on a message that calls the effort so refers to it."""
    learn(effort, dict.fromkeys(name_words(effort.slug) | name_words(effort.name), 0), of_name=True)


def learn_headline(effort: Effort, text: str, turns: Collection[int]) -> None:
    """From now on a message with its keywords refers to the effort, where that headline stands.

    `turns`: those that it stands for; their passages have its words anyhow, and tell nothing of how common they are.
    """
    learn(effort, words_of(text, turns), of_name=False)


def learn_chosen(pointer: ContextPointer, turns: Collection[int]) -> None:
    """The same of chosen turns."""
    words = words_of(pointer.headline, turns).items()
    PointerWord.objects.bulk_create(
        PointerWord(branch_id=pointer.branch_id, pointer=pointer, word=word, passages=passages)
        for word, passages in words
    )


def words_of(text: str, turns: Collection[int]) -> dict[str, int]:
    said = Passage.objects.filter(message__turn__in=turns).values_list("terms", flat=True)
    own = [set(terms.split()) for terms in said]
    words = {word: sum(word in terms for terms in own) for word in keywords_of(text)}
    return {**words, ALL: len(own)}


def learn(effort: Effort, words: Mapping[str, int], *, of_name: bool) -> None:
    rows = [
        EffortWord(session_id=effort.session_id, effort=effort, word=word, of_name=of_name, passages=passages)
        for word, passages in words.items()
    ]
    # Concluded once more, it has other passages of its own than before.
    unique = ["session", "of_name", "word", "effort"]
    EffortWord.objects.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=["passages"])


def of_message(run: Run) -> None:
    """The person's words, before their turn is planned: what they mention stands in its prompt."""
    # Tried again, the turn refers to what it did before.
    if run.attempt == 1 and BranchContents.of(run.branch).can_be_meant:
        message = said_in(run)[0]
        store_said(run, message, message.text)


def of_reply(run: Run, said: Sequence[LogMessage]) -> None:
    """The assistant's own prose, each message of it by itself."""
    if run.state not in (RunState.COMPLETED, RunState.STOPPED):
        return
    for message in said:
        if message.role == "assistant" and message.text:
            store_said(run, message, spoken(message.text))


def store_said(run: Run, message: LogMessage, text: str) -> None:
    found, mentions = find_references(run.branch, text), find_mentions(run.branch, text)
    store(run, message.role, found, message=message.id)
    store_mentions(run, message.role, mentions, message=message.id)
    # In a turn of another effort words are that one's.
    if (found or mentions) and labels.label_of(run.branch, run.turn) is None:
        add_own(EffortWord.objects.filter(effort__in=[one.effort for one in found], of_name=False), message)
        add_own(PointerWord.objects.filter(pointer__in=[one.chosen.pointer.pk for one in mentions]), message)


def add_own(words: QuerySet[EffortWord] | QuerySet[PointerWord], message: LogMessage) -> None:
    """What refers to an effort is about it: however long people talk of it, that makes none of its words common."""
    said = Passage.objects.filter(message=message.id).values_list("terms", flat=True)
    # A long message has more words than a database takes at once, and an effort has few.
    own = set(words.values_list("word", flat=True))
    held = Counter(word for terms in said for word in own & {ALL, *terms.split()})
    for times in sorted(set(held.values())):
        those = [word for word, count in held.items() if count == times]
        words.filter(word__in=those).update(passages=F("passages") + times)


def of_tool(run: Run, name: str, result: str) -> None:
    """What a tool was asked to read, or found among the best."""
    # Results of others' tools, as a replay has them, are any text.
    slugs = list(slugs_in(name, json.loads(result))) if name in {*READERS, SEARCH} else []
    if slugs:
        # Unlike what is said, this comes while no one holds the branch.
        Branch.objects.select_for_update(of=("self",)).get(pk=run.branch_id)
        how = "search" if name == SEARCH else "read"
        efforts = Effort.objects.filter(session=run.branch.session_id, slug__in=slugs).order_by("pk")
        store(run, "tool", [Reference(effort=effort, how=how, words=()) for effort in efforts])
        read = [chosen for slug in slugs if (chosen := find_chosen(run.branch, slug))]
        store_mentions(run, "tool", [Mention(chosen=chosen, how=how, words=()) for chosen in read])


def slugs_in(name: str, result: dict[str, Any]) -> Iterator[str]:
    if name in READERS and isinstance(result.get("effort"), str):
        yield result["effort"]
    if name == SEARCH:
        yield from (hit["id"] for hit in best(result.get("matches") or ()))


def best(hits: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for hit in hits[:TOP]:
        if hit["score"] >= hits[0]["score"] * SHARE:
            yield hit


def store(run: Run, by: str, found: Sequence[Reference], **evidence: Any) -> None:
    if not found:
        return
    where = where_of(run, by)
    clock = where["clock"]
    # The states before the log, as every action does it: in another order two of them could wait for each other.
    back = touch(run.branch, [one.effort for one in found], clock)
    rows = [
        {
            **where,
            **evidence,
            "effort": one.effort.slug,
            "how": one.how,
            "words": list(one.words),
            "back": one.effort.pk in back,
        }
        for one in found
    ]
    session = run.branch.session_id
    events.append_all([Event(session_id=session, kind="effort.referenced", data=data) for data in rows])


def where_of(run: Run, by: str) -> dict[str, Any]:
    # What a stopped turn said counts in it as in any, though it has ended without moving the clock.
    clock = clock_of(run.branch) + (run.state == RunState.STOPPED)
    return {"turn": run.turn.number, "branch": str(run.branch_id), "clock": clock, "by": by}


def store_mentions(run: Run, by: str, found: Sequence[Mention], **evidence: Any) -> None:
    """The same of chosen turns."""
    where = where_of(run, by) if found else {}
    for one in found:
        back = touch_chosen(one.chosen.pointer, where["clock"])
        about = {"id": one.chosen.id, "artifact": one.chosen.pointer.artifact}
        said = {"how": one.how, "words": list(one.words), "back": back}
        events.append(run.branch.session_id, "compaction.referenced", {**where, **evidence, **about, **said})


def touch_chosen(pointer: ContextPointer, clock: int) -> bool:
    """It is referred to now; whether its summary comes back by that, in the prompt or whole."""
    back = pointer.shortened_clock is not None or pointer.evicted_clock is not None
    now = {"referenced_clock": max(pointer.referenced_clock, clock), "shortened_clock": None, "evicted_clock": None}
    ContextPointer.objects.filter(pk=pointer.pk).update(**now)
    return back


def touch(branch: Branch, efforts: Sequence[Effort], clock: int) -> set[int]:
    """They are referred to now; what had left the prompt, returned as keys, may stand there again."""
    states = EffortState.objects.filter(branch=branch, effort__in=efforts)
    back = set(states.exclude(evicted_clock=None).values_list("effort", flat=True))
    if back:
        states.update(evicted_clock=None)
    states.filter(referenced_clock__lt=clock).update(referenced_clock=clock)
    return back


def turns_in(run: Run) -> set[int]:
    """Numbers of the turns that the person's words name, or that the model read in this attempt."""
    text = Message.objects.get(turn=run.turn_id, role=Message.Role.USER).text
    found = {int(number) for number in TURN.findall(text)}
    for text in Message.objects.filter(run=run, tool_name__in=READERS).values_list("text", flat=True):
        result = json.loads(text)
        found |= {result["turn"]} if isinstance(result.get("turn"), int) else set()
        found |= {turn["turn"] for turn in result.get("turns", ())}
    return found
