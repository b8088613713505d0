"""Bounds on the F-measure, from the errors of classifiers fitted with known class weights.

A classifier fitted with the weight ``1 + β² - t`` on positive rows and ``t`` on negative ones bounds the F of *any*
classifier of its family. In the plane of t and F each such classifier makes a cone, above which no optimum lies. All is
in closed form; nothing is sampled.

The bound is certified under one condition: let every classifier have, on the rows that its errors are counted on, a
weighted error of at most `epsilon` more than the least one in its family. Then the best F of the family on these rows
is at most :func:`certified_bound`. That bound reads the cones where F = t, and only there they hold: the thesis states
them for all t, which is false. So the highest point of :func:`upper_envelope`, which guides a search, is a looser
bound.

With more than two classes the same formulas hold for :func:`micro_f_parambath`, where one class is the default.

References
----------
G. Metzler, "Learning from Imbalanced Data: An Application to Bank Fraud Detection", thesis, Saint-Étienne, 2019,
chapter 5 and appendix A. S. Parambath, N. Usunier, Y. Grandvalet, "Optimizing F-Measures by Cost-Sensitive
Classification", NIPS 2014.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import fbeta_score
from sklearn.utils import check_consistent_length, column_or_1d

from scarce._typing import FloatArray, Label, Number

__all__ = [
    "Cones",
    "Envelope",
    "ErrorProfile",
    "certified_bound",
    "class_weights",
    "cones",
    "difference_range",
    "error_profile",
    "f_measure",
    "micro_f",
    "micro_f_parambath",
    "parambath_cones",
    "pooled",
    "upper_envelope",
]


class ErrorProfile(NamedTuple):
    """The errors of a classifier, or of several, as shares of all rows.

    With more than two classes "positive" is every class but the default one, and a false negative is a row of such a
    class that is not given its own class.

    See Also
    --------
    error_profile : The profile of predictions.
    cones : The cones of profiles.
    """

    fn: Number
    fp: Number
    positives: Number

    @property
    def negatives(self) -> Number:
        """The share of negative rows."""
        return 1 - self.positives

    def denominator(self, beta: float) -> Number:
        """Return the denominator of F over (1 + β²): 1/Φ in the thesis."""
        return (1 + beta**2) * self.positives - self.fn + self.fp


def error_profile(
    y_true: ArrayLike, y_pred: ArrayLike, *, pos_label: Label = 1, sample_weight: ArrayLike | None = None
) -> ErrorProfile:
    """Return the shares of false negatives, of false positives and of positive rows.

    Examples
    --------
    >>> from scarce.fmeasure.bounds import error_profile, f_measure
    >>> profile = error_profile([1, 1, 0, 0], [1, 0, 1, 0])
    >>> f_measure(profile)
    0.5
    """
    truth, predicted = column_or_1d(y_true) == pos_label, column_or_1d(y_pred) == pos_label
    return _profile(truth & ~predicted, ~truth & predicted, truth, sample_weight)


def multiclass_error_profile(
    y_true: ArrayLike, y_pred: ArrayLike, *, default_class: Label, sample_weight: ArrayLike | None = None
) -> ErrorProfile:
    """Return the errors on rows of all classes but the default one, those on rows of the default one, and its rest."""
    truth, predicted = column_or_1d(y_true), column_or_1d(y_pred)
    wrong, default = truth != predicted, truth == default_class
    return _profile(wrong & ~default, wrong & default, ~default, sample_weight)


def _profile(fn: NDArray, fp: NDArray, positive: NDArray, sample_weight: ArrayLike | None) -> ErrorProfile:
    check_consistent_length(fn, positive)
    if sample_weight is None:
        return ErrorProfile(*(float(np.count_nonzero(which)) / len(fn) for which in (fn, fp, positive)))
    weight = column_or_1d(sample_weight).astype(np.float64)
    check_consistent_length(fn, weight)
    return ErrorProfile(*(float(weight[which].sum() / weight.sum()) for which in (fn, fp, positive)))


def f_measure(profile: ErrorProfile, beta: float = 1.0) -> Number:
    """Return the F-measure of a profile; with more than two classes it is :func:`micro_f_parambath`."""
    return (1 + beta**2) * (profile.positives - profile.fn) / profile.denominator(beta)


def micro_f_parambath(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    default_class: Label,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the micro-F of Parambath et al. and of the thesis, which CONE optimises.

    A row of one positive class that is given another positive class is one error here and two in :func:`micro_f`: the
    two are equal only where no such row exists.

    Examples
    --------
    >>> from scarce.fmeasure.bounds import micro_f, micro_f_parambath
    >>> truth, predicted = [0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 2]
    >>> round(micro_f_parambath(truth, predicted, default_class=0), 3)
    0.75
    >>> round(micro_f(truth, predicted, default_class=0), 3)
    0.667
    """
    return float(
        f_measure(
            multiclass_error_profile(y_true, y_pred, default_class=default_class, sample_weight=sample_weight), beta
        )
    )


def micro_f(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    default_class: Label,
    beta: float = 1.0,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the usual micro-F over all classes but the default one, as scikit-learn defines it.

    It is the target of Narasimhan et al. (ICML 2015); see :func:`micro_f_parambath` for how they differ.
    """
    labels = np.setdiff1d(np.union1d(y_true, y_pred), [default_class])
    score = fbeta_score(
        y_true, y_pred, beta=beta, labels=labels, average="micro", sample_weight=sample_weight, zero_division=0.0
    )
    return float(score)


def class_weights(t: Number, beta: float = 1.0) -> tuple[Number, Number]:
    """Return the weight of a positive and that of a negative row at `t`.

    Where `t` is the best F itself, the classifier with the least error by these weights is the one with the best F.
    """
    return 1 + beta**2 - t, t


def difference_range(profile: ErrorProfile, beta: float = 1.0) -> tuple[Number, Number]:
    """Return the least and the greatest false positives minus false negatives that a higher F allows (M_min, M_max)."""
    fn, fp, positives = (np.asarray(share, dtype=np.float64) for share in profile)
    found, weighted = positives - fn, beta**2 * positives + fp
    least = -fn - fp * found / weighted
    # Without a true positive the second term has no limit, and all negative rows may be false positives.
    with np.errstate(divide="ignore", invalid="ignore"):
        more = np.where(found > 0, fn * weighted / found, np.inf)
    return least, fp + np.minimum(1 - positives - fp, more)


class Cones(NamedTuple):
    """One cone for each classifier: at its own t the height, and to either side a line with the given slope.

    See Also
    --------
    cones : The cones of classifiers.
    parambath_cones : The wider cones of Parambath et al.
    scarce.plotting.ConeDisplay : Cones as a figure.
    """

    t: FloatArray
    height: FloatArray
    left: FloatArray
    right: FloatArray

    def at(self, t: ArrayLike) -> FloatArray:
        """Return the height of each cone (rows) at each of the given t (columns)."""
        where = np.atleast_1d(np.asarray(t, dtype=np.float64))
        away = where - self.t[:, None]
        return self.height[:, None] + np.where(away < 0, self.left[:, None], self.right[:, None]) * away

    def diagonal(self) -> FloatArray:
        """Return the highest F at which each cone meets F = t: the best F of the family is at most that."""
        slope = np.where(self.height < self.t, self.left, self.right)
        with np.errstate(divide="ignore", invalid="ignore"):
            met = (self.height - slope * self.t) / (1 - slope)
        # Only Parambath's cones are as steep as the diagonal, and above it again by t = 1.
        return np.where(self.height + self.right * (1 - self.t) < 1, met, np.inf)


def cones(t: ArrayLike, profile: ErrorProfile, beta: float = 1.0, epsilon: float = 0.0) -> Cones:
    """Return the cones of classifiers fitted with the weights of `t` and with the given errors.

    Parameters
    ----------
    t : array-like of shape (n_models,)
        The t of the class weights of each classifier.
    profile : ErrorProfile
        Their errors, as arrays of the same shape or as numbers.
    beta : float, default=1.0
        The weight of recall relative to precision.
    epsilon : float, default=0.0
        The most by which the weighted error of a classifier may exceed the least in its family, in shares of rows.

    Examples
    --------
    >>> from scarce.fmeasure.bounds import ErrorProfile, certified_bound, cones, f_measure
    >>> profile = ErrorProfile(fn=0.02, fp=0.04, positives=0.1)  # of a classifier fitted with t = 0.7
    >>> round(f_measure(profile), 3), round(certified_bound(cones(0.7, profile)), 3)
    (0.727, 0.738)
    """
    t, profile = _checked(t, profile)
    least, greatest = difference_range(profile, beta)
    scale = profile.denominator(beta)
    height = f_measure(profile, beta) + epsilon / scale
    difference = profile.fp - profile.fn
    return Cones(t, height, (difference - greatest) / scale, (difference - least) / scale)


def parambath_cones(t: ArrayLike, profile: ErrorProfile, beta: float = 1.0, epsilon: float = 0.0) -> Cones:
    """Return the symmetric, wider cones of Parambath et al. for these classifiers; parameters as for :func:`cones`."""
    t, profile = _checked(t, profile)
    factor = 1 / (beta**2 * profile.positives)
    slope = 4 * factor * np.hypot(profile.positives, profile.negatives)
    return Cones(t, f_measure(profile, beta) + factor * epsilon, -slope, slope)


def _checked(t: ArrayLike, profile: ErrorProfile) -> tuple[FloatArray, ErrorProfile]:
    shares = (np.atleast_1d(np.asarray(share, dtype=np.float64)) for share in (t, *profile))
    where, fn, fp, positives = np.broadcast_arrays(*shares)
    if not (positives > 0).all():
        raise ValueError("The F-measure needs positive rows; the profile has none.")
    return where, ErrorProfile(fn, fp, positives)


def pooled(t: ArrayLike, profile: ErrorProfile, beta: float = 1.0) -> ErrorProfile:
    """Return for each t the profile, of all those given, with the least weighted error there.

    A classifier fitted with other weights may happen to serve the weights of t better than the one fitted with them.
    Cones of pooled profiles need only *one* of the classifiers to come near the least error at each t, and the bound
    they give is never less than the highest F among them. All profiles must be of the same rows.
    """
    t, profile = _checked(t, profile)
    on_fn, on_fp = class_weights(t[:, None], beta)
    best = np.argmin(on_fn * profile.fn + on_fp * profile.fp, axis=1)
    return ErrorProfile(profile.fn[best], profile.fp[best], profile.positives)


class Envelope(NamedTuple):
    """A piecewise linear function on [0, 1]: the lowest of all cones, and never more than 1.

    See Also
    --------
    upper_envelope : The envelope of given cones.
    """

    t: FloatArray
    f: FloatArray

    @classmethod
    def start(cls) -> Self:
        """Return 1 everywhere."""
        return cls(np.array([0.0, 1.0]), np.ones(2))

    def lowered_by(self, cone: Cones) -> Self:
        """Return the lower of this function and one cone."""
        t, f = self
        peak = float(cone.t[0])
        at = int(np.searchsorted(t, peak))
        if not (at < len(t) and t[at] == peak):
            t, f = np.insert(t, at, peak), np.insert(f, at, np.interp(peak, t, f))
        other = cone.at(t)[0]
        above = f - other
        crossing = np.flatnonzero(above[:-1] * above[1:] < 0)
        share = above[crossing] / (above[crossing] - above[crossing + 1])
        where = t[crossing] + share * (t[crossing + 1] - t[crossing])
        return type(self)(
            np.insert(t, crossing + 1, where), np.insert(np.minimum(f, other), crossing + 1, cone.at(where)[0])
        )

    def at(self, t: ArrayLike) -> FloatArray:
        """Return its value at each of the given t."""
        return np.interp(np.asarray(t, dtype=np.float64), self.t, self.f)

    @property
    def maximum(self) -> float:
        """Its highest value, which a search brings down."""
        return float(self.f.max())

    @property
    def area(self) -> float:
        """The area under it: 1 is no bound at all, and less is tighter."""
        return float(np.trapezoid(self.f, self.t))


def upper_envelope(of: Cones) -> Envelope:
    """Return the exact lowest line of all cones, which no classifier can be above at any t.

    See Also
    --------
    certified_bound : The bound on the best F that these cones give.

    Examples
    --------
    >>> from scarce.fmeasure.bounds import ErrorProfile, cones, parambath_cones, upper_envelope
    >>> profile = ErrorProfile(fn=[0.01, 0.02], fp=[0.08, 0.04], positives=0.1)
    >>> ours = upper_envelope(cones([0.5, 0.7], profile))
    >>> theirs = upper_envelope(parambath_cones([0.5, 0.7], profile))
    >>> round(ours.maximum, 3), round(ours.area, 3), round(theirs.area, 3)
    (0.813, 0.72, 0.995)
    """
    envelope = Envelope.start()
    for i in range(len(of.t)):
        envelope = envelope.lowered_by(Cones(*(part[i : i + 1] for part in of)))
    return envelope


def certified_bound(of: Cones) -> float:
    """Return an upper bound of the best F of the family: where the lowest of all cones last meets F = t, or 1."""
    if (of.right < 1).all():
        return float(of.diagonal().min(initial=1.0))
    # Steeper cones, as Parambath's, leave the diagonal and come back to it; together they may cover it all the same.
    t, f = upper_envelope(of)
    last = int(np.flatnonzero(f >= t)[-1])
    if last == len(t) - 1:
        return 1.0
    before, after = f[last] - t[last], f[last + 1] - t[last + 1]
    return float(t[last] + (t[last + 1] - t[last]) * before / (before - after))
