"""Weights of the splits on a path: those of many rows predict a new row better than those of few."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from scarce._typing import BoolArray, FloatArray
from scarce.profit._gains import log_ratio
from scarce.trees._engine import Graph
from scarce.trees._kernels_forest import add_steps

__all__ = ["N_SIZES", "PathWeights", "fit_path_weights", "steps_of_leaves"]

_SIZES = 4 ** np.arange(2, 7)  # rows of a node, from 16 to 4096
N_SIZES = len(_SIZES) + 1
_LEAST_WEIGHT = 1e-3


class PathWeights(NamedTuple):
    """The weight of a step by the size of the node that it leads to, and the constant of the sum."""

    weight: FloatArray
    constant: float


def steps_of_leaves(graph: Graph, value: FloatArray) -> FloatArray:
    """Return how a value of the nodes changes on the way to each leaf, summed up by the size of the nodes entered.

    Parameters
    ----------
    graph : Graph
        One tree.
    value : ndarray of shape (n_nodes,)
        The value of each node.

    Returns
    -------
    ndarray of shape (n_leaves, N_SIZES)
        Each row adds up to the value of the leaf less that of the root.
    """
    steps = np.zeros((len(value), N_SIZES))
    add_steps(graph.feature, graph.left, graph.right, value, np.digitize(graph.n_rows, _SIZES), steps)
    ends = np.flatnonzero(graph.feature < 0)
    of_leaves = np.empty((len(ends), N_SIZES))
    of_leaves[-1 - graph.jump[ends]] = steps[ends]
    return of_leaves


def fit_path_weights(steps: FloatArray, positive: BoolArray, weight: FloatArray) -> PathWeights:
    """Return the weights whose sum of steps gives the log-odds of rows best; rows without steps (NaN) are left out.

    The weights minimise the log-loss plus (w - 1)² / 2 times the variance of the steps: without evidence a step counts
    as it is. None is negative, so that a step to a node with more positives never lowers the score. Columns beyond the
    `N_SIZES` steps are other log-odds of the rows, which without evidence do not count: w² / 2 instead.
    """
    usual = np.where(np.arange(steps.shape[1]) < N_SIZES, 1.0, 0.0)
    of_all = float(log_ratio(weight @ positive, weight @ ~positive))
    known = ~np.isnan(steps[:, 0]) & (weight > 0)
    steps, positive, weight = steps[known], positive[known], weight[known]
    if positive.all() or not positive.any():
        return PathWeights(usual, of_all)  # the log-odds of the root, where all steps begin
    share = weight / weight.sum()
    middle = share @ steps
    centred = steps - middle
    deviation = np.sqrt(share @ centred**2)
    used = deviation > 1e-12
    spread = deviation[used]
    before = usual[used] * spread
    columns, n = centred[:, used] / spread, len(share)

    def loss(point: FloatArray) -> tuple[float, FloatArray]:
        score = columns @ point[1:] + point[0]
        away = point[1:] - before
        slope = share * (expit(score) - positive)
        value = share @ (np.logaddexp(0, score) - positive * score) + away @ away / (2 * n)
        return float(value), np.concatenate(([slope.sum()], slope @ columns + away / n))

    rate = share @ positive
    found = minimize(
        loss,
        np.concatenate(([np.log(rate / (1 - rate))], before)),
        jac=True,
        method="L-BFGS-B",
        bounds=[(None, None), *((_LEAST_WEIGHT * s, None) for s in spread)],
        options={"maxiter": 1000, "ftol": 1e-15, "gtol": 1e-9},
    ).x
    best = usual.copy()
    best[used] = found[1:] / spread
    return PathWeights(best, float(found[0] - best @ middle))
