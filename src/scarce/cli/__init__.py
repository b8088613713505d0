"""The command line: ``scarce audit``, ``score``, ``monitor``, ``serve``, ``desk``, ``study`` and ``data``."""

from __future__ import annotations

import logging
import sys
from typing import Annotated, Any, NoReturn

from scarce._errors import UserError
from scarce._extras import EXTRAS, install
from scarce._files import sentence_of_system

try:
    import typer

    from ._console import options_of, with_options
    from .audit import audit_command
    from .data import data_app
    from .desk import desk_app
    from .monitor import monitor_command
    from .score import score_command
    from .serve import serve_command
    from .study import study_app
except ModuleNotFoundError as missing:
    sys.stderr.write(f'The command scarce needs {missing.name}; install it with: pip install "scarce[audit]"\n')
    raise SystemExit(2) from missing

__all__ = ["app", "main"]

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Learn from few positives: rank the rows to check, with reasons.",
)
app.command("audit")(audit_command)
app.command("score")(score_command)
app.command("monitor")(monitor_command)
app.command("serve")(serve_command)
app.add_typer(desk_app, name="desk")
app.add_typer(study_app, name="study")
app.add_typer(data_app, name="data")


@app.callback(invoke_without_command=True)
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    if version:
        from scarce import __version__

        typer.echo(__version__)
        raise typer.Exit


def main() -> None:
    """Run the command line. An error that the user can correct is one sentence, with exit code 2."""
    if sys.stderr.isatty():
        _show_what_takes_long()
    try:
        app()
    except ModuleNotFoundError as error:
        if error.name not in EXTRAS:
            raise
        _leave(f"This command needs {error.name}; install it with: {install(error.name)}")
    except UserError as error:
        _leave(with_options(str(error), options_of(_command())))
    except OSError as error:
        sentence = sentence_of_system(error)
        if sentence is None:
            raise
        _leave(with_options(sentence, options_of(_command())))
    except MemoryError:
        _leave("There is not enough memory for this command; take fewer rows or columns, or a machine with more.")


class _ToTerminal(logging.Handler):
    """Write messages of the library to the terminal, above a progress bar if there is one."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line. A progress bar replaces sys.stderr, so it is looked up each time."""
        sys.stderr.write(record.getMessage() + "\n")


def _show_what_takes_long() -> None:
    logger = logging.getLogger("scarce")
    logger.setLevel(logging.INFO)
    logger.addHandler(_ToTerminal())


def _command() -> Any:
    """Return the command that the arguments of this process name."""
    command: Any = typer.main.get_command(app)
    for word in sys.argv[1:]:
        command = getattr(command, "commands", {}).get(word, command)
    return command


def _leave(message: str) -> NoReturn:
    sys.stderr.write(message + "\n")
    raise SystemExit(2)
