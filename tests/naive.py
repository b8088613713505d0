"""Slow, obvious versions of every fast function, for the tests to compare with."""

import math
from fractions import Fraction
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


def objective_value(objective, scores, y, threshold, weight, gains=None, period=None, groups=None):
    """The value of a threshold, or None where it is not allowed."""
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
            called = [i for i in inside if scores[i] > threshold]
            if objective.distinct:
                spent, total = len({groups[i] for i in called}), len({groups[i] for i in inside})
            else:
                spent, total = sum(weight[i] for i in called), sum(weight[i] for i in inside)
            allowed = objective.rows if objective.rows is not None else objective.share * total
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


def nearest_at_any_scale(rows, query, k, skip=-1):
    """The k nearest (distance, position) of some rows, with differences brought near 1 by a power of two."""
    apart = [[float(a) - float(b) for a, b in zip(query, row, strict=True)] for row in rows]
    power = math.frexp(max(abs(d) for row in apart for d in row))[1]
    scaled = [[math.ldexp(d, -power) for d in row] for row in apart]
    squared = [sum(d * d for d in row) for row in scaled]
    nearest = sorted((d, position) for position, d in enumerate(squared) if position != skip)[:k]
    return [(math.ldexp(math.sqrt(d), power), position) for d, position in nearest]


def nearest_by_differences(rows, query, k, skip=-1):
    """The k nearest (distance, position) of some rows, each distance a sum in the order of the features."""
    found = []
    for position, row in enumerate(rows):
        total = 0.0
        for a, b in zip(query, row, strict=True):
            total += (float(a) - float(b)) * (float(a) - float(b))
        if position != skip:
            found.append((math.sqrt(total), position))
    return sorted(found)[:k]


def gamma_score(X, y, query, k, tie):
    """The score d⁻ / (d⁻ + d⁺) of γk-NN, from all distances: 1/2 where both are 0 or both are missing."""
    k = min(k, len(y))
    needed = k // 2 + 1 if tie == "negative" else (k + 1) // 2
    far, near = (
        ([d for d, _ in nearest_by_differences(X[y == code], query, at)] + [math.inf] * at)[at - 1]
        for code, at in ((0, k - needed + 1), (1, needed))
    )
    if far == near:
        return 0.5
    if math.inf in (far, near):
        return float(far == math.inf)
    return far / (far + near)


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
    """The earlier payments of each customer before each payment, read off the earlier rows."""
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


# audit --------------------------------------------------------------------------------------------------------


def column_contributions(score, frame, usual):
    """The part of each column in each row's score: one row, one column and one usual value at a time."""
    added = np.zeros((len(frame), len(usual)))
    for i in range(len(frame)):
        for j, name in enumerate(usual):
            expected = 0.0
            for value, weight in zip(usual[name].values, usual[name].weights, strict=True):
                row = frame.iloc[[i]].copy()
                row[name] = value
                expected += weight * score(row)[0]
            added[i, j] = score(frame.iloc[[i]])[0] - expected
    return added


def rank_within_fold(scores, folds):
    """The share of its fold that each row outranks, ties counted half, itself included as a tie."""
    return [
        sum((s < score) + (s == score) / 2 for s, f in zip(scores, folds, strict=True) if f == fold) / folds.count(fold)
        for score, fold in zip(scores, folds, strict=True)
    ]


# informative, confident and locally weighted neighbours --------------------------------------------------------


def weighted_neighbors(X, query, weight, k, skip=None):
    """The k smallest (weight times distance, row)."""
    found = []
    for j, row in enumerate(X):
        if j != skip:
            square = sum((float(a) - float(b)) ** 2 for a, b in zip(query, row, strict=True))
            found.append((weight[j] * max(np.sqrt(square), 1e-300), j))
    return sorted(found)[:k]


def informative_neighbors(X, y, query, k, gamma, factors=None, skip=None):
    """The k nearest as (P up to a factor, informativeness, row), the most informative first.

    1 - P is written as the sum of the others, which is exact where P is all but 1.
    """
    rows = [j for j in range(len(X)) if j != skip]
    factors = np.ones(len(X)) if factors is None else factors
    weighted = []
    for distance, j in weighted_neighbors(X, query, factors, k, skip):
        eta = sum(y[other] == y[j] for other in rows) / len(rows)
        product = 1.0
        for other in rows:
            if y[other] != y[j]:
                square = sum((float(a) - float(b)) ** 2 for a, b in zip(X[j], X[other], strict=True))
                product *= 1 - min(np.exp(-square / gamma), 1 - 1e-12)
        weighted.append((np.exp(-(distance**2) / gamma) ** eta * product ** (1 - eta), j))
    total = sum(p for p, _ in weighted)
    out = []
    for a, (p, j) in enumerate(weighted):
        rest = sum(q for b, (q, _) in enumerate(weighted) if b != a) / total
        out.append((p, -p / total * np.log(rest) if rest > 0 else np.inf, j))
    return sorted(out, key=lambda one: -one[0])


def confident_votes(X, y, query, weight, k, by_distance):
    """The sum of the votes of each class."""
    near = weighted_neighbors(X, query, np.ones(len(X)), k)
    if by_distance and near[0][0] == 1e-300:
        near = [(1.0, j) for d, j in near if d == 1e-300]
    sums = [0.0] * (max(y) + 1)
    for d, j in near:
        sums[y[j]] += weight[j] / d if by_distance else weight[j]
    return sums


def log_density_without(density, taken, row):
    """The log-density of a row in its class without another of its rows, from sums of weighted squares."""

    def part(c, share, mean, variance):
        return np.log(share[c]) - 0.5 * sum(
            np.log(2 * np.pi * v) + (x - m) ** 2 / v for x, m, v in zip(row, mean[c], variance[c], strict=True)
        )

    m, reg = len(row), 1e-3
    if density.n_components == 0:
        n = density.n_rows
        mean = [[(n * density.means[0][f] - taken[f]) / (n - 1) for f in range(m)]]
        total = np.mean(density.variances[0] - reg) * max(1, density.n_pooled)
        # The sum of squares about the mean: that of all less that of the others.
        total -= np.mean([(n / (n - 1)) * (taken[f] - density.means[0][f]) ** 2 for f in range(m)])
        return part(0, [1.0], mean, [[max(total, 0) / max(1, density.n_pooled - 1) + reg] * m])
    codes = range(density.n_components)
    heights = []
    for c in codes:
        squares = zip(taken, density.means[c], density.variances[c], strict=True)
        heights.append(np.log(density.rows[c]) - 0.5 * sum(np.log(v) + (x - mu) ** 2 / v for x, mu, v in squares))
    size, mean, variance = [], [], []
    for c in codes:
        share = np.exp(heights[c] - np.logaddexp.reduce(heights))
        left = density.rows[c] - share
        if left <= 1e-6:
            size.append(0.0)
            mean.append([0.0] * m)
            variance.append([1.0] * m)
            continue
        mu, v = density.means[c], density.variances[c] - reg
        size.append(left)
        mean.append([(density.rows[c] * mu[f] - share * taken[f]) / left for f in range(m)])
        squares = [density.rows[c] * (v[f] + mu[f] ** 2) - share * taken[f] ** 2 for f in range(m)]
        variance.append([max(squares[f] / left - mean[c][f] ** 2, 0.0) + reg for f in range(m)])
    share = [one / sum(size) for one in size]
    return np.logaddexp.reduce([part(c, share, mean, variance) for c in codes if share[c] > 0])


def confident_score(X, y, query, log_weight, k, by_distance, skip, lightest):
    """The logarithm of the ratio of the votes, in logarithms throughout; a class without a vote has less than any."""
    near = weighted_neighbors(X, query, np.ones(len(X)), len(X), skip)
    last = near[k - 1][0]
    voters = [(log_weight[j] + by_distance * np.log(last / d), y[j]) for d, j in near[:k]]
    if by_distance and near[0][0] == 1e-300:
        voters = [(log_weight[j], y[j]) for d, j in near[:k] if d == 1e-300]
    side = []
    for code in (0, 1):
        votes = [vote for vote, own in voters if own == code]
        nearest = next(d for d, j in near if y[j] == code)
        floor = lightest - (1 if last == 1e-300 else nearest / (nearest + last))
        side.append(np.logaddexp.reduce(votes) if votes else floor)
    return side[1] - side[0]


def local_state(X, y, weight):
    """The smooth g-mean, its gradient in the logarithms of the weights, and the g-mean of predictions."""
    right, hits = {0: [], 1: []}, {0: [], 1: []}
    moves = []
    for i in range(len(X)):
        near = weighted_neighbors(X, X[i], weight, len(X), skip=i)
        own = [(d, j) for d, j in near if y[j] == y[i]]
        other = [(d, j) for d, j in near if y[j] != y[i]]
        r = min(max(other[0][0] / own[0][0], 1e-3), 1e3) if own else 1e-3
        sigma = 1 / (1 + np.exp(10 * (1 - r)))
        right[y[i]].append(sigma)
        slope = 10 * sigma * (1 - sigma) * r
        moves.append((y[i], slope, other[0][1], own[0][1] if own else None))
        hits[y[i]].append(bool(own) and (own[0][0] < other[0][0] if y[i] == 1 else own[0][0] <= other[0][0]))
    mean = {c: np.mean(right[c]) for c in (0, 1)}
    smooth = np.sqrt(mean[0] * mean[1])
    gradient = np.zeros(len(X))
    for c, slope, other, own in moves:
        gradient[other] += smooth / 2 * slope / (mean[c] * len(right[c]))
        if own is not None:
            gradient[own] -= smooth / 2 * slope / (mean[c] * len(right[c]))
    return smooth, gradient, np.sqrt(np.mean(hits[0]) * np.mean(hits[1]))


def local_weights(X, y):
    """Gradient ascent with halved steps; the weights of the best g-mean on the way."""
    theta, step, taken = np.zeros(len(X)), 0.1, 0
    smooth, gradient, best = local_state(X, y, np.exp(theta))
    kept = theta
    while taken < 200 and step >= 1e-4 and any(gradient != 0):
        tried = np.clip(theta + step * len(X) * gradient, -3, 3)
        new_smooth, new_gradient, hard = local_state(X, y, np.exp(tried))
        if new_smooth > smooth:
            theta, smooth, gradient, taken = tried, new_smooth, new_gradient, taken + 1
            if hard > best:
                best, kept = hard, theta
        else:
            step /= 2
    return np.exp(kept)


# votes --------------------------------------------------------------------------------------------------------


def walk_outwards(distance, y, precedence=(1, 0)):
    """The row numbers from near to far; of equally far ones in the order of their classes."""
    return sorted(range(len(y)), key=lambda i: (distance[i], list(precedence).index(y[i]), i))


def distance_weighted_sums(distance, y, k, weights, precedence=(1, 0)):
    """The sum of the weights of the k nearest rows of each class."""
    nearest = walk_outwards(distance, y, precedence)[:k]
    first, last = distance[nearest[0]], distance[nearest[-1]]
    sums = dict.fromkeys(precedence, 0.0)
    for i in nearest:
        if weights == "linear":
            sums[y[i]] += 1.0 if last == first else (last - distance[i]) / (last - first)
        elif first <= 1e-300:
            sums[y[i]] += distance[i] <= 1e-300
        else:
            sums[y[i]] += 1 / distance[i]
    return sums


def duplicated_vote(distance, y, k):
    """k nearest neighbours after every positive row was copied; 1 is positive."""
    copies = max(1, round(sum(c == 0 for c in y) / sum(c == 1 for c in y)))
    table = [(d, c) for d, c in zip(distance, y, strict=True) for _ in range(copies if c == 1 else 1)]
    nearest = sorted(table, key=lambda one: (one[0], -one[1]))[:k]
    return int(2 * sum(c for _, c in nearest) > len(nearest))


def neighbor_weighted_sums(similarity, distance, y, k, c, precedence=(1, 0)):
    """NWKNN's score of each class, with the similarity as a function of a row and the k-th distance."""
    sizes = {code: sum(label == code for label in y) for code in precedence}
    nearest = walk_outwards(distance, y, precedence)[:k]
    sums = dict.fromkeys(precedence, 0.0)
    for i in nearest:
        weight = (min(sizes.values()) / sizes[y[i]]) ** (1 / c)
        sums[y[i]] += weight * similarity(i, distance[nearest[-1]])
    return sums


def wilson(successes, n, z):
    """Both limits of Wilson's interval: where the rate is z standard errors from the one observed."""
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * (rate * (1 - rate) / n + z * z / (4 * n * n)) ** 0.5
    return centre - half, centre + half


def krnn(distance, y, k, z):
    """The rows of the neighbourhood, P(positive) and whether it was raised."""
    n, n_positive = len(y), sum(c == 1 for c in y)
    order = walk_outwards(distance, y)
    p = nn = 0
    for place, i in enumerate(order):
        p, nn = p + (y[i] == 1), nn + (y[i] == 0)
        if p >= min(k, n_positive) and (place + 1 == n or y[order[place + 1]] == 0):
            break
    share = n_positive / n
    raised = wilson(p, p + nn, z)[0] > share + z * (share * (1 - share) / n) ** 0.5
    against = nn
    if raised and nn:
        against = nn / ((p / nn) / (n_positive / (n - n_positive)))
    return p, nn, (p + 1 / n) / (p + against + 2 / n), raised


def pnn(distance, y, k, z):
    """The rows of the neighbourhood, P(positive) and whether the query is called positive."""
    n, n_positive = len(y), sum(c == 1 for c in y)
    m = min(-(-k // 2), n_positive)
    p = r = 0
    for i in walk_outwards(distance, y):
        p, r = p + (y[i] == 1), r + 1
        if p == m:
            break
    probability = p / r
    if r > k and wilson(r - p, r, z)[1] < wilson(n - n_positive, n, z)[1]:
        probability = m / k
    return p, r - p, probability, probability > 0.5 or r <= k


def kenn_radii(X, y, z):
    """The radius of every row: that of its ball for an exemplar, else 0."""
    n, n_negative = len(y), sum(c == 0 for c in y)
    radii = [0.0] * n
    for i in range(n):
        distance = distances(X, X[i : i + 1])[0]
        others = [j for j in range(n) if j != i and y[j] == 1]
        if y[i] == 1 and others:
            reach = min(distance[j] for j in others)
            inside = sum(y[j] == 0 and distance[j] < reach for j in range(n))
            if wilson(inside, inside + 2, z)[1] <= wilson(n_negative, n, z)[1] + 1e-12:
                radii[i] = reach
    return radii


def kenn_votes(X, y, query, k, z):
    """How many of the k nearest are positive once distances are measured to the surface of the balls."""
    reduced = distances(X, query[None])[0] - kenn_radii(X, y, z)
    return sum(y[i] for i in walk_outwards(reduced, y)[:k])


# fixed radius -------------------------------------------------------------------------------------------------


def fixed_radius(X, word):
    """The radius that a word stands for, from every pair of rows."""
    pairs = [
        sum((float(a) - float(b)) ** 2 for a, b in zip(X[i], X[j], strict=True))
        for i in range(len(X))
        for j in range(i)
    ]
    if word == "rms":
        return (sum(pairs) / len(pairs)) ** 0.5
    return sum(d2**0.5 for d2 in pairs) / len(pairs) / (2 if word == "half_mean" else 1)


def fixed_radius_rule(rule, distance, y, radius, fallback, sizes, k=None, skip=None):
    """Who wins at one query ("frnn", "frknn" or "gfrnn"), and the share of each class; None where nobody is inside.

    `sizes` has the number of training rows of each class. Distances that differ by rounding only are equal.
    """
    classes = range(len(sizes))
    last_resort = sorted(classes, key=lambda c: c if len(sizes) == 2 else (-sizes[c], c))
    others = [(d, int(c)) for i, (d, c) in enumerate(zip(distance, y, strict=True)) if i != skip]
    asked = [(d, c) for d, c in others if d < radius * (1 - 1e-12)]
    if rule == "frknn":
        asked = sorted(asked, key=lambda row: (round(row[0], 9), last_resort.index(row[1])))[:k]
    if any(d < 1e-12 for d, _ in asked):
        pull = {c: sum(1.0 for d, own in asked if own == c and d < 1e-12) for c in classes}
    else:
        pull = {c: sum(1 / d**2 for d, own in asked if own == c) for c in classes}
    if rule == "gfrnn":
        support = [pull[c] * sum(sizes) / sizes[c] for c in classes]
    else:
        support = [sum(own == c for _, own in asked) for c in classes]
    equal = [c for c in classes if support[c] >= max(support) - 1e-12 * sum(support)]
    if fallback == "nearest" and (not asked or (rule == "gfrnn" and len(equal) > 1)):
        near = {c: min((d for d, own in others if own == c), default=np.inf) for c in equal}
        equal = [c for c in equal if near[c] <= min(near.values()) * (1 + 1e-12)]
    winner = min(equal, key=last_resort.index)
    return winner, [s / sum(support) for s in support] if asked else None


def idgc(distance, y, sizes):
    """Simplified IDGC: every row is a particle, and the forces of a class are multiplied by n / n_c; the class."""
    forces = [
        sum(sizes) / sizes[c] * sum(1 / d**2 for d, own in zip(distance, y, strict=True) if own == c)
        for c in range(len(sizes))
    ]
    return forces.index(max(forces))


# nearest-neighbour distances within a class -------------------------------------------------------------------


def ccnnd(X, y, query, k, classes, skip=None):
    """CCNND's share, relative distance and size for each class, without the row numbered `skip`."""

    def near(x, among, size):
        return [d for d, _ in kneighbors(X[among], among, x, size)]

    rows = [i for i in range(len(y)) if i != skip]
    found = []
    for label in classes:
        mine = [i for i in rows if y[i] == label]
        if not mine:
            found.append((Fraction(0), np.inf, 0))
            continue
        if len(mine) == 1:
            vectors = [near(X[mine[0]], [i for i in rows if y[i] != label], 1) or [np.inf]]
        else:
            vectors = [near(X[i], [o for o in mine if o != i], min(k, len(mine) - 1)) for i in mine]
        own = near(query, mine, len(vectors[0]))
        # Distances that differ by rounding only are equal.
        strict = sum(all(b > a * (1 + 1e-12) for a, b in zip(own, v, strict=True)) for v in vectors)
        weak = sum(all(b >= a * (1 - 1e-12) for a, b in zip(own, v, strict=True)) for v in vectors)
        usual = np.mean(vectors)
        ratio = np.mean(own) / usual if usual > 0 else (np.inf if np.mean(own) > 0 else 0.0)
        found.append((strict + Fraction(weak - strict, 2), ratio, len(mine)))
    return [(count / max(size, 1), ratio, size) for count, ratio, size in found]


def ccnnd_alone(X, query, k):
    """CCNND's share and relative distance where there is one class."""
    if len(X) == 1:  # nothing to compare with
        return Fraction(1), float(np.linalg.norm(X[0] - query))
    [(share, ratio, _)] = ccnnd(X, np.zeros(len(X)), query, k, [0])
    return share, ratio


def ccnnd_winner(found):
    """Which class: the largest share, then the smallest relative distance, then the largest class, then the first."""
    best = [i for i, (share, _, _) in enumerate(found) if share == max(f[0] for f in found)]
    nearest = min(found[i][1] for i in best)
    best = [i for i in best if found[i][1] == nearest or found[i][1] - nearest <= 1e-10 * nearest]
    return max(best, key=lambda i: (found[i][2], -i))


def ccnnd_score(found):
    """The difference of two shares, and the number that orders equal differences."""
    (p_negative, far, _), (p_positive, near, _) = found
    if far == near:
        return float(p_positive - p_negative), 0.0
    if np.inf in (far, near):
        return float(p_positive - p_negative), 1.0 if far == np.inf else -1.0
    return float(p_positive - p_negative), (far - near) / (far + near)


# two γ --------------------------------------------------------------------------------------------------------


def two_gamma_vote(distance, kind, k, gamma_real, gamma_synthetic):
    """Section V-B of the paper for one query; kinds are 0 negative, 1 real and 2 synthetic positive."""
    factor = {0: 1.0, 1: gamma_real, 2: gamma_synthetic}
    scaled = [(factor[int(c)] * d, int(c)) for d, c in zip(distance, kind, strict=True)]
    # In the order of distance, with those that differ by rounding only taken for equal; positive first.
    chosen = []
    while scaled and len(chosen) < k:
        nearest = min(d for d, _ in scaled)
        tied = [pair for pair in scaled if pair[0] <= nearest * (1 + 1e-12)]
        first = max(tied, key=lambda pair: pair[1] > 0)
        scaled.remove(first)
        chosen.append(first[1] > 0)
    return int(2 * sum(chosen) >= k)


def best_f_of_two_gammas(rival, real, synthetic, y, weight, real_max, synthetic_max, beta):
    """The highest F-measure over a pair of γ from each cell of the plane, by trying every cell."""
    needed = len(real[0])

    def candidates(rows, top):
        at = {r / d for r, row in zip(rival, rows, strict=True) for d in row if d < np.inf and 1e-200 < r / d < top}
        ends = [0.0, *sorted(at), top]
        return [(a + b) / 2 for a, b in pairwise(ends) if b - a > 1e-9 * b] + [top]

    best = 0.0
    for g in candidates(real, real_max):
        for h in candidates(synthetic, synthetic_max):
            tp = fp = 0.0
            for r, near, made, truth, w in zip(rival, real, synthetic, y, weight, strict=True):
                within = sum(d < np.inf and g * d <= r * (1 + 1e-12) for d in near)
                within += sum(d < np.inf and h * d <= r * (1 + 1e-12) for d in made)
                tp, fp = tp + w * (within >= needed and truth == 1), fp + w * (within >= needed and truth != 1)
            whole = tp + fp + beta**2 * sum(w for w, truth in zip(weight, y, strict=True) if truth == 1)
            best = max(best, (1 + beta**2) * tp / whole if whole else 0.0)
    return best


def gamma_errors(X, y, gamma, n_positive, n_negative):
    """The mean chance of a positive row to be missed and of a negative one to be found, by Propositions 1 and 2."""
    found = []
    for label, scale, m in ((1, 1 / gamma, n_positive), (0, gamma, n_negative)):
        chances = []
        for i in [i for i in range(len(X)) if y[i] == label]:
            nearest = min(math.dist(X[i], X[j]) for j in range(len(X)) if y[j] != label)
            same = [math.dist(X[i], X[j]) for j in range(len(X)) if y[j] == label and j != i]
            chances.append((1 - sum(d < scale * nearest for d in same) / len(same)) ** m)
        found.append(sum(chances) / len(chances))
    return found
