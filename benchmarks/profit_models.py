"""The tables with money in them, and the models that are compared on them."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import precision_score
from sklearn.model_selection import RepeatedStratifiedKFold, train_test_split

from scarce.boosting import ProfitBoosting
from scarce.datasets import load, make_transactions
from scarce.objectives import FBeta, PrecisionAtLeast, Profit
from scarce.profit import BayesProfitClassifier, Gains
from scarce.trees import ProfitForest

NO_LIGHTGBM = 'LightGBM is not installed: pip install "scarce[boost]"'
# The settings of `scarce audit`, and the defaults of ProfitBoosting: the library's own run away on so few positives.
TREES: dict[str, Any] = {
    "n_estimators": 150,
    "learning_rate": 0.05,
    "num_leaves": 8,
    "min_child_samples": 20,
    "reg_lambda": 5.0,
    "colsample_bytree": 0.5,
    "random_state": 0,
    "n_jobs": 1,
}
_FOREST: dict[str, Any] = {"n_estimators": 24, "max_depth": 10}
_OF_THESIS: dict[str, Any] = {"max_features": "sqrt", "min_samples_leaf": 20}  # it gives neither; RF has the first
_MIN_VOTES = 9 / 24


def lightgbm(**changed: Any) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(**{**TREES, **changed}, verbose=-1)


@dataclass
class Problem:
    """Rows, what their outcomes earn, and the parts on which models are learned and judged."""

    X: Any
    y: Any
    gains: Any
    splits: list[tuple[Any, Any]]
    in_order: bool  # of time, so that the last third of the training rows serves for validation

    def filled(self, split: int) -> tuple[Any, Any]:
        """Return the rows to learn from and those to judge, without holes: not every rival takes them."""
        rows, judged = self.splits[split]
        fill = SimpleImputer(strategy="median").fit(self.X[rows])
        return fill.transform(self.X[rows]), fill.transform(self.X[judged])


def payments(n: int, seed: int) -> Problem:
    table = make_transactions(n, fraud_rate=0.0033, months=10, seed=seed)
    frame = table.data
    gains = Gains(tp=0, fn="-0.8 * amount", fp="margin - zeta", tn="margin", zeta=5)(frame)
    month = frame["date"].dt.month.to_numpy()
    frame = frame.drop(columns=["date", "customer_id"])
    words = frame.select_dtypes("category").columns
    frame[words] = frame[words].apply(lambda column: column.cat.codes).astype(float).replace(-1, np.nan)
    splits = [(np.flatnonzero(month <= 6), np.flatnonzero(month > 6))]
    return Problem(frame.to_numpy(dtype=float), table.target.to_numpy(), gains, splits, True)


def creditcard(*, by_time: bool, repeats: int = 2) -> Problem:
    data = load("creditcard")
    X, y = data.data, data.target
    gains = Gains(tp=0, fn="-Amount", fp="0.02 * Amount - zeta", tn="0.02 * Amount", zeta=5, columns=data.feature_names)
    earlier, later = np.split(np.arange(len(y)), [len(y) * 6 // 10])
    splits = [(earlier, later)] * 3 if by_time else _folds(X, y, 5, repeats)  # by time thrice, with other seeds
    return Problem(X, y, gains(X), splits, by_time)


def credit() -> Problem:
    data = load("give-me-some-credit")
    income = {"income": data.feature_names.index("MonthlyIncome")}
    X = SimpleImputer(strategy="median").fit_transform(data.data)  # whoever does not tell gets the usual loan
    # Three incomes are lent, 25,000 at the most; interest earns 5 %, and 75 % of a bad loan are lost.
    lent = "min(3 * income, 25000)"
    gains = Gains(tp=0, fn=f"-0.75 * {lent}", fp="-zeta", tn=f"0.05 * {lent}", zeta=5, columns=income)
    return Problem(X, data.target, gains(X), _folds(X, data.target, 2, repeats=5), False)


def _folds(X: Any, y: Any, n: int, repeats: int) -> list[tuple[Any, Any]]:
    return list(RepeatedStratifiedKFold(n_splits=n, n_repeats=repeats, random_state=0).split(X, y))


def decide(problem: Problem, split: int, seed: int) -> dict[str, Any]:
    """Return which of the judged rows of a split each model calls positive."""
    called = decide_as_in_the_thesis(problem, split, seed)
    rows, judged = problem.splits[split]
    X, X_new = problem.filled(split)
    y, gains = problem.y[rows], problem.gains[rows]
    trees, forest = {**TREES, "random_state": seed}, {**_FOREST, "random_state": seed}
    for name, loss in (("GB_prof", "exponential"), ("GB_prof, logistic", "logistic")):
        model = ProfitBoosting(loss, **trees, threshold=Profit()).fit(X, y, gains=gains)
        score_new = model.score_samples(X_new)
        called[name] = score_new > 0  # the rule of threshold="default", for the same trees
        called[f"{name}, honest cut"] = score_new > model.threshold_
    for name, changed in (("ProfitForest()", {}), ("ProfitForest(n_boosted=0)", {"n_boosted": 0})):
        called[name] = ProfitForest(random_state=seed, **changed).fit(X, y, gains=gains).predict(X_new) == 1
    called["ProfitBoosting()"] = ProfitBoosting(**trees).fit(X, y, gains=gains).predict(X_new) == 1
    bayes = BayesProfitClassifier(lightgbm(random_state=seed)).fit(X, y, gains=gains)
    called["Bayes rule"] = bayes.predict(X_new, gains=problem.gains[judged]) == 1
    return called | _empulse(X, y, gains, X_new, lightgbm(random_state=seed), forest)


def decide_as_in_the_thesis(problem: Problem, split: int, seed: int) -> dict[str, Any]:
    """Return the same for the eight models of Table 6.2."""
    rows, _ = problem.splits[split]
    X, X_new = problem.filled(split)
    y, gains = problem.y[rows], problem.gains[rows]
    called: dict[str, Any] = {}

    forest = {**_FOREST, "random_state": seed}
    called["RF"] = _votes(RandomForestClassifier(**forest).fit(X, y), X_new) >= _MIN_VOTES
    for vote, name in (("majority", "RF_prof"), ("max", "RF_max-prof"), ("mean", "RF_mean-prof")):
        model = ProfitForest(vote=vote, min_votes=_MIN_VOTES, **_OF_THESIS, **forest)
        called[name] = model.fit(X, y, gains=gains).predict(X_new) == 1

    if problem.in_order:
        train, valid = np.split(np.arange(len(y)), [2 * len(y) // 3])
    else:
        train, valid = train_test_split(np.arange(len(y)), test_size=1 / 3, stratify=y, random_state=seed)
    boosting = lightgbm(random_state=seed).fit(X[train], y[train])
    score, score_new = boosting.predict_proba(X[valid])[:, 1], boosting.predict_proba(X_new)[:, 1]
    rivals = _votes(RandomForestClassifier(**forest).fit(X[train], y[train]), X[valid]) >= _MIN_VOTES
    reached = np.nanmax(_precision_curve(score, y[valid]))
    wanted = precision_score(y[valid], rivals, zero_division=0.0) or reached
    objectives = {
        "GB_tune-pre": PrecisionAtLeast(min(wanted, reached)),
        "GB_tune-prof": Profit(gains[valid]),
        "GB_tune-F1": FBeta(1),
    }
    for name, objective in objectives.items():
        called[name] = score_new > objective.best_threshold(score, y[valid]).threshold
    prof = ProfitBoosting("exponential", **{**TREES, "random_state": seed}).fit(X, y, gains=gains)
    called["GB_prof"] = prof.predict(X_new) == 1
    return called


def _precision_curve(score: Any, y: Any) -> Any:
    curve = FBeta(1).curve(score, y)
    return np.divide(curve.tp, curve.tp + curve.fp, out=np.full_like(curve.tp, np.nan), where=curve.tp + curve.fp > 0)


def _votes(forest: Any, X: Any) -> Any:
    """Return the share of the trees that call each row positive."""
    return np.mean([tree.predict_proba(X)[:, 1] > 0.5 for tree in forest.estimators_], axis=0)


def _empulse(X: Any, y: Any, gains: Any, X_new: Any, boosting: Any, forest: dict[str, Any]) -> dict[str, Any]:
    """Return the decisions of another library, where it is installed: it is no dependency, not even of this."""
    if not importlib.util.find_spec("empulse"):
        return {}
    from empulse.models import CSBoostClassifier, CSForestClassifier

    costs = {f"{name}_cost": -column for name, column in zip(("tp", "fp", "tn", "fn"), gains.T, strict=True)}
    models = {"empulse CSBoost": CSBoostClassifier(boosting), "empulse CSForest": CSForestClassifier(**forest)}
    return {name: np.asarray(model.fit(X, y, **costs).predict(X_new)) == 1 for name, model in models.items()}


def earned(y: Any, called: Any, gains: Any) -> Any:
    """Return what the decisions on rows earn, row by row."""
    tp, fp, tn, fn = gains.T
    return np.where(called, np.where(y, tp, fp), np.where(y, fn, tn))
