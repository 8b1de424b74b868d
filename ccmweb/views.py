"""Coming in by a one-time link."""

from __future__ import annotations

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from ccmweb import sign_in


@login_not_required
@never_cache
@require_http_methods(["GET", "POST"])
def sign_in_link(request: HttpRequest, token: str) -> HttpResponse:
    user = sign_in.owner_of(token)
    # Back or Reload on one's own link goes on, instead of saying that it was used.
    if user is not None and user == request.user:
        return redirect("start")
    # Whoever has clicked on a link of somebody else's would go on writing in that account.
    if user is not None and request.user.is_authenticated and request.method != "POST" and sign_in.is_fresh(token):
        return render(request, "sign_in/switch.html", {"other": user})
    if user is None or not sign_in.use_link(token):
        return render(request, "sign_in/used.html", status=410)
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("start")
