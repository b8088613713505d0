"""The error of the audit."""

from scarce._errors import UserError

__all__ = ["AuditError"]


class AuditError(UserError, ValueError):
    """The audit, or a saved model, cannot do what was asked for."""
