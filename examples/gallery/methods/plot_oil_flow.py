"""
Rare states of an oil well, as they appear in a stream
======================================================

A sensor in an oil well reports the flow every 30 seconds. Mostly it is normal; now and then large triangular
oscillations announce *slugging*, and small ones on top of the normal flow announce *churn*. CCNND was tried on such
a stream by Kriminger, Príncipe and Lakshminarayan (2012), whose recording is not public. **The signals here are
simulated**, in the shapes that they describe, so the figures show how the method works and nothing about wells.

As in the paper a row is the flow now and at five earlier moments, 4 samples apart, with the power of the last 16
samples. There are 1500 normal training rows, 50 of slugging and 10 of churn, and 500 of each to recognise. A
nearest neighbour takes much of the churn for normal, since there are so many normal rows. CCNND asks whether a row is
as near to a class as the rows of that class are to each other: it misses little churn, at the cost of false positives.

The last panel is the stream: the model starts without churn, and `partial_fit` gives it one labelled row after
the other. The false positives become fewer as the rows of churn lie closer together.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import ConfusionMatrixDisplay, confusion_matrix
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from scarce.datasets import OIL_STATES, make_oil_rows, simulate_oil_flow
from scarce.neighbors import CCNND, NWKNN

COLOURS = dict(zip(OIL_STATES, ("#E69F00", "#0072B2", "#009E73"), strict=True))
TRAIN = dict(zip(OIL_STATES, (1500, 50, 10), strict=True))
N_TEST = 500


def compare(trials: int) -> dict[str, np.ndarray]:
    """Return for each method the share of each true state (row) that is given each state (column)."""
    models = {
        "CCNND, k = 1": CCNND(1),
        "NWKNN, k = 8, c = 2.5": NWKNN(8, c=2.5),
        "nearest neighbour": KNeighborsClassifier(1),
    }
    tables = dict.fromkeys(models, np.zeros((3, 3)))
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        X, y = make_oil_rows(TRAIN, rng)
        X_new, y_new = make_oil_rows(dict.fromkeys(OIL_STATES, N_TEST), rng)
        scaler = StandardScaler().fit(X)
        for name, model in models.items():
            called = model.fit(scaler.transform(X), y).predict(scaler.transform(X_new))
            tables[name] = tables[name] + confusion_matrix(y_new, called, labels=OIL_STATES, normalize="true") / trials
    return tables


def learn_churn(trials: int) -> dict[str, np.ndarray]:
    """Return the share of each state that is recognised while labelled rows of churn arrive one by one."""
    recognised = {state: np.zeros(TRAIN["churn"]) for state in OIL_STATES}
    for trial in range(trials):
        rng = np.random.default_rng(trial)
        X, y = make_oil_rows(TRAIN, rng)
        X_new, y_new = make_oil_rows(dict.fromkeys(OIL_STATES, N_TEST), rng)
        known = y != "churn"
        scaler = StandardScaler().fit(X[known])
        X, X_new = scaler.transform(X), scaler.transform(X_new)
        model = CCNND(1).fit(X[known], y[known])
        # The first two arrive together: among a single row there are no distances, of which CCNND would warn.
        arrivals = np.split(np.flatnonzero(~known), range(2, TRAIN["churn"]))
        for rows in arrivals:
            model.partial_fit(X[rows], y[rows])
            called = model.predict(X_new)
            for state in OIL_STATES:
                recognised[state][model.class_count_[0] - 1] += np.mean(called[y_new == state] == state) / trials
    return {state: share[1:] for state, share in recognised.items()}


# %%
# The tables are means of four trials, and the stream is repeated four times.
tables = compare(trials=4)
print("Simulated oil flow: what the states (rows) are called (columns), mean of 4 trials")
for name, table in tables.items():
    print(f"\n{name}, error rate {1 - np.trace(table) / 3:.3f}")
    print(" " * 10 + "".join(f"{state:>10}" for state in OIL_STATES))
    for state, shares in zip(OIL_STATES, table, strict=True):
        print(f"{state:>10}" + "".join(f"{share:10.3f}" for share in shares))

figure, axes = plt.subplot_mosaic("nsc;123;lll", figsize=(11, 9), layout="constrained")
figure.suptitle("Oil flow, SIMULATED: three states, 1500 / 50 / 10 training rows")
rng = np.random.default_rng(0)
for panel, state in zip("nsc", OIL_STATES, strict=True):
    axes[panel].plot(np.arange(240) / 2, simulate_oil_flow(state, 240, rng), color=COLOURS[state], linewidth=1)
    axes[panel].set(title=f"{state} (simulated)", xlabel="minutes", ylim=(-18, 18))
axes["n"].set_ylabel("flow, beside its usual level")
for panel, (name, table) in zip("123", tables.items(), strict=True):
    display = ConfusionMatrixDisplay(table, display_labels=OIL_STATES)
    display.plot(ax=axes[panel], cmap="Blues", colorbar=False, values_format=".2f", im_kw={"vmin": 0, "vmax": 1})
    axes[panel].set(title=f"{name}\nerror rate {1 - np.trace(table) / 3:.2f}", xlabel="predicted", ylabel="")
axes["1"].set_ylabel("true")
for state, share in learn_churn(trials=4).items():
    axes["l"].plot(np.arange(2, TRAIN["churn"] + 1), share, marker="o", color=COLOURS[state], label=state)
axes["l"].set(
    title="CCNND learns a state that it did not know",
    xlabel="labelled rows of churn so far",
    ylabel="share recognised",
    ylim=(0, 1.02),
)
axes["l"].legend(frameon=False, ncols=3, loc="lower right")
plt.show()
