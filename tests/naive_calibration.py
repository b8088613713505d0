"""Slow, obvious versions of the curve from scores to probabilities, and of the calibration error."""

import math

import numpy as np
from scipy.optimize import minimize


def log_odds_of_steps(place, y, weight):
    """The log-odds of the isotonic regression at each distinct place, by its formula of minima and maxima."""
    cells = sorted(set(place))
    positive = [sum(w for p, t, w in zip(place, y, weight, strict=True) if p == c and t) for c in cells]
    total = [sum(w for p, w in zip(place, weight, strict=True) if p == c) for c in cells]
    n_positive, n = sum(positive), sum(total)
    share = n_positive / n
    for end in (0, -1):  # one more row at each end, as often positive as any
        positive[end] += share
        total[end] += 1
    mean = lambda i, j: sum(positive[i : j + 1]) / sum(total[i : j + 1])  # noqa: E731
    last = len(cells)
    heights = [max(min(mean(i, j) for j in range(k, last)) for i in range(k + 1)) for k in range(last)]
    low, high = 1 / (n - n_positive + 2), (n_positive + 1) / (n_positive + 2)
    heights = [min(max(h, low), high) for h in heights]
    return cells, [math.log(h / (1 - h)) for h in heights]


def platt(place, y, weight):
    """The slope and the intercept of the least cross-entropy to Platt's targets."""
    place, y, weight = (np.asarray(part, dtype=float) for part in (place, y, weight))
    n_positive, n_negative = weight[y == 1].sum(), weight[y == 0].sum()
    target = np.where(y == 1, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))

    def loss(at):
        odds = at[0] * place + at[1]
        return weight @ (np.logaddexp(0, odds) - target * odds)

    return minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-12, "maxiter": 4000}).x


def calibration_error(y, probability, n_bins, weight):
    """Fill the bins one after the other, rows of equal probability as one lump of their mean outcome."""
    lumps = []
    for p in sorted(set(probability)):
        rows = [i for i, q in enumerate(probability) if q == p]
        mass = sum(weight[i] for i in rows)
        lumps.append([p, mass, sum(weight[i] for i in rows if y[i]) / mass if mass else 0.0])
    size = sum(mass for _, mass, _ in lumps) / n_bins
    error = 0.0
    for _ in range(n_bins):
        room, distance = size, 0.0
        while room > 1e-12 and lumps:
            p, mass, share = lumps[0]
            taken = min(room, mass)
            distance += taken * (share - p)
            room -= taken
            lumps[0][1] -= taken
            if lumps[0][1] <= 1e-12:
                lumps.pop(0)
        error += abs(distance)
    return error / (size * n_bins)
