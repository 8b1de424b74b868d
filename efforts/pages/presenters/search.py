"""What a search found, as the page shows it: what it is, where it stands, the words that were found in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.urls import reverse

from efforts.context.words import WordView, word_view
from efforts.domain.text.snippets import SnippetPiece, snippet
from efforts.pages.presenters.owner_search import Filters, HitKind, OwnerHit, search_owner
from efforts.standins.seen import Word

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST = 50
SPEAKERS = {"user": "You", "assistant": "Reply"}


@dataclass(frozen=True, kw_only=True)
class KindLook:
    """A kind of thing, with the icon and the colour that it has everywhere."""

    label: str
    plural: str
    icon: str
    layer: str


LOOKS = {
    HitKind.EFFORT: KindLook(label="Effort", plural="Efforts", icon="effort", layer="open"),
    HitKind.MESSAGE: KindLook(label="Message", plural="Messages", icon="chat", layer="turn"),
    HitKind.RULE: KindLook(label="Rule", plural="Rules", icon="rule", layer="constraint"),
    HitKind.SUMMARY: KindLook(label="Summary", plural="Summaries", icon="concluded", layer="summary"),
}


@dataclass(frozen=True, kw_only=True)
class HitView:
    """`place` is where it opens, in words."""

    look: KindLook
    address: str
    place: str
    effort: str
    who: str
    said_on: str
    word: WordView | None
    pieces: tuple[SnippetPiece, ...]
    why: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class FoundView:
    """`total` may be more than the hits that are shown."""

    filters: Filters
    hits: tuple[HitView, ...] = ()
    total: int = 0

    @property
    def is_filtered(self) -> bool:
        filters = self.filters
        return bool(filters.session or filters.since or filters.until or set(filters.kinds) != set(HitKind))

    @property
    def of_kinds(self) -> str:
        """In words: efforts, messages and rules."""
        *names, last = [look.plural.lower() for kind, look in LOOKS.items() if kind in self.filters.kinds]
        return f"{', '.join(names)} and {last}" if names else last


def search_page(owner: User, query: str, filters: Filters, *, most: int = MOST) -> FoundView:
    results = search_owner(owner, query, filters, most=most)
    return FoundView(filters=filters, hits=tuple(map(view_of, results.hits)), total=results.found)


def view_of(hit: OwnerHit) -> HitView:
    return HitView(
        look=LOOKS[hit.kind],
        address=address_of(hit),
        place=place_of(hit),
        effort=hit.effort,
        who=SPEAKERS.get(hit.role, ""),
        said_on=hit.said_on,
        word=word_view(hit.word),
        pieces=snippet(hit.text, hit.marks),
        why=hit.why,
    )


def place_of(hit: OwnerHit) -> str:
    if hit.session is None:
        return "All conversations"
    branch = f" ({hit.branch})" if hit.branch and hit.branch.parent_id else ""
    turn = f" · turn {hit.turn}" if hit.kind == HitKind.MESSAGE else ""
    return f"{hit.session}{branch}{turn}"


def address_of(hit: OwnerHit) -> str:
    """A message opens at its turn, an effort and the summary that replaces it in the panel, a rule among the rules,
    another summary on its page."""
    if hit.session is None:
        return f"{reverse('settings')}#rule-{hit.rule}"
    if hit.artifact and not (hit.effort and hit.word == Word.STANDS):
        return reverse("artifact", args=[hit.artifact])
    if hit.kind == HitKind.MESSAGE and hit.branch:
        return hit.branch.address_of_turn(hit.turn)
    page = (hit.branch or hit.session).get_absolute_url()
    return f"{page}#rule-{hit.rule}" if hit.kind == HitKind.RULE else f"{page}#effort-{hit.effort}-row"
