"""How the rule by which CONE reads scores was chosen: models needed on sets that no table of the thesis has."""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import fmeasure
from benchmarks.rows import Detail, Row, Run

SETS = [
    "abalone8",
    "abalone17",
    "yeast3",
    "yeast6",
    "german",
    "pima",
    "segmentation",
    "keel-vehicle1",
    "keel-yeast-0-2-5-6_vs_3-7-8-9",
    "keel-winequality-red-8_vs_6-7",
    "keel-abalone9-18",
    "keel-car-good",
]
# The rows that F is measured on and that guide the search.
_PARTS = {"five folds": "folds", "a third": "valid"}


def fmeasure_development(run: Run) -> list[Row]:
    """Return the models needed for 99 % of the grid's F, by CONE's own rule and with scores."""
    sets, seeds, c_values = (SETS[5:6], 1, (1.0,)) if run.quick else (SETS, 3, fmeasure.C_VALUES[::2])
    grid_t = [(i + 0.5) / fmeasure.N_MODELS for i in range(fmeasure.N_MODELS)]
    counts = np.zeros((len(sets), seeds, len(_PARTS), 2))
    for (i, seed), _ in np.ndenumerate(counts[:, :, 0, 0]):
        run.tell(f"{sets[i]}, run {seed + 1}")
        split = fmeasure.new_split(sets[i], seed)
        C = fmeasure.choose(split, [("SVM", C, t) for C in c_values for t in grid_t]).C
        for j, part in enumerate(_PARTS.values()):
            f = partial(fmeasure.f_of, split, C, part=part)
            goal = max(f(grid_t))
            for k, scored in enumerate((False, True)):
                counts[i, seed, j, k] = fmeasure.first(f(split.search("cone", C, part, scored=scored)), goal)
    names = [f"{way}, {rule}" for way in _PARTS for rule in ("cones alone", "with scores")]
    table = counts.mean(axis=1).reshape(len(sets), -1)
    lines: list[list[str | float]] = [[name, *line] for name, line in zip(sets, table.tolist(), strict=True)]
    title = f"Models needed for 99 % of the grid's F; {fmeasure.N_MODELS + 1} if never reached"
    run.details.append(Detail(title, ["set", *names], [*lines, ["mean", *table.mean(axis=0).tolist()]]))
    return [
        Row(f"{what}, mean of {len(sets)} sets", float(mean))
        for what, mean in zip(names, table.mean(axis=0), strict=True)
    ]
