"""The errors of the desk that its user can correct."""

from __future__ import annotations

from scarce._errors import UserError

__all__ = ["DeskError"]


class DeskError(UserError, ValueError):
    """The desk cannot do what was asked for."""
