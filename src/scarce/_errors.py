"""The errors that the user of a command can correct."""

__all__ = ["AuditError", "EngineError", "MonitorError", "StudyError", "TableError", "UserError"]


class UserError(Exception):
    """An error that the user can correct: the message is a sentence that names the way.

    The command line prints the message alone and leaves with exit code 2.
    """


class TableError(UserError, ValueError):
    """A table, or a name that should be in it, cannot be used as it is."""


class AuditError(UserError, ValueError):
    """The audit, or a saved model, cannot do what was asked for."""


class EngineError(UserError, RuntimeError):
    """A cluster cannot do what was asked for."""


class MonitorError(UserError, ValueError):
    """New rows or outcomes cannot be compared with what a model was tested on."""


class StudyError(UserError, ValueError):
    """A study cannot be run as it was asked for."""
