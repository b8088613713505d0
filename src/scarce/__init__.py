"""Learning from few positives: scores, exact thresholds for any objective, reasons."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scarce._trusted import trusted_types
    from scarce.base import RareEventClassifier
    from scarce.registry import all_estimators
    from scarce.tuned import TunedThreshold

__all__ = ["RareEventClassifier", "TunedThreshold", "__version__", "all_estimators", "trusted_types"]

__version__ = "0.2.0"

# Where the names stand. They and the rooms are imported when first used: scikit-learn and numba take a second.
_MODULE_OF = {
    "RareEventClassifier": "base",
    "TunedThreshold": "tuned",
    "all_estimators": "registry",
    "trusted_types": "_trusted",
}


def __getattr__(name: str) -> Any:
    if name in _MODULE_OF:
        value = getattr(importlib.import_module(f"scarce.{_MODULE_OF[name]}"), name)
        globals()[name] = value  # the next use finds it without this function
        return value
    if name in _rooms():
        return importlib.import_module(f"scarce.{name}")
    raise AttributeError(f"module 'scarce' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_rooms()})


def _rooms() -> set[str]:
    """Return the public modules. The command line is a program, not a part of the library."""
    return {module.name for module in pkgutil.iter_modules(__path__) if not module.name.startswith("_")} - {"cli"}
