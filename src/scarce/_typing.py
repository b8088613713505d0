"""The type aliases of the library; some are `Any` to a type checker, and say to a reader what is meant."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from scarce.objectives import Objective
else:  # of an extra
    Axes = Any

__all__ = [
    "CV",
    "ArrowCells",
    "Axes",
    "BoolArray",
    "Booster",
    "Calibration",
    "CategoricalFeatures",
    "Cell",
    "Estimator",
    "FittedThreshold",
    "FloatArray",
    "Fold",
    "Folds",
    "Frame",
    "GainsLike",
    "IntArray",
    "Json",
    "Keywords",
    "Label",
    "Labels",
    "MatrixLike",
    "MaxFeatures",
    "Metric",
    "Number",
    "RandomState",
    "Record",
    "Rows",
    "Sampler",
    "Threshold",
    "TopK",
    "Values",
]

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]
# A float or an array of floats, in formulas that hold for both.
Number: TypeAlias = Any

# The rows that a user gives: an array, a nested list, a sparse matrix, or a frame of pandas, polars or pyarrow.
MatrixLike: TypeAlias = Any
# Rows after validation: an array of float64 or float32, or, for wrappers, whatever their estimator takes.
Rows: TypeAlias = Any
# The path of a file or a folder.
PathLike: TypeAlias = "str | os.PathLike[str]"
# A frame of pandas, which is an extra.
Frame: TypeAlias = Any
# The values of one feature: an array, or a series of such a frame.
Values: TypeAlias = Any
# The cells of a column as an array or a chunked array of Arrow, which is an extra.
ArrowCells: TypeAlias = Any
# One value of a table: a number, a text, a date, or missing.
Cell: TypeAlias = Any
# One class label, and an array of them.
Label: TypeAlias = Any
Labels: TypeAlias = NDArray[Any]
# A Booster of LightGBM, which is an extra.
Booster: TypeAlias = Any
# An object with the methods of a scikit-learn estimator, which has no types of its own.
Estimator: TypeAlias = Any

# What each outcome (tp, fp, tn, fn) of a row earns: a table, or a function of the rows such as `Gains`.
GainsLike: TypeAlias = ArrayLike | Callable[[MatrixLike], ArrayLike]
RandomState: TypeAlias = int | np.random.RandomState | None
# A threshold: "default", the name of an objective, an objective, or a number.
Threshold: TypeAlias = "str | float | Objective"
# Learned: a float, or None with more than two classes.
FittedThreshold: TypeAlias = Any
Calibration: TypeAlias = Literal["auto", "honest"] | None
# The name of a metric of scikit-learn, or a function of two rows.
Metric: TypeAlias = str | Callable[[FloatArray, FloatArray], float]
# Of trees: which columns hold categories, by name, by number or as a mask; how many of them a split tries, as a number,
# a share or "sqrt"; how many of the first rows will be read, as a number or a share.
CategoricalFeatures: TypeAlias = ArrayLike | None
MaxFeatures: TypeAlias = int | float | str | None
TopK: TypeAlias = int | float | None


class _Splitter(Protocol):
    def split(self, X: MatrixLike, y: ArrayLike | None = ..., groups: ArrayLike | None = ...) -> Iterable[Fold]: ...


class _Resampler(Protocol):
    def fit_resample(self, X: MatrixLike, y: ArrayLike) -> tuple[MatrixLike, ArrayLike]: ...


# The training and the test rows of one fold; a splitter or the folds; these, or their number, or the method's own.
Fold: TypeAlias = tuple[IntArray, IntArray]
Folds: TypeAlias = _Splitter | Iterable[Fold]
CV: TypeAlias = int | Folds | None
# The name of a sampler of imbalanced-learn, or a sampler.
Sampler: TypeAlias = str | _Resampler

# Keyword arguments for a call; what is written as JSON; what was read from JSON or TOML.
Keywords: TypeAlias = dict[str, Any]
Json: TypeAlias = dict[str, Any]
Record: TypeAlias = Mapping[str, Any]
