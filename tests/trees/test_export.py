"""Trees as text and as plain data."""

import json
import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scarce.trees._engine.export import to_dict, to_text
from scarce.trees._engine.rules import rules
from tests.trees.growing import from_dict, grow, kinds


@given(kinds, st.sampled_from(["path", "boundary", None]))
def test_plain_data_brings_back_the_tree(kind, tie_break):
    tie_break = None if kind["categories"] and tie_break == "boundary" else tie_break
    graph, scores, names, X, new = grow(**kind, tie_break=tie_break)
    data = json.loads(json.dumps(to_dict(graph, names, scores), allow_nan=False))
    again, same_names, same_scores = from_dict(data)
    assert same_names == names
    for name, one, other in zip(graph._fields, graph, again, strict=True):
        assert one.dtype == other.dtype, name
        # Only leaves lead on, and only tests of categories have bits.
        used = {"jump": graph.feature < 0, "subset": np.isnan(graph.threshold)}.get(name, slice(None))
        one, other = (one[used], other[used]) if len(one) else (one, other)
        np.testing.assert_array_equal(one, other, err_msg=name)
    for one, other in zip(scores, same_scores, strict=True):
        np.testing.assert_array_equal(one, other)
    rows = np.vstack((X, new))
    given, found = np.zeros(len(rows)), np.zeros(len(rows))
    scores.add_to(given, graph, rows)
    same_scores.add_to(found, again, rows)
    np.testing.assert_array_equal(given, found)
    assert list(map(str, rules(graph, names, scores))) == list(map(str, rules(again, names, same_scores)))


@given(kinds, st.sampled_from([20, 80]))
def test_the_text_has_every_end_and_fits(kind, width):
    graph, scores, names, _, _ = grow(**kind)
    wide = to_text(graph, names, scores, width=10_000).splitlines()
    n_blocks = len(graph.first)
    ends = [line for line in wide if " rows" in line and not line.startswith("Tree ")]
    assert len(ends) == (graph.feature < 0).sum()
    assert len(wide) == len(graph.feature) - n_blocks * bool((graph.feature >= 0).any()) + n_blocks * (n_blocks > 1)
    narrow = to_text(graph, names, scores, width=width).splitlines()
    assert max(map(len, narrow)) <= width
    for short, line in zip(narrow, wide, strict=True):
        assert re.fullmatch(".*".join(map(re.escape, short.split("…"))), line)
        if width == 80 and " positive" in line and len(line.split(": ")[-1]) < 60:
            assert short.endswith(line.split(": ")[-1])  # the counts are seen


def test_a_small_tree_as_text():
    graph, scores, names, *_ = grow(0, n=40, d=2, depth=1, meta=False, missing=False, categories=False)
    threshold = f"{graph.threshold[0]:.6g}"
    name = names[graph.feature[0]]
    assert to_text(graph, names, scores).splitlines()[0].startswith("|-- " + name + " <= " + threshold)
    assert "leaf 2, score " in to_text(graph, names, scores).splitlines()[1]
    assert "missing" in to_text(graph, names, scores)
    assert "missing" not in to_text(graph, names, scores, missing=[False, False])
