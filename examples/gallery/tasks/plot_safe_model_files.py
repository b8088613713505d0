"""
Safe model files
================

A pickle runs code when it is opened. skops writes a model without it and asks which types to trust;
`scarce.trusted_types()` names those of this library's models and nothing else. The loaded model gives the same scores
to the bit.
"""

import matplotlib.pyplot as plt
import numpy as np
import skops.io
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import scarce
from scarce.neighbors import GammaKNN

X, y = make_classification(2_000, weights=[0.95], random_state=0)
model = make_pipeline(StandardScaler(), GammaKNN()).fit(X[:1_000], y[:1_000])

# %%
# `dump` and `load` do the same with a file.
stored = skops.io.dumps(model)
again = skops.io.loads(stored, trusted=scarce.trusted_types())
print(f"{len(stored):,} bytes; types in it beyond scikit-learn's:")
print(*skops.io.get_untrusted_types(data=stored), sep="\n")

before, after = (each.score_samples(X[1_000:]) for each in (model, again))
fig, ax = plt.subplots(layout="constrained")
ax.plot(before, after, ".", markersize=3)
ax.set(xlabel="score of the model", ylabel="score of the loaded model")
ax.set_title(f"{np.sum(before == after):,} of {len(before):,} scores are equal to the bit")
plt.show()
