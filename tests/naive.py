"""Slow, obvious versions of every fast function, for the tests to compare with."""

from itertools import pairwise, permutations

import numpy as np

# objectives ---------------------------------------------------------------------------------------------------


def confusion(scores, y, threshold, weight):
    tp = fp = tn = fn = 0.0
    for s, truth, w in zip(scores, y, weight, strict=True):
        if s > threshold:
            tp, fp = tp + w * (truth == 1), fp + w * (truth != 1)
        else:
            tn, fn = tn + w * (truth != 1), fn + w * (truth == 1)
    return tp, fp, tn, fn


def every_threshold(scores):
    """One threshold for each way of cutting the scores."""
    distinct = sorted(set(scores))
    middles = [a / 2 + b / 2 for a, b in pairwise(distinct)]
    return [np.nextafter(distinct[0], -np.inf), *middles, distinct[-1]]


def objective_value(objective, scores, y, threshold, weight, gains=None, period=None):
    """What a threshold is worth, or None where it is not allowed."""
    tp, fp, tn, fn = confusion(scores, y, threshold, weight)
    name = type(objective).__name__
    tpr, tnr = tp / (tp + fn), tn / (tn + fp)
    if name == "FBeta":
        b2 = objective.beta**2
        return (1 + b2) * tp / ((1 + b2) * tp + b2 * fn + fp)
    if name == "GMean":
        return (tpr * tnr) ** 0.5
    if name == "BalancedAccuracy":
        return (tpr + tnr) / 2
    if name == "ClassWeightedAccuracy":
        return objective.alpha * tpr + (1 - objective.alpha) * tnr
    if name == "Jaccard":
        return tp / (tp + fp + fn)
    if name == "MCC":
        scale = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
        return (tp * tn - fp * fn) / scale**0.5 if scale > 0 else 0.0
    if name == "PrecisionAtLeast":
        return tpr if tp + fp > 0 and tp / (tp + fp) >= objective.precision - 1e-12 else None
    if name == "RecallAtLeast":
        return tp / (tp + fp) if tp + fp > 0 and tpr >= objective.recall - 1e-12 else None
    if name == "Budget":
        period = [0] * len(y) if period is None else period
        for one in set(period):
            inside = [i for i in range(len(y)) if period[i] == one]
            spent = sum(weight[i] for i in inside if scores[i] > threshold)
            total = sum(weight[i] for i in inside)
            allowed = objective.limit if isinstance(objective.limit, int) else objective.limit * total
            if spent > allowed + 1e-7:
                return None
        return tpr
    if name == "Profit":
        total = 0.0
        for s, truth, w, (g_tp, g_fp, g_tn, g_fn) in zip(scores, y, weight, gains, strict=True):
            called = s > threshold
            total += w * ((g_tp if called else g_fn) if truth == 1 else (g_fp if called else g_tn))
        return total
    raise NotImplementedError(name)


# neighbours ---------------------------------------------------------------------------------------------------


def kneighbors(rows, numbers, query, k, skip=None, power=2):
    """The k nearest (distance, number) of some rows, without the row numbered `skip`."""
    found = []
    for row, number in zip(rows, numbers, strict=True):
        if number != skip:
            total = sum(abs(float(a) - float(b)) ** power for a, b in zip(query, row, strict=True))
            found.append((total ** (1 / power), int(number)))
    return sorted(found)[:k]


def distances(X, Q):
    """The distance of each row of Q to each of X, by differences; 0 becomes tiny so that γ can scale it."""
    difference = np.asarray(Q, dtype=float)[:, None, :] - np.asarray(X, dtype=float)[None, :, :]
    return np.maximum(np.sqrt((difference**2).sum(axis=2)), 1e-300)


def gamma_vote(distance, y, k, gamma, tie, skip=None):
    """Algorithm 1 of the paper for one query: scale the distances to positives, keep k, count; 1 is positive.

    A scaled positive and a negative distance that differ by rounding only count as equal.
    """
    k = min(k, len(y))
    positives = sorted(gamma * d for i, d in enumerate(distance) if y[i] == 1 and i != skip)
    negatives = sorted(d for i, d in enumerate(distance) if y[i] == 0 and i != skip)
    kept = {1: 0, 0: 0}
    for _ in range(k):
        p = positives[kept[1]] if kept[1] < len(positives) else np.inf
        q = negatives[kept[0]] if kept[0] < len(negatives) else np.inf
        if p == q == np.inf:
            break
        equal = p != np.inf and q != np.inf and abs(p - q) <= 1e-12 * q
        nearer = 1 if (tie == "positive" if equal else p < q) else 0
        kept[nearer] += 1
    return int(2 * kept[1] >= k) if tie == "positive" else int(2 * kept[1] > k)


def gamma_vote_multi_class(distance, y, k, gamma, precedence, skip=None):
    """The vote with a γ for each class; `precedence` lists the classes in the order in which they win ties."""
    place = {int(c): i for i, c in enumerate(precedence)}
    scaled = sorted(
        (gamma[c] * d, place[int(c)], int(c)) for i, (d, c) in enumerate(zip(distance, y, strict=True)) if i != skip
    )
    nearest = [c for _, _, c in scaled[:k]]
    return max(place, key=lambda c: (nearest.count(c), -place[c]))


def macro_f1(truth, predicted, n_classes):
    total = 0.0
    for c in range(n_classes):
        hits = sum(t == c and p == c for t, p in zip(truth, predicted, strict=True))
        size = sum(t == c for t in truth) + sum(p == c for p in predicted)
        total += 2 * hits / size if size else 0.0
    return total / n_classes


# explanations -------------------------------------------------------------------------------------------------


def occlusion(score, X, background):
    out = np.zeros(X.shape)
    for i, row in enumerate(X):
        for f in range(X.shape[1]):
            changed = []
            for other in background:
                copy = row.copy()
                copy[f] = other[f]
                changed.append(score(copy[None, :])[0])
            out[i, f] = score(row[None, :])[0] - np.mean(changed)
    return out


# datasets -----------------------------------------------------------------------------------------------------


def parse_csv(lines):
    """Cells separated by commas, the label last; one 0/1 column per word where a column has a word."""

    def number(cell):
        return float("nan") if cell in ("", "?", "<null>", "NA") else float(cell)

    rows = [[cell.strip() for cell in line.split(",")] for line in lines]
    columns = []
    for column in list(zip(*rows, strict=True))[:-1]:
        try:
            columns.append([number(cell) for cell in column])
        except ValueError:
            columns += [[float(cell == word) for cell in column] for word in sorted(set(column))]
    return np.array(columns).T, [row[-1] for row in rows]


# metrics ------------------------------------------------------------------------------------------------------


def first_k(scores, amount, k):
    """Sum of `amount` over the first k rows, averaged over every order of the rows that sorting may leave."""
    budget = k * len(scores) if isinstance(k, float) else min(k, len(scores))
    sums = []
    for order in permutations(range(len(scores))):
        ranked = sorted(order, key=lambda i: -scores[i])
        sums.append(sum(amount[i] * min(max(budget - place, 0), 1) for place, i in enumerate(ranked)))
    return sum(sums) / len(sums), budget


def precision_at_k(y, scores, k):
    hits, budget = first_k(scores, y, k)
    return hits / budget


def recall_at_k(y, scores, k):
    return first_k(scores, y, k)[0] / sum(y)


def value_at_k(y, scores, k, value):
    return first_k(scores, [truth * worth for truth, worth in zip(y, value, strict=True)], k)[0]


def rates(y, predicted):
    called = [p for truth, p in zip(y, predicted, strict=True) if truth == 1]
    left = [1 - p for truth, p in zip(y, predicted, strict=True) if truth == 0]
    return sum(called) / len(called), sum(left) / len(left)


def profit(y, predicted, gains):
    total = 0
    for truth, p, (tp, fp, tn, fn) in zip(y, predicted, gains, strict=True):
        total += (tp if p else fn) if truth else (fp if p else tn)
    return total


def profit_gap(y, predicted, gains):
    most = sum(row[0] if truth else row[2] for truth, row in zip(y, gains, strict=True))
    return (most - profit(y, predicted, gains)) / abs(most)


def savings(y, predicted, gains):
    """Bahnsen's formula, with the costs that the gains are the negative of."""
    cost, nobody, everybody = (-profit(y, p, gains) for p in (predicted, [0] * len(y), [1] * len(y)))
    return 1 - cost / min(nobody, everybody)


def bootstrap_figures(metric, y, scores, n_resamples, random_state):
    """The metric of resamples that are drawn class by class from the rows in the order of their scores."""
    random = np.random.RandomState(random_state)
    rows = sorted(range(len(y)), key=lambda i: scores[i])
    figures = []
    for _ in range(n_resamples):
        drawn = []
        for label in sorted(set(y)):
            of_class = [i for i in rows if y[i] == label]
            drawn += [of_class[j] for j in random.randint(len(of_class), size=len(of_class))]
        figures.append(metric([y[i] for i in drawn], [scores[i] for i in drawn]))
    return figures


# simulated payments -------------------------------------------------------------------------------------------


def payment_history(second, customer, cents, shop):
    """What each customer did before each payment, read off the earlier rows."""
    day = 86_400
    rows = []
    for i in range(len(second)):
        earlier = [j for j in range(i) if customer[j] == customer[i]]
        mean = sum(int(cents[j]) for j in earlier) / len(earlier) if earlier else np.nan
        rows.append(
            {
                "payments_7d": sum(second[j] >= second[i] - 7 * day for j in earlier),
                "amount_30d": sum(int(cents[j]) for j in earlier if second[j] >= second[i] - 30 * day) / 100,
                "days_since_last": (second[i] - second[earlier[-1]]) / day if earlier else np.nan,
                "amount_ratio": cents[i] / mean,
                "new_shop": all(shop[j] != shop[i] for j in earlier),
            }
        )
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}
