"""The product: profile a table, compare methods honestly, rank the rows to check, explain them, report."""

from scarce._errors import AuditError
from scarce.engines import load_model

from .changes import changes_since
from .explore import estimate_missed
from .folder import save
from .options import read_gains, read_options, repeated_options
from .report import figure_text, figure_titles, interval_text, report_data, report_html
from .result import Audit
from .run import audit
from .score import RankedFiles, score_files, score_table
from .settings import Settings

__all__ = [
    "Audit",
    "AuditError",
    "RankedFiles",
    "Settings",
    "audit",
    "changes_since",
    "estimate_missed",
    "figure_text",
    "figure_titles",
    "interval_text",
    "load_model",
    "read_gains",
    "read_options",
    "repeated_options",
    "report_data",
    "report_html",
    "save",
    "score_files",
    "score_table",
]
