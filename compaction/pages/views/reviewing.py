"""What reviewers do on the page of an artifact: each is one verb, answered by the panel that it changes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from compaction import review
from compaction.domain.artifact import parse_artifact
from compaction.domain.editing import version_diff
from compaction.domain.lifecycle import ClaimVerdictValue
from compaction.models import Artifact
from compaction.pages.presenters.gates import gate_of_finding
from compaction.pages.views.artifact import DROPPED, earlier, review_context, whole
from compaction.pages.views.shared import current, reviewable
from compaction.review.desk import newest_of
from compaction.standing.accepting import LONGEST_REASON
from efforts.domain.errors import Refused, refusal
from efforts.pages.views.shared import OwnRequest, dialog, done, form_view, page, part

VERDICTS = {str(one): one for one in ClaimVerdictValue if one != ClaimVerdictValue.ADDED}
UNDO = "undo"
NO_VERDICT = "There is no such verdict. Keep it, edit it, strike it, or say that it needs a source."
FIRST_CLAIM = "#claim-1"
CONFLICTS = "#conflicts"


@never_cache
@form_view
def claim(request: OwnRequest, artifact_id: str, item: str) -> HttpResponse:
    """One claim, its form for other words (`?edit`), or a verdict on it."""
    row = current(request, artifact_id)
    if request.method != "POST":
        return claim_part(request, row, item, editing="edit" in request.GET)
    if error := refused(lambda: decide(request, row, item)):
        return claim_part(request, row, item, editing=bool(request.POST.get("text")), error=error, status=422)
    return claim_part(request, row, item, editing=False, changed=True)


def decide(request: OwnRequest, row: Artifact, item: str) -> None:
    said = request.POST.get("verdict", "")
    if said == UNDO:
        review.undecide(row, item, reviewer=request.user)
    elif said in VERDICTS:
        review.decide(row, item, VERDICTS[said], reviewer=request.user, text=request.POST.get("text", ""))
    else:
        raise Refused("verdict", NO_VERDICT)


def claim_part(
    request: OwnRequest,
    row: Artifact,
    item: str,
    *,
    editing: bool,
    error: str = "",
    changed: bool = False,
    status: int = 200,
) -> HttpResponse:
    context = review_context(request, row)
    found = context["view"].claims.of(item)
    if found is None and not changed:
        raise Http404
    typed = request.POST.get("text", found.edited if found else "")
    context |= {"claim": found, "editing": item if editing else "", "error": error, "typed": typed, "failed": item}
    if not request.htmx:
        return (
            redirect(f"{row.get_absolute_url()}#claim-{found.number if found else 1}")
            if changed
            else whole(request, row, context, status=status)
        )
    return part(request, "review/claim_changed.html" if changed else "review/claim.html", context, status=status)


@require_POST
def undo(request: OwnRequest, artifact_id: str) -> HttpResponse:
    """Take back what was decided last, wherever it is on the page."""
    row = current(request, artifact_id)
    item = review.undo_last(row, reviewer=request.user)
    view = review_context(request, row)["view"]
    found = view.claims.of(item) if item else None
    if not request.htmx:
        return redirect(row)
    if found is None:
        return done(go_to=row.get_absolute_url() if item else "")
    answer = claim_part(request, row, found.item, editing=False, changed=True)
    answer["HX-Retarget"], answer["HX-Reswap"] = f"#claim-{found.number}", "outerHTML"
    answer["HX-Trigger-After-Swap"] = json.dumps({"chosen": f"claim-{found.number}"})
    return answer


@require_POST
def submit(request: OwnRequest, artifact_id: str) -> HttpResponse:
    row = current(request, artifact_id)
    if error := refused(lambda: review.submit(row, reviewer=request.user)):
        # What is in the way may be new to the page, as a newer version is.
        return changed(request, row, "desk", {"desk_error": error}, error, "review", "standing")
    newest = newest_of(row)
    address = f"{newest.get_absolute_url()}{CONFLICTS if review.conflicts(newest) else FIRST_CLAIM}"
    if not request.htmx:
        return redirect(address)
    answer = done(go_to=address)
    # To a part of the page that is shown already a browser only scrolls.
    answer["HX-Refresh"] = json.dumps(newest.pk == row.pk)
    return answer


def changed(
    request: OwnRequest, row: Artifact, panel: str, more: dict[str, Any], error: str, *told: str, show: str = ""
) -> HttpResponse:
    """The panel that an act has changed, or could not; the others are told. Without htmx the page."""
    context, status = {**review_context(request, row, show), **more}, 422 if error else 200
    if not request.htmx:
        shown = f"{row.get_absolute_url()}?show={show}" if show else row
        return whole(request, row, context, status=status) if error else redirect(shown)
    answer = part(request, f"review/{panel}.html", context, status=status)
    answer["HX-Trigger"] = json.dumps(dict.fromkeys(told))
    return answer


@require_POST
def judge(request: OwnRequest, artifact_id: str) -> HttpResponse:
    row = current(request, artifact_id)
    return at_top(request, row, lambda: review.judge_again(row, actor=request.user))


@require_POST
def redraft(request: OwnRequest, artifact_id: str) -> HttpResponse:
    """One of an earlier form too: its page only says whether another draft is on its way."""
    row = reviewable(request, artifact_id)
    if row.is_current:
        return at_top(request, row, lambda: review.redraft(row, actor=request.user))
    error = refused(lambda: review.redraft(row, actor=request.user))
    return earlier(request, row, error) if error or request.htmx else redirect(row)


def at_top(request: OwnRequest, row: Artifact, act: Callable[[], object]) -> HttpResponse:
    """What changes the state of the whole artifact."""
    error = refused(act)
    return changed(request, current(request, row.pk), "top", {"top_error": error}, error, "standing", "desk")


def refused(act: Callable[[], object]) -> str:
    """Why, in words; empty where it was done."""
    error = refusal(act)
    return error.text if error else ""


@never_cache
@form_view
def reject(request: OwnRequest, artifact_id: str) -> HttpResponse:
    row = current(request, artifact_id)
    reason, error = request.POST.get("reason", ""), ""
    if request.method == "POST":
        error = refused(lambda: review.reject(row, actor=request.user, reason=reason))
        if not error:
            return done("closeDialog", "review", "standing", "desk") if request.htmx else redirect(row)
    context = {"row": row, "title": "Reject", "error": error, "reason": reason, "longest": LONGEST_REASON}
    return dialog(request, "review/reject.html", {**context}, status=422 if error else 200)


@require_POST
def finding(request: OwnRequest, artifact_id: str, finding_id: str) -> HttpResponse:
    """A doubt or a contradiction is set aside with a reason, or counts again."""
    row = current(request, artifact_id)
    reason = request.POST.get("reason", "")
    if "back" in request.POST:
        error = refused(lambda: review.put_back(row, finding_id, actor=request.user))
    else:
        error = refused(lambda: review.set_aside(row, finding_id, reason, actor=request.user))
    row = current(request, row.pk)
    context = {**review_context(request, row), "error": error, "failed": finding_id, "reason": reason}
    context["moved"] = "" if error else finding_id
    letter = gate_of_finding(finding_id)
    context["gate"] = gate = next(one for one in context["view"].gates if one.letter == letter)
    if "back" in request.POST or finding_id not in {one.finding for one in gate.failures}:
        context |= {"failed": "", "gate_error": error}
    if not request.htmx:
        return page(request, "review/gate_page.html", context, status=422) if error else redirect(row)
    answer = part(request, "review/gate.html", context, status=422 if error else 200)
    answer["HX-Trigger"] = json.dumps({"review": None, "standing": None} | ({} if error else {"claims": None}))
    return answer


@require_POST
def dropped(request: OwnRequest, artifact_id: str, key: str, verb: str) -> HttpResponse:
    """What no claim tells is added, said to be not needed, or pinned."""
    row = current(request, artifact_id)
    reason = request.POST.get("reason", "")
    verbs: dict[str, Callable[[], object]] = {
        "add": lambda: review.add_dropped(row, key, reviewer=request.user),
        "not-needed": lambda: review.not_needed(row, key, reason, actor=request.user),
        "needed": lambda: review.needed_again(row, key, actor=request.user),
        "pin": lambda: review.pin_raw(row, key, actor=request.user),
    }
    if verb not in verbs:
        raise Http404
    error = refused(verbs[verb])
    more = {"error": error, "failed": key if error and verb == "not-needed" else "", "reason": reason}
    row = current(request, row.pk)
    return changed(request, row, "claims", more, error, "review", "standing", "desk", show=DROPPED)


@never_cache
@require_GET
def compare(request: OwnRequest, artifact_id: str, other_id: str) -> HttpResponse:
    """What another version of it says otherwise, word for word."""
    row = current(request, artifact_id)
    versions = Artifact.objects.filter(family=row.family).select_related("edited_by", "run")
    other = get_object_or_404(versions, pk=other_id)
    old, new = sorted((other, row), key=lambda one: one.version)
    changes = version_diff(parse_artifact(old.document), parse_artifact(new.document))
    context = {**review_context(request, row), "old": old, "new": new, "changes": changes}
    return page(request, "review/compare.html", context)
