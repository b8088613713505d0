"""A bound on the F1 that a family of models can reach on these rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scarce.fmeasure import ConeClassifier

from .methods import CONE_MODELS
from .plan import Candidate
from .task import Task

__all__ = ["Certificate", "certify"]

# A bound that says nothing.
NO_LIMIT = 0.995


@dataclass(frozen=True)
class Certificate:
    """No model of a family has a higher F1 on the rows learned from.

    Attributes
    ----------
    family : str
        The family.
    bound : float
        The highest F1 that any of its models can have.
    reached : float
        The highest F1 of those that were fitted.
    sentence : str
        The same in words.
    """

    family: str
    bound: float
    reached: float
    sentence: str


def certify(candidates: Sequence[Candidate], task: Task) -> list[Certificate]:
    """Return the bounds of the families of all candidates that search class weights."""
    found = []
    for candidate in candidates:
        search = candidate.model[-1]
        if not isinstance(search, ConeClassifier):
            continue
        # The bound is of the rows that models are fitted on, so that no rows are left out.
        model = candidate.model.__class__(
            [candidate.model.steps[0], ("method", ConeClassifier(search.estimator, n_models=CONE_MODELS, pos_label=1))]
        ).set_params(method__validation="train")
        method = task.fit(model)[-1]
        family = candidate.name.removeprefix("CONE, ")
        bound, reached = float(method.f_upper_bound_), float(method.f_fit_)
        if bound > NO_LIMIT:
            sentence = f"{family} can fit the rows learned from perfectly, so that there is no bound on its F1 there."
        else:
            sentence = (
                f"No {family} on these columns can exceed F1 = {bound:.2f} on the rows learned from, whatever its "
                f"class weights, as far as its fits are exact; the best one fitted has {reached:.2f}."
            )
        found.append(Certificate(family, bound, reached, sentence))
    return found
