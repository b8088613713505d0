"""imbalanced-learn's samplers, with the origin, the weight and the gains of each row carried through."""

from __future__ import annotations

from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from scarce._extras import require
from scarce._sweep import check_gains, check_weight
from scarce._typing import BoolArray, Estimator, FloatArray, IntArray, RandomState, Sampler

__all__ = ["SAMPLERS", "Resampled", "resample"]


SAMPLERS = ("adasyn", "borderline-smote", "smote", "smote-enn", "smote-tomek")


class Resampled(NamedTuple):
    """Rows after resampling, and where each came from.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        The rows.
    y : ndarray of shape (n_rows,)
        Their classes.
    origin : ndarray of shape (n_rows,)
        The number of the given row that each one is, or is a copy of; -1 for a row that was made up between two.
    synthetic : ndarray of shape (n_rows,), bool
        True for rows that were made up and for further copies of a given row.
    parents : ndarray of shape (n_rows, 2)
        The numbers of the two given rows that a synthetic one lies between, the nearer first; twice that of `origin`
        for a row that is given or a copy; -1 where the sampler does not report them.
    sample_weight : ndarray of shape (n_rows,) or None
        Their weights, if weights were given.
    gains : ndarray of shape (n_rows, 4) or None
        What their outcomes earn, if gains were given.

    See Also
    --------
    resample : The function that returns it.
    """

    X: NDArray[Any]
    y: NDArray[Any]
    origin: IntArray
    synthetic: BoolArray
    parents: IntArray
    sample_weight: FloatArray | None
    gains: FloatArray | None


def resample(
    X: ArrayLike,
    y: ArrayLike,
    sampler: Sampler = "smote",
    *,
    sample_weight: ArrayLike | None = None,
    gains: ArrayLike | None = None,
    random_state: RandomState = None,
) -> Resampled:
    """Resample rows, and return for each whether it is real, its weight and its gains.

    A synthetic row of SMOTE lies on the line between two rows. Its weight and its gains lie at the same place
    between theirs: a made-up fraud between one of 100 and one of 300 is of an amount between them. Neighbours
    are found by the features alone.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The rows, all of them numbers.
    y : array-like of shape (n_samples,)
        Their classes.
    sampler : {"smote", "borderline-smote", "adasyn", "smote-enn", "smote-tomek"} or sampler, default="smote"
        A name, for imbalanced-learn's sampler with its defaults, or a sampler. A sampler of another kind can be used
        if it selects rows and has ``sample_indices_``, or if it appends rows to those given.
    sample_weight : array-like of shape (n_samples,), optional
        How much each row counts.
    gains : array-like of shape (n_samples, 4) or (4,), optional
        What each outcome (tp, fp, tn, fn) of a row earns.
    random_state : int, RandomState or None, default=None
        For a sampler by name, or one whose own is None.

    Returns
    -------
    Resampled

    Notes
    -----
    SMOTE and its kin look for 5 neighbours of the same class; where the class has fewer, they get those that there
    are, and a class of one row gets no synthetic ones. Nor does ADASYN make any where no row of the class has a
    neighbour of another.

    imbalanced-learn does not report between which two rows a synthetic one lies. For SMOTE, Borderline-SMOTE and ADASYN
    it is found out exactly, from the digits of the rows' numbers, which are interpolated along with the features.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from scarce.sampling import resample
    >>> X, y = make_classification(100, weights=[0.9], flip_y=0, random_state=0)
    >>> rows = resample(X, y, "smote", sample_weight=1.0 + y, random_state=0)
    >>> int(rows.synthetic.sum()), float(rows.sample_weight[rows.synthetic].mean())
    (82, 2.0)
    """
    rows = check_array(X, dtype=[np.float64, np.float32])
    target = column_or_1d(y)
    check_consistent_length(rows, target)
    n = len(rows)
    columns = [] if sample_weight is None else [check_weight(sample_weight, n)[:, None]]
    columns += [] if gains is None else [check_gains(gains, n)]
    carried = np.hstack((np.empty((n, 0)), *columns))
    _, state = resample_in_steps(rows, target, sampler, random_state, carried)[-1]
    first = 0 if sample_weight is None else 1
    return Resampled(
        *state[:5],
        sample_weight=None if sample_weight is None else state.carried[:, 0].copy(),
        gains=None if gains is None else state.carried[:, first:].copy(),
    )


class State(NamedTuple):
    """The rows between two steps; `carried` has the columns that travel with them."""

    X: NDArray[Any]
    y: NDArray[Any]
    origin: IntArray
    synthetic: BoolArray
    parents: IntArray
    carried: FloatArray


def resample_in_steps(
    X: NDArray[Any], y: NDArray[Any], sampler: Sampler, random_state: RandomState, carried: FloatArray
) -> list[tuple[Estimator, State]]:
    """Return the steps of a sampler, each of which only makes or only selects rows, with the rows after each.

    The first is no step, with the rows as they are given.
    """
    numbers = np.arange(len(X))
    state = State(X, y, numbers, np.zeros(len(X), dtype=bool), np.column_stack((numbers, numbers)), carried)
    done = [(None, state)]
    for step in _steps(sampler, random_state):
        state = _apply(step, state)
        done.append((step, state))
    return done


def imblearn() -> Any:
    return require("imblearn", "Resampling")


def _steps(sampler: Sampler, random_state: RandomState) -> list[Estimator]:
    """Return the sampler as steps that each only add rows or only select rows."""
    lib = imblearn()
    over, under, combine = lib.over_sampling, lib.under_sampling, lib.combine
    if isinstance(sampler, str):
        kinds = (over.ADASYN, over.BorderlineSMOTE, over.SMOTE, combine.SMOTEENN, combine.SMOTETomek)
        by_name = dict(zip(SAMPLERS, kinds, strict=True))
        if sampler not in by_name:
            raise ValueError(f"sampler={sampler!r} is not known. Give one of {', '.join(SAMPLERS)}, or a sampler.")
        sampler = by_name[sampler]()
    if isinstance(sampler, combine.SMOTEENN | combine.SMOTETomek):
        smote = sampler.smote or over.SMOTE(
            sampling_strategy=sampler.sampling_strategy, random_state=sampler.random_state
        )
        if isinstance(sampler, combine.SMOTEENN):
            clean = sampler.enn or under.EditedNearestNeighbours(sampling_strategy="all", n_jobs=sampler.n_jobs)
        else:
            clean = sampler.tomek or under.TomekLinks(sampling_strategy="all", n_jobs=sampler.n_jobs)
        steps = [clone(smote), clone(clean)]
    else:
        steps = [clone(sampler)]
    for step in steps:
        if step.get_params().get("random_state", 0) is None:
            step.set_params(random_state=random_state)
    return steps


def _apply(step: Estimator, state: State) -> State:
    lib = imblearn()
    over = lib.over_sampling
    # Subclasses are left out: SMOTE for categories reads its columns by position.
    if type(step) in (over.SMOTE, over.BorderlineSMOTE, over.ADASYN):
        return _interpolate(step, state, lib.utils.check_sampling_strategy)
    n = len(state.X)
    try:
        X, y = step.fit_resample(state.X, state.y)
    except ValueError as error:
        if "n_samples_fit" not in str(error):
            raise
        raise ValueError(
            f"{type(step).__name__} looks for more neighbours than there are other rows, of which {n - 1} are left. "
            "Give more rows, or a sampler that looks for fewer neighbours."
        ) from error
    selected = getattr(step, "sample_indices_", None)
    if selected is not None:
        again = np.ones(len(selected), dtype=bool)
        again[np.unique(selected, return_index=True)[1]] = False
        synthetic = state.synthetic[selected] | again
        return State(X, y, state.origin[selected], synthetic, state.parents[selected], state.carried[selected])
    if not np.array_equal(X[:n], state.X):
        raise ValueError(
            f"{type(step).__name__} does not report where its rows come from: it has no sample_indices_ and does not "
            f"append to the given rows. Take one of {', '.join(SAMPLERS)}."
        )
    if state.carried.shape[1] and len(X) > n:
        raise ValueError(
            f"{type(step).__name__} does not report from which rows it makes others, so they cannot be "
            f"given weights or gains. Leave these out, or take one of {', '.join(SAMPLERS)}."
        )
    return _extend(state, X, y, np.full((len(X) - n, 2), -1), np.empty((len(X), 0)))


def _interpolate(step: Estimator, state: State, check_sampling_strategy: Any) -> State:
    """Run SMOTE or its kin; the carried columns are interpolated with the features."""
    n, n_features = state.X.shape
    classes, sizes = np.unique(state.y, return_counts=True)
    wanted = check_sampling_strategy(step.sampling_strategy, state.y, "over-sampling")
    growing = np.array([wanted.get(c, 0) > 0 for c in classes])
    fewest = int(sizes[growing].min(initial=n))
    if fewest == 1 or not growing.any():
        return state
    for name, available in (("k_neighbors", fewest), ("n_neighbors", fewest), ("m_neighbors", n)):
        search = getattr(step, name, None)
        if isinstance(search, Integral):
            # The row itself is found too, and dropped.
            search = NearestNeighbors(n_neighbors=min(int(search), available - 1) + 1)
        if search is not None:
            step.set_params(**{name: _ByFeatures(search, n_features)})
    try:
        X, y = step.fit_resample(np.hstack((state.X, state.carried, _digits(n))), state.y)
    except (RuntimeError, ValueError) as error:
        # ADASYN adds rows where the class has foreign neighbours, and refuses where it finds no such place.
        if str(error).startswith(("Not any neigbours", "No samples will be generated")):
            return state
        raise
    kept, carried, digits = np.split(X, [n_features, n_features + state.carried.shape[1]], axis=1)
    return _extend(state, kept.astype(state.X.dtype), y, _parents(digits[n:]), carried)


def _extend(state: State, X: NDArray[Any], y: NDArray[Any], parents: IntArray, carried: FloatArray) -> State:
    more = len(parents)
    return State(
        X,
        y,
        np.concatenate((state.origin, np.full(more, -1))),
        np.concatenate((state.synthetic, np.ones(more, dtype=bool))),
        np.concatenate((state.parents, parents)),
        carried,
    )


def _digits(n: int) -> FloatArray:
    """Return the binary digits of the numbers 0 to n - 1, a column for each place."""
    places = np.arange(max(1, (n - 1).bit_length()))
    return (np.arange(n)[:, None] >> places & 1).astype(np.float64)


def _parents(digits: FloatArray) -> IntArray:
    """Return the numbers of the two rows between which rows with such digits lie, the nearer first.

    At a share t < 1/2 of the way a digit is 0 or 1 where the two rows have the same, 1 - t where only the nearer one
    has it and t where only the other has. A share of exactly 1/2, one draw in 2^53, is not foreseen.
    """
    nearer = digits > 0.5
    other = np.where(nearer, digits == 1, digits > 0)
    return np.stack((nearer, other), axis=1) @ (1 << np.arange(digits.shape[1]))


class _ByFeatures(BaseEstimator):
    """A neighbour search that does not see the columns after the features."""

    def __init__(self, search: Estimator, n_features: int) -> None:
        self.search = search
        self.n_features = n_features

    @property
    def n_neighbors(self) -> int:
        return int(self.search.n_neighbors)

    def fit(self, X: NDArray[Any], y: Any = None) -> Self:
        self.search_ = clone(self.search).fit(X[:, : self.n_features])
        return self

    def kneighbors(self, X: NDArray[Any], *args: Any, **kwargs: Any) -> Any:
        return self.search_.kneighbors(X[:, : self.n_features], *args, **kwargs)

    def kneighbors_graph(self, X: NDArray[Any], *args: Any, **kwargs: Any) -> Any:
        return self.search_.kneighbors_graph(X[:, : self.n_features], *args, **kwargs)
