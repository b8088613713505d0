"""A saved model at work: it scores one row, a file, a folder or the parts of a cluster, with the same bits."""

from .cells import Fault, RowError, RowReader
from .compiled import RowScorer, Scored, ScoredRow, compile_model
from .run import ranked
from .saved import SavedModel, load_model
from .scorer import BatchScorer

__all__ = [
    "BatchScorer",
    "Fault",
    "RowError",
    "RowReader",
    "RowScorer",
    "SavedModel",
    "Scored",
    "ScoredRow",
    "compile_model",
    "load_model",
    "ranked",
]
