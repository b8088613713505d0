"""The one place that imports what scikit-learn keeps private."""

from sklearn.calibration import _sigmoid_calibration as sigmoid_calibration
from sklearn.compose import ColumnTransformer
from sklearn.utils import _safe_indexing as safe_indexing
from sklearn.utils._metadata_requests import _routing_enabled as routing_enabled
from sklearn.utils._openmp_helpers import _openmp_effective_n_threads as openmp_threads
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

__all__ = [
    "HasMethods",
    "Interval",
    "RealNotInt",
    "StrOptions",
    "check_sample_weight",
    "input_columns",
    "openmp_threads",
    "routing_enabled",
    "safe_indexing",
    "sigmoid_calibration",
]


def input_columns(transformer: ColumnTransformer) -> dict[str, list[int]]:
    """Return the numbers of the columns that each transformer of a fitted ColumnTransformer takes, by its name."""
    return {name: list(columns) for name, columns in transformer._transformer_to_input_indices.items()}
