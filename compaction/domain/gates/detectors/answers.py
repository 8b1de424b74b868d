"""Claims against what tools returned, and what a judge found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from efforts.domain.source_text import Part, SourcePart

from ...artifact import HEADLINE
from ...polarity import any_of, clauses_of
from ...wording import content
from ..judging import shortened
from .case import Case, Claim, Found

TESTS = any_of("tests?, test suite, suite, specs?, checks?, pytest")
SUCCESS = any_of(
    """pass(?:es|ed|ing)?, succeed(?:s|ed)?, successful(?:ly)?, green, fixed, works, working, deployed, builds,
    compiles, no errors?, without errors?, no failures?, gelöst, läuft, grün, réussi(?:t|e|es|s)?, passent, corrigée?,
    funciona, pasan"""
)
# A claim that tells of a failure, or of what is to come, claims no success.
FAILURE_TOLD = any_of(
    """fail(?:s|ed|ure|ures)?, error message, broken, still, until, unless, once, when, if, before, should, must,
    has to, have to, needs? to, will, so that, at first, earlier, schlägt fehl, échoue(?:nt)?, fallan?"""
)
EXIT = r"\bexit(?:ed)?(?: with)? (?:status|code):? ?"
FAILED = re.compile(
    rf"\bFAILED\b|\bFAILURES?\b|Traceback \(most recent|{EXIT}[1-9]|\b[1-9]\d* (?:failed|errors?|failures?)\b"
    r"|^\S*(?:Error|Exception)\b|\b(?:fatal|error)\b(?:\[\w+\])?:|command not found|\bAborted\b|Segmentation fault",
    re.MULTILINE | re.IGNORECASE,
)
SUCCEEDED = re.compile(
    rf"\b\d+ passed\b|{EXIT}0\b|\bOK\b|\b0 (?:failed|errors?|failures?)\b|\bsuccess(?:fully|ful)?\b|\bchecks pass",
    re.IGNORECASE,
)
NONE_FAILED = re.compile(r"\b0 (?:failed|errors?|failures?)\b", re.IGNORECASE)
TEST_RUN = re.compile(r"\bpass(?:ed)?\b|\bfail(?:ed|ures?)?\b|\btests?\b|pytest|unittest", re.IGNORECASE)
# A judge's quotation of fewer characters is found anywhere.
SHORTEST = 8


def claims_success(case: Case) -> Iterator[Found]:
    """It says that something passes or works, and the last that tools returned of it is a failure."""
    for claim in case.phrased:
        if claims(claim):
            result = last_result(claim, case)
            if result and has_failed(result.text):
                line = next(
                    found[0] for found in re.finditer(rf"^.*?(?:{FAILED.pattern}).*$", result.text, FAILED.flags)
                )
                text = f"“{shortened(claim.text)}”; message {result.message} returned: “{shortened(line)}”"
                yield Found(rule="tool_says_otherwise", about=claim.about, text=text)


def claims(claim: Claim) -> bool:
    return not FAILURE_TOLD.search(claim.text) and any(
        SUCCESS.search(clause.text)
        and (not clause.denied or re.search(r"\b(?:no|without) ", clause.text, re.IGNORECASE))
        for clause in clauses_of(claim.text)
    )


def last_result(claim: Claim, case: Case) -> SourcePart | None:
    """The last result that tells how it went, and speaks of the same as the claim."""
    calls = {part.message: part.text for part in case.source.parts if part.part == Part.CALLS}
    told = [part for part in case.source.parts if part.part == Part.RESULT and tells(part.text)]
    return next((part for part in reversed(told) if is_about(claim, part, calls)), None)


def tells(text: str) -> bool:
    return bool(FAILED.search(text) or SUCCEEDED.search(text))


def has_failed(text: str) -> bool:
    return bool(FAILED.search(NONE_FAILED.sub("", text)))


def is_about(claim: Claim, result: SourcePart, calls: dict[int, str]) -> bool:
    if TESTS.search(claim.text) and TEST_RUN.search(result.text):
        return True
    call = next((calls[id] for id in sorted(calls, reverse=True) if id < result.message), "")
    return len(content(claim.text) & content(f"{result.text}\n{call}")) >= 2


def found_by_judge(case: Case) -> Iterator[Found]:
    """Only where the words that a judge holds against an item are really in the source."""
    known = {claim.about for claim in case.claims} | {HEADLINE}
    for finding in case.findings:
        if finding.item in known and has_said(case, finding.message, finding.quote):
            text = f"{shortened(finding.why)} Message {finding.message}: “{shortened(finding.quote)}”"
            yield Found(rule="judge", about=finding.item, text=text)


def has_said(case: Case, message: int, quote: str) -> bool:
    words = " ".join(quote.split())
    texts = (" ".join(part.text.split()) for part in case.source.parts if part.message == message)
    return len(words) >= SHORTEST and any(words in text for text in texts)
