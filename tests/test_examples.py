"""Every example runs as a script, without a screen and without a warning, and writes its picture."""

import os
import subprocess
import sys
from pathlib import Path

import matplotlib.image
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples():
    assert EXAMPLES


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example(script, tmp_path):
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script), "--out", str(tmp_path / "pictures")],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    picture = matplotlib.image.imread(tmp_path / "pictures" / f"{script.stem}.png")
    assert picture[..., :3].std() > 0.05, "the picture is blank"
    assert not list(tmp_path.glob("*.png")), "only the given folder is written to"
