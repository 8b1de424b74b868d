"""What a person or a browser may not do, in words for the person."""

from __future__ import annotations

from collections.abc import Callable


class Refused(Exception):
    """Raised by actions; views answer 422, the consumer an error frame. Nothing has been changed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text


def refusal(act: Callable[[], object]) -> Refused | None:
    """What it refuses; None where it was done."""
    try:
        act()
    except Refused as error:
        return error
    return None
