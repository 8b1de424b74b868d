"""The picture of one conversation: what each turn's prompt was made of, beside everything said."""

from __future__ import annotations

from efforts.context.plans import SECTIONS
from efforts.pages.charts import Chart, Series, stacked_chart

from .report import Conversation

# Higher than this many times the budget the line of what was said is cut off: the layers shall stay legible.
HEAD = 1.25


def plot(conversation: Conversation, budget: int) -> str:
    """Of several calls of a turn the last; where none was sent, there is a gap."""
    last = [turn["calls"][-1] if turn["calls"] else None for turn in conversation.turns]
    sent = {name for call in last if call for name in call["sections"]}
    layers = [
        Series(name=label, layer=name, values=[call and call["sections"].get(name, 0) for call in last])
        for name, label in SECTIONS.items()
        if name in sent
    ]
    naive = [call and call["naive"] for call in last]
    most = max((value for value in naive if value), default=0)
    end = f"Everything said (up to {most:,})"
    return stacked_chart(
        layers,
        Chart(
            title=f"{conversation.id}: tokens of each turn's prompt by layer, under a budget of {budget:,}",
            desc=described(conversation),
            x="turn",
            y="tokens of the prompt",
            most=budget * HEAD if most > budget * HEAD else None,
        ),
        beside=[Series(name=end, values=naive)],
        standalone=True,
    )


def described(conversation: Conversation) -> str:
    figures = conversation.figures.as_json()
    return (
        f"{figures['turns']:,} turns. Largest prompt {figures['peak']:,} tokens, smallest {figures['trough']:,}, mean "
        f"{figures['mean']:,}, together {figures['cumulative']:,}; with everything said so far in each it would be "
        f"{figures['naive']['cumulative']:,}."
    )
