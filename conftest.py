"""Run the examples of README.md, docs/ and the docstrings as tests.

The examples of a file build on each other, so processes share the work by file: ``pytest -n 2 --dist loadfile``.
"""

from doctest import ELLIPSIS

from sybil import Document, Sybil
from sybil.document import PythonDocStringDocument
from sybil.parsers.markdown import PythonCodeBlockParser
from sybil.parsers.rest import DocTestParser


class Docstrings(PythonDocStringDocument):
    """The docstrings of a module, whose examples must import what they use: readers paste them as they are."""

    def __init__(self, text: str, path: str) -> None:
        Document.__init__(self, text, path)


pytest_collect_file = (
    Sybil([PythonCodeBlockParser(doctest_optionflags=ELLIPSIS)], patterns=["README.md", "docs/*.md"])
    + Sybil(
        [DocTestParser(optionflags=ELLIPSIS)],
        patterns=["src/scarce/**/*.py"],
        document_types={".py": Docstrings},
    )
).pytest()
