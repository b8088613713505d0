"""The type aliases of the library; some are `Any` to a type checker, and say to a reader what is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from scarce.objectives import Objective

__all__ = [
    "BoolArray",
    "Estimator",
    "FloatArray",
    "GainsLike",
    "IntArray",
    "Label",
    "Labels",
    "MatrixLike",
    "RandomState",
    "Rows",
    "Threshold",
]

BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.intp]

# The rows that a user gives: an array, a nested list, a sparse matrix, or a frame of pandas, polars or pyarrow.
MatrixLike: TypeAlias = Any
# Rows after validation: an array of float64 or float32, or, for wrappers, whatever their estimator takes.
Rows: TypeAlias = Any
# One class label, and an array of them.
Label: TypeAlias = Any
Labels: TypeAlias = NDArray[Any]
# An object with the methods of a scikit-learn estimator, which has no types of its own.
Estimator: TypeAlias = Any

# What each outcome (tp, fp, tn, fn) of a row earns: a table, or a function of the rows such as `Gains`.
GainsLike: TypeAlias = ArrayLike | Callable[[Any], ArrayLike]
RandomState: TypeAlias = int | np.random.RandomState | None
# A threshold: "default", the name of an objective, an objective, or a number.
Threshold: TypeAlias = "str | float | Objective"
