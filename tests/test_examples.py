"""Every example of the gallery runs without a screen and without a warning, and draws something."""

import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples" / "gallery").rglob("*.py"))


def test_there_are_as_many_examples_as_the_gallery_promises():
    assert len(EXAMPLES) >= 16
    assert all(script.stem.startswith("plot_") for script in EXAMPLES)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_example(script, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    plt.close("all")
    try:
        with mpl.rc_context({"backend": "agg"}):
            runpy.run_path(str(script), run_name="__main__")
        assert plt.get_fignums()
        for number in plt.get_fignums():
            figure = plt.figure(number)
            figure.canvas.draw()
            picture = np.asarray(figure.canvas.buffer_rgba())
            assert picture[..., :3].std() > 0.05 * 255, "the picture is blank"
    finally:
        plt.close("all")
    assert not list(tmp_path.iterdir()), "an example writes no file"
