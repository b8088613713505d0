"""ME², slowly: the problem as a convex program, the rule row by row, the choice of mu and lam by trying all."""

from itertools import product

import numpy as np


def objective(V, M, R, mu, lam):
    """The objective that the thesis minimises (its problem 3.4), for rows V seen from the centre, with B = 1."""
    losses = [max(0.0, R - v @ M @ v) for v in V]
    return sum(losses) / len(V) + mu * (1 - R) ** 2 + lam * ((M - np.eye(len(M))) ** 2).sum()


def convex_program(V, mu, lam):
    """Solve problem 3.4 itself, not its dual, by another library; return R and M."""
    import cvxpy as cp

    n, m = V.shape
    M, R, slack = cp.Variable((m, m), symmetric=True), cp.Variable(), cp.Variable(n, nonneg=True)
    distances = np.array([np.outer(v, v).ravel() for v in V]) @ cp.vec(M, order="C")
    cost = cp.sum(slack) / n + mu * cp.square(1 - R) + lam * cp.sum_squares(M - np.eye(m))
    # A larger objective makes the solver's tolerances smaller beside it.
    problem = cp.Problem(cp.Minimize(1e3 * cost), [distances >= R - slack, R >= 0, R <= 1])
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-13, tol_gap_rel=1e-13, tol_feas=1e-13)
    return float(R.value), np.asarray(M.value)


def local_rows(X, y, center, n_local):
    """The negative rows that shape an ellipsoid: the nearest, of equally near ones the earlier."""
    negatives = [i for i in range(len(X)) if y[i] == 0]
    return sorted(negatives, key=lambda i: (((X[i] - X[center]) ** 2).sum(), i))[:n_local]


def within(X, center, M, R):
    """Rows within an ellipsoid; those on its surface belong to it, but for rounding."""
    return [i for i in range(len(X)) if (X[i] - X[center]) @ M @ (X[i] - X[center]) <= R * (1 + 1e-7)]


def lead(a, b):
    if a == b:
        return 0.0
    if a == np.inf:
        return 1.0
    return -1.0 if b == np.inf else (a - b) / (a + b)


def score_by(x, X, y, center, M, R):
    """The score of x by one ellipsoid, and whether the rule of the thesis calls it positive."""
    squared = (x - X[center]) @ M @ (x - X[center])
    members = within(X, center, M, R)
    near = min(((x - X[i]) @ M @ (x - X[i]) for i in members if y[i] == 1), default=np.inf)
    far = min(((x - X[i]) @ M @ (x - X[i]) for i in members if y[i] == 0), default=np.inf)
    return min(lead(R, squared), lead(far, near)), squared <= R and near < far


def nearest_of_class(x, X, y, label, k):
    """The rows of a class nearest to x, of equally near ones the earlier."""
    rows = [i for i in range(len(X)) if y[i] == label]
    return sorted(rows, key=lambda i: (((X[i] - x) ** 2).sum(), i))[:k]


def mean_lead(x, X, y, center, M, R):
    """How much nearer than the border and the five negatives near x the centre is to x, on average, under M."""
    squared = (x - X[center]) @ M @ (x - X[center])
    others = [(x - X[i]) @ M @ (x - X[i]) for i in nearest_of_class(x, X, y, 0, 5)]
    return np.mean([lead(other, squared) for other in (R, *others)])


def f_measure(tp, fp, positives, beta):
    return (1 + beta**2) * tp / (tp + fp + beta**2 * positives)


def best_choice(tp, fp, positives, beta):
    """The highest F over all ways to take one column of each row of two tables of counts."""
    rows, columns = tp.shape
    return max(
        f_measure(sum(tp[i, c] for i, c in enumerate(way)), sum(fp[i, c] for i, c in enumerate(way)), positives, beta)
        for way in product(range(columns), repeat=rows)
    )
