"""A conversation or an effort as a file: Markdown, HTML, or lines of JSON; all conversations as an archive of these
(docs/export.md)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from io import RawIOBase
from itertools import chain, islice
from typing import TypeVar
from uuid import UUID
from zipfile import ZIP_DEFLATED, ZipFile

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from efforts.models import Branch, Session
from efforts.models.threads import read
from efforts.pages.markdown import render
from efforts.pages.presenters.documents import (
    EXTRAS,
    conversation_lines,
    conversation_pieces,
    handover_pieces,
)
from efforts.pages.presenters.export import ledger_lines, plan_lines, summary_lines
from efforts.pages.views.shared import OwnRequest, about, dialog, of_branch
from efforts.standins.compacting import registered

Piece = TypeVar("Piece", str, bytes)

TYPES = {"md": "text/markdown", "html": "text/html", "jsonl": "application/jsonl"}
# Pieces that are made before they are sent.
BATCH = 100
# What makes a conversation of each file again, and keeps what was noted in it.
WITH_EACH = ("ledger", "summaries")
# Where the pieces go in the page that holds them.
BODY = "<!-- body -->"


@require_GET
@of_branch
def export(request: OwnRequest, branch: Branch) -> HttpResponse | StreamingHttpResponse:
    """The choices; with `form` among them, the file."""
    form = request.GET.get("form", "")
    if form not in TYPES:
        return dialog(request, "exports/form.html", {**about(branch), "title": "Export the conversation"})
    extras = [extra for extra in EXTRAS if request.GET.get(extra)]
    if form == "jsonl":
        return file_of((f"{line}\n" for lines in all_lines(branch, extras) for line in lines), branch, form)
    return document_of(conversation_pieces(branch, extras), branch, form, str(branch.session))


def all_lines(branch: Branch, extras: Iterable[str]) -> Iterator[list[str]]:
    more: dict[str, Callable[[], Iterator[list[str]]]] = {
        "ledger": lambda: ledger_lines(branch.session),
        # At once: they are few, and their cursor stays in one thread.
        "summaries": lambda: iter(list(summary_lines(branch.session, registered().exported(branch.session)))),
        "plans": lambda: plan_lines(branch.session),
    }
    return chain(conversation_lines(branch), *(more[extra]() for extra in extras))


@require_GET
def export_all(request: OwnRequest) -> StreamingHttpResponse:
    """Everything that the person has said here: a ZIP archive with lines of JSON for each conversation."""
    whose = Session.objects.owned_by(request.user).order_by("created_at", "pk")
    archive = archived(list(whose.values_list("pk", flat=True)))
    response = StreamingHttpResponse(batches(archive, b"".join), content_type="application/zip")
    response["Content-Disposition"] = 'attachment; filename="conversations.zip"'
    return response


class Written(RawIOBase):
    """What an archive has written and nobody has taken yet."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(data)  # type: ignore[call-overload]
        self.pieces.append(piece)
        return len(piece)

    def taken(self) -> bytes:
        pieces, self.pieces = self.pieces, []
        return b"".join(pieces)


def archived(sessions: Iterable[UUID]) -> Iterator[bytes]:
    written = Written()
    with ZipFile(written, "w", ZIP_DEFLATED) as archive:
        for pk in sessions:
            # One that was deleted meanwhile is left out.
            branch = Branch.objects.filter(session=pk, session__erase_at=None, parent=None).first()
            if branch is None:
                continue
            with archive.open(f"{file_name(str(branch.session))}-{pk}.jsonl", "w", force_zip64=True) as file:
                for lines in all_lines(branch, WITH_EACH):
                    file.write("".join(f"{line}\n" for line in lines).encode())
                    yield written.taken()
            yield written.taken()
    yield written.taken()


@require_GET
@of_branch
def handover(request: OwnRequest, branch: Branch, slug: str) -> HttpResponse | StreamingHttpResponse:
    effort = branch.effort_states.select_related("effort").filter(effort__slug=slug).first()
    if effort is None:
        raise Http404
    name = effort.effort.name
    form = request.GET.get("form", "")
    if form not in ("md", "html"):
        context = {**about(branch), "slug": slug, "name": name, "title": "Hand over the effort"}
        return dialog(request, "exports/handover.html", context)
    pieces = handover_pieces(branch, slug, log=bool(request.GET.get("log")))
    return document_of(pieces, branch, form, name)


def document_of(pieces: Iterator[str], branch: Branch, form: str, title: str) -> StreamingHttpResponse:
    if form == "md":
        return file_of((f"{piece}\n\n" for piece in pieces), branch, form, title)
    before, _, after = render_to_string(
        "exports/document.html", {"title": title, "body": BODY, "language": translation.get_language()}
    ).partition(BODY)
    return file_of(chain([before], map(render, pieces), [after]), branch, form, title)


def file_of(texts: Iterable[str], branch: Branch, form: str, title: str = "") -> StreamingHttpResponse:
    """Written while it is read: memory does not grow with the conversation."""
    response = StreamingHttpResponse(batches(iter(texts), "".join), content_type=f"{TYPES[form]}; charset=utf-8")
    name = file_name(title or str(branch.session))
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


def file_name(title: str) -> str:
    return slugify(title)[:60] or "conversation"


def batches(pieces: Iterator[Piece], join: Callable[[Iterable[Piece]], Piece]) -> AsyncIterator[Piece]:
    """In the language of who asks, whichever thread makes them."""
    language = translation.get_language()

    def batch() -> list[Piece]:
        with translation.override(language):
            return list(islice(pieces, BATCH))

    async def joined() -> AsyncIterator[Piece]:
        while some := await read(batch):
            # What is packed comes out late.
            if whole := join(some):
                yield whole

    return joined()
