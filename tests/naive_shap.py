"""Slow, obvious versions of the explanations, for the tests to compare with."""

from itertools import combinations
from math import factorial

from tests import naive_trees


def mean_value(graph, value, x, known, node=0):
    """The mean leaf value of a walk that follows the row where a feature is known, else both ways by weight."""
    feature = graph.feature[node]
    if feature < 0:
        jump = graph.jump[node]
        return value[-1 - jump] if jump < 0 else mean_value(graph, value, x, known, graph.first[jump])
    left, right = graph.left[node], graph.right[node]
    if feature in known:
        return mean_value(graph, value, x, known, left if naive_trees.goes_left(graph, node, x) else right)
    w_left, w_right = graph.sums[left, 0], graph.sums[right, 0]
    by_left, by_right = (mean_value(graph, value, x, known, child) for child in (left, right))
    return (w_left * by_left + w_right * by_right) / (w_left + w_right)


def shapley_values(graph, value, x):
    """What each feature adds when it joins the others, in the mean over all orders."""
    p = len(x)
    worth = {
        known: mean_value(graph, value, x, known)
        for size in range(p + 1)
        for known in map(frozenset, combinations(range(p), size))
    }
    return [
        sum(
            factorial(len(known)) * factorial(p - len(known) - 1) / factorial(p) * (worth[known | {j}] - worth[known])
            for known in worth
            if j not in known
        )
        for j in range(p)
    ]
