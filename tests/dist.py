"""Install each built distribution into an empty environment, and run the command there: ``make dist``."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

AUDIT = """
from scarce.datasets import make_transactions
make_transactions(1_200, fraud_rate=0.05, seed=0).frame.to_csv("payments.csv", index=False)
"""


def check(distribution: Path, home: Path) -> None:
    """Install a wheel or an sdist, and audit a small table without the checkout in reach."""
    environment = home / "environment"
    subprocess.run([sys.executable, "-m", "uv", "venv", "--quiet", str(environment)], check=True)
    python = environment / ("Scripts" if os.name == "nt" else "bin") / "python"
    target = f"scarce[audit] @ {distribution.resolve().as_uri()}"
    subprocess.run(
        [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", str(python), target], check=True
    )
    outside = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = {"cwd": home, "env": outside, "check": True}
    subprocess.run([str(python), "-c", AUDIT], **run)
    command = ["audit", "payments.csv", "--target", "fraud", "--time", "date", "--budget", "20", "--quick"]
    subprocess.run([str(python.with_name("scarce")), *command, "--out", "found"], **run, stdout=subprocess.DEVNULL)
    assert (home / "found" / "report.html").stat().st_size > 10_000
    assert len((home / "found" / "queue.csv").read_text().splitlines()) == 21


def main(folder: Path) -> None:
    """Check one wheel and one sdist."""
    wheels, sources = sorted(folder.glob("*.whl")), sorted(folder.glob("*.tar.gz"))
    assert len(wheels) == len(sources) == 1, f"{folder} holds {len(wheels)} wheels and {len(sources)} sdists."
    for distribution in (*wheels, *sources):
        with tempfile.TemporaryDirectory() as home:
            check(distribution, Path(home))
        print(f"{distribution.name} installs into an empty environment and audits.")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
