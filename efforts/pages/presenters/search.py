"""What a search found, as the page shows it: what it is, where it stands, the words that were found in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from django.http import QueryDict
from django.urls import reverse

from efforts.context.embedders import AskedForAll, compared, meanings_of
from efforts.context.words import WordView, word_view
from efforts.domain.text.counting import number_in
from efforts.domain.text.snippets import SnippetPiece, snippet
from efforts.domain.text.terms import MOST_QUERY_TERMS
from efforts.models import Effort, Passage
from efforts.pages.presenters import arriving
from efforts.pages.presenters.meanings import NO_MODEL
from efforts.pages.presenters.owner_search import Filters, HitKind, OwnerHit, search_owner, text_of
from efforts.retrieval.vectors import meaning_of_passages
from efforts.standins.seen import Word

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST = 50
# Characters of the passage that others are like, as the page names it.
LIKE = 120
MOST_NAMED = 50
# Digits.
LONGEST_PAGE = 4
SPEAKERS = {"user": "You", "assistant": "Reply", "file": "Your file"}


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
QUOTES = KindLook(label="Excerpts", plural="Summaries", icon="fold", layer="summary")


@dataclass(frozen=True, kw_only=True)
class HitView:
    """`place` is where it opens, in words; `found`: of a message, what is marked there; `passage`: of a message, what
    else may be like it."""

    look: KindLook
    address: str
    found: str
    place: str
    effort: str
    who: str
    said_on: str
    word: WordView | None
    pieces: tuple[SnippetPiece, ...]
    why: tuple[str, ...]
    passage: int = 0


@dataclass(frozen=True, kw_only=True)
class FoundView:
    """`total` may be more than the hits of this `page`; `has_more`: than are ranked. `compares`: meanings could be
    compared too and were not yet; `fault`: why they could not."""

    filters: Filters
    hits: tuple[HitView, ...] = ()
    total: int = 0
    page: int = 1
    has_more: bool = False
    compares: bool = False
    by_meaning: bool = False
    fault: str = ""
    no_model: str = ""
    like: str = ""

    @property
    def first(self) -> int:
        return (self.page - 1) * MOST + 1

    @property
    def last(self) -> int:
        return self.first + len(self.hits) - 1

    @property
    def earlier(self) -> int:
        return self.page - 1

    @property
    def later(self) -> int:
        """The next page; 0 where there is none."""
        return self.page + 1 if self.last < self.total else 0

    @property
    def is_filtered(self) -> bool:
        filters = self.filters
        chosen = (filters.session, filters.since, filters.until, filters.effort, filters.speaker)
        return any(chosen) or set(filters.kinds) != set(HitKind)

    @property
    def of_kinds(self) -> tuple[str, ...]:
        wanted = self.filters.wanted
        return tuple(look.plural.lower() for kind, look in LOOKS.items() if kind in wanted) or ("nothing",)


def search_page(
    owner: User,
    query: str,
    filters: Filters,
    *,
    most: int = MOST,
    page: int = 1,
    by_meaning: bool = False,
    like: Passage | None = None,
) -> FoundView:
    """`by_meaning`: models are asked, which may take seconds, and words alone are compared where they do not answer."""
    sessions = filters.sessions_of(owner)
    known = compared(sessions).exists()
    asked = AskedForAll()
    if like:
        meant = meaning_of_passages(like.session_id, [like.pk]) if like.session.by_meaning else None
        asked = AskedForAll(meant=(meant,) if meant else ())
    elif by_meaning and known:
        asked = meanings_of(sessions, query)
    results = search_owner(owner, query, filters, most=most, page=page, meant=asked.meant, like=like)
    return FoundView(
        filters=filters,
        hits=views_of(results.hits),
        total=results.found,
        page=page,
        has_more=results.has_more,
        compares=known and not by_meaning and not like,
        by_meaning=bool(asked.meant),
        fault=asked.fault,
        no_model="" if known else NO_MODEL,
        like="".join(piece.text for piece in snippet(text_of(like), (), LIKE)) if like else "",
    )


def passage_of(owner: User, given: str) -> Passage | None:
    """What others are to be like; None where it is no passage of theirs."""
    rows = Passage.objects.filter(session__owner=owner, session__erase_at=None).select_related("message", "session")
    pk = number_in(given, digits=arriving.LONGEST_ID)
    return rows.filter(pk=pk).first() if pk else None


def efforts_to_choose(owner: User) -> list[str]:
    """Names, those begun last first."""
    rows = Effort.objects.filter(session__owner=owner, session__erase_at=None).order_by("-created_at")
    return list(dict.fromkeys(rows.values_list("name", flat=True)[:MOST_NAMED]))


def page_of(given: str) -> int:
    return number_in(given, digits=LONGEST_PAGE) or 1


def address_with(given: QueryDict, **more: object) -> str:
    """The search as it was asked for, with something else changed."""
    asked = given.copy()
    for name in ("dialog", "meaning", "page"):
        asked.pop(name, None)
    for name, value in more.items():
        asked[name] = str(value)
    return f"{reverse('search')}?{asked.urlencode()}"


def views_of(hits: Sequence[OwnerHit]) -> tuple[HitView, ...]:
    sessions = {hit.session.pk for hit in hits if hit.session and hit.effort}
    rows = Effort.objects.filter(session__in=sessions, slug__in={hit.effort for hit in hits})
    names = {(session, slug): name for session, slug, name in rows.values_list("session", "slug", "name")}
    return tuple(view_of(hit, names.get((hit.session.pk, hit.effort), "") if hit.session else "") for hit in hits)


def view_of(hit: OwnerHit, effort: str) -> HitView:
    """`effort`: the name of the one that it belongs to."""
    return HitView(
        look=QUOTES if hit.quotes else LOOKS[hit.kind],
        address=address_of(hit),
        found=arriving.as_json(hit.turn, hit.place, marked_in(hit)) if hit.place else "",
        place=place_of(hit),
        # What is found of an effort begins with its name.
        effort="" if hit.kind == HitKind.EFFORT else effort,
        who=SPEAKERS.get(hit.role, ""),
        said_on=hit.said_on,
        word=word_view(hit.word, quotes=hit.quotes and hit.word == Word.STANDS, presence=hit.presence),
        pieces=snippet(hit.text, hit.marks),
        why=hit.why,
        passage=hit.passage,
    )


def place_of(hit: OwnerHit) -> str:
    if hit.session is None:
        return "All conversations"
    branch = f" ({hit.branch.label})" if hit.branch and hit.branch.parent_id else ""
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
        page, _, turn = hit.branch.address_of_turn(hit.turn).partition("#")
        return f"{page}&{urlencode({'found': hit.passage, 'mark': marked_in(hit)}, doseq=True)}#{turn}"
    page = (hit.branch or hit.session).get_absolute_url()
    return f"{page}#rule-{hit.rule}" if hit.kind == HitKind.RULE else f"{page}#effort-{hit.effort}-row"


def marked_in(hit: OwnerHit) -> list[str]:
    """The words as they stand there, each once."""
    return list(dict.fromkeys(hit.text[start:end] for start, end in hit.marks))[:MOST_QUERY_TERMS]
