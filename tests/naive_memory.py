"""Slow, obvious versions of what the desk remembers, of its order and of the replay."""

from __future__ import annotations

import math

STEPS = (1, 2, 4)


def naive_counts(verdicts, entity, now, window):
    """Count confirmed and cleared cases of an entity; `verdicts` are (case, entities, positive, moment)."""
    recent = [v for v in verdicts if entity in v[1] and now - window < v[3]]
    return sum(1 for v in recent if v[2]), sum(1 for v in recent if not v[2])


def naive_correction(weights, confirmed, cleared):
    total = 0.0
    for part, count in ((weights.confirmed, confirmed), (weights.cleared, cleared)):
        total += sum(weight for step, weight in zip(STEPS, part, strict=True) if count >= step)
    return total


def naive_order(cases, verdicts, weights, now, window):
    """Order open cases anew from all verdicts; `cases` are (number, log-odds, entities)."""
    decided = {v[0] for v in verdicts}
    keys = []
    for number, log_odds, entities in cases:
        if number not in decided:
            added = [naive_correction(weights, *naive_counts(verdicts, e, now, window)) for e in sorted(set(entities))]
            keys.append((-(log_odds + sum(added)), number))
    return [number for _, number in sorted(keys)]


def naive_penalised_loss(log_odds, counts, outcome, start, penalty, slope, intercept, weights):
    """The loss whose minimum the weights are; `weights` are in units of the outcome's log-odds."""
    loss = 0.0
    for own, row, y in zip(log_odds, counts, outcome, strict=True):
        z = intercept + slope * own
        for (confirmed, cleared), w in zip(row, weights, strict=True):
            z += naive_correction(w, confirmed, cleared)
        loss += math.log1p(math.exp(-z if y else z))
    for w, s in zip(weights, start, strict=True):
        for own, origin in zip((*w.confirmed, *w.cleared), (*s.confirmed, *s.cleared), strict=True):
            loss += penalty / 2 * (own - origin) ** 2
    return loss + penalty / 2 * (slope - 1) ** 2 + 1e-6 / 2 * intercept**2


def naive_replay(payments, score, office, block):
    """Check payments round by round, with a score that never changes; return found, money and apart by day."""
    n = len(payments.time)
    checked, refused, found = set(), set(), []
    confirmed = []  # row and moment
    looked = office.first * 86400.0
    for day in range(office.first, office.last):
        frauds, money, apart = 0, 0.0, [0] * payments.entities.shape[1]
        for hour in office.rounds:
            now = day * 86400.0 + hour * 3600.0
            for row in range(n):
                if block and looked < payments.time[row] <= now:
                    own = [at for other, at in confirmed if payments.entities[other, 0] == payments.entities[row, 0]]
                    if own and payments.time[row] < max(own) + office.blocked_days * 86400:
                        refused.add(row)
            looked = now
            waiting = [
                row
                for row in range(n)
                if row not in checked | refused and now - office.open_hours * 3600 < payments.time[row] <= now
            ]
            waiting.sort(key=lambda row: (-score[row], row))
            new = waiting[: office.checks]
            checked.update(new)
            positive = [row for row in new if payments.y[row] == 1]
            for row in positive:
                frauds, money = frauds + 1, money + payments.amount[row]
                for c in range(len(apart)):
                    same = [at for o, at in confirmed if payments.entities[o, c] == payments.entities[row, c]]
                    apart[c] += all(now - at >= office.recent_days * 86400 for at in same)
            confirmed += [(row, now) for row in positive]
        found.append((frauds, money, *apart))
    return found
