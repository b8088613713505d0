"""Probabilities of a model that was fitted on other shares of the classes than it meets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from scarce._typing import FloatArray

__all__ = ["correct_prior"]


def correct_prior(proba: ArrayLike, prior_train: ArrayLike, prior_true: ArrayLike) -> FloatArray:
    """Return probabilities as they would be had the classes had their true shares in the training rows.

    By Bayes' rule the odds of a class are multiplied by how much more frequent it truly is than it was in training.
    The order of the rows does not change. This is right where resampling changed how frequent the classes are and
    not what their rows look like, which holds only roughly for SMOTE.

    Parameters
    ----------
    proba : array-like of shape (n_samples,) or (n_samples, n_classes)
        Probabilities of the positive class, or of each class.
    prior_train, prior_true : float, or array-like of shape (n_classes,)
        The share of the positive class, or of each class, in the rows that the model was fitted on, and in truth.

    References
    ----------
    C. Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001, Theorem 2. M. Saerens, P. Latinne,
    C. Decaestecker, "Adjusting the Outputs of a Classifier to New a Priori Probabilities", Neural Computation 14, 2002.

    Examples
    --------
    >>> from scarce.sampling import correct_prior
    >>> correct_prior([0.5, 0.9], prior_train=0.5, prior_true=0.1).round(3)
    array([0.1, 0.5])
    """
    given = np.asarray(proba, dtype=np.float64)
    train, true = np.asarray(prior_train, dtype=np.float64), np.asarray(prior_true, dtype=np.float64)
    if given.ndim == 1 and train.ndim == 0 and true.ndim == 0:
        both = correct_prior(np.column_stack((1 - given, given)), [1 - train, train], [1 - true, true])
        return both[:, 1]
    if given.ndim != 2 or not given.shape[1:] == train.shape == true.shape:
        raise ValueError(
            "proba must be a list with one number for each prior, or a table with one column for each class, and each "
            f"prior as many numbers; got shapes {given.shape}, {train.shape} and {true.shape}."
        )
    if not (min(train.min(), true.min()) > 0 and np.isclose([train.sum(), true.sum()], 1).all()):
        raise ValueError(
            f"The shares of the classes must be above 0 and add up to 1; got {train.tolist()} and {true.tolist()}."
        )
    shifted = given * (true / train)
    return shifted / shifted.sum(axis=1, keepdims=True)
