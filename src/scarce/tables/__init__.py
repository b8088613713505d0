"""The contents of a user's table: reading, target, types, profile and encoding."""

from scarce._errors import TableError

from .encoding import DateParts, make_encoder
from .faults import gather, require_columns
from .history import EntityHistory
from .profile import Profile, profile_table
from .reading import read_batches, read_table, read_typed_frame
from .readings import Kind, Reading
from .table import Table
from .target import Target, read_target
from .types import MISSING, Column, conform

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
    "conform",
    "gather",
    "make_encoder",
    "profile_table",
    "read_batches",
    "read_table",
    "read_target",
    "read_typed_frame",
    "require_columns",
]
