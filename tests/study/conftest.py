"""A small study that every test of the runner can afford."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from scarce.study.names import TRUST

# As a user does whose own estimators are in a study; processes that compute cells inherit it.
os.environ[TRUST] = "tests"

STUDY = """
title = "A small study"
source = "Nowhere, Table 1"
sets = ["wine", "glass"]
metrics = ["f1", "ap"]
control = "plain"

[protocol]
kind = "shuffle"
splits = {splits}
test_size = 0.3
inner = 3

[methods.plain]
estimator = "tests.study.slow.Slow"
params = {{ seconds = {seconds} }}

[methods.chosen]
estimator = "tests.study.slow.Slow"
grid = {{ shift = [-1.0, 0.0, 1.0] }}

[methods."3-NN"]
estimator = "sklearn.neighbors.KNeighborsClassifier"
params = {{ n_neighbors = 3 }}

[printed.f1]
columns = ["plain", "3-NN"]
wine = [0.5, 0.88]
glass = [0.5, 0.73]

[[claims]]
text = "3-NN is better than plain"
better = "3-NN"
worse = "plain"

[[errata]]
id = "small-erratum"
text = "Nothing of this is printed anywhere."
"""


@pytest.fixture
def small(tmp_path: Path) -> str:
    """The path of a study of two sets, two splits and three methods."""
    return write(tmp_path)


def write(folder: Path, *, splits: int = 2, seconds: float = 0.0) -> str:
    file = folder / "small.toml"
    file.write_text(STUDY.format(splits=splits, seconds=seconds), encoding="utf-8")
    return str(file)
