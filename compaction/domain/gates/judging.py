"""What all gates share: how a verdict is made, what it was judged by, and which links count."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from efforts.domain.canonical import canonical_json, sha256
from efforts.domain.source_text import Source

from ..artifact import Artifact, Item, Link
from ..ledger import Entry
from ..verdicts import Failure, Gate, Judged, Measure, Outcome, Verdict
from ..wording import content_words, linked_sentences, weight

# Another one may judge the same inputs differently.
EVALUATOR_VERSION = "4"
# What a failing gate says of an artifact, where it has a name of its own.
TAGS = {Gate.RETENTION: "insufficient_fidelity", Gate.CONTRADICTION: "contradiction_detected"}
# A shorter quotation says nothing: characters, and words that carry meaning.
SHORTEST_QUOTE, FEWEST_WORDS = 12, 3
# Of a sentence the name before its colon may lack, and what only leads in.
SPEAKER = re.compile(r"(?:[^:.?!]{1,40}:)?\W*")
# So much of what failed is told in the sentence for people.
SHOWN = 120


def tags_of(verdicts: Iterable[Verdict]) -> tuple[str, ...]:
    return tuple(TAGS[v.gate] for v in verdicts if v.outcome == Outcome.FAIL and v.gate in TAGS)


def verdict(
    gate: Gate,
    judged: Judged,
    *,
    failures: Iterable[Failure],
    says: str,
    measures: Iterable[Measure],
    within: bool = False,
) -> Verdict:
    """It fails where anything does, unless so much may fail: `within` its threshold."""
    failed = tuple(failures)
    return Verdict(
        gate=gate,
        outcome=Outcome.FAIL if failed and not within else Outcome.PASS,
        says=says,
        measures=tuple(measures),
        failures=failed,
        evaluator_version=EVALUATOR_VERSION,
        inputs=inputs_of(judged),
    )


def not_evaluable(gate: Gate, judged: Judged) -> Verdict:
    return Verdict(
        gate=gate,
        outcome=Outcome.NOT_EVALUABLE,
        says="Not judged: what was offered is no artifact.",
        measures=(),
        failures=(),
        evaluator_version=EVALUATOR_VERSION,
        inputs=inputs_of(judged),
    )


def inputs_of(judged: Judged) -> dict[str, str]:
    return {
        "offered": hash_of(asdict(judged.offered)),
        "artifact": sha256(judged.artifact.document) if judged.artifact else "",
        "source": judged.source.sha256,
        "ledger": hash_of({"entries": plain(judged.ledger), "candidates": plain(judged.candidates)}),
        "runs": hash_of({"tokens": judged.tokens, "latest": list(judged.latest)}),
        "findings": hash_of(
            {"findings": [asdict(one) for one in judged.findings], "set_aside": sorted(judged.set_aside)}
        ),
    }


def plain(entries: Iterable[Entry]) -> list[dict[str, Any]]:
    return [asdict(entry) for entry in entries]


def hash_of(value: Any) -> str:
    return sha256(canonical_json(value))


def is_exact(link: Link, source: Source) -> bool:
    """Whether the source has these words in this place."""
    part = source.by_place.get((link.message, link.part))
    return part is not None and 0 <= link.start < link.end and part.text[link.start : link.end] == link.quote


def is_telling(link: Link, source: Source) -> bool:
    """Long enough to mean something: so many words that carry meaning, or a whole sentence that has one."""
    words = content_words(link.quote)
    return weight(link.quote) >= SHORTEST_QUOTE and (words >= FEWEST_WORDS or (words > 0 and is_sentence(link, source)))


def is_sentence(link: Link, source: Source) -> bool:
    """To its end; who speaks may lack at its beginning."""
    whole = any(
        each.end <= link.end and SPEAKER.fullmatch(each.text[: max(link.start - each.start, 0)])
        for each in linked_sentences(link, source)
    )
    return whole and len(link.quote.split()) >= FEWEST_WORDS


def exact_links(item: Item, source: Source) -> tuple[Link, ...]:
    return tuple(link for link in item.links if is_exact(link, source))


def valid_links(item: Item, source: Source) -> tuple[Link, ...]:
    return tuple(link for link in exact_links(item, source) if is_telling(link, source))


def roles_of(links: Iterable[Link], source: Source) -> frozenset[str]:
    places = (source.by_place.get((link.message, link.part)) for link in links)
    return frozenset(part.role for part in places if part)


def items_by_id(artifact: Artifact) -> dict[str, Item]:
    return {item.id: item for item in artifact.items}


def shortened(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= SHOWN else line[: SHOWN - 1].rstrip() + "…"


def counted(number: int, one: str, several: str = "") -> str:
    return f"{number} {one if number == 1 else several or one + 's'}"
