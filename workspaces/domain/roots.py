"""By which name code calls the package that a folder is: what its files import from each other begins with it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from workspaces.domain.languages import module_of

GO, RUST, PYTHON = "go.mod", "Cargo.toml", "__init__.py"
MANIFESTS = (GO, RUST)
GO_MODULE = re.compile(r"^module\s+(\S+)", re.MULTILINE)


class Root(NamedTuple):
    """`name` with dots; `whole`: the module of the snapshot that it is itself; `below`: what stands before the names of
    the modules within it, empty where nothing does."""

    name: str
    folder: str
    whole: str
    below: str
    language: str


def roots_of(folder: str, modules: Mapping[str, str], manifests: Mapping[str, str]) -> list[Root]:
    """The longest name first. `folder`: the attached one's own name; `modules`: of each file that has one, by its path;
    `manifests`: texts of the files that name packages."""
    found = [Root(folder, "", modules[PYTHON], "", "python")] if PYTHON in modules and folder else []
    for path, text in sorted(manifests.items()):
        at = str(PurePosixPath(path).parent).removeprefix(".")
        found += go_module(at, modules, text) if path.endswith(GO) else crate(at, modules, text)
    return sorted(found, key=lambda root: (-len(root.name), root.folder))


def go_module(folder: str, modules: Mapping[str, str], text: str) -> Iterator[Root]:
    named = GO_MODULE.search(text)
    here = (
        path for path in sorted(modules) if path.endswith(".go") and str(PurePosixPath(path).parent) == (folder or ".")
    )
    if named:
        whole = next((modules[path] for path in here), "")
        yield Root(named[1].strip('"').replace("/", "."), folder, whole, folder.replace("/", "."), "go")


def crate(folder: str, modules: Mapping[str, str], text: str) -> Iterator[Root]:
    try:
        named = tomllib.loads(text)["package"]["name"]
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        return
    source = f"{folder}/src".lstrip("/")
    whole = next((modules[path] for name in ("lib", "main") if (path := f"{source}/{name}.rs") in modules), "")
    # As modules of the same folder are named.
    below = module_of(f"{source}/x.rs", "rust").removesuffix("x").rstrip(".")
    yield Root(str(named).replace("-", "_"), folder, whole, below, "rust")
