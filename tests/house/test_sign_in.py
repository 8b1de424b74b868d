"""Coming in: by a link, once; by a password; and out again."""

from __future__ import annotations

import io
import json
import logging
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from ccmweb import sign_in
from ccmweb.logs import JsonLines, TextLines
from ccmweb.models import SignInLink
from efforts.models import AccountEvent
from tests.pages.conftest import HTMX


def follow(client: Client, token: str) -> int:
    return client.get(f"/sign-in/{token}/").status_code


def signed_in_as(client: Client) -> str | None:
    return client.session.get("_auth_user_id")


def test_a_link_signs_its_owner_in_and_leaves_a_trace(anyone: Client, alice: User) -> None:
    response = anyone.get(f"/sign-in/{sign_in.make_link(alice)}/")
    assert response.status_code == 302
    assert response["Location"] == "/"
    assert signed_in_as(anyone) == str(alice.pk)
    assert AccountEvent.objects.get(owner=alice).kind == "signed in"


def test_a_link_works_once(anyone: Client, alice: User) -> None:
    token = sign_in.make_link(alice)
    follow(Client(), token)
    assert follow(anyone, token) == 410
    assert signed_in_as(anyone) is None


def test_a_used_link_says_how_to_get_a_fresh_one(anyone: Client, alice: User) -> None:
    token = sign_in.make_link(alice)
    follow(Client(), token)
    assert "manage.py sign_in_link" in anyone.get(f"/sign-in/{token}/").text


def test_a_link_expires(anyone: Client, alice: User) -> None:
    token = sign_in.make_link(alice)
    SignInLink.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert follow(anyone, token) == 410
    assert signed_in_as(anyone) is None


def test_an_invented_link_opens_nothing(anyone: Client, alice: User) -> None:
    assert follow(anyone, "x" * 43) == 410


def test_the_link_of_a_person_who_left_opens_nothing(anyone: Client, alice: User) -> None:
    token = sign_in.make_link(alice)
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert follow(anyone, token) == 410


def test_following_my_own_used_link_again_brings_me_home(anyone: Client, alice: User) -> None:
    token = sign_in.make_link(alice)
    follow(anyone, token)
    assert follow(anyone, token) == 302


def test_the_link_of_another_person_asks_before_it_changes_who_is_signed_in(as_bob: Client, alice: User) -> None:
    bob = signed_in_as(as_bob)
    address = f"/sign-in/{sign_in.make_link(alice)}/"
    page = as_bob.get(address)
    assert "Sign in as alice?" in page.text
    assert "You are signed in as bob" in page.text
    assert signed_in_as(as_bob) == bob
    as_bob.post(address)
    assert signed_in_as(as_bob) == str(alice.pk)


def sign_in_by_password(client: Client, name: str, password: str) -> Any:
    return client.post("/sign-in/", {"username": name, "password": password})


def test_after_wrong_passwords_an_account_waits_and_says_how_long(anyone: Client, alice: User, settings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    for _ in range(2):
        assert "Wrong name or password" in sign_in_by_password(anyone, "alice", "guess").text
    assert sign_in_by_password(anyone, "alice", "guess").status_code == 429
    # Also with the right one: else guessing would go on.
    refused = sign_in_by_password(anyone, "alice", "alice")
    assert refused.status_code == 429
    assert "blocked from here for 5 minutes" in refused.text
    assert signed_in_as(anyone) is None


def test_who_guesses_elsewhere_locks_nobody_out(anyone: Client, alice: User, bob: User, settings) -> None:
    settings.AXES_FAILURE_LIMIT = 1
    sign_in_by_password(Client(REMOTE_ADDR="203.0.113.9"), "alice", "guess")
    assert sign_in_by_password(anyone, "bob", "bob").status_code == 302
    assert sign_in_by_password(anyone, "alice", "alice").status_code == 302


def test_an_account_that_waits_has_no_password_hashed(anyone: Client, alice: User, settings, monkeypatch) -> None:
    settings.AXES_FAILURE_LIMIT = 1
    sign_in_by_password(anyone, "alice", "guess")
    hashed = []
    monkeypatch.setattr(User, "check_password", lambda user, raw: hashed.append(raw))
    sign_in_by_password(anyone, "alice", "guess")
    assert hashed == []


def test_passwords_are_hashed_one_at_a_time(alice: User, bob: User, anyone: Client, monkeypatch) -> None:
    monkeypatch.setattr(sign_in, "LONGEST_WAIT", 0.01)
    with sign_in.HASHING:
        busy = sign_in_by_password(anyone, "bob", "bob")
        assert "Too many people are signing in just now" in busy.text
    assert sign_in_by_password(anyone, "bob", "bob").status_code == 302


def test_the_admin_has_no_sign_in_of_its_own(anyone: Client, db: None) -> None:
    assert anyone.get("/admin/login/?next=/admin/")["Location"] == "/sign-in/?next=/admin/"


@pytest.mark.parametrize("weak", ["short", "12345678901", "password1234", "aliceliddell"])
def test_weak_passwords_are_refused(weak: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(weak, User(username="aliceliddell"))


def test_a_link_is_not_used_up_by_a_look_ahead(anyone: Client, alice: User) -> None:
    token = sign_in.make_link(alice)
    assert anyone.head(f"/sign-in/{token}/").status_code == 405
    assert follow(anyone, token) == 302


def test_the_token_is_not_stored(alice: User) -> None:
    token = sign_in.make_link(alice)
    assert token not in str(SignInLink.objects.values().get())


def test_the_token_is_not_logged() -> None:
    record = logging.LogRecord(
        "django.request", logging.WARNING, "", 0, "Gone: %s", ("/sign-in/" + "t" * 43 + "/",), None
    )
    for lines in (TextLines(), JsonLines()):
        assert "t" * 16 not in lines.format(record)
    assert TextLines().format(record) == "Gone: /sign-in/…/"


def test_a_password_signs_in(anyone: Client, alice: User) -> None:
    response = anyone.post("/sign-in/", {"username": "alice", "password": "alice"})
    assert response.status_code == 302
    assert signed_in_as(anyone) == str(alice.pk)


def test_a_wrong_password_is_said_and_logged(anyone: Client, alice: User, caplog: pytest.LogCaptureFixture) -> None:
    response = anyone.post("/sign-in/", {"username": "alice", "password": "wrong"})
    assert "Wrong name or password" in response.text
    assert "sign-in refused for 'alice'" in caplog.text


def test_signing_out_needs_a_post(as_alice: Client) -> None:
    assert as_alice.get("/sign-out/").status_code == 405
    assert signed_in_as(as_alice)


def test_signing_out_ends_the_session(as_alice: Client, alice: User) -> None:
    as_alice.post("/sign-out/")
    assert signed_in_as(as_alice) is None
    assert AccountEvent.objects.filter(owner=alice, kind="signed out").exists()


def test_strangers_are_asked_to_sign_in(anyone: Client, db: None) -> None:
    assert anyone.get("/").headers["Location"].startswith("/sign-in/")


def test_a_part_of_a_page_is_refused_to_strangers_and_no_page_is_put_in_its_place(anyone: Client, db: None) -> None:
    for answer in (anyone.get("/review/", headers=HTMX), anyone.post("/settings/drafting/stop/", headers=HTMX)):
        assert (answer.status_code, answer.content) == (401, b"")


def test_the_local_owner_is_a_superuser_without_a_password(db: None) -> None:
    owner = sign_in.local_owner()
    assert owner == sign_in.local_owner()
    assert owner.is_superuser
    assert not owner.has_usable_password()


def test_the_command_prints_a_working_link(anyone: Client, alice: User) -> None:
    out = io.StringIO()
    call_command("sign_in_link", "alice", "--json", stdout=out)
    answer = json.loads(out.getvalue())
    assert answer["user"] == "alice"
    assert anyone.get(answer["url"].removeprefix("http://127.0.0.1:8000")).status_code == 302


def test_the_command_refuses_unknown_people(db: None) -> None:
    with pytest.raises(CommandError, match="no active user 'nobody'"):
        call_command("sign_in_link", "nobody")
