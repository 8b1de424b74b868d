"""What a conversation that began with files opens with: the words typed so far, and the files that were not taken."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from efforts.pages.presenters.files import Refusal

if TYPE_CHECKING:
    from efforts.models import Session
    from efforts.pages.views.shared import OwnRequest

BEGUN = "begun"


def keep_begun(request: OwnRequest, session: Session, text: str, refused: Sequence[Refusal]) -> None:
    """For the page that the person is led to next."""
    request.session[BEGUN] = {"of": str(session.pk), "text": text, "refused": [asdict(one) for one in refused]}


def take_begun(request: OwnRequest, session: Session) -> tuple[str, list[Refusal]]:
    """Shown once."""
    if request.session.get(BEGUN, {}).get("of") != str(session.pk):
        return "", []
    kept = request.session.pop(BEGUN)
    return kept["text"], [Refusal(**one) for one in kept["refused"]]
