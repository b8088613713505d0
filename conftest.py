"""Run the examples of README.md, docs/ and the docstrings as tests."""

from __future__ import annotations

import os
import tempfile
from doctest import ELLIPSIS
from pathlib import Path
from typing import Any

import pytest
from sybil import Document, Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser


class Docstrings(PythonDocStringDocument):
    """The docstrings of a module, whose examples must import what they use: readers paste them as they are."""

    def __init__(self, text: str, path: str) -> None:
        Document.__init__(self, text, path)


def enter_folder(namespace: dict[str, Any]) -> None:
    """Give the examples of a page a folder of their own, where they may write files."""
    namespace["_folder"], namespace["_before"] = tempfile.TemporaryDirectory(), Path.cwd()
    os.chdir(namespace["_folder"].name)


def leave_folder(namespace: dict[str, Any]) -> None:
    """Go back, and remove the files."""
    os.chdir(namespace["_before"])
    namespace["_folder"].cleanup()


pytest_collect_file = (
    Sybil(
        [PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)],
        patterns=["README.md", "docs/*.md"],
        setup=enter_folder,
        teardown=leave_folder,
    )
    + Sybil(
        [DocTestParser(optionflags=ELLIPSIS)],
        patterns=["src/scarce/**/*.py"],
        document_types={".py": Docstrings},
    )
).pytest()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give the examples of a file to one process, since they build on each other, and tests to whichever is free."""
    from xdist.scheduler import LoadScopeScheduling

    class ExamplesTogether(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith("tests/") else nodeid.split("::")[0]

    return ExamplesTogether(config, log)
