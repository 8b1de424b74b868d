"""A summary for people outside of the product: its claims, and the sentences of the log that they come from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from compaction.domain.artifact import Claim, Section, parse_artifact
from compaction.domain.rendering import TITLES, line_of, one_line
from compaction.drafting.reading import log_for
from compaction.models import Artifact
from compaction.standing.blockers import is_unchecked
from efforts.domain.effort.states import PointerState
from efforts.domain.text.source_text import Part, Source
from efforts.models import ContextPointer
from efforts.standins.compacting import ToldCite, ToldClaim, ToldSummary

if TYPE_CHECKING:
    from efforts.models import Branch

RESULT = "Result"
NOT_CHECKED = "Nobody has checked this summary against the log."
# Other words than in the prompt, where a title costs tokens.
SECTIONS = {Section.RESULT: RESULT, **TITLES, Section.DECISION: "Decisions", Section.OPEN_WORK: "To-dos"}


def told(artifact: str, branch: Branch) -> ToldSummary | None:
    """None of excerpts, which claim nothing, and of an earlier form, whose claims cite no sentences."""
    row = Artifact.objects.select_related("effort", "branch__session").filter(pk=artifact).first()
    if row is None or not row.is_current:
        return None
    document = parse_artifact(row.document)
    if not document.claims:
        return None
    source = log_for(row, document, branch).source
    pointer = ContextPointer.objects.filter(branch=branch, artifact=artifact, state=PointerState.ACTIVE).first()
    in_order = [claim for section in SECTIONS for claim in document.claims if claim.section == section]
    return ToldSummary(
        claims=tuple(claim_of(claim, source) for claim in in_order),
        cites=tuple(cites_of(in_order, source)),
        note=NOT_CHECKED if is_unchecked(row, pointer) else "",
    )


def claim_of(claim: Claim, source: Source) -> ToldClaim:
    # What the log does not have any more leads nowhere.
    cites = tuple(dict.fromkeys(id for id in claim.cites if id in source.by_sentence))
    return ToldClaim(section=SECTIONS[claim.section], text=line_of(claim), cites=cites)


def cites_of(claims: Iterable[Claim], source: Source) -> Iterable[ToldCite]:
    cited = {id for claim in claims for id in claim.cites}
    for id, sentence in source.by_sentence.items():
        if id in cited:
            part = source.part_of(id)
            role = part.tool or "tool" if part.part == Part.RESULT else part.who
            yield ToldCite(id=id, turn=part.turn, role=role, text=one_line(sentence.text))
