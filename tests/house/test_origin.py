"""Other sites' pages open no socket here."""

from __future__ import annotations

import pytest

from ccmweb.origin import is_same_origin


@pytest.mark.parametrize(
    ("origin", "host", "same"),
    [
        ("http://localhost:8000", "localhost:8000", True),
        ("http://[::1]:8000", "[::1]:8000", True),
        ("http://localhost:9000", "localhost:8000", False),
        ("http://evil.example", "localhost:8000", False),
        ("http://evil.example", "evil.example", False),
        ("null", "localhost:8000", False),
        ("", "localhost:8000", False),
        ("http://localhost:8000", "", False),
    ],
)
def test_only_our_own_page_opens_a_socket(origin: str, host: str, same: bool) -> None:
    headers = [(b"origin", origin.encode()), (b"host", host.encode())]
    assert is_same_origin([header for header in headers if header[1]]) is same
