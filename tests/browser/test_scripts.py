"""Two hundred texts that want to be script, in a real browser, without the policy that would stop them all the same."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from efforts import actions
from efforts.pages.markdown import render
from tests.efforts.talk import Talk
from tests.hostile.scripts import MARK, PER_TEXT, SCRIPTS

pytestmark = pytest.mark.browser


@pytest.mark.django_db
def test_in_a_browser_none_runs(as_alice: Client, alice: User, chromium: Any) -> None:
    """Without the policy that would stop it all the same."""
    talk = Talk(actions.create_session(alice, title=SCRIPTS[0]))
    for first in range(0, len(SCRIPTS), PER_TEXT):
        text = "\n\n".join(SCRIPTS[first : first + PER_TEXT])
        talk.ask(text, reply=text)
    at = f"/s/{talk.session.pk}/"
    bodies = [as_alice.get(path, {"q": SCRIPTS[3]}).content.decode() for path in (at, "/", "/search/")]
    said: list[str] = []

    def hear(dialog: Any) -> None:
        said.append(dialog.message)
        dialog.accept()

    page = chromium.new_page()
    page.on("dialog", hear)
    for body in (*bodies, "".join(map(render, SCRIPTS))):
        assert MARK in body
        page.set_content(body, wait_until="domcontentloaded")
    assert said == []
    # The same browser, where nothing holds them: else none would be heard.
    page.set_content(SCRIPTS[0])
    assert said == [MARK]
    page.close()
