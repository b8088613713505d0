"""Drift, calibration and outcomes, and whether a model is still right."""

from scarce._errors import MonitorError

from .advice import Advice
from .columns import ColumnDrift
from .detectors import Detected
from .drift import Drift
from .outcomes import OfPeriod, Outcomes
from .report import DriftReport
from .service import PerformanceMonitor

__all__ = [
    "Advice",
    "ColumnDrift",
    "Detected",
    "Drift",
    "DriftReport",
    "MonitorError",
    "OfPeriod",
    "Outcomes",
    "PerformanceMonitor",
]
