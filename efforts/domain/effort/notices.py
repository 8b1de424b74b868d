"""What is said of efforts, rules, pins and entries between the turns. Events carry it; no model is ever sent it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from efforts.domain.text.counting import counted

NOTICES = {
    "effort.opened": "--- Started effort: {effort} ---",
    "effort.concluded": "--- Concluded effort: {effort} ---",
    "effort.summarised": "--- Concluded effort: {effort} ---\nSummary: {text}",
    "effort.reopened": "--- Reopened effort: {effort} ---",
    "effort.switched": "--- Switched to effort: {effort} ---",
    "effort.expanded": "--- Expanded effort: {effort} ({tokens:,} tokens loaded) ---",
    "effort.collapsed": "--- Collapsed effort: {effort} (back to summary) ---",
    "effort.focused": "--- Focus on effort: {effort} ---",
    "effort.unfocused": "--- Focus ended: {effort} ---",
    "effort.aged": "--- Excerpts replace the turns of {effort} (not mentioned for {turns} turns) ---",
    "effort.decayed": "--- Auto-collapsed effort: {effort} (inactive for {turns} turns) ---",
    "constraint.suggested": "--- Suggested rule: {text} ---",
    "constraint.set": "--- Rule set: {text} ---",
    "constraint.edited": "--- Rule changed: {text} ---",
    "constraint.revoked": "--- Rule taken back: {text} ---",
    "ledger.dismissed": "--- Settled before you were asked: {text} ---",
    "hold.ended": "--- Unpinned: {what} (was pinned {until}) ---",
}


def with_notice(kind: str, data: dict[str, Any]) -> dict[str, Any]:
    """The event's fields, with its notice where its kind has one."""
    return {**data, "notice": NOTICES[kind].format(**data)} if kind in NOTICES else data


def without_dashes(notice: str) -> str:
    return notice.partition("\n")[0].removeprefix("--- ").removesuffix(" ---")


def told(kind: str, data: Mapping[str, Any], effort: str) -> str:
    """A notice as people read it, with the effort's name: what was stored has its id."""
    match kind:
        case "effort.expanded":
            # The difference of two prompts, not the size of the log.
            return f"Expanded effort: {effort} ({data['tokens']:,} tokens more in the prompt)"
        case "effort.collapsed":
            # What was stored speaks of a summary, and excerpts may be what is sent again.
            return f"Collapsed effort: {effort}"
        case "effort.aged":
            return f"Excerpts replace the turns of {effort} (not mentioned for {counted(data['turns'], 'turn')})"
        case "effort.decayed":
            return f"Auto-collapsed effort: {effort} (inactive for {counted(data['turns'], 'turn')})"
        case "effort.evicted":
            return (
                f"Dropped out of the prompt: {effort} (not mentioned for {counted(data['turns'], 'turn')}). "
                "A mention brings it back."
            )
        case "effort.summarised":
            return f"Concluded effort: {effort}. Summary: {data['text']}"
        case _:
            return without_dashes(NOTICES[kind].format(**{**data, "effort": effort}))


STARTED_FROM = "what this conversation starts from"


def span_said(first: int | None, last: int | None) -> str:
    """Turns of its own a conversation has none of in what it starts from."""
    if not first:
        return STARTED_FROM
    return f"turn {first}" if first == last else f"turns {first}-{last}"
