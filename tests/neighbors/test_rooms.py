"""The rooms of the neighbour methods: one file per method, and an engine below them that imports none."""

import ast
import importlib
from pathlib import Path

import pytest

from scarce import neighbors

ROOT = Path(neighbors.__file__).parent
METHODS = sorted(set(neighbors.__all__) - {"ClassIndex"})


@pytest.mark.parametrize("name", METHODS)
def test_a_method_has_a_file_of_its_own(name):
    module = importlib.import_module(getattr(neighbors, name).__module__)
    assert module.__all__ == [name]
    assert Path(module.__file__).parent == ROOT


def test_every_other_file_is_a_base_or_the_theory():
    of_methods = {getattr(neighbors, name).__module__.split(".")[-1] for name in METHODS}
    others = {file.stem for file in ROOT.glob("*.py")} - of_methods
    assert others == {
        "__init__",
        "_base",
        "_class_densities",
        "_fixed_radius",
        "_growing",
        "_stream_probabilities",
        "_vote",
        "theory",
    }


@pytest.mark.parametrize("file", sorted((ROOT / "_search").glob("*.py")), ids=lambda file: file.stem)
def test_the_engine_imports_no_method(file):
    imports = [node.module for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.ImportFrom)]
    ours = [module for module in imports if module.startswith("scarce.neighbors")]
    assert all(module.startswith("scarce.neighbors._search") for module in ours)
