"""Efforts of real talk concluded through the whole product by recorded answers: from the control over drafts, checks
and gates to the bytes of the next prompt.

`python -m benchmarks.concluding --export DIR` writes the requests that have no answer yet; `--answers DIR --by NAME`
takes answers into the record.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import django


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--export", type=Path, metavar="DIR", help="write each request that has no answer")
    parser.add_argument("--answers", type=Path, metavar="DIR", help="take answers into the record")
    parser.add_argument("--by", default="", help="who gave them")
    parser.add_argument("--prune", action="store_true", help="drop recorded answers that nothing asks for")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.update(CCM_HOME=home, DJANGO_SETTINGS_MODULE="ccmweb.settings")
        django.setup()
        print(json.dumps(recorded(arguments), indent=1, ensure_ascii=False))


def recorded(arguments: argparse.Namespace) -> dict[str, Any]:
    from benchmarks import conclusions
    from benchmarks.gates.pending import export

    stage = conclusions.play(answers=arguments.answers, by=arguments.by)
    if arguments.export:
        pending = stage.pending()
        export(pending, arguments.export)
        return {"exported": len(pending)}
    return figures_of(stage, prune=arguments.prune)


def concluding() -> dict[str, Any]:
    """In an empty installation."""
    if "CCM_DATA" not in os.environ:
        return {"skipped": "CCM_DATA is not set"}
    from benchmarks import conclusions

    return figures_of(conclusions.play())


def figures_of(stage: Any, *, prune: bool = False) -> dict[str, Any]:
    """Raises `Unreadable` where the record is not whole."""
    from benchmarks import conclusions
    from benchmarks.conclusion_figures import figures
    from benchmarks.gates.cases import Unreadable

    if missing := stage.pending():
        raise Unreadable(f"{len(missing)} answers are not in the record: --export DIR writes their requests.")
    if prune:
        conclusions.prune(stage.server)
    return figures(stage.concluded)


if __name__ == "__main__":
    main()
