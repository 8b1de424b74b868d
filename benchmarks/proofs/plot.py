"""The picture of one proof: what the next prompt is made of after each step, beside everything said."""

from __future__ import annotations

from efforts.context.plans import SECTIONS
from efforts.pages.charts import Chart, Series, stacked_chart

from .measuring import Claims


def plot(proof: Claims) -> str:
    """Each step one place, by its row in the table."""
    steps = proof.steps
    layers = [
        Series(name=label, layer=name, values=[step.layers.get(name, 0) for step in steps])
        for name, label in SECTIONS.items()
        if any(step.layers.get(name) for step in steps)
    ]
    rows = "; ".join(f"{step.title}: {step.prompt:,} of {step.said:,}" for step in steps)
    return stacked_chart(
        layers,
        Chart(
            title=f"{proof.title}: tokens of the next prompt after each step, by layer",
            desc=f"Tokens of the prompt, of what everything said would take. {rows}.",
            x="step",
            y="tokens of the next prompt",
        ),
        beside=[Series(name="Everything said", values=[step.said for step in steps])],
        standalone=True,
    )
