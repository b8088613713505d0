"""A saved model as arrays: one row is scored without a data frame, with the bits of the model's pipeline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from scarce._typing import BoolArray, Cell, Estimator, FloatArray
from scarce.base import RareEventClassifier
from scarce.boosting import ProfitBoosting
from scarce.profit import BayesProfitClassifier
from scarce.tables import Column
from scarce.trees import MetaAPForest, ProfitForest, ProfitTree, RankingForest
from scarce.trees._packed import PackedTrees
from scarce.tuned import TunedThreshold

from .cells import MOST_FAULTS, NO_DATE, Fault, RowError, RowReader, as_frame, shown
from .encoder import CompiledEncoder, NotCompiled, compile_encoder
from .flat_trees import LeafTable, flat_booster, flat_forest, leaf_table
from .saved import SavedModel

__all__ = ["RowScorer", "Scored", "ScoredRow", "compile_model"]

_OURS = (MetaAPForest, RankingForest, ProfitForest, ProfitTree)
_LARGEST = float(np.finfo(np.float64).max)
_LARGEST_FLOAT32 = float(np.finfo(np.float32).max)
_ROWS_TO_COMPARE, _SINGLE_ROWS_TO_COMPARE = 64, 6

OnMatrix = Callable[[FloatArray], FloatArray]


class Scored(NamedTuple):
    """The scores of rows, their probabilities of the positive class, and whether they are called positive."""

    score: FloatArray
    probability: FloatArray
    positive: BoolArray


class ScoredRow(NamedTuple):
    """The same of one row."""

    score: float
    probability: float
    positive: bool


class _Method(NamedTuple):
    """A fitted method on encoded rows."""

    score: OnMatrix
    probability: Callable[[FloatArray, FloatArray], FloatArray]  # of rows and their scores
    of_one: Callable[[float], float] | None = None  # the probability of a score, where that is enough
    largest: float = _LARGEST  # the largest number that it can take
    fast: bool = False  # whether `score` is faster than the method itself for many rows too


class RowScorer:
    """A saved model that scores rows by the names of their columns.

    Attributes
    ----------
    compiled : bool
        Whether the model is in arrays; otherwise its pipeline scores a data frame.
    because : str
        Why it is not compiled; empty where it is.
    threshold : float
        A row is called positive if its score is greater.

    See Also
    --------
    compile_model : The function that makes it.
    """

    def __init__(self, model: SavedModel) -> None:
        self.model = model
        self.reader = RowReader(_columns_to_read(model), model.readings)
        self.threshold = float(model.pipeline[-1].threshold_)
        self.because = ""
        self._encode: CompiledEncoder | None = None
        self._method: _Method | None = None
        self._checks = False  # whether a cell can be too large

    @property
    def compiled(self) -> bool:
        """Return whether the model is in arrays."""
        return self._encode is not None

    def score_row(self, row: Mapping[str, Cell]) -> ScoredRow:
        """Score one row, or raise `RowError` with the cells that cannot be read."""
        return self.score_cells(self.reader.of_row(row))

    def score_cells(self, cells: Sequence[Any]) -> ScoredRow:
        """Score one row whose cells are typed already, by `reader`."""
        if self._encode is None or self._method is None:
            return ScoredRow(*(part[0].item() for part in self._by_pipeline([[cell] for cell in cells])))
        with np.errstate(over="ignore", invalid="ignore"):
            X = self._encode.of_row(cells)
            if self._checks:
                self._refuse_too_large(X, [[cell] for cell in cells])
            scores = self._method.score(X)
            score = scores.item()
            if self._method.of_one is None:
                return ScoredRow(score, self._method.probability(X, scores).item(), score > self.threshold)
            return ScoredRow(score, self._method.of_one(score), score > self.threshold)

    def score_rows(self, rows: Sequence[Mapping[str, Cell]]) -> Scored:
        """Score rows."""
        return self.score_typed(self.reader.of_rows(rows))

    def score_arrow(self, table: pa.Table) -> Scored:
        """Score the rows of an Arrow table."""
        return self.score_typed(self.reader.of_arrow(table))

    def encode_arrow(self, table: pa.Table) -> FloatArray:
        """Return the rows of an Arrow table as the method of a compiled model takes them."""
        if self._encode is None:
            raise NotCompiled(self.because)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._encode(self.reader.of_arrow(table))

    def score_encoded(self, X: FloatArray) -> FloatArray:
        """Return the scores of many rows that `encode_arrow` gave, by whatever is faster."""
        if self._method is not None and self._method.fast:
            return self._method.score(X)
        return np.asarray(self.model.pipeline[-1].score_samples(X), dtype=np.float64)

    def score_typed(self, typed: Sequence[Any]) -> Scored:
        """Score rows whose columns are typed already, by `reader`."""
        if not len(typed[0]):
            nothing = np.empty(0)
            return Scored(nothing, nothing, nothing > 0)
        if self._encode is None or self._method is None:
            return self._by_pipeline(typed)
        with np.errstate(over="ignore", invalid="ignore"):
            X = self._encode(typed)
            if self._checks:
                self._refuse_too_large(X, typed)
            score = self._method.score(X)
            return Scored(score, self._method.probability(X, score), score > self.threshold)

    def frame(self, typed: Sequence[Any]) -> pd.DataFrame:
        """Return rows whose columns are typed as the model's pipeline takes them."""
        frame = as_frame(self.reader.columns, typed)
        return frame if self.model.history is None else self.model.typed(frame)

    def score_frame(self, X: pd.DataFrame) -> Scored:
        """Score rows that `frame` gave, with some of their cells changed."""
        if self.compiled:
            return self.score_typed([_typed(X[column.name], column) for column in self.reader.columns])
        return self._score_by_pipeline(X)

    def _by_pipeline(self, typed: Sequence[Any]) -> Scored:
        self._refuse_untimed(typed)
        X = self.frame(typed)
        try:
            return self._score_by_pipeline(X)
        except ValueError:
            # The only cells that a pipeline refuses once they are typed are too large for its arithmetic.
            raise self._too_large(typed, 0, len(typed[0])) from None

    def _refuse_untimed(self, typed: Sequence[Any]) -> None:
        """Refuse rows without a time, of which nobody can say what was before them."""
        if self.model.history is None:
            return
        for column, cells in zip(self.reader.columns, typed, strict=True):
            if column.name != self.model.history.time:
                continue
            kind = "date" if column.kind == "date" else "number"
            needed = f"a {kind}, since the model learned from the rows before each row"
            empty = np.asarray(cells) == NO_DATE if column.kind == "date" else np.isnan(np.asarray(cells))
            if empty.any():
                raise RowError(
                    [Fault(int(row), column.name, needed, "none") for row in np.flatnonzero(empty)[:MOST_FAULTS]]
                )

    def _score_by_pipeline(self, X: pd.DataFrame) -> Scored:
        encoder, method = self.model.pipeline[:-1], self.model.pipeline[-1]
        with np.errstate(over="ignore", invalid="ignore"):
            rows = encoder.transform(X)
            score = method.score_samples(rows)
            return Scored(score, _positive_share(method, rows), score > self.threshold)

    def _refuse_too_large(self, X: FloatArray, typed: Sequence[Any]) -> None:
        assert self._method is not None
        bad = np.abs(X) > self._method.largest
        if bad.any():
            row = int(np.flatnonzero(bad.any(axis=1))[0])
            raise self._too_large(typed, row, row + 1)

    def _too_large(self, typed: Sequence[Any], start: int, end: int) -> RowError:
        most, fault = -1.0, Fault(start, "", "numbers that the model can compute with", "others")
        for column, cells in zip(self.reader.columns, typed, strict=True):
            if column.kind != "number":
                continue
            for row in range(start, end):
                if abs(cells[row]) > most:
                    most = abs(cells[row])
                    expected = f"a number between -{_LARGEST_FLOAT32:.1e} and {_LARGEST_FLOAT32:.1e}"
                    fault = Fault(row, column.name, expected, shown(float(cells[row])))
        return RowError([fault])


def compile_model(model: SavedModel) -> RowScorer:
    """Return a saved model that scores rows by column names, compiled into arrays where its parts are known.

    LightGBM, profit boosting, logistic regression, our forests and those of scikit-learn are compiled, with the
    encoder of an audit. The scores of some rows are compared with those of the pipeline; if a bit differs, or a part
    is of another kind, the rows go through the pipeline, and `because` says why.

    Examples
    --------
    A model scores a row that a request holds, once an audit has saved it:

    >>> from pathlib import Path
    >>> from scarce.engines import compile_model, load_model
    >>> def decide(folder: Path, row: dict) -> bool:
    ...     return bool(compile_model(load_model(folder)).score_row(row).positive[0])
    """
    scorer = RowScorer(model)
    try:
        if model.history is not None:
            raise NotCompiled("it learned from the history of entities")
        encode = compile_encoder(model.pipeline[0], model.columns)
        if len(model.pipeline.steps) != 2:
            raise NotCompiled("its pipeline has more steps than an encoder and a method")
        scorer._encode, scorer._method = encode, _compile_method(model.pipeline[-1])
        scorer._checks = encode.computes or scorer._method.largest < _LARGEST
        _compare(scorer)
    except NotCompiled as reason:
        scorer._encode = scorer._method = None
        scorer.because = f"The model is not compiled, because {reason}."
    return scorer


def _columns_to_read(model: SavedModel) -> list[Column]:
    """Return the columns of the model that a row holds, and those from which its history is made."""
    columns, history = list(model.own_columns), model.history
    if history is not None:
        kinds = {reading.name: reading.kind for reading in model.readings}
        held = {column.name for column in columns}
        more = [*history.entity, history.time, *filter(None, [history.amount])]
        columns += [Column(name, kinds.get(name, "category")) for name in dict.fromkeys(more) if name not in held]
    return columns


def _typed(cells: pd.Series, column: Column) -> Any:
    if column.kind == "date":
        return cells.to_numpy().astype("datetime64[us]").astype(np.int64)
    return cells.to_numpy(dtype=np.float64) if column.kind == "number" else cells.tolist()


def _positive_share(method: RareEventClassifier, X: Any) -> FloatArray:
    place = list(method.classes_).index(method.pos_label_)
    return np.ascontiguousarray(method.predict_proba(X)[:, place])


def _compile_method(method: Estimator) -> _Method:
    if isinstance(method, ProfitBoosting):
        return _profit_boosting(method)
    if isinstance(method, BayesProfitClassifier):
        score, largest, fast = _estimator(method.estimator_)
        calibrated = _bayes_calibration(method)
        return _Method(lambda X: calibrated(score(X)), _itself, float, largest, fast)
    if isinstance(method, TunedThreshold):
        score, largest, fast = _estimator(method.estimator_)
        if not method._has_own_probabilities:
            return _Method(score, *_calibration(method), largest, fast)
        return _Method(score, _itself, float, largest, fast)
    if isinstance(method, _OURS):
        if method._has_own_probabilities:
            return _Method(method._score, lambda X, score: method._own_probabilities(X)[:, 1])
        return _Method(method._score, *_calibration(method))
    raise NotCompiled(f"its method is {type(method).__name__}")


def _itself(X: FloatArray, score: FloatArray) -> FloatArray:
    return score


def _calibration(
    method: RareEventClassifier,
) -> tuple[Callable[[FloatArray, FloatArray], FloatArray], Callable[[float], float] | None]:
    """Return the probability of rows and their scores, and that of a single score."""
    if method._curves is None:
        return lambda X, score: method._squeezed(score)[:, 1], None
    curve = method._curves[0]
    if method._curves_by_class:
        return lambda X, score: curve(method._class_score(X)), None
    return lambda X, score: curve(score), curve.of_one


def _profit_boosting(method: ProfitBoosting) -> _Method:
    if method.booster_ is None:
        raise NotCompiled("its boosting found no split")
    nodes = flat_booster(method.booster_, method.n_features_in_)
    trees, fast = _fastest(nodes)
    start = method.start_

    def score(X: FloatArray) -> FloatArray:
        return start + trees.add_up(X)

    if not method._has_own_probabilities:
        return _Method(score, *_calibration(method), fast=fast)
    of_class, _ = _fastest(nodes._replace(root=nodes.root[: method.n_estimators_]))
    return _Method(score, lambda X, _: expit(method._class_start + of_class.add_up(X)), fast=fast)


def _fastest(trees: PackedTrees) -> tuple[PackedTrees | LeafTable, bool]:
    """Return trees as a table of leaves where they are small, and whether they are."""
    table = leaf_table(trees)
    return (trees, False) if table is None else (table, True)


def _estimator(estimator: Estimator) -> tuple[OnMatrix, float, bool]:
    """Return how a classifier gives the probability of class 1, the largest number that it takes, and if it is fast."""
    name = type(estimator).__name__
    if type(estimator) is LogisticRegression:
        weights, constant = estimator.coef_.T, estimator.intercept_
        return lambda X: expit((X @ weights + constant).reshape(-1)), _LARGEST, False
    if type(estimator) in (ExtraTreesClassifier, RandomForestClassifier):
        trees = flat_forest(estimator.estimators_, estimator.n_features_in_)
        number = len(estimator.estimators_)
        return lambda X: trees.add_up(X.astype(np.float32)) / number, _LARGEST_FLOAT32, False
    if name == "LGBMClassifier":
        boosted, fast = _fastest(flat_booster(estimator.booster_, estimator.n_features_in_))
        slope = _sigmoid_slope(estimator.booster_.model_to_string())
        return lambda X: _sigmoid(boosted.add_up(X), slope), _LARGEST, fast
    raise NotCompiled(f"its method is {name}")


def _sigmoid_slope(text: str) -> float:
    line = next((line for line in text.splitlines() if line.startswith("objective=")), "")
    if not line.startswith("objective=binary sigmoid:"):
        raise NotCompiled("its boosted trees have another objective than two classes")
    return float(line.rpartition(":")[2])


@njit(cache=True, nogil=True)
def _sigmoid(raw: NDArray[Any], slope: float) -> NDArray[Any]:  # pragma: no cover - compiled
    """Return probabilities by the arithmetic of LightGBM, which NumPy's exp may miss by a bit."""
    for i in range(raw.shape[0]):
        raw[i] = 1.0 / (1.0 + math.exp(-slope * raw[i]))
    return raw


def _bayes_calibration(method: BayesProfitClassifier) -> OnMatrix:
    steps = method.calibrator_
    if not isinstance(steps, IsotonicRegression) or len(steps.y_thresholds_) < 2:
        return lambda score: method._calibrated(steps, score)
    knots, height = steps.X_thresholds_, steps.y_thresholds_
    fast = _Interpolation(knots, height, float(steps.X_min_), float(steps.X_max_))
    return lambda score: method._calibrated(fast, score)


class _Interpolation(NamedTuple):
    """An isotonic regression without the checks of its input."""

    knots: FloatArray
    height: FloatArray
    least: float
    most: float

    def predict(self, score: FloatArray) -> FloatArray:
        return np.interp(np.clip(score, self.least, self.most), self.knots, self.height)


def _compare(scorer: RowScorer) -> None:
    """Raise `NotCompiled` if a bit differs from the pipeline's on rows of usual and unusual cells."""
    typed = _probes(scorer, np.random.default_rng(0))
    differs = NotCompiled("its scores in arrays differ from those of its pipeline")
    if not _same(scorer.score_typed(typed), scorer._by_pipeline(typed)):
        raise differs
    for row in range(_SINGLE_ROWS_TO_COMPARE):
        cells = [column[row] for column in typed]
        one, pipeline = scorer.score_cells(cells), scorer._by_pipeline([[cell] for cell in cells])
        if not _same([np.array([part]) for part in one], pipeline):
            raise differs


def _same(one: Sequence[Any], other: Sequence[Any]) -> bool:
    return all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))


def _probes(scorer: RowScorer, rng: np.random.Generator) -> list[Any]:
    typed: list[Any] = []
    for column in scorer.reader.columns:
        usual = scorer.model.usual[column.name].values
        if column.kind == "number":
            numbers = np.array([np.nan if v is None else v for v in usual], dtype=np.float64)
            values = np.concatenate((numbers, numbers * 1.37 - 0.1, [np.nan, 0.0, -1.0, 1e9]))
            typed.append(rng.choice(values, _ROWS_TO_COMPARE).tolist())
        elif column.kind == "date":
            dates = np.array(usual, dtype="datetime64[us]").astype(np.int64)
            dates = np.concatenate((dates, [0, dates.max() + 86_399_999_999]))
            typed.append(rng.choice(dates, _ROWS_TO_COMPARE).tolist())
        else:
            words = [*usual, "a category of no training row"]
            typed.append([words[k] for k in rng.integers(len(words), size=_ROWS_TO_COMPARE)])
    return typed
