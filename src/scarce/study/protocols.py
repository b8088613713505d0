"""The protocol of a study: as a sentence, and as the rows that its splits have in common."""

from __future__ import annotations

from scarce._typing import Record

from .data import DRAWN
from .spec import Study

__all__ = ["describe_protocol", "overlap_of"]

_FOLDS = 5
_CHOSEN = {"f1": "F1", "gmean": "g-mean", "balanced_accuracy": "balanced accuracy", "ap": "average precision"}


def describe_protocol(study: Study) -> str:
    """Return the protocol of a study as a sentence."""
    protocol, splits = study.protocol, study.splits
    times = f"{splits} split{'s' if splits > 1 else ''}"
    kind = protocol["kind"]
    given = [set_["label"] for set_ in study.sets if "train_rows" in set_ or "start" in set_]
    if len(given) == len(study.sets):
        how = f"{splits} seed{'s' if splits > 1 else ''}, test rows after the training rows in the order of the table"
    elif kind == "shuffle":
        how = f"{times} of each set, {100 * protocol['test_size']:g} % of its rows for testing"
        how += f" ({', '.join(given)}: the rows given for it)" if given else ""
    elif kind in ("folds", "keel"):
        how = f"{_FOLDS} folds" if splits == _FOLDS else f"{times} of each set, {_FOLDS} folds at a time"
        how += ", those of KEEL" if kind == "keel" else ""
    else:
        how = f"{times}, each with rows drawn for it" if kind == "drawn" else f"{times} in the order of time"
    if "validation" in protocol:
        how += f", {100 * protocol['validation']:.0f} % of the training rows for thresholds"
    limits = [f"at most {protocol[key]:,} {what}" for key, what in _LIMITS if isinstance(protocol.get(key), int)]
    chosen = ""
    if any(method.recipe.get("grid") for method in study.methods):
        by = _CHOSEN.get(protocol.get("choose", ""), protocol.get("choose", ""))
        share = f"a share of {protocol['holdout']:.2g}" if "holdout" in protocol else f"{protocol['inner']} folds"
        chosen = f"; what a grid has is chosen by {by} on {share} of the training rows"
        chosen += "" if protocol.get("refit", True) else ", which the model that is chosen never learns from"
    return ", ".join([how, *limits]) + chosen + "."


_LIMITS = (("rows", "training rows"), ("test_rows", "test rows"))


def overlap_of(set_: Record, protocol: Record) -> float:
    """Return the test rows of a split by its training rows; 0 where every split has rows of its own."""
    if set_["name"] in DRAWN:
        return 0.0
    share = protocol.get("test_size", 1 / _FOLDS)
    return float(share / (1 - share))
