"""
How far from the best F?
========================

`ConeClassifier` fits a linear support vector machine with one class weight after another. Each model rules out a cone
in the plane of the weight t and the F-measure (grey), and the next t is tried where the cones leave most room. Where
they meet the diagonal is a bound on the F of every such machine on these rows, if it were an exact learner (the star).

Above left are the cones of CONE, above right those that Parambath et al. draw around the same models: their slopes are
so steep that they rule out next to nothing. Below, the best F so far of three searches, and CONE's bound.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_classification
from sklearn.svm import LinearSVC

from scarce.fmeasure import ConeClassifier
from scarce.fmeasure.bounds import ErrorProfile, parambath_cones
from scarce.plotting import ConeDisplay, FMeasurePathDisplay

# %%
# All three searches see the same machine and the same rows, and fit twelve models each.
X, y = make_classification(2000, weights=[0.9], class_sep=0.5, flip_y=0.05, random_state=0)
machine = LinearSVC(random_state=0)
searches = ("cone", "bisection", "dinkelbach")
models = {name: ConeClassifier(machine, search=name, n_models=12, validation="train").fit(X, y) for name in searches}
cone = models["cone"]

figure, axes = plt.subplot_mosaic("ab;cc", figsize=(9, 8), layout="constrained")
ConeDisplay.from_estimator(cone, ax=axes["a"])
errors = ErrorProfile(*(cone.path_[name] for name in ("fn", "fp", "positives")))
ConeDisplay(parambath_cones(cone.path_["t"], errors)).plot(axes["b"])
axes["a"].set_title("CONE")
axes["b"].set_title("Parambath et al.")
curves = {name: model.path_["f"] for name, model in models.items()}
FMeasurePathDisplay(curves, cone.path_["bound"]).plot(axes["c"])
plt.show()
