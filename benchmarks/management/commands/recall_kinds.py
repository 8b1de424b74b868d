"""One table for each kind of talk: how well the product's ranking finds, beside what others find."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.recall.kinds import (
    BUDGETS,
    PRODUCT,
    RULES,
    Indexed,
    Rank,
    focused_methods,
    index,
    measure,
    methods_of,
    without,
)
from benchmarks.recall.ranks import ALL, Table
from benchmarks.recall.remembered import Remembered
from benchmarks.replay import read_talks
from efforts.context.embedders import embedder_of

CUTS = (1, 5, 10, 20)
# Of a span any message will do, so there the hits are counted.
HITS = {"qmsum-dev"}
PLAIN = "plain FTS5"


class Command(BaseCommand):
    help = (
        "Rank every question of each file in memory, by the product's own functions, and print recall@1, 5, 10 and 20 "
        "of each method, the evidence that prompts of 4,000, 8,000 and 16,000 tokens quote, and the median tokens of "
        "the last; exit status 1 where the product is worse at 10 than plain FTS5 on any file."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", type=Path, nargs="+", help="JSON Lines, each of one kind of talk")
        parser.add_argument("--meaning", action="store_true", help="meanings too, by the installation's model")
        parser.add_argument("--vectors", type=Path, help="with it: a file that keeps vectors for the next time")
        parser.add_argument("--by-conversation", action="store_true", help="each conversation by itself as well")
        parser.add_argument("--ablate", action="store_true", help="instead: what each rule of the ranking earns")
        parser.add_argument("--focus", action="store_true", help="instead: what a focus brings, by words")
        parser.add_argument("--every", type=int, default=1, help="only each so manieth question")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        found: dict[str, dict[str, Table]] = {}
        methods, every = methods_for(options), options["every"]
        for file in options["files"]:
            talks = read(file)
            if options["ablate"]:
                self.ablate(file.stem, talks, methods, every)
                continue
            found[file.stem] = measure(talks, methods, every)
            if options["by_conversation"]:
                found |= {f"{file.stem}: {talk.talk.id}": measure([talk], methods, every) for talk in talks}
        if options["focus"]:
            self.stdout.write("\n".join(lines_of(found)))
        elif not options["ablate"]:
            self.tell([file.stem for file in options["files"]], found, as_json=options["json"])

    def tell(self, files: list[str], found: Kinds, *, as_json: bool) -> None:
        kinds = [figures_of(name, found) for name in files]
        holds = all(rows[PRODUCT][2] >= rows[PLAIN][2] for rows in kinds)
        if as_json:
            rows = {name: {method: table.as_json() for method, table in of.items()} for name, of in found.items()}
            self.stdout.write(json.dumps({"holds": holds, "kinds": rows}))
        else:
            self.stdout.write("\n".join(lines_of(found)))
        if not holds:
            sys.exit(1)

    def ablate(self, name: str, talks: list[Indexed], methods: Methods, every: int) -> None:
        """What every rule adds to the product's figures, by words alone and with meanings."""
        known = {talk.talk.id: ours(methods(talk)) for talk in talks}

        def figures() -> dict[str, list[float]]:
            return figures_of(name, {name: measure(talks, lambda talk: known[talk.talk.id], every)})

        with_all = figures()
        names = list(with_all)
        self.stdout.write(
            f"| {name}, each {every}. question | " + " | ".join(f"{one}: R@1, R@10" for one in names) + " |"
        )
        self.stdout.write("|---" * (len(names) + 1) + "|")
        self.stdout.write(
            "| all rules | " + " | ".join(f"{row[0]:.3f}, {row[2]:.3f}" for row in with_all.values()) + " |"
        )
        for rule in RULES:
            with without(rule):
                less = figures()
            cells = (f"{with_all[one][0] - less[one][0]:+.3f}, {with_all[one][2] - less[one][2]:+.3f}" for one in names)
            self.row(rule, cells)

    def row(self, first: str, cells: Iterable[str]) -> None:
        self.stdout.write(f"| {first} | " + " | ".join(cells) + " |")
        self.stdout.flush()


def read(file: Path) -> list[Indexed]:
    try:
        return [index(talk) for talk in read_talks(file)]
    except (OSError, ValueError) as error:
        raise CommandError(f"{file} cannot be measured: {error}") from error


def ours(methods: dict[str, Rank]) -> dict[str, Rank]:
    return {name: rank for name, rank in methods.items() if name.startswith(PRODUCT)}


Methods = Callable[[Indexed], dict[str, Rank]]
Kinds = Mapping[str, Mapping[str, Table]]


def figures_of(name: str, found: Kinds) -> dict[str, list[float]]:
    figure = "hit" if name.partition(":")[0] in HITS else "recall"
    rows = {method: table.as_json()[ALL] for method, table in found[name].items()}
    return {method: [row[f"{figure}@{cut}"] for cut in CUTS] for method, row in rows.items()}


def methods_for(options: Mapping[str, Any]) -> Methods:
    if options["focus"]:
        return focused_methods
    embedder = embedder_of(None) if options["meaning"] else None
    if options["meaning"] and embedder is None:
        raise CommandError("No model of meanings: set CCM_EMBEDDINGS_FOLDER or CCM_EMBEDDINGS_URL.")
    if embedder and options["vectors"]:
        embedder = Remembered(embedder, options["vectors"])
    return partial(methods_of, embedder=embedder)


def lines_of(found: Kinds) -> Iterator[str]:
    for name, tables in found.items():
        figure = "hit" if name.partition(":")[0] in HITS else "recall"
        heads = [f"{figure}@{cut}" for cut in CUTS] + [f"evidence@{budget}" for budget in BUDGETS]
        last = f"tokens@{BUDGETS[-1]}"
        yield f"| {name} | " + " | ".join([*heads, last]) + " |"
        yield "|---" * (len(heads) + 2) + "|"
        for method, table in tables.items():
            means = table.as_json()[ALL]
            yield (
                f"| {method} | "
                + " | ".join(f"{means[head]:.3f}" for head in heads)
                + f" | {table.median(last):,.0f} |"
            )
        yield ""
