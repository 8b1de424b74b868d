"""Secrets are masked where a request is shown, and nothing else is."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from efforts.domain.text.redaction import MASK, SHAPES, Shape, mask_key, redact, redact_all

KEY = "abcdefghij0123456789ABCDEFGHIJ"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nq1w2e3\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"use sk-{KEY} here", f"use sk-{MASK} here"),
        (f"sk-proj-{KEY}", f"sk-{MASK}"),
        ("id AKIAIOSFODNN7EXAMPLE.", f"id AKIA{MASK}."),
        (f"ghp_{KEY}{KEY}", f"ghp_{MASK}"),
        (f"github_pat_{KEY}", f"github_pat_{MASK}"),
        ("xoxb-1234567890-abc", f"xoxb-{MASK}"),
        (f"Authorization: Bearer {KEY}", f"Authorization: Bearer {MASK}"),
        (f"before\n{PEM}\nafter", f"before\n-----BEGIN RSA PRIVATE KEY-----{MASK}\nafter"),
        ("-----BEGIN PRIVATE KEY-----\nMIIE, broken off", f"-----BEGIN PRIVATE KEY-----{MASK}"),
        ("password=hunter22", f"password={MASK}"),
        ("DB_PASSWORD: correct-horse", f"DB_PASSWORD: {MASK}"),
        ('{"api_key": "0123456789"}', f'{{"api_key": "{MASK}"}}'),
        ("access_token=abcdef1234", f"access_token={MASK}"),
        ("secret_key: abcdefghijklmnopqrstuvwxyz", f"secret_key: {MASK}"),
        ("api-key: word-and-word", f"api-key: {MASK}"),
        ("api_key: swordfishes", f"api_key: {MASK}"),
        ("auth_token=swordfishes\nand more", f"auth_token={MASK}\nand more"),
        ("postgres://app:t0psecret@db/main", f"postgres://app:{MASK}@db/main"),
    ],
)
def test_a_secret_is_masked_and_what_stands_around_it_stays(text: str, shown: str) -> None:
    found = redact(text)
    assert (found.value, found.masked) == (shown, 1)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.example.split("|")[0])
@pytest.mark.parametrize("around", ["{}", "before {} after", "before\n{}\nafter"])
def test_each_shape_masks_its_example(shape: Shape, around: str) -> None:
    kept, secret = shape.example.split("|")
    after = "@db/main" if kept.startswith("postgres") else ""
    found = redact(around.format(f"{kept}{secret}{after}"))
    assert (found.value, found.masked) == (around.format(f"{kept}{MASK}{after}"), 1)


LOOKALIKES = str.maketrans({"s": "ſ", "S": "ſ", "k": "\u212a", "K": "\u212a", "i": "ı", "I": "İ"})


@given(
    st.lists(st.sampled_from(SHAPES), min_size=1, max_size=3),
    st.sampled_from([str, str.upper, str.lower, str.swapcase, lambda text: text.translate(LOOKALIKES)]),
    st.sampled_from([" ", "\n", "x", " @host "]),
)
def test_what_a_telltale_lets_pass_no_pattern_would_mask(shapes: list[Shape], cased: Any, between: str) -> None:
    text = between.join(cased(shape.example.replace("|", "")) for shape in shapes) + between
    masked = text
    for shape in SHAPES:
        masked = re.sub(shape.pattern, rf"\g<1>{MASK}", masked)
    assert redact(text).value == masked


def test_a_key_is_masked_where_a_provider_repeats_it() -> None:
    assert mask_key("Incorrect API key: my-own-key.", "my-own-key") == "Incorrect API key: [key]."
    assert mask_key(f"Incorrect API key: sk-{KEY}", "another-key") == f"Incorrect API key: sk-{MASK}"


@pytest.mark.parametrize("key", ["", "a", "none", "testing"])
def test_a_short_key_garbles_no_words(key: str) -> None:
    text = "None of these models are available for testing a key."
    assert mask_key(text, key) == text


@pytest.mark.parametrize(
    "text",
    [
        "The password is wrong.",
        "The password is expired!",
        "The password is case-sensitive, and so is the name.",
        "Basic understanding of HTTP",
        "Use Basic authentication here",
        "hf_transfer and npm_config_registry",
        "eyJust.a.word",
        "See https://api.slack.com/messaging/webhooks",
        "The password is asked for twice.",
        "sk-learn and task-runner",
        "password=$DB_PASSWORD",
        "api_key: <your key>",
        "The bearer of this letter",
        "http://127.0.0.1:8000/s/@me",
        "max_tokens: 1024",
        "access_token: lifetime 3600 s",
        "refresh_token: requested, never renewed",
        "api_key: Required.",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    assert redact(text).value == text


def test_every_secret_in_a_request_is_counted_and_its_shape_stays() -> None:
    arguments = json.dumps({"text": "password=hunter22", "n": 1})
    request = {
        "model": "any",
        "max_tokens": 1024,
        "messages": [
            {"role": "user", "content": f"sk-{KEY} and password=hunter22"},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"arguments": arguments}}]},
        ],
    }
    found = redact_all(request)
    assert found.masked == 3
    assert "hunter22" not in json.dumps(found.value)
    assert found.value["max_tokens"] == 1024
    assert [message["role"] for message in found.value["messages"]] == ["user", "assistant"]
    assert json.loads(found.value["messages"][1]["tool_calls"][0]["function"]["arguments"])["n"] == 1


@given(st.text() | st.from_regex(r"(password[=:]|sk-|Bearer |://a:)[a-z0-9\[\]@-]{0,40}"))
def test_what_is_masked_once_has_nothing_left_to_mask(text: str) -> None:
    once = redact(text).value
    assert redact(once).value == once


def test_a_long_text_is_read_once() -> None:
    # Where a pattern looked at everything again from each place, this would not end.
    text = (
        "eyJ-" * 50_000
        + "password is " * 20_000
        + "hooks.slack.com/" * 10_000
        + "password " * 40_000
        + "a-" * 100_000
        + "://a" * 40_000
        + "-----BEGIN CERTIFICATE-----" * 10_000
    )
    assert redact(text).masked == 0
