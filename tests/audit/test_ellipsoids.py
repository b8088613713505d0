"""Ellipsoids of known positives around queued cases."""

import numpy as np
import pandas as pd

from scarce.audit import audit


def table(unknown: int) -> pd.DataFrame:
    """Rows of which the positives lie close together."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 10 == 0
    cells = rng.normal(size=(300, 2)) * np.where(y, 0.2, 1.0)[:, None] + 2.0 * y[:, None]
    frame = pd.DataFrame(cells, columns=["a", "b"])
    frame["fraud"] = np.where(y, "yes", "no")
    if unknown:
        frame.loc[300 - unknown :, "fraud"] = None
    return frame


def test_a_new_case_names_the_ellipsoids_around_it() -> None:
    result = audit(table(60), "fraud", budget=10, methods="logistic,me2")
    assert any(e.inside for e in result.evidence)
    me2 = next(o for o in result.comparison.outcomes if o.candidate.key == "me2")
    model = result.task.fit(me2.candidate.model)
    for evidence in result.evidence:
        asked = model[-1].ellipsoids_around(model[:-1].transform(result.cases.loc[[evidence.row]]))[0]
        assert evidence.inside == result.task.X.index[asked].tolist()
        assert (result.frame.loc[evidence.inside, "fraud"] == "yes").all()


def test_a_tested_case_is_judged_by_a_model_that_has_not_seen_it() -> None:
    result = audit(table(0), "fraud", budget=30, methods="logistic,me2")
    assert any(e.inside for e in result.evidence)
    assert all(e.row not in e.inside for e in result.evidence)


def test_without_me2_there_are_no_ellipsoids() -> None:
    result = audit(table(60), "fraud", budget=10, methods="logistic")
    assert not any(e.inside for e in result.evidence)
