"""What retrieval is worth, measured by questions about other people's conversations."""

from .asking import Chosen
from .keeping import KeepingReport
from .ranks import ALL
from .report import Report

__all__ = ["ALL", "Chosen", "KeepingReport", "Report"]
