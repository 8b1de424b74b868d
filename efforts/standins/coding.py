"""What `workspaces` does for efforts, which do not import it: registered when the program starts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from efforts.domain.prompt.conversation import Code

if TYPE_CHECKING:
    from uuid import UUID

    from efforts.llm.embeddings import Embedded, Embedder
    from efforts.models import Branch, ContextPlan, RetrievalSet, Run, Session
    from efforts.retrieval.vectors import Asked


@dataclass(frozen=True, kw_only=True)
class CodeFound:
    """What a message may need of the code; `keep` stores it for the run that answers, in the caller's transaction."""

    code: Code
    keep: Callable[[Run], None]


@dataclass(frozen=True, kw_only=True)
class Proposed:
    """What a model proposed in a run and a person decides, or what the person ran after it, at `address`: shown in the
    conversation as that shows it. `outcome`: what came of it by now, in words."""

    title: str
    address: str
    outcome: str


class Worded(Protocol):
    """A text whose meaning can be asked for."""

    def compared_with(self, indexes: Any) -> Asked:
        """`indexes`: how far vectors are known, by the name of the model. No transaction may be open."""
        ...


class Batch(Protocol):
    """Texts whose meanings one request asks for."""

    @property
    def embedder(self) -> Embedder: ...

    @property
    def texts(self) -> tuple[str, ...]: ...


# A path, and the number of a line.
Line = tuple[str, int]


class CodePort(Protocol):
    def attached(self, session: Session) -> str:
        """Id of the workspace that the conversation works on; empty where there is none."""
        ...

    def tools(self) -> tuple[dict[str, Any], ...]:
        """The schemas of what a model may call beside, where code is attached."""
        ...

    def functions(self) -> Mapping[str, Callable[..., dict[str, Any]]]: ...

    def system_text(self) -> str:
        """What the system text adds where code is attached."""
        ...

    def look(
        self, branch: Branch, chosen: Mapping[str, Any], text: str, wording: Worded | None = None
    ) -> CodeFound | None:
        """Look for what a message needs; `chosen` are the settings of its run. None where no code is attached. With
        `wording` by its meaning too, where a model is connected for it; then no transaction may be open."""
        ...

    def meaning(self, run: Run, query: str) -> Asked:
        """What a search of code means. No transaction may be open."""
        ...

    def claim_batch(self) -> Batch | None:
        """The next texts of code whose meaning is not known; None where there are none."""
        ...

    def record_batch(self, batch: Any, made: Embedded) -> None: ...

    def record_fault(self, batch: Any, why: str) -> None: ...

    def kept(self, run_id: UUID, chosen: Mapping[str, Any]) -> Code:
        """What was found for a run, and stored."""
        ...

    def sent(self, plan: ContextPlan, shown: tuple[int, ...]) -> None:
        """A prompt shows the cards of these symbols."""
        ...

    def shown(self, runs: Sequence[UUID]) -> Mapping[UUID, tuple[int, int]]:
        """Of the runs for which code was looked for: cards that their last prompts show, and tokens of all code."""
        ...

    def found_again(self, row: RetrievalSet) -> str:
        """The hash of the result of a retrieval made again at its snapshot; empty where that is gone."""
        ...

    def proposed(self, runs: Sequence[UUID]) -> Mapping[UUID, tuple[Proposed, ...]]:
        """Of the runs that proposed something, or after which something was run, in the order of that."""
        ...

    def suggest_pin(self, run: Run, ref: str, why: str) -> str:
        """What the model suggests to keep of attached code, as it is called. Raises `Refused`."""
        ...

    def addresses(
        self, session: Session, named: Mapping[UUID | None, Collection[Line]]
    ) -> Mapping[UUID | None, Mapping[Line, str]]:
        """Of paths and lines that the replies of runs name, those that were there: where a person can read them as they
        were then."""
        ...


_registered: list[CodePort] = []
# What strategies of retrieval begin with that look in code.
STRATEGY = "code/"
# The tool that searches it by words and meaning.
SEARCH = "search_code"


def register(workspaces: CodePort) -> None:
    _registered[:] = [workspaces]


def registered() -> CodePort:
    return _registered[0]
