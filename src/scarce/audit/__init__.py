"""The product: profile a table, compare methods honestly, rank the rows to check, explain them, report."""

from scarce._errors import AuditError

from .folder import load, save
from .report import figure_text, figure_titles, interval_text, report_data, report_html
from .run import Audit, audit
from .score import score_table

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
