"""Which language a file is in, by its name."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

BY_SUFFIX = {
    ".py": "python",
    ".pyi": "python",
    ".js": "javascript",
    ".mjs": "javascript",
    ".cjs": "javascript",
    ".jsx": "javascript",
    ".ts": "typescript",
    ".mts": "typescript",
    ".cts": "typescript",
    ".tsx": "tsx",
    ".rs": "rust",
    ".go": "go",
}
# Of their packages these stand for the folder.
INDEX_FILES = {"__init__", "index", "mod", "lib", "main"}
# Folders that package managers and build tools put in front, and no code names.
SOURCE_FOLDERS = ("src", "lib")
GO_PACKAGE = re.compile(r"^package (\w+?)(?:_test)?\s*$", re.MULTILINE)


def language_of(path: str) -> str:
    """Empty: plain text."""
    return BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), "")


def module_of(path: str, language: str, text: str = "") -> str:
    """The module as code names it, with dots; empty where there is no code. `text`: of the file, where it may name its
    package."""
    if not language:
        return ""
    parts = list(PurePosixPath(path).parts)
    stem = parts.pop()
    stem = stem.removesuffix(".d.ts") if stem.endswith(".d.ts") else stem.rpartition(".")[0]
    if len(parts) and parts[0] in SOURCE_FOLDERS:
        parts = parts[1:]
    if language == "go":
        # All files of a folder are one package; that of the root is named by its files alone.
        package = None if parts else GO_PACKAGE.search(text)
        return ".".join(parts) or (package[1] if package else stem)
    if not (parts and stem in INDEX_FILES):
        parts.append(stem)
    return ".".join(parts)
