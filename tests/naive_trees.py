"""Slow, obvious versions of the tree engine, for the tests to compare with.

A row is a tuple (x, w, p, a, b): its values, its weight, the weight if it is positive (else 0), what it earns if called
positive, and if called negative. A node is a list of rows.
"""

from fractions import Fraction
from itertools import chain, combinations
from math import inf, isinf, isnan, log, sqrt

# criteria -----------------------------------------------------------------------------------------------------


def total(rows, k):
    return sum(row[k] for row in rows)


def weight(rows):
    return total(rows, 1)


def positives(rows):
    return total(rows, 2)


def average_precision(groups):
    """The average precision of rows in groups of equal score, the highest first."""
    p = sum(positives(group) for group in groups)
    value, seen = 0.0, []
    for group in groups:
        seen = seen + group
        value += positives(group) / p * positives(seen) / weight(seen)
    return value


def share(rows):
    return positives(rows) / weight(rows)


def impurity(rows, name):
    q = share(rows)
    if name == "gini":
        return 2 * q * (1 - q)
    return -sum(r * log(r) for r in (q, 1 - q) if r > 0)


def reweighted(rows, parameter):
    """Rows with both classes of the ranking node made equally heavy."""
    factor = [1 - parameter if row[2] > 0 else parameter for row in rows]
    return [(x, w * f, p * f, a, b) for (x, w, p, a, b), f in zip(rows, factor, strict=True)]


def found(budget, first, second):
    """The positives expected when `budget` of weight is checked, one side before the other."""
    left_over = max(budget - weight(first), 0)
    return min(1, budget / weight(first)) * positives(first) + min(1, left_over / weight(second)) * positives(second)


def drawn(rows):
    """Return the profit of a node when each label is drawn by its class shares."""
    return sum(share(rows) * a + (1 - share(rows)) * b for _, _, _, a, b in rows)


def gain(name, left, right, parameter=0.0):
    """Return the worth of a split: times the weight of the node, as the engine counts."""
    rows = left + right
    w = weight(rows)
    if name in ("ap_mean", "ap_max"):
        if positives(rows) == 0:
            return 0.0
        by_left, by_right = average_precision([left, right]), average_precision([right, left])
        if name == "ap_mean":
            return weight(left) * by_left + weight(right) * by_right - w * share(rows)
        return w * (max(by_left, by_right) - share(rows))
    if name in ("gini", "entropy"):
        return w * impurity(rows, name) - sum(weight(side) * impurity(side, name) for side in (left, right))
    if name == "balanced":
        return gain("gini", reweighted(left, parameter), reweighted(right, parameter))
    if name == "weighted_error":
        errors = [
            parameter * (weight(good) - positives(good)) + (1 - parameter) * positives(bad)
            for good, bad in ((left, right), (right, left))
        ]
        return w - min(errors)
    if name == "top_k":
        best = max(found(parameter, left, right), found(parameter, right, left))
        return best - min(parameter, w) * share(rows)
    if name == "newton":
        return sum(
            sign * positives(node) ** 2 / (weight(node) + parameter)
            for sign, node in ((1, left), (1, right), (-1, rows))
        )
    if name == "profit":
        return drawn(left) + drawn(right) - drawn(rows)
    if name == "profit_unweighted":
        return w * (drawn(left) / weight(left) + drawn(right) / weight(right) - drawn(rows) / w)
    sides = [max(total(side, 3), total(side, 4)) for side in (left, right, rows)]
    return sides[0] + sides[1] - sides[2]


# splits -------------------------------------------------------------------------------------------------------


def part(rows, goes_left):
    return [row for row in rows if goes_left(row)], [row for row in rows if not goes_left(row)]


def numeric_splits(rows, j):
    """Every (left, right) by a threshold, missing values tried on both sides, and the missing against the others."""
    known = sorted({row[0][j] for row in rows if not isnan(row[0][j])})
    missing = any(isnan(row[0][j]) for row in rows)
    for low in known[:-1]:
        yield part(rows, lambda row, low=low: row[0][j] <= low)
        if missing:
            yield part(rows, lambda row, low=low: not row[0][j] > low)
    if known and missing:
        yield part(rows, lambda row: not isnan(row[0][j]))


def category(value):
    return "missing" if isnan(value) else value


def subsets(rows, j):
    """Every (left, right) by a set of categories, a missing value being one more."""
    names = list({category(row[0][j]): None for row in rows})
    for size in range(1, len(names)):
        for chosen in combinations(names, size):
            yield part(rows, lambda row, chosen=chosen: category(row[0][j]) in chosen)


def prefixes(rows, j, name):
    """The splits of categories ordered by share of positives, or by money a row; ties by the smaller code."""
    groups = {}
    for row in rows:
        groups.setdefault(category(row[0][j]), []).append(row)
    money = name in ("profit", "profit_unweighted", "cost")

    def key(group):
        return (total(group, 3) - total(group, 4)) / weight(group) if money else share(group)

    in_order_of_codes = [groups[name] for name in sorted(groups, key=lambda name: inf if name == "missing" else name)]
    ordered = sorted(in_order_of_codes, key=key)
    for i in range(1, len(ordered)):
        yield list(chain(*ordered[:i])), list(chain(*ordered[i:]))


def best_gain(rows, name, categorical, parameter=0.0, min_samples_leaf=1, features=None, all_subsets=False):
    """The best gain of any split of a node, -inf where it cannot be split."""
    best = -inf
    for j in range(len(categorical)) if features is None else features:
        if not categorical[j]:
            splits = numeric_splits(rows, j)
        else:
            splits = subsets(rows, j) if all_subsets else prefixes(rows, j, name)
        for left, right in splits:
            if min(len(left), len(right)) >= min_samples_leaf:
                best = max(best, gain(name, left, right, parameter))
    return best


def random_numbers(seed):
    """The numbers of splitmix64."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
        yield z ^ z >> 31


def drawn_threshold(rows, j, number, edges=None):
    """The threshold that a number draws between the smallest and the largest value; None if there is but one.

    With bins a value counts as the upper edge of its bin, and the threshold is the last edge before.
    """
    known = [row[0][j] for row in rows if not isnan(row[0][j])]
    if edges is not None:
        known = [min(edge for edge in edges if x <= edge) for x in known]
    if len(set(known)) < 2:
        return None
    low, high = min(known), max(known)
    share = (number >> 11) / 2**53
    drawn = max(low * (1 - share) + high * share, low)
    drawn = drawn if drawn < high else low
    return drawn if edges is None else max(edge for edge in edges if edge <= drawn)


def drawn_splits(rows, j, is_categorical, number, edges=None):
    """Each (left, right, threshold) that a number allows: missing values on both sides, and against the others."""
    if is_categorical:
        found = list(prefixes(rows, j, "entropy"))
        if found:
            left, right = found[number % len(found)]
            yield left, right, None
        return
    threshold = drawn_threshold(rows, j, number, edges)
    missing = [row for row in rows if isnan(row[0][j])]
    if threshold is not None:
        left = [row for row in rows if row[0][j] <= threshold]
        right = [row for row in rows if row[0][j] > threshold]
        yield left, right + missing, threshold
        if missing:
            yield left + missing, right, threshold
    if missing and len(missing) < len(rows):
        yield [row for row in rows if not isnan(row[0][j])], missing, inf


def bin_size(counts, n_bins):
    """The size that makes `n_bins` bins of rows, where a value with more rows counts as one bin; by bisection."""
    low, high = 0.0, float(sum(counts))
    for _ in range(200):
        size = (low + high) / 2
        low, high = (size, high) if sum(min(count, size) for count in counts) > n_bins * size else (low, size)
    return high


def budgets(budget, left, right):
    """The parts of a budget that reach the two sides: the richer one is read first."""
    if share(left) >= share(right):
        return min(budget, weight(left)), max(budget - weight(left), 0)
    return max(budget - weight(right), 0), min(budget, weight(right))


def inherited(left, right):
    """The average precision that each side has in the split: the inherited rule compares the next split with it."""
    if positives(left + right) == 0:
        return 1.0, 1.0
    return average_precision([left, right]), average_precision([right, left])


def improvement(rows, best, passed_on, root_weight):
    """The inherited improvement: impurity is 1 - AP, a node's own being that of its side in the parent's split."""
    after = weight(rows) if positives(rows) == 0 else best + positives(rows)  # n_l AP_left + n_r AP_right
    return (after - weight(rows) * passed_on) / root_weight


# a tree of trees ----------------------------------------------------------------------------------------------


def slope(w, p, by):
    """The number by which leaves are ordered, exactly; whole weights."""
    if p == 0:
        return inf
    miss = Fraction(int(w - p), int(w))
    return miss / int(p) if by == "slope" else miss


def ordered_leaves(leaves, by):
    """The leaves (w, p), the better first; of equal ones the larger, but of those without positives the smaller."""
    return sorted(leaves, key=lambda leaf: (slope(*leaf, by), leaf[0] if leaf[1] == 0 else -leaf[0]))


def merged(leaves, merge):
    """Return how many of the ordered leaves (w, p) make the better side, exactly; the first maximum."""
    w, p = (Fraction(int(sum(column))) for column in zip(*leaves, strict=True))
    values = []
    for i in range(1, len(leaves) + 1):
        wl, pl = (int(sum(column)) for column in zip(*leaves[:i], strict=True))
        values.append(pl * pl / (p * wl) + (p - pl) / w if merge == "ap" else pl / p - (wl - pl) / (w - p))
    return values.index(max(values)) + 1


def smoothed_precision(positives, weight, prior):
    """The share of positives after one more row of the usual kind."""
    return (positives + prior) / (weight + 1)


# walking ------------------------------------------------------------------------------------------------------


def goes_left(graph, node, x):
    j = graph.feature[node]
    if isnan(x[j]):
        return bool(graph.missing_left[node])
    if graph.n_categories[j] == 0:
        return x[j] <= graph.threshold[node]
    if x[j] not in range(graph.n_categories[j]):
        return bool(graph.missing_left[node])
    word, bit = divmod(int(x[j]), 64)
    return bool(int(graph.subset[node, word]) >> bit & 1)


def descend(graph, x, node=0, trail=()):
    """The tests a row passes in its last internal tree, the leaf it ends in there, and the number of its final leaf."""
    if graph.feature[node] >= 0:
        child = graph.left[node] if goes_left(graph, node, x) else graph.right[node]
        return descend(graph, x, child, (*trail, node))
    if graph.jump[node] >= 0:
        return descend(graph, x, graph.first[graph.jump[node]])
    return trail, node, -1 - graph.jump[node]


def label(graph, node):
    w, p = graph.sums[node, :2]
    return int(p > w - p) - int(p < w - p)


def path_distance(graph, x):
    """The distance to the nearest threshold on the way, signed by the majority of the leaf."""
    trail, leaf, _ = descend(graph, x)
    numeric = [k for k in trail if graph.n_categories[graph.feature[k]] == 0 and not isnan(x[graph.feature[k]])]
    gaps = [abs(x[graph.feature[k]] - graph.threshold[k]) for k in numeric]
    gaps = [gap for gap in gaps if not isinf(gap)]
    return label(graph, leaf) * min(gaps) if gaps else 0.0


def boxes(graph, node, box):
    """The leaves below a node, each with the interval that is open to it in each feature."""
    j = graph.feature[node]
    if j < 0:
        yield node, box
        return
    low, high = box[j]
    left, right = list(box), list(box)
    if graph.n_categories[j] == 0:
        left[j], right[j] = (low, min(high, graph.threshold[node])), (max(low, graph.threshold[node]), high)
    yield from boxes(graph, graph.left[node], left)
    yield from boxes(graph, graph.right[node], right)


def boundary_distance(graph, x, scale):
    """The distance, in units of `scale`, to the nearest leaf of another label, signed by the row's own leaf."""
    _, own, _ = descend(graph, x)
    block = next(k for k in range(len(graph.first)) if graph.first[k] <= own < graph.end[k])
    gaps = []
    for leaf, box in boxes(graph, graph.first[block], [(-inf, inf)] * len(x)):
        if label(graph, leaf) != label(graph, own):
            known = [j for j in range(len(x)) if not isnan(x[j])]
            gaps.append(sqrt(sum((max(box[j][0] - x[j], 0, x[j] - box[j][1]) / scale[j]) ** 2 for j in known)))
    gaps = [gap for gap in gaps if not isinf(gap)]
    return label(graph, own) * min(gaps) if gaps else 0.0
