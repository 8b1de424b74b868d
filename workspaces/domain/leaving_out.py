"""What of a folder is never indexed, by name and by content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from pathspec import GitIgnoreSpec
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from workspaces.domain.states import Skip

if TYPE_CHECKING:
    from collections.abc import Sequence

# Left out whatever .gitignore says: what tools keep, and what others have written.
FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".idea", ".gradle", ".terraform", ".cargo"),
        *("node_modules", "bower_components", ".next", ".nuxt", ".parcel-cache"),
        *("__pycache__", ".venv", "venv", ".tox", ".nox", ".eggs"),
        *(".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis"),
    }
)
SECRET_NAMES = (
    *(".env", ".env.*", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.asc", "*.gpg"),
    *("id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass"),
    *(".git-credentials", ".htpasswd", "credentials", "credentials.json", "secrets.json", "secrets.y*ml", "*.tfstate"),
)
# They show which settings there are, and no values.
EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", "*.pub")
PRIVATE_KEY = re.compile(rb"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----\s+[A-Za-z0-9+/=]{40}")
LOOKED_AT = 8_192
LONGEST_PATH = 1_000


def is_secret_name(name: str) -> bool:
    """By the last part of a path."""
    name = name.casefold()
    return not any(fnmatchcase(name, kind) for kind in EXAMPLES) and any(
        fnmatchcase(name, kind) for kind in SECRET_NAMES
    )


def is_odd_name(path: str) -> bool:
    """Whether a name is no text that could stand on a line of a prompt."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return True
    return not path.isprintable() or len(path) > LONGEST_PATH


def why_left_out(data: bytes) -> Skip | None:
    """By its bytes."""
    if b"\x00" in data[:LOOKED_AT]:
        return Skip.BINARY
    return Skip.SECRET if PRIVATE_KEY.search(data) else None


def patterns_in(lines: Iterable[str]) -> Iterator[GitIgnoreSpecPattern]:
    """A single "!" or "[z-a]" leaves out nothing, as with Git."""
    for line in lines:
        with suppress(ValueError, re.error):
            yield from GitIgnoreSpec.from_lines([line]).patterns


class Ignored:
    """The .gitignore files from the root down to one folder; the deepest that knows a path decides."""

    def __init__(self, specs: Sequence[tuple[str, GitIgnoreSpec]] = ()) -> None:
        self.specs = specs

    def below(self, folder: str, lines: Iterable[str]) -> Ignored:
        return Ignored((*self.specs, (folder, GitIgnoreSpec(patterns_in(lines)))))

    def has(self, path: str) -> bool:
        """`path` of a folder ends with a slash."""
        for folder, spec in reversed(self.specs):
            found = spec.check_file(path.removeprefix(folder)).include
            if found is not None:
                return found
        return False
