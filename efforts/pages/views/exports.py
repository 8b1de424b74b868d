"""A conversation or an effort as a file: Markdown, HTML, or lines of JSON (docs/export.md)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from itertools import chain, islice
from uuid import UUID

from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from efforts.models import Branch
from efforts.models.threads import read
from efforts.pages.presenters.documents import (
    EXTRAS,
    as_html,
    conversation_lines,
    conversation_pieces,
    handover_pieces,
)
from efforts.pages.presenters.export import ledger_lines, plan_lines, summary_lines
from efforts.pages.views.shared import OwnRequest, about, dialog, owned_branch
from efforts.standins.compacting import registered

TYPES = {"md": "text/markdown", "html": "text/html", "jsonl": "application/jsonl"}
# Pieces that are made before they are sent.
BATCH = 100
# Where the pieces go in the page that holds them.
BODY = "<!-- body -->"


@require_GET
def export(
    request: OwnRequest, session_id: UUID, branch_id: UUID | None = None
) -> HttpResponse | StreamingHttpResponse:
    """The choices; with `form` among them, the file."""
    branch = owned_branch(request, session_id, branch_id)
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
def handover(
    request: OwnRequest, session_id: UUID, slug: str, branch_id: UUID | None = None
) -> HttpResponse | StreamingHttpResponse:
    branch = owned_branch(request, session_id, branch_id)
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
    return file_of(chain([before], (as_html(piece) for piece in pieces), [after]), branch, form, title)


def file_of(texts: Iterable[str], branch: Branch, form: str, title: str = "") -> StreamingHttpResponse:
    """Written while it is read: memory does not grow with the conversation."""
    response = StreamingHttpResponse(
        in_batches(iter(texts), translation.get_language()), content_type=f"{TYPES[form]}; charset=utf-8"
    )
    name = slugify(title or str(branch.session))[:60] or "conversation"
    response["Content-Disposition"] = f'attachment; filename="{name}.{form}"'
    return response


async def in_batches(texts: Iterator[str], language: str) -> AsyncIterator[str]:
    def batch() -> list[str]:
        with translation.override(language):
            return list(islice(texts, BATCH))

    while some := await read(batch):
        yield "".join(some)
