"""The seeds' layout as a baseline: under the same budget, filled anew at every call.

Summaries and ambient turns are chosen by what room there is now, the active effort newest first; nothing remembers what
the call before showed, and what has room stands again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from efforts.domain.prompt.assembly import system_tokens
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PastTurn
from efforts.domain.prompt.layers import eligible_turns, headline_line
from efforts.domain.prompt.plan import PlanInputs
from efforts.domain.prompt.rendering import chat_message

HEADING = "\n\nConcluded efforts:"


def seed_request(inputs: PlanInputs) -> dict[str, Any]:
    said = (inputs.current.user, *inputs.current.episodes)
    room = inputs.budget.effective - system_tokens(inputs) - sum(message.cost for message in said)
    active, room = newest([turn for effort in inputs.efforts for turn in effort.turns], room)
    ambient, room = newest(eligible_turns(inputs), room)
    lines = list(summaries(inputs, room - inputs.count(HEADING) - MESSAGE_OVERHEAD))
    system = inputs.system_text + "\n".join([HEADING, *lines] if lines else [])
    log = [*(message for turn in (*ambient, *active) for message in turn.visible), *said]
    messages = [{"role": "system", "content": system}, *map(chat_message, log)]
    return {**inputs.params, "messages": messages, "tools": list(inputs.tools)}


def newest(turns: Sequence[PastTurn], room: int) -> tuple[list[PastTurn], int]:
    """Whole turns from the newest on while they fit, and the room that is left."""
    kept: list[PastTurn] = []
    for turn in reversed(turns):
        if turn.cost > room:
            break
        kept.insert(0, turn)
        room -= turn.cost
    return kept, room


def summaries(inputs: PlanInputs, room: int) -> Iterator[str]:
    kept = []
    for headline in reversed(inputs.headlines):
        line = headline_line(headline)
        room -= inputs.count(line) + 1
        if room < 0:
            break
        kept.append(line)
    return reversed(kept)
