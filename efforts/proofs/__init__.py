"""The seeds' scripted runs in our words, measured by plans. Nothing of them stays in the database."""

from .measuring import Proof, Step
from .slices import PROOFS, run

__all__ = ["PROOFS", "Proof", "Step", "run"]
