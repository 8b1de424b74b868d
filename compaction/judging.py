"""A model that looks for contradictions in a draft. It can add findings and take none away; gate D checks its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from efforts.connections import ModelChoice
from efforts.domain.source_text import Source

from .asking import Answer, ask, request_tokens
from .domain.artifact import Artifact, Malformed, Strict, Usage, parsed
from .domain.limits import Purpose
from .domain.verdicts import Finding
from .prompts import judge_text

PURPOSE: str = Purpose.JUDGE
REPLY_TOKENS = 1_500
REQUEST = "[Log]\n{log}\n[End of log]\n\n[Claims]\n{claims}\n[End of claims]\n\nWrite the JSON object."
TOO_DEAR = "To check it may cost {needed:,} tokens, of {cap:,} at most: the judge was not asked."
FAILED = "The judge gave no answer that could be read; the gate stands by its own rules."


class Found(Strict):
    item: str
    message: int
    quote: str
    why: str


class Answered(Strict):
    contradictions: tuple[Found, ...]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a judge said, word for word, and what of it could be read; `fault` says why nothing could."""

    model: str
    answer: Answer
    findings: tuple[Finding, ...]
    fault: str = ""


async def ask_judge(artifact: Artifact, source: Source, judge: ModelChoice, seconds: float, *, cap: int) -> Asked:
    """Not asked where that could cost more than `cap` tokens."""
    request = request_of(artifact, source, judge)
    needed = request_tokens(request) + REPLY_TOKENS
    if needed > cap:
        return Asked(model=judge.model, answer=unasked(needed, cap), findings=(), fault=FAILED)
    answer = await ask(request, judge, seconds)
    try:
        found = parsed(Answered, answer.text).contradictions
    except Malformed:
        return Asked(model=judge.model, answer=answer, findings=(), fault=FAILED)
    return Asked(model=judge.model, answer=answer, findings=tuple(Finding(**one.model_dump()) for one in found))


def unasked(needed: int, cap: int) -> Answer:
    nothing = Usage(input=0, cache_read=0, cache_creation=0, output=0, source="counted")
    why = TOO_DEAR.format(needed=needed, cap=cap)
    return Answer(text="", stop_reason="fault", usage=nothing, elapsed_ms=0, error=why)


def request_of(artifact: Artifact, source: Source, judge: ModelChoice) -> dict[str, Any]:
    claims = "\n".join(f"{item.id} ({item.section}, {item.status}): {item.text}" for item in artifact.items)
    text = REQUEST.format(log=source.text, claims=claims)
    return {
        "model": judge.model,
        "stream": True,
        "stream_options": {"include_usage": True},
        judge.reply_limit: REPLY_TOKENS,
        "messages": [{"role": "system", "content": judge_text()}, {"role": "user", "content": text}],
    }
