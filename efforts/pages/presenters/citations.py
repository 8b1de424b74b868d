"""Where the citations of replies lead in one branch, and how they are read: models write the ids of efforts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from uuid import UUID

from efforts.domain.text.citations import Citation, citations_in, code_citations_in
from efforts.models import Branch, EffortState, Message
from efforts.pages.markdown import Cited
from efforts.standins import coding
from efforts.standins.coding import Line


def cited_in(branch: Branch, replies: Mapping[int, Iterable[Message]]) -> dict[int, Cited]:
    """By the number of the citing turn, whose messages are given. What does not exist here leads nowhere."""
    found = {number: [one for row in rows for one in citations_in_reply(row)] for number, rows in replies.items()}
    code = code_addresses(branch, replies)
    efforts = known_efforts(branch, {one.effort for several in found.values() for one in several} - {""})
    return {
        number: tuple(
            {
                **code.get(number, {}),
                # A reply knows of no later turn, whatever number it has made up.
                **{
                    one.text: (one.named(efforts.get(one.effort, "")), branch.address_of_turn(one.turn))
                    for one in several
                    if 0 < one.turn <= number and (not one.effort or one.effort in efforts)
                },
            }.items()
        )
        for number, several in found.items()
    }


def code_addresses(branch: Branch, replies: Mapping[int, Iterable[Message]]) -> dict[int, dict[str, tuple[str, str]]]:
    """Of the places in attached code that each turn's replies name; they are read as they are written."""
    told = {
        number: [
            (row.run_id, text, (path, line))
            for row in rows
            if is_told(row)
            for text, path, line, _ in code_citations_in(row.text)
        ]
        for number, rows in replies.items()
    }
    named: dict[UUID | None, set[Line]] = defaultdict(set)
    for run, _, line in (one for several in told.values() for one in several):
        named[run].add(line)
    found = coding.registered().addresses(branch.session, named) if named else {}
    return {
        number: {text: (text, where) for run, text, line in several if (where := found[run].get(line))}
        for number, several in told.items()
    }


def is_told(row: Message) -> bool:
    return row.role == Message.Role.ASSISTANT


def citations_in_reply(row: Message) -> Iterable[Citation]:
    return citations_in(row.text) if is_told(row) else ()


def known_efforts(branch: Branch, slugs: set[str]) -> dict[str, str]:
    """Names by id."""
    if not slugs:
        return {}
    here = EffortState.objects.filter(branch=branch, effort__slug__in=slugs)
    return dict(here.values_list("effort__slug", "effort__name"))
