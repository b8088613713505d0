"""Try a statement on its cases, print the counts and write the table to docs/proofs; exit 1 if a case is missed.

A data set that is not on this machine ends it with exit code 2, and the table stays as it is.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from proofs import audit, desk, gamma, kills, monitor, scale, two_gammas
from proofs.cases import MissingSets, Proof
from proofs.page import FOLDER, table, written_by

PROOFS: dict[str, Callable[[], Proof]] = {
    "gamma": gamma.prove,
    "kill": kills.prove,
    "two-gammas": two_gammas.prove,
    **{f"scale-{part}": prove for part, prove in scale.PARTS.items()},
}
IN_PARTS = {proof.name: proof for proof in (audit.PROOF, desk.PROOF, monitor.PROOF)}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m proofs", description=__doc__)
    parser.add_argument("name", choices=[*PROOFS, *IN_PARTS])
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the table is written")
    parser.add_argument("--part", help=f"one part alone of {' or '.join(IN_PARTS)}")
    options = parser.parse_args(arguments)
    whole = IN_PARTS.get(options.name)
    if options.part and (whole is None or options.part not in whole.parts):
        parser.error(f"{options.name} has no part {options.part}")
    if whole is not None:
        return whole.run([options.part] if options.part else list(whole.parts), options.folder)
    try:
        proof = PROOFS[options.name]()
    except MissingSets as error:
        print(error, file=sys.stderr)
        return 2
    for line in proof.lines():
        print("  ".join(line))
    print(proof.counts)
    (options.folder / f"{options.name}.md").write_text(_markdown(options.name, proof), encoding="utf-8")
    return int(proof.missed > 0)


def _markdown(name: str, proof: Proof) -> str:
    target = "prove-kill" if name == "kills" else f"prove-{name}"
    where = f"{written_by(target)}. {proof.counts}"
    return f"# {proof.title}\n\n{proof.statement}\n\n{where}\n\n{table(proof.columns, proof.lines())}"


if __name__ == "__main__":
    sys.exit(main())
