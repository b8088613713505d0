"""
A stream of payments in which the frauds change
===============================================

Frauds that are found teach the fraudsters, and customers change their ways as well: what a model learned last year may
be wrong today. Here are **simulated** payments of two features, one by one. Half-way through, customers take to the
way of paying that frauds had before, and the frauds move elsewhere. Each payment is predicted first and learned
afterwards, which is river's *progressive validation*.

CCNND learns every row, so that it comes to know the new frauds in any case; but the old rows stay, and among them the
new genuine payments look like frauds. `to_river` makes a classifier of river from it. With one of river's drift
detectors it notices that the rows of a class are recognised less often than before, and forgets all but the latest
rows of each class. The g-mean, the geometric mean of the two classes' recalls, then falls less and recovers sooner.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from river import drift
from river.preprocessing import StandardScaler

from scarce.neighbors import CCNND
from scarce.stream import to_river

N, CHANGE, WINDOW = 800, 400, 200
COLOURS = {"never forgets": "#0072B2", "forgets at a drift": "#D55E00"}
CENTRES = {"before": {False: (0.0, 0.0), True: (3.0, 0.0)}, "after": {False: (3.0, 0.5), True: (0.5, 2.0)}}


def payments(seed: int = 0) -> Iterator[tuple[dict[str, float], bool]]:
    """Yield payments as river takes them: the features by name, and whether it is a fraud."""
    rng = np.random.default_rng(seed)
    for i in range(N):
        fraud = bool(rng.random() < 0.08)
        amount, distance = rng.normal(CENTRES["before" if i < CHANGE else "after"][fraud])
        yield {"amount": amount, "distance": distance}, fraud


def recent_g_mean(fraud: np.ndarray, flagged: np.ndarray) -> np.ndarray:
    """Return the g-mean of the last payments after each one, from the first at which there are enough of them."""
    recalls = []
    for label in (False, True):
        own = fraud == label
        right, all_own = (np.convolve(rows, np.ones(WINDOW), "valid") for rows in (own & (flagged == label), own))
        recalls.append(right / all_own)
    return np.sqrt(recalls[0] * recalls[1])


# %%
# Both models see the same payments; one of them asks a drift detector after each.
detector = drift.ADWIN(clock=1)  # ask after each row, since those of a rare class are few
classifiers = {
    "never forgets": to_river(CCNND(pos_label=True)),
    "forgets at a drift": to_river(CCNND(pos_label=True), drift_detector=detector),
}
models = {name: StandardScaler() | classifier for name, classifier in classifiers.items()}
found: dict[str, list[bool]] = {name: [] for name in models}
drifts: list[int] = []
for i, (x, fraud) in enumerate(payments()):
    for name, model in models.items():
        known = classifiers[name].n_drifts_.total()
        found[name].append(model.predict_one(x) or False)
        model.learn_one(x, fraud)
        if classifiers[name].n_drifts_.total() > known:
            drifts.append(i)

figure, axes = plt.subplot_mosaic("ab;cc", figsize=(9, 8), layout="constrained", height_ratios=(1, 1))
figure.suptitle("A stream of payments, SIMULATED, that changes half-way through")
rows = [(x["amount"], x["distance"], fraud) for x, fraud in payments()]
for panel, when, part in (("a", "before", slice(CHANGE)), ("b", "after", slice(CHANGE, None))):
    amount, distance, fraud = (np.array(values) for values in zip(*rows[part], strict=True))
    for label, mark, colour in ((False, ".", "#999999"), (True, "x", "#000000")):
        mine = fraud == label
        name = "fraud" if label else "genuine"
        axes[panel].plot(amount[mine], distance[mine], mark, color=colour, markersize=4, label=name)
    axes[panel].set(title=f"{when} the change", xlabel="amount", ylabel="distance", xlim=(-4, 7), ylim=(-4, 6))
axes["a"].legend(loc="upper left")
truth = np.array([fraud for *_, fraud in rows])
for name, flagged in found.items():
    curve = recent_g_mean(truth, np.array(flagged))
    print(f"{name:>20}: g-mean {curve[-1]:.3f} over the last {WINDOW} payments")
    axes["c"].plot(range(WINDOW, N + 1), curve, color=COLOURS[name], label=name)
axes["c"].axvline(CHANGE, color="#000000", linewidth=1, label="the payments change")
for i, at in enumerate(drifts):
    axes["c"].axvline(at, color=COLOURS["forgets at a drift"], linestyle=":", label=None if i else "drift detected")
axes["c"].set(xlabel="payments so far", ylabel=f"g-mean of the last {WINDOW} payments", ylim=(0, 1))
axes["c"].legend(loc="lower left")
plt.show()
