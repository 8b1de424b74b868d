"""What the next call would be with other settings: tried here, stored nowhere."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.views.decorators.cache import never_cache

from efforts.context import plans
from efforts.models import Branch
from efforts.pages.forms import WhatIfForm
from efforts.pages.presenters import what_if as what_if_shown
from efforts.pages.views.shared import OwnRequest, about, form_of_branch, part_or_page


@never_cache
@form_of_branch
def what_if(request: OwnRequest, branch: Branch) -> HttpResponse:
    form = WhatIfForm(
        branch.session, what_if_shown.expandable(branch), request.POST if request.method == "POST" else None
    )
    asked = form.is_valid()
    context: dict[str, Any] = {**about(branch), "form": form, "found": found(branch, form) if asked else None}
    if not asked:
        context["now"] = plans.preview(branch)
    status = 422 if form.errors else 200
    return part_or_page(request, "what_if/result.html", "what_if/page.html", context, status=status)


def found(branch: Branch, form: WhatIfForm) -> what_if_shown.WhatIf:
    return what_if_shown.what_if(branch, **form.cleaned_data)
