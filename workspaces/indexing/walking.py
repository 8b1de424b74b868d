"""The files of a folder, read one by one. Nothing outside its root is ever opened, whatever changes meanwhile: each
folder is opened from the one above it, and links are not followed."""

from __future__ import annotations

import os
import stat
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from workspaces.domain.leaving_out import FOLDERS, LOOKED_AT, Ignored, is_odd_name, is_secret_name, why_left_out
from workspaces.domain.states import Skip

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that nobody writes to must not hold up who opens it.
FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DEEPEST = 40
# Names that are given for each reason; of all others the number.
NAMED = 20
GITIGNORE = ".gitignore"
LARGEST_GITIGNORE = 256 * 1024


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Files, bytes of one, bytes of all."""

    files: int
    file_bytes: int
    all_bytes: int


@dataclass(frozen=True, kw_only=True)
class FoundFile:
    """`path`: below the root, with slashes."""

    path: str
    data: bytes


@dataclass(kw_only=True)
class LeftOut:
    """For each reason how many files or folders, and the first of them."""

    counts: dict[Skip, int] = field(default_factory=lambda: defaultdict(int))
    named: dict[Skip, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, why: Skip, path: str) -> None:
        self.counts[why] += 1
        if len(self.named[why]) < NAMED:
            # A name that is no text still has to be shown.
            self.named[why].append(path.encode(errors="replace").decode()[:200])

    def to_json(self) -> dict[str, dict[str, object]]:
        return {str(why): {"count": n, "first": self.named[why]} for why, n in sorted(self.counts.items())}


@dataclass(kw_only=True)
class Walk:
    """One pass over a folder, in the order of names. `step` is called at each of them, and may end it."""

    root: Path
    limits: Limits
    step: Callable[[], None] = lambda: None
    left_out: LeftOut = field(default_factory=LeftOut)
    files: int = 0
    size: int = 0

    def found(self) -> Iterator[FoundFile]:
        """Raises OSError where the root itself cannot be read."""
        root = os.open(self.root, FOLDER)
        try:
            yield from self.in_folder(root, "", Ignored(), 0)
        finally:
            os.close(root)

    def in_folder(self, folder: int, path: str, ignored: Ignored, depth: int) -> Iterator[FoundFile]:
        with os.scandir(folder) as entries:
            entries_here = sorted(entries, key=lambda entry: entry.name)
        if any(entry.name == GITIGNORE for entry in entries_here):
            ignored = ignored.below(path, self.gitignore(folder))
        for entry in entries_here:
            self.step()
            here = path + entry.name
            if is_odd_name(here):
                self.left_out.add(Skip.ODD_NAME, here)
            elif entry.is_symlink():
                self.left_out.add(Skip.LINK, here)
            elif entry.is_dir(follow_symlinks=False):
                yield from self.folder(folder, entry.name, here + "/", ignored, depth + 1)
            elif found := self.file(folder, entry.name, here, ignored):
                yield found

    def folder(self, above: int, name: str, path: str, ignored: Ignored, depth: int) -> Iterator[FoundFile]:
        if name in FOLDERS or ignored.has(path):
            self.left_out.add(Skip.IGNORED, path)
        elif depth > DEEPEST:
            self.left_out.add(Skip.TOO_DEEP, path)
        else:
            try:
                opened = os.open(name, FOLDER, dir_fd=above)
            except OSError:
                self.left_out.add(Skip.UNREADABLE, path)
                return
            try:
                yield from self.in_folder(opened, path, ignored, depth)
            finally:
                os.close(opened)

    def file(self, folder: int, name: str, path: str, ignored: Ignored) -> FoundFile | None:
        why = self.by_name(name, path, ignored)
        if why is None:
            data = self.read(folder, name)
            why = data if isinstance(data, Skip) else why_left_out(data)
            if why is None and isinstance(data, bytes):
                self.files += 1
                self.size += len(data)
                return FoundFile(path=path, data=data)
        assert why is not None
        self.left_out.add(why, path)
        return None

    def by_name(self, name: str, path: str, ignored: Ignored) -> Skip | None:
        if ignored.has(path):
            return Skip.IGNORED
        if is_secret_name(name):
            return Skip.SECRET
        return Skip.TOO_MANY if self.files >= self.limits.files or self.size >= self.limits.all_bytes else None

    def read(self, folder: int, name: str) -> bytes | Skip:
        """What it holds, or why not: it may be gone, or something else by now."""
        try:
            opened = os.open(name, FILE, dir_fd=folder)
        except OSError:
            return Skip.UNREADABLE
        with os.fdopen(opened, "rb") as file:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                return Skip.UNREADABLE
            if status.st_size > self.limits.file_bytes:
                return Skip.TOO_LARGE
            try:
                # It may grow while it is read.
                data = file.read(LOOKED_AT)
                # Of pictures no more is read.
                if why_left_out(data) is None:
                    data += file.read(self.limits.file_bytes + 1 - len(data))
            except OSError:
                return Skip.UNREADABLE
        return Skip.TOO_LARGE if len(data) > self.limits.file_bytes else data

    def gitignore(self, folder: int) -> list[str]:
        try:
            opened = os.open(GITIGNORE, FILE, dir_fd=folder)
        except OSError:
            return []
        with os.fdopen(opened, "rb") as file:
            if not stat.S_ISREG(os.fstat(opened).st_mode):
                return []
            return file.read(LARGEST_GITIGNORE).decode(errors="replace").splitlines()
