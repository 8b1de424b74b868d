"""The seeds' scripted runs in our words, measured by plans; rolling back; a killed server. None is kept."""

from .killing import kill
from .measuring import Claims, Proof, Step
from .plot import plot
from .slices import PROOFS, run

__all__ = ["PROOFS", "Claims", "Proof", "Step", "kill", "plot", "run"]
