"""The types that a file of a fitted model may hold."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

import sklearn.model_selection

__all__ = ["trusted_types"]

# Rooms that use models and are no part of one. All others are looked through, so that a new method needs no entry.
_USERS_OF_MODELS = ("audit", "cli", "datasets", "engines", "plotting", "stream", "study")
# Parts of other libraries' models that skops does not trust by itself. They hold data and run nothing.
_FOREIGN = (
    "collections.OrderedDict",
    "lightgbm.basic.Booster",
    "lightgbm.sklearn.LGBMClassifier",
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.metrics._dist_metrics.EuclideanDistance64",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.tree._tree.Tree",
)


def trusted_types() -> list[str]:
    """Return the types that skops must trust to load a model of this library.

    They are the classes of the library's methods and what these are made of, and a few types of LightGBM, NumPy and
    scikit-learn that hold data: no function, and nothing that runs code when a file is opened. A file that holds any
    other type is refused by skops, with its name.

    Returns
    -------
    list of str
        The names, sorted.

    Examples
    --------
    >>> import scarce
    >>> from scarce.neighbors import GammaKNN
    >>> from skops.io import dumps, loads
    >>> stored = dumps(GammaKNN().fit([[0.0], [1.0], [2.0], [9.0], [8.0]], [0, 0, 0, 1, 1]))
    >>> loads(stored, trusted=scarce.trusted_types()).predict([[8.5]])
    array([1])
    """
    return list(_all_types())


@cache
def _all_types() -> tuple[str, ...]:
    package = importlib.import_module("scarce")
    found = {*_FOREIGN, *_splitters()}
    names = [
        f"scarce.{module.name}"
        for module in pkgutil.iter_modules(package.__path__)
        if module.name not in _USERS_OF_MODELS
    ]
    while names:
        name = names.pop()
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue  # of an extra that is not installed: no model can need it here
        names += [f"{name}.{part.name}" for part in pkgutil.iter_modules(getattr(module, "__path__", ()))]
        found |= {
            f"{name}.{value.__name__}"
            for value in vars(module).values()
            if inspect.isclass(value) and value.__module__ == name and not issubclass(value, BaseException)
        }
    return tuple(sorted(found))


def _splitters() -> set[str]:
    """Return the splitters of scikit-learn, which a model may have as its `cv`."""
    public = [value for value in vars(sklearn.model_selection).values() if inspect.isclass(value)]
    return {f"{value.__module__}.{value.__name__}" for value in public if hasattr(value, "get_n_splits")}
