"""The methods that an audit knows, strong rivals included, by the names that users call them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Literal, NamedTuple

from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from scarce._extras import require
from scarce._typing import Estimator, Keywords
from scarce.boosting import ProfitBoosting
from scarce.ellipsoids import ME2
from scarce.fmeasure import ConeClassifier
from scarce.neighbors import CCNND, GFRNN, GammaKNN
from scarce.profit import BayesProfitClassifier
from scarce.sampling import ResampledGammaKNN
from scarce.trees import MetaAPForest, ProfitForest, ProfitTree, RankingForest

__all__ = ["METHODS", "PLANS", "Method", "Size", "boosting", "logistic"]

EXTRA_TREES = 500
TREES = 150
# The trees of our own forests; None for as many as the class itself takes.
OWN_TREES: int | None = None
# ME² solves a problem for each pair of a positive and a negative row.
ME2_ROWS, ME2_POSITIVES = 5_000, 300
# Above so many rows trees try the edges of this many bins instead of every value.
ROWS_FOR_BINS, BINS = 5_000, 255
CONE_MODELS = 7
_lightgbm = require("lightgbm", "The audit")


class Size(NamedTuple):
    """The size of the training rows, and what methods need to know besides."""

    rows: int
    positives: int
    folds: int
    seed: int
    threads: int = 1


@dataclass(frozen=True)
class Method:
    """A method that can be compared.

    Attributes
    ----------
    name, description : str
        Its name in tables, and a few words on what it is.
    suited_to : {"distances", "trees"}
        The encoding that it needs.
    effort : int
        How long it takes compared with the others.
    build : callable
        Return the estimator for a size.
    kind : {"plain", "own", "profit"}
        A classifier of scikit-learn, which gets a tuned threshold; a method that has one; one that learns from gains.
    fits : callable
        Return whether it is tried on a table of this size without being asked for.
    """

    name: str
    description: str
    suited_to: Literal["distances", "trees"]
    effort: int
    build: Callable[[Size], Estimator]
    kind: Literal["plain", "own", "profit"] = "own"
    fits: Callable[[Size], bool] = lambda size: True


def logistic() -> LogisticRegression:
    """Return the logistic regression of every audit."""
    return LogisticRegression(solver="newton-cholesky")


def boosting(size: Size) -> Estimator:
    """Return the boosted trees of every audit."""
    return _lightgbm.LGBMClassifier(
        n_estimators=150,
        learning_rate=0.05,
        # A handful of positives cannot feed large leaves, and unregularised leaves run away on them.
        num_leaves=8,
        colsample_bytree=0.5,
        reg_lambda=5.0,
        # The rare rows lie in the tails, where few bins end.
        max_bin=2047,
        random_state=size.seed,
        n_jobs=size.threads,
        deterministic=True,
        force_row_wise=True,
        verbose=-1,
    )


def _forest(size: Size) -> Keywords:
    """Return the settings that our forests share."""
    trees = {} if OWN_TREES is None else {"n_estimators": OWN_TREES}
    bins = {"max_bins": BINS} if size.rows > ROWS_FOR_BINS else {}
    return {**trees, **bins, "random_state": size.seed}


METHODS: dict[str, Method] = {
    "logistic": Method("Logistic regression", "on scaled columns", "distances", 1, lambda size: logistic(), "plain"),
    "lightgbm": Method("LightGBM", "150 small, strongly regularised trees", "trees", 3, boosting, "plain"),
    "extra-trees": Method(
        "Extra trees",
        "500 bootstrapped trees, threshold from out-of-bag scores",
        "trees",
        10,
        lambda size: ExtraTreesClassifier(
            EXTRA_TREES, min_samples_leaf=2, bootstrap=True, oob_score=True, random_state=size.seed
        ),
        "plain",
    ),
    "random-forest": Method(
        "Random forest",
        "150 trees, threshold from out-of-bag scores",
        "trees",
        20,
        lambda size: RandomForestClassifier(TREES, min_samples_leaf=2, oob_score=True, random_state=size.seed),
        "plain",
    ),
    "knn": Method(
        "k-NN",
        "share of positives among 15 neighbours, nearer ones count more",
        "distances",
        6,
        lambda size: KNeighborsClassifier(15, weights="distance"),
        "plain",
    ),
    "meta-ap-forest": Method(
        "MetaAP forest",
        "trees of trees grown for average precision",
        "trees",
        8,
        lambda size: MetaAPForest(**_forest(size)),
    ),
    "ranking-forest": Method(
        "Ranking forest",
        "trees of trees grown for the area under the ROC curve",
        "trees",
        2,
        lambda size: RankingForest(**_forest(size)),
    ),
    "gamma-knn": Method(
        "γk-NN", "3 neighbours, positives drawn closer by a tuned γ", "distances", 4, lambda size: GammaKNN(3)
    ),
    "me2": Method(
        "ME²",
        "an ellipsoid around each known positive",
        "distances",
        12,
        lambda size: ME2(),
        fits=lambda size: size.rows <= ME2_ROWS and size.positives <= ME2_POSITIVES,
    ),
    "gfrnn": Method("GFRNN", "forces of the rows within a radius", "distances", 5, lambda size: GFRNN()),
    "ccnnd": Method("CCNND", "distances to the nearest rows of each class", "distances", 3, lambda size: CCNND()),
    "resampled-gamma-knn": Method(
        "Resampled γk-NN",
        "γk-NN with synthetic positives that have a γ of their own",
        "distances",
        9,
        lambda size: ResampledGammaKNN(random_state=size.seed),
        fits=lambda size: find_spec("imblearn") is not None,
    ),
    "cone-logistic": Method(
        "CONE, logistic regression",
        "class weights searched for the highest F1, with a bound",
        "distances",
        4,
        lambda size: ConeClassifier(logistic(), n_models=CONE_MODELS, validation=size.folds),
    ),
    "cone-lightgbm": Method(
        "CONE, LightGBM",
        "class weights searched for the highest F1, with a bound",
        "trees",
        20,
        lambda size: ConeClassifier(boosting(size), n_models=CONE_MODELS, validation=size.folds),
    ),
    "bayes": Method(
        "Bayes rule, LightGBM",
        "calibrated probabilities, and for each row the decision that is expected to earn more",
        "trees",
        3,
        lambda size: BayesProfitClassifier(boosting(size), cv=size.folds),
        "profit",
    ),
    "profit-forest": Method(
        "Profit forest",
        "trees grown for money",
        "trees",
        15,
        lambda size: ProfitForest(**_forest(size)),
        "profit",
    ),
    "profit-boosting": Method(
        "Profit boosting",
        "boosted trees whose loss is money",
        "trees",
        2,
        lambda size: ProfitBoosting(random_state=size.seed, n_jobs=size.threads),
        "profit",
    ),
    "profit-tree": Method(
        "Profit tree", "one tree that splits by money", "trees", 1, lambda size: ProfitTree(), "profit"
    ),
}

_RIVALS = ("extra-trees", "random-forest", "lightgbm", "logistic")
_RANKERS = (*_RIVALS, "meta-ap-forest", "ranking-forest", "gamma-knn", "me2")
_DECIDERS = (*_RIVALS, "gamma-knn", "gfrnn", "ccnnd", "resampled-gamma-knn", "cone-logistic", "cone-lightgbm")
PLANS: dict[str, tuple[str, ...]] = {
    "ap": _RANKERS,
    "budget": _RANKERS,
    "f1": _DECIDERS,
    "gmean": _DECIDERS,
    "profit": ("bayes", "profit-forest", "profit-boosting", "profit-tree"),
}
