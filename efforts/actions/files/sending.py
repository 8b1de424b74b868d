"""Requests with the bytes of their pictures, as they are sent."""

from __future__ import annotations

import base64
from typing import Any
from uuid import UUID

from efforts.domain.prompt.pictures import hash_of, media_type_of, picture_in

from .storing import path_of


def filled(session_id: UUID, request: dict[str, Any]) -> dict[str, Any]:
    """The same request where it has none. Raises OSError where a picture is missing."""
    if all(isinstance(message["content"], str) for message in request["messages"]):
        return request
    messages = [
        message
        if isinstance(message["content"], str)
        else {**message, "content": [part_of(session_id, part) for part in message["content"]]}
        for message in request["messages"]
    ]
    return {**request, "messages": messages}


def part_of(session_id: UUID, part: dict[str, Any]) -> dict[str, Any]:
    picture = picture_in(part)
    if not picture:
        return part
    data = base64.b64encode(path_of(session_id, hash_of(picture)).read_bytes()).decode()
    url = f"data:{media_type_of(picture)};base64,{data}"
    return {**part, "image_url": {**part["image_url"], "url": url}}
