"""Play conversations of other people's turn by turn and print what each prompt held."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from benchmarks.replay import (
    COUNTED_DIFFERENTLY,
    SHAPES,
    Conversation,
    Played,
    Report,
    Settings,
    Talk,
    plot,
    read_talks,
    recomputed,
    shape_talk,
)
from benchmarks.scratch import scratch_database
from efforts.domain.effort.policy import ContextMode
from efforts.domain.prompt.budget import DEFAULT_BUDGET, SMALLEST_BUDGET

EFFORTS = ("sessions", "cues", "none")


# No DatabaseCommand: it brings its own.
class Command(BaseCommand):
    help = (
        "Play conversations in JSON Lines through everything that a turn is made of, with their recorded replies and "
        "results of tools; no model is asked. Prints of every prompt its tokens by layer, beside everything said so "
        "far, and how much of it is an unchanged beginning of the next. The database is a temporary one. Exit status "
        "0 only when no prompt is over its budget."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="file", help="one conversation a line")
        parser.add_argument(
            "--shape", action="store_true", help="also three synthetic conversations of a published shape, 807 turns"
        )
        parser.add_argument("--budget", type=int, default=DEFAULT_BUDGET, help="tokens of each prompt at most")
        parser.add_argument(
            "--efforts",
            choices=EFFORTS,
            default="sessions",
            help="each session of the data is an effort; or they begin and end by what is said; or there are none",
        )
        parser.add_argument("--given-summaries", action="store_true", help="those of the data, where it has any")
        parser.add_argument("--prefer-cache", action="store_true", help="as the setting of a conversation")
        parser.add_argument("--mode", choices=list(ContextMode), default=ContextMode.LIGHT, help="of recall")
        parser.add_argument("--conversations", type=int, help="of each file only so many, the first")
        parser.add_argument("--plot", type=Path, help="an SVG; of several conversations one each, with their ids")
        parser.add_argument("--json", action="store_true")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["budget"] < SMALLEST_BUDGET:
            raise CommandError(
                f"A budget of {options['budget']:,} tokens is too small: {SMALLEST_BUDGET:,} is the least."
            )
        if not (options["files"] or options["shape"]):
            raise CommandError("Name a file of conversations, or play the shapes: --shape")
        chosen = Settings(
            budget=options["budget"],
            efforts=options["efforts"],
            prefer_cache=options["prefer_cache"],
            mode=ContextMode(options["mode"]),
            given=options["given_summaries"],
        )
        with scratch_database(durable=False):
            reports = [self.of_file(path, chosen, options["conversations"]) for path in options["files"]]
            shape = self.of_shape(chosen) if options["shape"] else None
        reports += [shape] if shape else []
        holds = all(report.holds for report in reports)
        if options["plot"]:
            write_plots(options["plot"], [one for report in reports for one in report.conversations], chosen.budget)
        if options["json"]:
            files = [report.as_json() for report in reports]
            found = {"holds": holds, "budget": chosen.budget, "files": files, **(published() if shape else {})}
            self.stdout.write(json.dumps(found))
        else:
            lines = [line for report in reports for line in lines_of(report)]
            self.stdout.write("\n".join([*lines, *(lines_beside(shape) if shape else [])]))
        if not holds:
            sys.exit(1)

    def of_file(self, path: Path, chosen: Settings, most: int | None) -> Report:
        report = Report(name=path.stem, settings=chosen)
        try:
            self.play(report, read_talks(path, most))
        except (OSError, ValueError) as error:
            raise CommandError(f"{path} cannot be played: {error}") from error
        return report

    def of_shape(self, chosen: Settings) -> Report:
        report = Report(name="shape (synthetic)", settings=replace(chosen, efforts="sessions", given=True))
        self.play(report, map(shape_talk, SHAPES))
        return report

    def play(self, report: Report, talks: Iterable[Talk]) -> None:
        def tell(played: Played) -> None:
            if played.number % 100 == 0:
                self.stderr.write(f"{report.name}: {played.number:,} turns ...")

        for talk in talks:
            began = time.monotonic()
            turns = report.play(talk, tell).figures.turns
            took = 1_000 * (time.monotonic() - began)
            self.stderr.write(f"{report.name}: {talk.id} played, {turns:,} turns, {took / max(turns, 1):.0f} ms each")


def write_plots(path: Path, conversations: list[Conversation], budget: int) -> None:
    for conversation in conversations:
        alone = len(conversations) == 1
        target = path if alone else path.with_name(f"{path.stem}-{conversation.id}{path.suffix}")
        target.write_text(plot(conversation, budget), encoding="utf-8")


def lines_of(report: Report) -> Iterator[str]:
    all = report.all.as_json()
    yield (
        f"{report.name}: {len(report.conversations)} conversations, {all['turns']:,} turns, {all['calls']:,} calls at "
        f"{report.settings.budget:,} tokens; {all['over_budget']} over budget, {all['refused']} not sent"
    )
    yield f"  {'':<22}{'turns':>7}{'peak':>9}{'trough':>9}{'mean':>9}{'cumulative':>13}{'naive':>13}{'saved':>8}"
    rows = [(one.id, one.figures.as_json()) for one in report.conversations]
    for name, found in [*rows, ("all", all)] if len(rows) > 1 else rows:
        naive = found["naive"]
        yield (
            f"  {name[:22]:<22}{found['turns']:>7,}{found['peak']:>9,}{found['trough']:>9,}{found['mean']:>9,}"
            f"{found['cumulative']:>13,}{naive['cumulative']:>13,}{naive['saved'] or 0:>8.1%}"
        )
    yield "  unchanged beginning, mean share of the request before (of the request itself)"
    for whose, where in all["unchanged_prefix"].items():
        said = "; ".join(f"{place} {figures(share)}" for place, share in where.items())
        yield f"  {whose.replace('_', ' '):<12} {said}"
    for place, found in all["prefix_ceiling"].items():
        if found["calls"]:
            yield (
                f"  of what could stay, {place}: {found['reached']:.3f} of {found['ceiling']:.3f}; without the "
                f"{found['cut']:,} calls at which the budget pushed something out {found['reached_uncut'] or 0:.3f}"
            )
    if all["events"]:
        yield "  " + ", ".join(f"{kind.removeprefix('effort.')} {count:,}" for kind, count in all["events"].items())


def published() -> dict[str, Any]:
    return {
        "shape": {
            "synthetic": True,
            "without_budget": {f"shape {name}": recomputed(name) for name in SHAPES},
            "counted_differently": COUNTED_DIFFERENTLY,
        }
    }


def lines_beside(shape: Report) -> Iterator[str]:
    yield "  the same with the open phase whole in the prompt, recomputed from the published table"
    for name in SHAPES:
        found = recomputed(name)
        yield (
            f"  {'shape ' + name:<22}{'':>7}{found['peak']:>9,}{'':>9}{found['mean']:>9,}{found['cumulative']:>13,}"
            f"{found['naive_cumulative']:>13,}{found['saved']:>8.1%}"
        )
    yield "  counted differently:"
    yield from (f"  - {sentence}" for sentence in COUNTED_DIFFERENTLY)


def figures(share: dict[str, Any]) -> str:
    if not share["calls"]:
        return "none"
    return f"{share['of_previous']:.3f} ({share['of_this']:.3f}) in {share['calls']:,} calls"
