"""Try a statement on its cases, print the counts and write the table to docs/proofs; exit 1 if a case is missed."""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

from proofs import gamma, two_gammas
from proofs.cases import Proof

PROOFS: dict[str, Callable[[], Proof]] = {"gamma": gamma.prove, "two-gammas": two_gammas.prove}
FOLDER = Path(__file__).resolve().parents[1] / "docs" / "proofs"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("name", choices=PROOFS)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the table is written")
    options = parser.parse_args(arguments)
    proof = PROOFS[options.name]()
    for line in proof.lines():
        print("  ".join(line))
    print(proof.counts)
    (options.folder / f"{options.name}.md").write_text(_markdown(options.name, proof), encoding="utf-8")
    return int(proof.missed > 0)


def _markdown(name: str, proof: Proof) -> str:
    lines = [proof.columns, ("---",) * len(proof.columns), *proof.lines()]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    where = f"Written by `make prove-{name}`, {date.today()}, Python {platform.python_version()}. {proof.counts}"
    return f"# {proof.title}\n\n{proof.statement}\n\n{where}\n\n{table}\n"


if __name__ == "__main__":
    sys.exit(main())
