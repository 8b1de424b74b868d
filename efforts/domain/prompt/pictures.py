"""Pictures in a prompt: what they are known by, and what they cost.

A request names a picture by its hash. The bytes take its place when it is sent, so that a plan is stored, hashed and
made again without a copy of them; whoever has the file can make the request that was sent, byte for byte.
"""

from __future__ import annotations

import math
import re
from typing import Any

SCHEME = "picture:"
REFERENCE = re.compile(r"^([0-9a-f]{64})-(\d+)x(\d+)\.(png|jpeg)$")
# OpenAI's rule for models that read pictures in tiles ("detail": high): so many tokens for each tile of TILE pixels
# that the picture has, and so many once. Other models count otherwise; what a provider reports is kept beside it.
TILE = 512
TILE_TOKENS = 170
BASE_TOKENS = 85
LARGEST = 2048
SHORTER = 768


def reference(sha256: str, width: int, height: int, form: str) -> str:
    """`form`: png or jpeg."""
    return f"{sha256}-{width}x{height}.{form}"


def tokens_of(picture: str) -> int:
    """By its size alone: within a square of LARGEST pixels, then its shorter side at most SHORTER, then in tiles."""
    parts = parts_of(picture)
    width, height = int(parts[2]), int(parts[3])
    scale = min(1.0, LARGEST / max(width, height, 1))
    scale *= min(1.0, SHORTER / max(min(width, height) * scale, 1))
    tiles = math.ceil(max(width * scale, 1) / TILE) * math.ceil(max(height * scale, 1) / TILE)
    return BASE_TOKENS + TILE_TOKENS * tiles


def parts_of(picture: str) -> re.Match[str]:
    found = REFERENCE.match(picture)
    if found is None:
        raise ValueError(f"{picture!r} is no picture")
    return found


def hash_of(picture: str) -> str:
    """The SHA-256 of its bytes, by which they are kept."""
    return str(parts_of(picture)[1])


def media_type_of(picture: str) -> str:
    """As in "image/png"."""
    return f"image/{parts_of(picture)[4]}"


def content_part(picture: str) -> dict[str, Any]:
    """As a request that is planned has it."""
    return {"type": "image_url", "image_url": {"url": f"{SCHEME}{picture}", "detail": "high"}}


def text_part(text: str) -> dict[str, Any]:
    """As the protocol has a text beside pictures."""
    return {"type": "text", "text": text}


def picture_in(part: dict[str, Any]) -> str:
    """What a part of a planned request names; empty where it is text."""
    url = part.get("image_url", {}).get("url", "")
    return str(url).removeprefix(SCHEME) if str(url).startswith(SCHEME) else ""
