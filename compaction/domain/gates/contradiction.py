"""Gate D: nothing that an artifact says is contradicted by its source, by the ledger or by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from efforts.domain.canonical import sha256

from ..verdicts import Failure, Gate, Judged, Measure, Verdict
from .detectors import DETECTORS
from .detectors.case import Found, case_of
from .judging import counted, not_evaluable, verdict

# As `SetAside` has room for.
LONGEST_ID = 68


def judge(judged: Judged) -> Verdict:
    if judged.artifact is None:
        return not_evaluable(Gate.CONTRADICTION, judged)
    case = case_of(judged, judged.artifact)
    found = list(numbered(one for detect in DETECTORS for one in detect(case)))
    counting = [failure for failure in found if failure.id not in judged.set_aside]
    aside = [failure for failure in found if failure.id in judged.set_aside]
    unproved = len(judged.findings) - sum(failure.rule == "judge" for failure in found)
    return verdict(
        Gate.CONTRADICTION,
        judged,
        failures=counting,
        says=says(counting, aside, unproved),
        measures=[Measure(name="contradiction_count", value=len(counting), threshold=0)],
    )


def numbered(found: Iterable[Found]) -> Iterator[Failure]:
    """Each with an id that is the same whenever the same is judged."""
    so_far: Counter[tuple[str, str]] = Counter()
    for one in found:
        so_far[one.rule, one.about] += 1
        id = short(f"{one.rule}:{one.about}:{so_far[one.rule, one.about]}")
        yield Failure(rule=one.rule, about=one.about, text=one.text, id=id)


def short(id: str) -> str:
    """A model gives its items ids of any length; what is set aside is kept by one that is not."""
    return id if len(id) <= LONGEST_ID else sha256(id)


def says(counting: list[Failure], aside: list[Failure], unproved: int) -> str:
    parts = [counted(len(counting), "contradiction") if counting else "No contradiction"]
    if aside:
        told = "; ".join(one.text for one in aside)
        parts.append(f"{counted(len(aside), 'finding')} set aside by a person: {told}")
    if unproved:
        parts.append(f"{counted(unproved, 'finding')} of a judge left out: the source does not have the words")
    return f"{'. '.join(part[0].upper() + part[1:] for part in parts)}."
