"""The contents of a user's table: reading, target, types, profile and encoding.

Files of published data sets have layouts of their own, which need no pandas: :mod:`scarce.tables.layouts`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from scarce._errors import TableError

if TYPE_CHECKING:
    from .encoding import DateParts, make_encoder
    from .faults import gather, require_columns
    from .history import EntityHistory
    from .profile import Profile, profile_table
    from .reading import read_batches, read_table, read_typed_frame
    from .readings import Kind, Reading
    from .table import Table
    from .target import Target, read_target
    from .types import MISSING, Column, conform
    from .usual import Usual, show, summarise_columns

__all__ = [
    "MISSING",
    "Column",
    "DateParts",
    "EntityHistory",
    "Kind",
    "Profile",
    "Reading",
    "Table",
    "TableError",
    "Target",
    "Usual",
    "conform",
    "gather",
    "make_encoder",
    "profile_table",
    "read_batches",
    "read_table",
    "read_target",
    "read_typed_frame",
    "require_columns",
    "show",
    "summarise_columns",
]

# Where the names stand. They are imported when first used: most need pandas, which is an extra, and layouts do not.
_MODULE_OF = {
    "DateParts": "encoding",
    "make_encoder": "encoding",
    "gather": "faults",
    "require_columns": "faults",
    "EntityHistory": "history",
    "Profile": "profile",
    "profile_table": "profile",
    "read_batches": "reading",
    "read_table": "reading",
    "read_typed_frame": "reading",
    "Kind": "readings",
    "Reading": "readings",
    "Table": "table",
    "Target": "target",
    "read_target": "target",
    "MISSING": "types",
    "Column": "types",
    "conform": "types",
    "Usual": "usual",
    "show": "usual",
    "summarise_columns": "usual",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'scarce.tables' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"scarce.tables.{_MODULE_OF[name]}"), name)
    globals()[name] = value  # the next use finds it without this function
    return value
