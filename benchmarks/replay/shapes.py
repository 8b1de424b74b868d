"""Three long conversations of which only the shape is known: turns, raw tokens and tokens of the summary of each phase.

The texts are made up, of words that are one token each, so that every phase has as many tokens as was published. What
the published figures leave out is computed again from the same table: the log of the open phase in the prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import cycle
from statistics import mean
from typing import Any

from .conversations import Exchange, Said, Talk


@dataclass(frozen=True)
class Phase:
    turns: int
    raw: int
    summary: int


def phases(table: str) -> tuple[Phase, ...]:
    return tuple(Phase(*map(int, one.split("/"))) for one in table.split())


SHAPES: Mapping[str, tuple[Phase, ...]] = {
    "A": phases(
        "15/5861/221 12/7944/209 13/4732/291 16/8471/182 21/3462/141 41/50635/201 14/12051/195 14/6386/202 19/17662/216"
        " 18/19956/219 5/1052/141"
    ),
    "B": phases(
        "13/6283/168 11/3017/173 13/3434/227 26/14558/206 21/12736/179 18/11119/124 22/9455/158 26/4066/151"
        " 18/12701/268 31/16923/179 37/27622/184 64/29833/155 35/14850/129 35/33133/178 31/16891/194 16/13977/147"
        " 12/9758/261"
    ),
    "C": phases(
        "9/2789/174 14/3391/180 6/1504/155 27/4458/213 9/1572/168 8/5780/168 26/6007/186 16/2994/189 7/2728/182"
        " 9/2166/151 19/8358/206 10/7230/134 14/4620/176 6/2508/172 10/1516/146"
    ),
}
# The baseline's own constants: system text and tools, how long a summary stays, and the most that a model takes.
SYSTEM, STAYS, WINDOW = 1_500, 20, 200_000

COUNTED_DIFFERENTLY = (
    "The texts are synthetic, as many tokens of the tokenizer here as there were quarters of characters there.",
    "There the open phase is in the prompt whole, whatever its size, and its peaks are its own; here a budget holds, "
    "and what does not fit is left out of the prompt, kept, and found again.",
    "There system text and tools are a constant 1,500 tokens and messages have no overhead; here both are counted.",
    "There the prompt of a turn has its reply in it; here a prompt ends with the person's message.",
    "There the whole history is cut at 200,000 tokens; here nothing is.",
    "In both a summary leaves after 20 turns; here a turn that refers to it keeps it, and no phase refers to another.",
)

# Each is one token after a space. Five of them for each phase, so that none refers to another.
TELLING_WORDS = """
anchor apple arrow atlas badge bamboo banner barrel basin basket battery beacon blanket blossom border bottle branch
bridge bucket bullet butter button cabin cable camera candle canvas carbon carpet castle cement chain chair chamber
channel chapel cherry circle cliff clock cloud coffee collar column copper corner cotton counter crane cream crystal
curtain cylinder desert diamond dinner dollar dragon drawer eagle engine fabric factory feather fence filter finger
flame flower forest fountain frame garden garlic ginger glacier glass globe glove grain granite guitar hammer harbor
helmet honey hotel island jacket jewel jungle kettle kitchen ladder lake lamp leather lemon lens library lion magnet
maple marble market mercury metal mirror monkey motor mountain museum needle nest ocean olive orange oven oxygen palace
panel paper pencil pepper piano pillow pilot planet plastic pocket pond potato powder pump rabbit radar railway rainbow
ribbon rice river robot rocket roof rope rubber saddle salmon sand satellite scissors shadow shell shelter shield shirt
silver smoke snow soap spider spoon spring square stadium stamp statue steam steel stone storm straw stream street
string sugar suitcase sunset swamp sword table tank temple thread throne tiger timber tobacco tower trail train treasure
tree trumpet tunnel turtle umbrella valley vault velvet vessel violin volcano wagon wallet walnut waterfall wheel
whistle window wing winter wolf wood yard
"""
OF_PHASE = 5
COMMON_WORDS = """
and of we it that this with for as at by on to in from was were are is has had they them there here which while over
under between into out
"""
SENTENCE = 12
TELLING, COMMON = TELLING_WORDS.split(), COMMON_WORDS.split()


def shape_talk(name: str) -> Talk:
    """Each phase is a session, with a summary of its size."""
    table = SHAPES[name]
    before = sum(len(SHAPES[other]) for other in SHAPES if other < name)
    words = [TELLING[OF_PHASE * place :][:OF_PHASE] for place in range(before, before + len(table))]
    return Talk(
        id=f"shape {name}",
        source="synthetic",
        sessions=tuple(
            tuple(exchanges(phase, own, number)) for number, (phase, own) in enumerate(zip(table, words, strict=True))
        ),
        numbers=tuple(range(1, len(table) + 1)),
        dates=("",) * len(table),
        summaries=tuple(text(phase.summary, own, 0) for phase, own in zip(table, words, strict=True)),
    )


def exchanges(phase: Phase, words: list[str], place: int) -> Iterator[Exchange]:
    """The phase's tokens shared evenly among its turns; of each a fifth is the person's."""
    for turn in range(phase.turns):
        tokens = phase.raw * (turn + 1) // phase.turns - phase.raw * turn // phase.turns
        asked = max(tokens // 5, 1)
        yield Exchange(
            user=Said(role="user", speaker="user", text=text(asked, words, place + turn)),
            replies=(Said(role="assistant", speaker="assistant", text=text(tokens - asked, words, place + turn + 1)),),
        )


def text(tokens: int, words: list[str], start: int) -> str:
    """Of exactly so many: every third word is one of `words`, every sentence ends with a full stop."""
    telling, common = cycle(words[start % len(words) :] + words[: start % len(words)]), cycle(COMMON[start % 7 :])
    said = ["The"]
    for number in range(1, tokens):
        if number % SENTENCE == 0:
            said[-1] += "."
        else:
            said.append(next(telling if number % 3 == 1 else common))
    return " ".join(said)


def recomputed(name: str) -> dict[str, Any]:
    """The same conversation with the log of the open phase in the prompt, which grows evenly, and no budget."""
    sent: list[float] = []
    whole: list[float] = []
    before, ended = 0, list[tuple[int, int]]()
    for phase in SHAPES[name]:
        for turn in range(1, phase.turns + 1):
            raw = phase.raw * turn / phase.turns
            standing = sum(tokens for end, tokens in ended if len(sent) + 1 - end < STAYS)
            sent.append(SYSTEM + standing + raw)
            whole.append(min(SYSTEM + before + raw, WINDOW))
        ended.append((len(sent), phase.summary))
        before += phase.raw
    return {
        "peak": round(max(sent)),
        "mean": round(mean(sent)),
        "cumulative": round(sum(sent)),
        "naive_cumulative": round(sum(whole)),
        "saved": round(1 - sum(sent) / sum(whole), 3),
    }
