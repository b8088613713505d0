"""A model that can be read, beside the winner: a few rules in words, and their price in average precision."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from scipy.stats import rankdata
from sklearn.metrics import average_precision_score

from scarce._typing import Estimator, Keywords
from scarce.tables import Column
from scarce.trees import APTree, MetaAP
from scarce.trees._engine.rules import LeafRule

from .dictionary import Dictionary
from .folds import Folds
from .task import Task

__all__ = ["Readable", "Rule", "fit_readable", "readable_columns"]

MOST_RULES = 12
MOST_CATEGORIES = 11
OTHERS = "any other"
FEWEST_IN_RULE = 5


@dataclass(frozen=True)
class Rule:
    """A rule in words, and its training rows.

    Attributes
    ----------
    text : str
        The conditions.
    rows, positives : float
        The number of rows that meet them, and of positives among these.
    """

    text: str
    rows: float
    positives: float

    @property
    def share(self) -> float:
        """The share of positives."""
        return self.positives / self.rows if self.rows else 0.0

    def __str__(self) -> str:
        return f"{self.text} ({self.positives:,.0f} of {self.rows:,.0f} known rows positive)"


@dataclass(frozen=True)
class Readable:
    """The readable model.

    Attributes
    ----------
    method : str
        The name of the class.
    rules : list of Rule
        At most 12, the one with most positives first; each row meets exactly one.
    ap : float
        Its average precision on the tested rows, where the rows of one rule are tied.
    price : float
        The average precision of the winner less its own.
    sentence : str
        The same in words.
    leaves, columns, categories, titles
        The conditions of all rules, the columns that they are about, the names of the codes of each category, and the
        titles of columns.
    """

    method: str
    rules: list[Rule]
    ap: float
    price: float
    sentence: str
    leaves: list[LeafRule] = field(default_factory=list, repr=False)
    columns: list[Column] = field(default_factory=list, repr=False)
    categories: Mapping[str, list[str]] = field(default_factory=dict, repr=False)
    titles: Mapping[str, str] = field(default_factory=dict, repr=False)

    def of_rows(self, X: pd.DataFrame) -> list[Rule | None]:
        """Return the rule that each row of typed columns falls under."""
        coded = _coded(X.rename(columns=self.titles), self.columns, self.categories).to_numpy()
        found: list[Rule | None] = [None] * len(X)
        for leaf in self.leaves:
            rule = _in_words(leaf)
            for place in np.flatnonzero(leaf.holds(coded)):
                found[place] = rule
        return found

    def __str__(self) -> str:
        lines = [f"{rule.positives:,.0f} of {rule.rows:,.0f} ({rule.share:.1%}): {rule.text}" for rule in self.rules]
        return "\n".join([self.sentence, *lines])


def fit_readable(
    task: Task, folds: Folds, columns: Sequence[Column], winner: str, winner_ap: float, names: Dictionary
) -> Readable:
    """Fit the better of two readable models, by its average precision on the tested rows.

    Parameters
    ----------
    task : Task
        The rows.
    folds : Folds
        The training rows and the tested rows, as for all methods.
    columns : sequence of Column
        The columns to learn from; the readable model leaves out those that are hidden.
    winner, winner_ap : str, float
        The name and the average precision of the model that it stands beside.
    names : Dictionary
        The titles of columns.
    """
    titles = _titles(columns, names)
    columns = [replace(column, name=titles[column.name]) for column in columns if column.name in titles]
    if not columns:
        return Readable("none", [], 0.0, winner_ap, "Every column is hidden, so that no rules can be read.")
    tested = task.when_tested
    if tested is not None:
        tested = tested[[name for name in tested if name in titles]].rename(columns=titles)
    renamed = replace(task, X=task.X[list(titles)].rename(columns=titles), when_tested=tested)
    return replace(_fit_readable(renamed, folds, columns, winner, winner_ap), titles=titles)


def _titles(columns: Sequence[Column], names: Dictionary) -> dict[str, str]:
    """Return the title of each column that is shown; two of the same title keep their names."""
    shown = names.visible(column.name for column in columns)
    titles = [names.title(name) for name in shown]
    return {name: title if titles.count(title) == 1 else name for name, title in zip(shown, titles, strict=True)}


def _fit_readable(task: Task, folds: Folds, columns: Sequence[Column], winner: str, winner_ap: float) -> Readable:
    X, categories = readable_columns(task.X, columns)
    fewest = max(FEWEST_IN_RULE, len(X) // 2_000)
    shared: Keywords = {
        "min_samples_leaf": fewest,
        "tie_break": None,
        "categorical_features": list(categories) or None,
        "random_state": task.seed,
        "pos_label": 1,
        "calibration": None,
    }
    # Of depth 3 neither has more than eight leaves.
    models = {
        "APTree": APTree(criterion="ap_max", max_depth=3, **shared),
        "MetaAP": MetaAP(max_depth=3, max_leaf_depth=2, order="precision", **shared),
    }
    found = {name: _average_precision(model, X, task, folds) for name, model in models.items()}
    best = max(found, key=lambda name: found[name])
    fitted = _fit(models[best], X, task, np.arange(len(X)))
    leaves = fitted.rules(categories=categories)
    rules = [_in_words(leaf) for leaf in leaves][:MOST_RULES]
    price = winner_ap - found[best]
    sentence = (
        f"{len(rules)} rules that can be read have an average precision of {found[best]:.3f} on the tested rows, "
        f"{abs(price):.3f} {'less' if price >= 0 else 'more'} than {winner}."
    )
    return Readable(best, rules, found[best], price, sentence, leaves, list(columns), categories)


def readable_columns(X: pd.DataFrame, columns: Sequence[Column]) -> tuple[pd.DataFrame, Mapping[str, list[str]]]:
    """Return columns as numbers that rules can name, and the names of the codes of each category.

    Numbers stay as they are; of dates there are the hour and the weekday; the most frequent categories have a code
    each, and all others share one.
    """
    categories: dict[str, list[str]] = {}
    for column in columns:
        if column.kind == "category":
            counts = X[column.name].value_counts()
            order = sorted(counts.index, key=lambda value: (-counts[value], value))
            kept = order[:MOST_CATEGORIES] if len(order) > MOST_CATEGORIES + 1 else order
            categories[column.name] = [*kept, *([OTHERS] if len(order) > len(kept) else [])]
    return _coded(X, columns, categories), categories


def _coded(X: pd.DataFrame, columns: Sequence[Column], categories: Mapping[str, list[str]]) -> pd.DataFrame:
    """Return columns as numbers; a category without a code of its own has that of the others, or none."""
    found: dict[str, pd.Series] = {}
    for column in columns:
        values = X[column.name]
        if column.kind == "number":
            found[column.name] = values
        elif column.kind == "date":
            found[f"hour of {column.name}"] = (values.dt.hour + values.dt.minute / 60).astype("float64")
            found[f"weekday of {column.name} (Monday is 0)"] = values.dt.day_of_week.astype("float64")
        else:
            names = categories[column.name]
            code = {name: number for number, name in enumerate(names)}
            rest = len(names) - 1 if names[-1] == OTHERS else np.nan
            found[column.name] = values.map(code).fillna(rest)
    return pd.DataFrame(found, index=X.index).astype("float64")


def _fit(model: Estimator, X: pd.DataFrame, task: Task, rows: np.ndarray) -> Estimator:
    chosen, weight = task.training_rows(rows)
    return model.fit(X.iloc[chosen], task.y[chosen], sample_weight=weight)


def _average_precision(model: Estimator, X: pd.DataFrame, task: Task, folds: Folds) -> float:
    ranks = []
    for train, test in folds.splits:
        score = _fit(model, X, task, train).score_samples(task.rows_to_test(test, X))
        ranks.append((rankdata(score) - 0.5) / len(test))
    tested = folds.tested
    return float(average_precision_score(task.y[tested], np.concatenate(ranks), sample_weight=task.weights(tested)))


def _in_words(rule: LeafRule) -> Rule:
    parts = [str(condition) for condition in rule.always]
    for step in rule.any_of:
        alternatives = [" and ".join(map(str, each)) for each in step]
        parts.append(f"({' or '.join(alternatives)})" if len(alternatives) > 1 else alternatives[0])
    return Rule(" and ".join(parts) or "every row", rule.weight, rule.positives)
