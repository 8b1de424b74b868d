"""Where the citations of replies lead in one branch, and how they are read: models write the ids of efforts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from efforts.domain.text.citations import Citation, citations_in, code_citations_in
from efforts.models import Branch, EffortState, Message
from efforts.pages.markdown import Cited
from efforts.standins import coding


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
    texts = {
        number: [row.text for row in rows if row.role == Message.Role.ASSISTANT] for number, rows in replies.items()
    }
    named = {number: [one for text in told for one in code_citations_in(text)] for number, told in texts.items()}
    places = frozenset((path, line) for several in named.values() for _, path, line in several)
    known = coding.registered().addresses(branch.session, places) if places else {}
    return {
        number: {text: (text, known[path, line]) for text, path, line in several if (path, line) in known}
        for number, several in named.items()
    }


def citations_in_reply(row: Message) -> Iterable[Citation]:
    return citations_in(row.text) if row.role == Message.Role.ASSISTANT else ()


def known_efforts(branch: Branch, slugs: set[str]) -> dict[str, str]:
    """Names by id."""
    if not slugs:
        return {}
    here = EffortState.objects.filter(branch=branch, effort__slug__in=slugs)
    return dict(here.values_list("effort__slug", "effort__name"))
