"""The package starts without its heavy parts, and everything is found where it was."""

import logging
import os
import re
import subprocess
import sys

import pytest

import scarce
from scarce.cli import main

HEAVY = ["sklearn", "numba", "scipy", "pandas", "lightgbm", "matplotlib"]


def loaded_after(code):
    """Return which of the heavy packages a fresh process has loaded after running some code."""
    code += f"\nimport sys\nprint(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.splitlines()[-1].split()


def test_importing_the_package_loads_nothing_heavy():
    assert loaded_after("import scarce; scarce.__version__; dir(scarce)") == []
    assert "sklearn" in loaded_after("from scarce import TunedThreshold")


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["audit", "--help"], ["study", "run", "--help"]])
def test_help_of_a_command_loads_nothing_heavy(arguments):
    code = (
        f"import sys; sys.argv = ['scarce', *{arguments}]\nfrom scarce.cli import main\n"
        "try: main()\nexcept SystemExit as end: assert not end.code"
    )
    assert loaded_after(code) == []


def test_names_and_rooms_are_found_by_attribute_in_a_fresh_process():
    code = (
        "import scarce; assert scarce.neighbors.GammaKNN.__module__ == 'scarce.neighbors._gamma'; "
        "assert scarce.TunedThreshold is scarce.tuned.TunedThreshold; "
        "assert 'GammaKNN' in dict(scarce.all_estimators()); assert scarce.trusted_types()"
    )
    assert "numba" in loaded_after(code)


def test_dir_lists_names_that_can_be_had():
    assert {*scarce.__all__, "neighbors", "trees", "metrics", "profit"} <= set(dir(scarce))
    for name in dir(scarce):
        assert hasattr(scarce, name)
    assert loaded_after("import scarce; assert 'cli' not in dir(scarce)") == []


def test_every_public_name_is_there_and_no_other():
    for name in scarce.__all__:
        assert getattr(scarce, name) is not None
    with pytest.raises(AttributeError, match="module 'scarce' has no attribute 'nothing'"):
        _ = scarce.nothing
    with pytest.raises(ImportError, match="nothing"):
        from scarce import nothing  # noqa: F401


@pytest.mark.skipif(sys.platform != "linux", reason="reads what libgomp prints")
@pytest.mark.parametrize(
    "code",
    [
        "from scarce.boosting import APBoosting; APBoosting(n_estimators=1).fit([[0.0], [1.0]] * 20, [0, 1] * 20)",
        "import scarce.audit",
        "from scarce.study.build import resolve; resolve('lightgbm.LGBMClassifier')",
    ],
)
def test_threads_of_lightgbm_sleep_while_they_wait(code):
    check = "; import os, sys; assert 'lightgbm' in sys.modules; print(os.environ.get('OMP_WAIT_POLICY'))"

    def run(**policy):
        environment = {name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"}
        environment |= {"OMP_DISPLAY_ENV": "verbose", **policy}
        command = [sys.executable, "-c", code + check]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        # LightGBM's OpenMP is the last to be loaded.
        return re.findall(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr)[-1], done.stdout.strip()

    assert run() == ("0", "None")
    if "fit" in code:
        spins, policy = run(OMP_WAIT_POLICY="active")
        assert int(spins) > 1_000_000
        assert policy == "active"


COMPILE = """
import gc, logging, sys, numpy as np
import scarce._compiling as compiling
compiling.WORTH_A_LINE = 0.01
logging.basicConfig(level={level}, format="%(name)s: %(message)s")
from scarce.neighbors import GFRNN
X = np.random.default_rng(0).normal(size=(60, 3))
GFRNN().fit(X, X[:, 0] > 1)
assert gc.isenabled()
"""


@pytest.mark.parametrize(("level", "lines"), [("logging.INFO", 1), ("logging.WARNING", 0)])
def test_compiling_is_logged_once_and_not_again_from_disk(level, lines, tmp_path):
    for expected in (lines, 0):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", COMPILE.format(level=level)],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        )
        assert done.stderr.count("scarce: Compiling once after installation") == expected
        assert len(done.stderr.splitlines()) == expected


def test_the_command_line_shows_what_the_library_logs_on_a_terminal(monkeypatch, capsys):
    logger = logging.getLogger("scarce")
    monkeypatch.setattr(logger, "handlers", [])
    monkeypatch.setattr(logger, "level", logging.WARNING)
    for terminal, shown in ((False, ""), (True, "Compiling once.\n")):
        monkeypatch.setattr(sys, "argv", ["scarce", "--version"])
        monkeypatch.setattr(sys.stderr, "isatty", lambda terminal=terminal: terminal)
        with pytest.raises(SystemExit):
            main()
        logger.info("Compiling once.")
        assert capsys.readouterr().err == shown
