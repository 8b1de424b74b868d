"""What reviewers do to a version: the next one has what they kept, edited and added, and nothing that they struck."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from efforts.domain.source_text import POLICY_VERSION

from .artifact import HEADLINE, Artifact, Generation, Item
from .lifecycle import ClaimVerdictValue
from .making import Count, all_quoted, stats_of, with_id
from .rendering import quotations

# Where no item that backed the headline is left, so many of the first ones do.
BACKING = 3


@dataclass(frozen=True, kw_only=True)
class Edits:
    """`texts` are new words by the id of their item, `struck` ids of items. An empty headline: as it is."""

    headline: str = ""
    texts: Mapping[str, str] = field(default_factory=dict)
    struck: frozenset[str] = frozenset()
    added: tuple[Item, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """A reviewer's verdict on a headline, an item, or a group of quotations."""

    item: str
    verdict: ClaimVerdictValue
    text: str = ""
    added: Item | None = None


def edits_of(artifact: Artifact, decisions: Iterable[Decision]) -> Edits:
    """What was decided of an item by itself goes before what was decided of all that is quoted of its message."""
    by_item = {one.item: one for one in decisions}
    texts = {one.item: one.text for one in by_item.values() if one.verdict == ClaimVerdictValue.EDITED}
    return Edits(
        headline=texts.pop(HEADLINE, ""),
        texts=texts,
        struck=frozenset(struck(artifact, by_item)),
        added=tuple(one.added for one in by_item.values() if one.added),
    )


def struck(artifact: Artifact, by_item: Mapping[str, Decision]) -> Iterator[str]:
    yield from (id for id, one in by_item.items() if one.verdict == ClaimVerdictValue.STRUCK)
    for group in quotations(artifact.items):
        if group.key in by_item and by_item[group.key].verdict == ClaimVerdictValue.STRUCK:
            yield from (item.id for item in group.items if item.id not in by_item)


def claims_of(artifact: Artifact) -> dict[str, str]:
    """All that a verdict can be of, with its words: the headline, items, and groups of mere quotations."""
    told = {item.id: item.text for item in artifact.items}
    return {HEADLINE: artifact.headline, **told, **{group.key: group.text for group in quotations(artifact.items)}}


def is_quoted(artifact: Artifact, claim: str) -> bool:
    """Whether it is nothing but words of the log, which no editing can make truer."""
    return claim not in {HEADLINE, *(item.id for item in artifact.items if not item.verbatim)}


def edited(artifact: Artifact, edits: Edits, *, version: int, count: Count) -> Artifact:
    """The next version. Its bytes are its own, also where it says what another one does."""
    kept = (item for item in artifact.items if item.id not in edits.struck)
    known = {item.id for item in artifact.items}
    added = (item for item in edits.added if item.id not in known)
    items = (*(reworded(item, edits.texts.get(item.id, "")) for item in kept), *added)
    headline = edits.headline or artifact.headline
    changed = {
        "headline": headline,
        "headline_items": backing(artifact.headline_items, items),
        "items": items,
        "stats": stats_of(headline, items, count),
        "generation": by_hand(artifact.generation, {"edited_from": artifact.artifact_id, "version": version}),
    }
    return with_id(artifact.model_copy(update=changed))


def reworded(item: Item, text: str) -> Item:
    return item.model_copy(update={"text": text, "verbatim": all_quoted(text, item.links)}) if text else item


def backing(before: tuple[str, ...], items: tuple[Item, ...]) -> tuple[str, ...]:
    ids = [item.id for item in items]
    return tuple(id for id in before if id in ids) or tuple(ids[:BACKING] if before else ())


def by_hand(made: Generation, params: dict[str, str | int | float | bool]) -> Generation:
    """No model was asked, so nothing was used; the limits are those of the version that was edited."""
    return Generation(
        purpose=made.purpose,
        drafter="edit",
        model="",
        provider="",
        params=params,
        prompt_version="",
        policy_version=POLICY_VERSION,
        attempts=(),
        elapsed_ms=0,
        cap=made.cap,
        timeout_ms=made.timeout_ms,
    )
