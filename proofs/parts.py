"""A proof in parts that are run together or alone; each has a section of one page, which the others leave as it is."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proofs.cases import MissingSets, Proof
from proofs.page import table, written_by


@dataclass(frozen=True)
class Parts:
    """Parts of a proof by their names, and the page of their sections."""

    name: str
    title: str
    parts: Mapping[str, Callable[[], Proof]]

    def run(self, names: Sequence[str], folder: Path) -> int:
        """Run some parts, write the section of each, and return 1 if a bar was missed, or 2 if data were."""
        codes = [0]
        for name in names:
            try:
                proof = self.parts[name]()
            except MissingSets as error:
                print(error, file=sys.stderr)
                codes.append(2)
                continue
            for line in proof.lines():
                print("  ".join(line))
            print(f"{name}: {proof.counts}", flush=True)
            self.write_section(folder / f"{self.name}.md", name, proof)
            codes.append(int(proof.missed > 0))
        return max(codes)

    def write_section(self, page: Path, name: str, proof: Proof) -> None:
        """Replace the section of one part, and leave the others as they are."""
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        found = dict(re.findall(r"^<!-- (\w+) -->\n(.*?)(?=^<!-- |\Z)", text, flags=re.MULTILINE | re.DOTALL))
        where = f"{written_by(f'prove-{self.name} (--part {name})')}. {proof.counts}"
        found[name] = f"## {proof.title}\n\n{proof.statement}\n\n{where}\n\n{table(proof.columns, proof.lines())}"
        sections = [f"<!-- {part} -->\n{found[part].rstrip()}\n" for part in self.parts if part in found]
        head = (
            f"# {self.title}\n\nEach part is run by `make prove-{self.name}`, or alone by "
            f"`python -m proofs {self.name} --part NAME`.\n"
        )
        page.write_text("\n".join([head, *sections]), encoding="utf-8")
