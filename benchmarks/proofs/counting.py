"""A budget kept to the token: each request counted once more by nothing of the product, and what is at its edge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from itertools import cycle, islice, pairwise
from typing import Any

import tiktoken
from django.conf import settings

from benchmarks.scenes import play
from efforts.context.planning import chosen_settings, draft_turn, main_branch, plan_inputs
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.budget import SMALLEST_BUDGET
from efforts.domain.prompt.conversation import MESSAGE_OVERHEAD, PRIMING
from efforts.domain.prompt.plan import Plan, RequiredTooLarge
from efforts.domain.prompt.planner import plan
from efforts.models import Session

from .measuring import Proof
from .scripts import AUTH_BUG, GREETING, GUILD, SEARCH_PAGE

TURNS = 36
# Of a message that is made as long as there is room: each is one token.
WORD = " and"


def budget(session: Session) -> Proof:
    session.budget, session.context_mode = SMALLEST_BUDGET, ContextMode.OFF
    session.save(update_fields=["budget", "context_mode"])
    proof = Proof(name="budget", title="A budget kept to the token", session=session)
    play(session, [GREETING, *AUTH_BUG, GUILD])
    proof.measure("A concluded effort and an open one", seed="")
    for exchange in islice(cycle(SEARCH_PAGE), TURNS):
        proof.turn(replace(exchange, acts=()))
    proof.measure(f"{TURNS} long turns later", seed="")
    prove_beginning(proof)
    prove_edge(proof)
    prove_counted(proof)
    return proof


def prove_beginning(proof: Proof) -> None:
    """What the budget pushes out leaves in a block, so that the prompts after it begin as the one before."""
    firsts = [first_shown(planned) for planned in proof.plans]
    moves = [now != before for before, now in pairwise(firsts)]
    tight = moves[moves.index(True) + 1 :] if any(moves) else []
    proof.claim(
        "Once the budget is reached the log loses its oldest turns in blocks, and not one in each prompt",
        measured=f"its beginning moved in {sum(tight)} of {len(tight)} prompts",
        holds=len(tight) > TURNS // 3 and sum(tight) <= len(tight) // 4,
    )


def first_shown(planned: Plan) -> int:
    return min((entry["turns"][0] for entry in planned.recipe if entry["section"] == "active"), default=0)


def prove_edge(proof: Proof) -> None:
    most = proof.session.budget
    # What must be sent with a message of far too many words says how many of them there is room for.
    refused = asked(proof, most)
    assert isinstance(refused, RequiredTooLarge)
    room = most - (refused.needed - most)
    fits, over = asked(proof, room), asked(proof, room + 1)
    proof.claim(
        "The longest message that fits is sent, and one of a token more is not",
        measured=f"{told(fits)}, then {told(over)}",
        holds=isinstance(fits, Plan) and fits.tokens == most and not isinstance(over, Plan) and over.needed == most + 1,
    )
    if isinstance(fits, Plan):
        proof.plans.append(fits)


def asked(proof: Proof, words: int) -> Plan | RequiredTooLarge:
    branch = main_branch(proof.session)
    current = draft_turn(branch, WORD * words)
    try:
        return plan(plan_inputs(branch, chosen_settings(proof.session), current=current))
    except RequiredTooLarge as refused:
        return refused


def told(made: Plan | RequiredTooLarge) -> str:
    if isinstance(made, Plan):
        return f"{made.tokens:,} tokens are sent"
    return f"{made.needed:,} are refused"


def prove_counted(proof: Proof) -> None:
    counted = [count(planned.request) for planned in proof.plans]
    off = [(planned.tokens, tokens) for planned, tokens in zip(proof.plans, counted, strict=True)]
    wrong = [(said, tokens) for said, tokens in off if said != tokens]
    proof.claim(
        "Each plan says as many tokens as its request has, system text and schemas of tools among them",
        measured=f"{len(off) - len(wrong)} of {len(off)} the same"
        + (f"; one says {wrong[0][0]:,} and has {wrong[0][1]:,}" if wrong else ""),
        holds=not wrong,
    )
    proof.claim(
        "No request is over the budget",
        measured=f"at most {max(counted):,} of {proof.session.budget:,} tokens in {len(counted)} prompts",
        holds=max(counted) <= proof.session.budget,
    )


def count(request: Mapping[str, Any]) -> int:
    """By the tokenizer alone: nothing of the product's counts here."""
    encoding = tiktoken.get_encoding(settings.CCM_ENCODING)
    texts = [message["content"] for message in request["messages"]]
    schemas = [message["tool_calls"] for message in request["messages"] if message.get("tool_calls")]
    schemas.append(request["tools"])
    texts += [json.dumps(one, ensure_ascii=False, separators=(",", ":"), sort_keys=True) for one in schemas]
    tokens = sum(len(encoding.encode_ordinary(text)) for text in texts)
    return tokens + MESSAGE_OVERHEAD * len(request["messages"]) + PRIMING
