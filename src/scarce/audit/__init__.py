"""The product: profile a table, compare methods honestly, rank the rows to check, explain them, report."""

from ._errors import AuditError
from .pipeline import Audit, audit
from .report import figure_text, figure_titles, interval_text, report_data, report_html
from .score import score_table
from .store import load, save

__all__ = [
    "Audit",
    "AuditError",
    "audit",
    "figure_text",
    "figure_titles",
    "interval_text",
    "load",
    "report_data",
    "report_html",
    "save",
    "score_table",
]
