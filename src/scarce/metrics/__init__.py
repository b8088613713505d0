"""Metrics of rankings and decisions about rare events, with their confidence intervals.

Every figure depends on the set of rows alone, never on their order. Where equal scores leave open which rows
are among the first `k`, a figure is its expectation over all orders of the tied rows.

Labels follow scikit-learn: of 0 and 1, -1 and 1, or booleans, 1 is positive; others are named by `pos_label`.
Weights count as rows: a row of weight 2 is two rows, one of weight 0 is absent.
"""

from sklearn.metrics import average_precision_score as average_precision

from scarce.metrics._bootstrap import ConfidenceInterval, bootstrap_interval
from scarce.metrics._calibration import CalibrationBins, calibration_bins, expected_calibration_error
from scarce.metrics._decisions import (
    class_weighted_accuracy_score,
    gmean_score,
    profit_gap_score,
    profit_score,
    savings_score,
)
from scarce.metrics._groups import group_precision_at_k
from scarce.metrics._ranking import precision_at_k, recall_at_k, value_at_k
from scarce.metrics._scorers import (
    gmean_scorer,
    precision_at_k_scorer,
    predict_for_profit,
    profit_scorer,
    recall_at_k_scorer,
    value_at_k_scorer,
)

__all__ = [
    "CalibrationBins",
    "ConfidenceInterval",
    "average_precision",
    "bootstrap_interval",
    "calibration_bins",
    "class_weighted_accuracy_score",
    "expected_calibration_error",
    "gmean_score",
    "gmean_scorer",
    "group_precision_at_k",
    "precision_at_k",
    "precision_at_k_scorer",
    "predict_for_profit",
    "profit_gap_score",
    "profit_score",
    "profit_scorer",
    "recall_at_k",
    "recall_at_k_scorer",
    "savings_score",
    "value_at_k",
    "value_at_k_scorer",
]
