"""What a kind of defect is, and what every kind needs to plant it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from compaction.domain.artifact import Artifact, Draft, DraftItem, Generation, Link, Section, Status, parse_draft
from compaction.domain.ledger import Entry
from compaction.domain.making import Count, with_id
from compaction.domain.verdicts import Gate, Judged, Offered
from compaction.evaluating.cases import Case
from compaction.evaluating.offering import Run, bytes_of, offered_document, offered_draft, usual_run


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """`changed` says for people what is wrong with it.

    `base` is the same without the defect, where that is not the good artifact of the case: its gate must let it pass.
    """

    changed: str
    judged: Judged
    base: Judged | None = None


@dataclass(frozen=True)
class Good:
    """A case with the artifact that it is to have: what mutants are made of."""

    case: Case
    count: Count

    @property
    def draft(self) -> Draft:
        return self.case.draft

    @property
    def items(self) -> tuple[DraftItem, ...]:
        return self.case.draft.items

    @cached_property
    def run(self) -> Run:
        return usual_run(self.case, self.draft, self.count)

    @cached_property
    def judged(self) -> Judged:
        return offered_draft(self.case, self.draft, self.run, count=self.count)

    @cached_property
    def artifact(self) -> Artifact:
        assert self.judged.artifact is not None
        return self.judged.artifact

    def entries(self, section: Section, *statuses: Status) -> list[Entry]:
        return [entry for entry in self.case.ledger if entry.section == section and entry.status in statuses]

    def offering(self, draft: Draft, changed: str) -> Mutant:
        # Strict, so that no kind but those of structure offers what gate A refuses anyway.
        parse_draft(bytes_of(draft))
        return Mutant(changed=changed, judged=offered_draft(self.case, draft, self.run, count=self.count))

    def with_items(self, items: Iterable[DraftItem], changed: str) -> Mutant:
        """Of the good headline's items those that are left back it."""
        kept = tuple(items)
        ids = {item.id for item in kept}
        backing = tuple(id for id in self.draft.headline_items if id in ids)
        return self.offering(self.draft.model_copy(update={"items": kept, "headline_items": backing}), changed)

    def with_item(self, item: DraftItem, changed: str, **update: Any) -> Mutant:
        return self.with_items(
            (other if other.id != item.id else edited(item, **update) for other in self.items), changed
        )

    def without(self, item: DraftItem, changed: str) -> Mutant:
        return self.with_items((other for other in self.items if other.id != item.id), changed)

    def with_new(self, item: DraftItem, changed: str) -> Mutant:
        return self.with_items((*self.items, item), changed)

    def with_text(self, text: str, changed: str, stop_reason: str = "stop") -> Mutant:
        """The bytes are wrong, whatever was made of them: as good as if somebody had repaired them."""
        offered = Offered(text=text, form="draft", stop_reason=stop_reason)
        return Mutant(changed=changed, judged=replace(self.judged, offered=offered))

    def made_otherwise(self, artifact: Artifact, changed: str) -> Mutant:
        """The bytes are good, and the artifact is not what they say."""
        return Mutant(changed=changed, judged=replace(self.judged, artifact=artifact))

    def document(self, artifact: Artifact, changed: str) -> Mutant:
        """A whole document, as an edit offers it."""
        return Mutant(
            changed=changed, judged=offered_document(self.case, with_id(artifact), self.run, count=self.count)
        )

    def with_links(self, at: int, links: Iterable[Link], changed: str) -> Mutant:
        """In the document, at that place of the items."""
        items = list(self.artifact.items)
        items[at] = items[at].model_copy(update={"links": tuple(links)})
        return self.document(self.artifact.model_copy(update={"items": tuple(items)}), changed)

    def with_generation(self, changed: str, latest: tuple[int | None, ...] | None = None, **update: Any) -> Mutant:
        generation: Generation = self.artifact.generation.model_copy(update=update)
        artifact = with_id(self.artifact.model_copy(update={"generation": generation}))
        latest = self.judged.latest if latest is None else latest
        return Mutant(changed=changed, judged=replace(self.judged, artifact=artifact, latest=latest))


def edited(item: DraftItem, **update: Any) -> DraftItem:
    return item.model_copy(update=update)


Maker = Callable[[Good], Iterable[Mutant]]


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A way for artifacts to be wrong. `gate` must refuse each, and of the whole set there are `least` or more.

    `by_turns`: of several forms that do not depend on what is said, each case has the next.
    """

    name: str
    gate: Gate
    least: int
    says: str
    of: Maker
    by_turns: bool = False

    def planted_in(self, goods: Sequence[Good]) -> Iterator[tuple[Good, Mutant]]:
        for number, good in enumerate(goods):
            found = list(self.of(good))
            chosen = found[number % len(found) :][:1] if self.by_turns and found else found
            yield from ((good, mutant) for mutant in chosen)


def kind(gate: Gate, *, least: int, by_turns: bool = False) -> Callable[[Maker], Kind]:
    def planted(make: Maker) -> Kind:
        name, says = make.__name__.replace("_", " "), inspect.getdoc(make) or ""
        return Kind(name=name, gate=gate, least=least, says=says, of=make, by_turns=by_turns)

    return planted


def kinds_in(module: Mapping[str, Any]) -> tuple[Kind, ...]:
    return tuple(value for value in module.values() if isinstance(value, Kind))
