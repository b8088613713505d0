"""The root of all errors that the user of a command can correct."""

__all__ = ["UserError"]


class UserError(Exception):
    """An error that the user can correct: the message is a sentence that names the way.

    The command line prints the message alone and leaves with exit code 2.
    """
