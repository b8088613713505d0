"""The contents of a user's table: reading, target, types, profile and encoding."""

from scarce._errors import TableError

from .encoding import DateParts, make_encoder
from .profile import Profile, profile_table
from .reading import read_table, require_columns
from .target import Target, read_target
from .types import MISSING, Column, conform

__all__ = [
    "MISSING",
    "Column",
    "DateParts",
    "Profile",
    "TableError",
    "Target",
    "conform",
    "make_encoder",
    "profile_table",
    "read_table",
    "read_target",
    "require_columns",
]
