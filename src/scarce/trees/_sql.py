"""The score or the decision of a tree, a forest, or a pipeline that ends in one, as SQL."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, MinMaxScaler, OrdinalEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from scarce._sklearn import input_columns
from scarce._typing import Cell, Estimator
from scarce.base import RareEventClassifier
from scarce.trees._engine.sql import Coded, Column, double, literal, quoted

__all__ = ["WritesSQL", "category_names", "pipeline_to_sql"]

Columns = list[Column | Coded]
_KNOWN = "StandardScaler, MinMaxScaler, SimpleImputer, OrdinalEncoder and a ColumnTransformer of these"


class WritesSQL(RareEventClassifier):
    """The part of trees and forests that writes them as SQL."""

    @abstractmethod
    def _score_as_sql(self, columns: Sequence[Column | Coded]) -> str:
        """Return the score as an expression of the expressions of the features."""

    def to_sql(self, quote: str = '"', *, decision: bool = False) -> str:
        """Return the score as one SQL expression over columns named as the features.

        DuckDB evaluates it to the same numbers, bit for bit. A missing value is NULL.

        The columns must have the values that the model was fitted on. A model cannot know that a scaler or an encoder
        made them: for the last step of a pipeline use :func:`~scarce.trees.pipeline_to_sql`.

        Parameters
        ----------
        quote : str, default='"'
            Put around the names of columns.
        decision : bool, default=False
            Whether to return the decision instead: 1 where the score is above `threshold_`, which is where `predict`
            gives `pos_label_`, else 0.
        """
        check_is_fitted(self)
        return self._as_sql([Column(name) for name in _quoted(self._feature_names, quote)], decision)

    def _as_sql(self, columns: Sequence[Column | Coded], decision: bool) -> str:
        score = self._score_as_sql(columns)
        return f"CASE WHEN {score} > {double(self.threshold_)} THEN 1 ELSE 0 END" if decision else score


def pipeline_to_sql(pipeline: Pipeline, quote: str = '"', *, decision: bool = False) -> str:
    """Return the score of a fitted pipeline that ends in a tree or a forest as one SQL expression.

    It is an expression over the columns that the pipeline was fitted on, before any step. The steps before the model
    may be StandardScaler, MinMaxScaler, SimpleImputer and OrdinalEncoder, and a ColumnTransformer or a Pipeline of
    these; "passthrough" and "drop" are as there, and samplers of imbalanced-learn change nothing for new rows. DuckDB
    evaluates it to the numbers that the pipeline finds for rows of ``float64``, bit for bit; scikit-learn scales rows
    of ``float32`` with fewer digits.

    A missing value is NULL. Where an encoder would refuse a category that it has not seen, the expression is NULL.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted pipeline. If it was fitted on an array, the columns are named x0, x1 and so on.
    quote : str, default='"'
        Put around the names of columns.
    decision : bool, default=False
        Whether to return the decision instead: 1 where the score is above the threshold, else 0.

    See Also
    --------
    APTree.to_sql : The same for a model that was fitted on the columns themselves.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from scarce.trees import APTree, pipeline_to_sql
    >>> X, y = pd.DataFrame({"amount": [10.0, 20.0, 30.0, 40.0]}), [0, 0, 0, 1]
    >>> pipeline = make_pipeline(StandardScaler(), APTree(max_depth=1, tie_break=None)).fit(X, y)
    >>> print(pipeline_to_sql(pipeline))
    CASE WHEN ((CAST("amount" AS DOUBLE) - 25e0) / 11.180339887498949e0) > 0.894427190999916e0 THEN 1e0 ELSE 0e0 END
    """
    columns, seen = _translated(pipeline, quote)
    sql = pipeline[-1]._as_sql(columns, decision)
    return f"CASE WHEN {' AND '.join(seen)} THEN {sql} END" if seen else sql


def category_names(pipeline: Pipeline) -> dict[str, list[Cell]]:
    """Return the categories behind the codes of a pipeline's OrdinalEncoder, by the names of the model's features.

    They are what `rules`, `explain` and `to_text` of the trees take as `categories`.

    Parameters
    ----------
    pipeline : Pipeline
        A fitted pipeline that ends in a tree or a forest; see :func:`pipeline_to_sql` for the steps that it may have.
    """
    columns, _ = _translated(pipeline, '"')
    pairs = zip(pipeline[-1]._feature_names, columns, strict=True)
    return {name: list(column.codes) for name, column in pairs if isinstance(column, Coded)}


def _translated(pipeline: Pipeline, quote: str) -> tuple[Columns, list[str]]:
    """Return the features of a pipeline's last step as expressions, and the conditions for these to be defined."""
    if not isinstance(pipeline, Pipeline) or not isinstance(pipeline[-1], WritesSQL):
        last = pipeline[-1] if isinstance(pipeline, Pipeline) else pipeline
        raise ValueError(
            f"Only a Pipeline that ends in a tree or a forest of scarce can be translated; this is "
            f"{'one that ends in ' if last is not pipeline else ''}{type(last).__name__}."
        )
    check_is_fitted(pipeline[-1])
    n = getattr(pipeline, "n_features_in_", pipeline[-1].n_features_in_)
    names = [str(name) for name in getattr(pipeline, "feature_names_in_", [f"x{i}" for i in range(n)])]
    translation = _Translation()
    columns = translation.of_pipeline(pipeline[:-1], [Column(name) for name in _quoted(names, quote)])
    if len(columns) != pipeline[-1].n_features_in_:
        raise ValueError(
            f"The steps make {len(columns)} features, but the last one was fitted on "
            f"{pipeline[-1].n_features_in_}. Fit the pipeline as a whole."
        )
    return columns, translation.seen


def _quoted(names: Sequence[str], quote: str) -> list[str]:
    times = Counter(name.lower() for name in names)
    twice = [name for name in names if times[name.lower()] > 1]
    if twice:
        raise ValueError(
            f"The columns {', '.join(map(repr, twice[:4]))} have one name, since SQL does not tell upper from lower "
            "case. Rename them before fitting."
        )
    return [quoted(name, quote) for name in names]


class _Translation:
    """Fitted steps as expressions."""

    def __init__(self) -> None:
        self.seen: list[str] = []  # conditions that an encoder knows the categories

    def of_pipeline(self, pipeline: Pipeline, columns: Columns) -> Columns:
        for name, step in pipeline.steps:
            columns = self.of_step(name, step, columns)
        return columns

    def of_step(self, name: str, step: Estimator, columns: Columns) -> Columns:
        kinds: dict[type, Callable[[Estimator, Columns], Columns]] = {
            StandardScaler: self._standard,
            MinMaxScaler: self._min_max,
            SimpleImputer: self._imputed,
            OrdinalEncoder: self._encoded,
            ColumnTransformer: self._column_transformer,
        }
        if step is None or step == "passthrough" or (type(step) is FunctionTransformer and step.func is None):
            return columns
        if isinstance(step, Pipeline):
            return self.of_pipeline(step, columns)
        if hasattr(step, "fit_resample") and not hasattr(step, "transform"):
            return columns  # imbalanced-learn: it changes the training rows only
        if type(step) not in kinds:  # a subclass may do something else
            raise ValueError(f"The step {name!r}, {type(step).__name__}, cannot be written as SQL. Use {_KNOWN}.")
        check_is_fitted(step)
        try:
            return kinds[type(step)](step, columns)
        except _NotWritten as error:
            raise ValueError(f"The step {name!r}, {type(step).__name__}, cannot be written as SQL: {error}") from None

    def _standard(self, step: StandardScaler, columns: Columns) -> Columns:
        texts = [f"CAST({column.text} AS DOUBLE)" for column in columns]
        if step.with_mean:
            texts = [f"({x} - {double(mean)})" for x, mean in zip(texts, step.mean_.tolist(), strict=True)]
        if step.scale_ is not None:
            texts = [f"({x} / {double(scale)})" for x, scale in zip(texts, step.scale_.tolist(), strict=True)]
        return [Column(x) for x in texts]

    def _min_max(self, step: MinMaxScaler, columns: Columns) -> Columns:
        pairs = zip(columns, step.scale_.tolist(), step.min_.tolist(), strict=True)
        texts = [
            f"(CAST({column.text} AS DOUBLE) * {double(scale)} + {double(least)})" for column, scale, least in pairs
        ]
        if step.clip:
            # LEAST and GREATEST would make a number of NULL.
            low, high = map(double, step.feature_range)
            texts = [f"CASE WHEN {x} < {low} THEN {low} WHEN {x} > {high} THEN {high} ELSE {x} END" for x in texts]
        return [Column(x) for x in texts]

    def _imputed(self, step: SimpleImputer, columns: Columns) -> Columns:
        fills = step.statistics_.tolist()
        lacking = [_if_missing(column.text, step.missing_values) for column in columns]
        found: Columns = []
        for column, missing, fill in zip(columns, lacking, fills, strict=True):
            if _is_missing(fill) and not step.keep_empty_features:
                continue  # a feature that training never showed
            found.append(Column(f"CASE WHEN {missing} THEN {_literal(fill)} ELSE {column.text} END"))
        if step.add_indicator:
            marked = step.indicator_.features_.tolist()
            found += [Column(f"CASE WHEN {lacking[i]} THEN 1e0 ELSE 0e0 END") for i in marked]
        return found

    def _encoded(self, step: OrdinalEncoder, columns: Columns) -> Columns:
        if any(rare is not None for rare in getattr(step, "infrequent_categories_", [])):
            raise _NotWritten("leave min_frequency and max_categories out.")
        refuses = step.handle_unknown == "error"
        found: Columns = []
        for column, categories in zip(columns, step.categories_, strict=True):
            # As Python's own, but dates would become numbers.
            names = categories.tolist() if categories.dtype.kind in "OUbiuf" else list(categories)
            known = {name: float(code) for code, name in enumerate(names) if not _is_missing(name)}
            # scikit-learn has a code of its own for NaN, while None is a category like others.
            missing = [
                float(code if name is None else step.encoded_missing_value)
                for code, name in enumerate(names)
                if _is_missing(name)
            ]
            if len(missing) > 1:
                raise _NotWritten("it knows both NaN and None, which SQL does not tell apart.")
            unknown = math.nan if refuses else float(step.unknown_value)
            listed = f"{column.text} IN ({', '.join(map(_literal, known))})" if known else "FALSE"
            if refuses:
                self.seen.append(f"({column.text} IS NULL OR {listed})" if missing else listed)
            found.append(Coded(column.text, known, missing[0] if missing else unknown, unknown))
        return found

    def _column_transformer(self, step: ColumnTransformer, columns: Columns) -> Columns:
        inputs = input_columns(step)
        found: Columns = []
        for name, transformer, _ in step.transformers_:
            if not isinstance(transformer, str) or transformer != "drop":
                chosen = [columns[i] for i in inputs[name]]
                found += self.of_step(name, transformer, chosen) if chosen else []
        return found


class _NotWritten(ValueError):
    """A step that SQL cannot express; the name of the step is added where it is known."""


def _literal(value: Cell) -> str:
    try:
        return literal(value)
    except ValueError as error:
        raise _NotWritten(str(error)) from None


def _is_missing(value: Cell) -> bool:
    # NaN differs from itself; the NA of pandas does not even answer.
    return value is None or type(value).__name__ == "NAType" or bool(value != value)


def _if_missing(text: str, missing: Cell) -> str:
    return f"{text} IS NULL" if _is_missing(missing) else f"{text} = {_literal(missing)}"
