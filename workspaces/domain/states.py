"""What a workspace and what stands in it can be: closed vocabularies."""

from __future__ import annotations

from enum import StrEnum

from efforts.domain.effort.states import machine


class SourceKind(StrEnum):
    FOLDER = "folder"
    ARCHIVE = "archive"


class WorkspaceState(StrEnum):
    INDEXING = "indexing"
    READY = "ready"
    CANCELLED = "cancelled"
    FAILED = "failed"


class EditState(StrEnum):
    OPEN = "open"
    APPLIED = "applied"
    REJECTED = "rejected"
    UNDONE = "undone"


# Nothing leads out of an end: what is wanted after all is proposed again.
EDIT_MOVES = machine(EditState, open="applied rejected", applied="undone")


class CommandState(StrEnum):
    PROPOSED = "proposed"
    DECLINED = "declined"
    RUNNING = "running"
    ENDED = "ended"


COMMAND_MOVES = machine(CommandState, proposed="running declined", running="ended")


class CommandEnd(StrEnum):
    """How a command ended: by itself, at a limit, by a person, with the server, or nobody knows how."""

    EXIT = "exit"
    TIME = "time"
    OUTPUT = "output"
    MEMORY = "memory"
    PROCESSES = "processes"
    PERSON = "person"
    SERVER = "server"
    UNSTARTED = "unstarted"
    LOST = "lost"

    @property
    def meaning(self) -> str:
        return ENDS[self]


ENDS = {
    CommandEnd.EXIT: "ended by itself",
    CommandEnd.TIME: "ended because it took too long",
    CommandEnd.OUTPUT: "ended because it printed too much",
    CommandEnd.MEMORY: "ended because it needed too much memory",
    CommandEnd.PROCESSES: "ended because it started too many processes",
    CommandEnd.PERSON: "stopped by you",
    CommandEnd.SERVER: "ended with the server",
    CommandEnd.UNSTARTED: "could not be started",
    CommandEnd.LOST: "nobody knows how it ended",
}


class Stage(StrEnum):
    """How far a snapshot has come: its text can be read, its symbols can be found, their graph is known."""

    TEXT = "text"
    SYMBOLS = "symbols"
    COMPLETE = "complete"


class SymbolKind(StrEnum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    METHOD = "method"
    CONSTANT = "constant"
    TYPE = "type"
    SECTION = "section"  # of a file that is no code: lines below one heading, or so many lines


class EdgeKind(StrEnum):
    """`contains` is not stored as an edge: it is the parent of a symbol."""

    IMPORTS = "imports"
    CALLS = "calls"
    INHERITS = "inherits"


class Skip(StrEnum):
    """Why a file is not in the index."""

    IGNORED = "ignored"
    BINARY = "binary"
    TOO_LARGE = "too large"
    SECRET = "secret"
    LINK = "link"
    UNREADABLE = "unreadable"
    TOO_MANY = "too many"
    TOO_DEEP = "too deep"
    ODD_NAME = "odd name"

    @property
    def meaning(self) -> str:
        return MEANINGS[self]


MEANINGS = {
    Skip.IGNORED: "left out by .gitignore, or a folder of tools",
    Skip.BINARY: "not text",
    Skip.TOO_LARGE: "larger than one file may be",
    Skip.SECRET: "keys and passwords, which are never read",
    Skip.LINK: "links, which are not followed",
    Skip.UNREADABLE: "could not be read",
    Skip.TOO_MANY: "beyond the number of files, or of bytes, that an index may hold",
    Skip.TOO_DEEP: "nested too deeply",
    Skip.ODD_NAME: "a name that is not valid text",
}
