"""Where the citations of replies lead in one branch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from efforts.domain.text.citations import Citation, citations_in
from efforts.models import Branch, EffortState, Message
from efforts.pages.markdown import Cited


def cited_in(branch: Branch, replies: Mapping[int, Iterable[Message]]) -> dict[int, Cited]:
    """By the number of the citing turn, whose messages are given. What does not exist here leads nowhere."""
    found = {number: [one for row in rows for one in citations_in_reply(row)] for number, rows in replies.items()}
    efforts = known_efforts(branch, {one.effort for several in found.values() for one in several} - {""})
    return {
        number: tuple(
            {
                # A reply knows of no later turn, whatever number it has made up.
                one.text: branch.address_of_turn(one.turn)
                for one in several
                if 0 < one.turn <= number and (not one.effort or one.effort in efforts)
            }.items()
        )
        for number, several in found.items()
    }


def citations_in_reply(row: Message) -> Iterable[Citation]:
    return citations_in(row.text) if row.role == Message.Role.ASSISTANT else ()


def known_efforts(branch: Branch, slugs: set[str]) -> set[str]:
    if not slugs:
        return set()
    here = EffortState.objects.filter(branch=branch, effort__slug__in=slugs)
    return set(here.values_list("effort__slug", flat=True))
