"""Experiments as named, resumable runs: the papers' tables, and comparisons on tables of your own.

A study is a small file that names sets, methods, a protocol and what a paper printed. One runner computes any of them
into a store, and one report sets the paper's figures beside ours.
"""

from scarce._errors import StudyError

from .own import own_study
from .runner import Progress, run_study
from .spec import Study, list_studies, load_study
from .store import Outcome, Store
from .tabulation import tabulate

__all__ = [
    "Outcome",
    "Progress",
    "Store",
    "Study",
    "StudyError",
    "list_studies",
    "load_study",
    "own_study",
    "run_study",
    "tabulate",
]
