"""Gate D: nothing that an artifact says is contradicted by its source, by the ledger or by itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..artifact import Artifact, Kind
from ..check.answers import Entailment as Said
from ..verdicts import Failure, Gate, GateVerdict, Judged, Measure, Outcome
from .detectors import contradictions
from .judging import counted, finding_id, not_judged, shortened, verdict

# What a reader doubts; whether the claim is wrong, a person says. All other findings are code's.
DOUBTED = "read"
# Where it names no sentence that says otherwise.
NO_OTHER = ": no sentence of the log says so"
LAST_CALLED_WRONG, CALLED_WRONG = 6, re.compile(r"\bclaim (\S+) is wrong\b")
UNREAD = "Not judged: {why}. By values, states and exit statuses there is no contradiction."


def judge(judged: Judged) -> GateVerdict:
    """Gate D: fails where a reader or code found a claim wrong and nobody set that aside; not judged while claims
    are unread."""
    artifact = judged.artifact
    if artifact is None:
        return not_judged(Gate.CONTRADICTION, judged)
    found = list(found_in(artifact, judged))
    counting = [failure for failure in found if failure.id not in judged.set_aside]
    aside = [failure for failure in found if failure.id in judged.set_aside]
    measures = [Measure(name="contradiction_count", value=len(counting), threshold=0)]
    if not counting and (why := unread(artifact, judged)):
        return not_judged(Gate.CONTRADICTION, judged, UNREAD.format(why=why), measures)
    return verdict(
        Gate.CONTRADICTION,
        judged,
        failures=counting,
        outcome=Outcome.FAIL if counting else Outcome.PASS,
        says=says(counting, aside),
        measures=measures,
    )


def unread(artifact: Artifact, judged: Judged) -> str:
    """Why nobody can say that there is none."""
    if artifact.kind == Kind.DIGEST:
        return ""
    if judged.check is None:
        return "nobody has read the claims against the log"
    if not judged.check.has_read(artifact.claims):
        return "not every claim has been read against the log"
    return ""


def found_in(artifact: Artifact, judged: Judged) -> Iterator[Failure]:
    claims = artifact.by_id
    for claim in artifact.claims:
        for doubt in judged.check.doubts_on(claim) if judged.check else ():
            if doubt.verdict == Said.CONTRADICTED:
                at = f" in “{shortened(doubt.phrase)}”" if doubt.phrase else ""
                phrase = f", at “{shortened(doubt.phrase)}”" if doubt.phrase else ""
                other = f"; {doubt.sentence} says otherwise" if doubt.sentence else ""
                why = f": {shortened(doubt.why)}" if doubt.why else ""
                found = f"{at}{other}{why}"
                shown = f"{phrase}{other or NO_OTHER}{why}"
                yield Failure(
                    rule=DOUBTED,
                    about=claim.id,
                    text=f"the checker doubts claim {claim.id}{shown}",
                    id=finding_id(DOUBTED, claim),
                    told=f"claim {claim.id} is wrong{found}",
                )
    told = told_ids(artifact, judged)
    for one in contradictions(artifact.claims, judged.source, judged.entries, told):
        yield Failure(rule=one.rule, about=one.about, text=one.text, id=finding_id(one.rule, claims[one.about]))


def told_ids(artifact: Artifact, judged: Judged) -> dict[str, tuple[str, ...]]:
    if judged.check is None:
        return {}
    ids = {claim.content: claim.id for claim in artifact.claims}
    return {
        entry: tuple(ids[content] for content in contents if content in ids)
        for entry, contents in judged.check.told.items()
    }


def worded(text: str, evaluator: str) -> str:
    """A text of this gate as it was stored: up to version 6 it called a claim wrong that a reader doubts."""
    if int(evaluator) > LAST_CALLED_WRONG:
        return text
    told = CALLED_WRONG.sub(r"the checker doubts claim \1", text, count=1)
    if told == text:
        return text
    one = re.sub(r"^1 contradiction: t", "T", told)
    return re.sub(r"^(\d+) contradictions: ", r"\1 doubts or contradictions: ", one)


def says(counting: list[Failure], aside: list[Failure]) -> str:
    parts = [found_says(counting) if counting else "No contradiction"]
    if aside:
        parts.append(f"{counted(len(aside), 'finding')} set aside by a person")
    return f"{'; '.join(parts)}."


def found_says(found: list[Failure]) -> str:
    first = found[0].text
    if not any(one.rule == DOUBTED for one in found):
        return f"{counted(len(found), 'contradiction')}: {first}"
    return f"{len(found)} doubts or contradictions: {first}" if len(found) > 1 else f"{first[0].upper()}{first[1:]}"
