"""Neighbour methods in a process that was forked after they were fitted."""

import os
import subprocess
import sys

import pytest

# Both processes take two threads, as OpenMP would on a machine with as many cores.
FORK = """
import os, sys, warnings
import numpy as np
from sklearn.base import clone
import scarce
from scarce.neighbors import GammaKNN

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X, y = rng.normal(size=(1500, 6)), np.arange(1500) % 15 == 0
rules = [rule() for _, rule in scarce.all_estimators() if rule.__module__.startswith("scarce.neighbors")]
rules += [GammaKNN(metric="manhattan"), GammaKNN(algorithm="kd_tree", n_jobs=2), GammaKNN(metric="cosine")]
if "faiss" in sys.argv:
    rules.append(GammaKNN(algorithm="ivf"))
models = [rule.fit(X, y) for rule in rules]
expected = [model.score_samples(X) for model in models]
child = os.fork()
if child == 0:
    for model, scores in zip(models, expected, strict=True):
        np.testing.assert_array_equal(model.score_samples(X), scores)
        print(type(model).__name__, flush=True)
    clone(models[0]).fit(X, y)
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_scores_after_a_fork():
    faiss = ["faiss"] if _has_faiss() else []
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", FORK, *faiss], env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def _has_faiss():
    try:
        import faiss  # noqa: F401
    except ImportError:
        return False
    return True
