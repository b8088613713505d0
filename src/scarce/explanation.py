"""Explanations of scores: one schema for all methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from scarce._drawing import axes_or_new, draw_effects
from scarce._extras import require
from scarce._sklearn import safe_indexing
from scarce._typing import Axes, Cell, FloatArray, Frame, Json, Keywords, Label, Labels, MatrixLike, Rows
from scarce._values import (
    SHOWN_EFFECTS,
    as_values,
    checked_floats,
    checked_values,
    described,
    plain,
    text_of_row,
    usual_values,
)
from scarce.occlusion import occlusion

__all__ = ["Contribution", "Explanation", "Neighbour", "distance_effects", "neighbours", "usual_values"]

Unit = Literal["probability", "log-odds", "score"]

_SHOWN_ROWS = 3


class Contribution(NamedTuple):
    """A feature of one row: its value, the usual one, and what it adds to the score; None where it is not known."""

    feature: str
    value: Cell
    usual: Cell
    effect: float | None


class Neighbour(NamedTuple):
    """A training row that had a part in a score; `row` is None if it is not one of those given to `fit`."""

    row: int | None
    label: Label
    distance: float
    effect: float | None = None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Explanation:
    """The reasons for the scores of some rows.

    One object holds all rows that were asked for. ``len(explanation)``, iteration and ``explanation[i]``, with a number
    or a slice, work by rows and return explanations of fewer rows. ``print(explanation)`` shows a table.

    Parameters
    ----------
    score : array-like of shape (n_samples,)
        The score of each row for the class `label`.
    label : label or array-like of shape (n_samples,)
        The class that the score is for: the positive class, or with several classes the predicted one.
    features : sequence of str
        Their names.
    values : array-like of shape (n_samples, n_features)
        The rows as the user gave them; text is allowed.
    unit : {"probability", "log-odds", "score"}, default="score"
        The unit of `score`, `base_value` and `effects`.
    probability : array-like of shape (n_samples,), optional
        The probability of the class `label`.
    base_value : float or array-like of shape (n_samples,), optional
        The score to which the effects are added.
    usual : array-like of shape (n_features,), optional
        A usual value of each feature, to compare with.
    effects : array-like of shape (n_samples, n_features), optional
        What each feature adds to the score.
    additive : bool, default=False
        Whether the effects of a row add up to its score less its base value. This is checked.
    neighbours : sequence of sequences of Neighbour, optional
        For each row the training rows that had a part in its score, the nearest first.
    rule : sequence of (str or None), optional
        For each row the rule that it meets.

    Examples
    --------
    >>> from scarce.explanation import Explanation
    >>> explanation = Explanation(
    ...     score=[0.7, 0.1], label="fraud", features=["amount", "country"], values=[[900.0, "FR"], [20.0, "BE"]],
    ...     unit="probability", base_value=0.2, usual=[35.0, "BE"], effects=[[0.4, 0.1], [-0.1, 0.0]], additive=True,
    ... )
    >>> print(explanation[0])
    Row 0: score 0.7 (probability) for class fraud, base value 0.2
    feature  value  usual  effect
    amount   900    35     +0.4
    country  FR     BE     +0.1
    >>> explanation.contributions(1)[0]
    Contribution(feature='amount', value=20.0, usual=35.0, effect=-0.1)
    """

    score: FloatArray
    label: Labels
    features: tuple[str, ...]
    values: NDArray[Any]
    unit: Unit = "score"
    probability: FloatArray | None = None
    base_value: FloatArray | None = None
    usual: NDArray[Any] | None = None
    effects: FloatArray | None = None
    additive: bool = False
    neighbours: tuple[tuple[Neighbour, ...], ...] = ()
    rule: tuple[str | None, ...] = ()

    def __post_init__(self) -> None:
        score = checked_floats("score", self.score, np.size(self.score))
        n, features = len(score), tuple(map(str, self.features))
        shape = (n, len(features))
        checked: Keywords = {"score": score, "features": features}
        checked["label"] = np.broadcast_to(np.asarray(self.label), n)
        checked["values"] = checked_values("values", self.values, *shape)
        if self.unit not in get_args(Unit):
            raise ValueError(f"unit must be one of {', '.join(get_args(Unit))}; got {self.unit!r}.")
        for name, of in (("probability", (n,)), ("base_value", (n,)), ("effects", shape)):
            if getattr(self, name) is not None:
                checked[name] = checked_floats(name, getattr(self, name), *of)
        if self.usual is not None:
            checked["usual"] = checked_values("usual", self.usual, shape[1])
        for name, empty in (("neighbours", ()), ("rule", None)):
            given = tuple(getattr(self, name)) or (empty,) * n
            if len(given) != n:
                raise ValueError(f"{name} must have an entry for each of {n} rows; got {len(given)}.")
            checked[name] = given
        checked["neighbours"] = tuple(tuple(Neighbour(*one) for one in row) for row in checked["neighbours"])
        if self.additive:
            if checked.get("effects") is None or checked.get("base_value") is None:
                raise ValueError("additive effects need effects and a base_value.")
            effects, gap = checked["effects"], score - checked["base_value"]
            off = np.abs(effects.sum(axis=1) - gap)
            if np.any(off > 1e-6 * (1e-6 + np.abs(score) + np.abs(effects).sum(axis=1))):
                raise ValueError(f"effects do not add up to score less base_value: they are off by up to {off.max()}.")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_effects(cls, X: MatrixLike, effects: ArrayLike, base_value: ArrayLike, **known: Any) -> Self:
        """Return an explanation by effects that add up, such as Shapley values.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The rows as the user gave them.
        effects, base_value : array-like
            See :class:`Explanation`. The score is their sum, unless it is given.
        **known
            Other fields of :class:`Explanation`; `features` and `label` are needed. Its `values` go before `X`.

        Examples
        --------
        >>> from scarce.explanation import Explanation
        >>> Explanation.from_effects([[3.0, 4.0]], [[0.25, -0.5]], 1.0, features=["a", "b"], label=1).score
        array([0.75])
        """
        added, base = np.asarray(effects, dtype=np.float64), np.asarray(base_value, dtype=np.float64)
        known = {"score": base + added.sum(axis=1), "values": as_values(X)} | known
        return cls(effects=added, base_value=base, additive=True, **known)

    @classmethod
    def from_neighbours(
        cls,
        X: MatrixLike,
        rows: ArrayLike,
        labels: ArrayLike,
        distances: ArrayLike,
        votes: ArrayLike | None = None,
        **known: Any,
    ) -> Self:
        """Return an explanation by training rows; parameters as for :func:`neighbours`, `known` as for `from_effects`.

        Examples
        --------
        >>> from scarce.explanation import Explanation
        >>> near = Explanation.from_neighbours(
        ...     [[3.0]], rows=[[7, 2]], labels=[[1, 0]], distances=[[0.5, 0.1]], score=[0.4], features=["a"], label=1
        ... )
        >>> near.neighbours[0][0]
        Neighbour(row=2, label=0, distance=0.1, effect=None)
        """
        return cls(neighbours=neighbours(rows, labels, distances, votes), **{"values": as_values(X)} | known)

    @classmethod
    def from_occlusion(
        cls,
        score_samples: Callable[[Rows], FloatArray],
        X: MatrixLike,
        background: MatrixLike,
        *,
        code: ArrayLike | None = None,
        **known: Any,
    ) -> Self:
        """Return an explanation of any function of rows, by :func:`scarce.occlusion.occlusion`.

        The base value is the mean score of the background, and usual values are those of the background. The effects do
        not add up.

        Parameters
        ----------
        score_samples : callable
            Takes rows, returns a score for each, or one column of scores for each class.
        X : of shape (n_samples, n_features)
            The rows, as `score_samples` takes them. Give `values` if the user's own differ.
        background : of the type of `X`
            Usual rows.
        code : array-like of int, of shape (n_samples,), optional
            With several columns of scores, the one to explain for each row; by default the highest.
        **known
            Other fields of :class:`Explanation`; `features` and `label` are needed.

        Examples
        --------
        >>> import numpy as np
        >>> from scarce.explanation import Explanation
        >>> score = lambda rows: rows @ [1.0, 2.0]
        >>> X = np.array([[3.0, 4.0]])
        >>> Explanation.from_occlusion(score, X, np.zeros((5, 2)), features=["a", "b"], label=1).effects
        array([[3., 8.]])
        """
        own, usual = np.asarray(score_samples(X)), np.asarray(score_samples(background))
        if own.ndim == 1:
            effects, score, base_value = occlusion(score_samples, X, background), own, np.full(len(own), usual.mean())
        else:
            column = own.argmax(axis=1) if code is None else np.asarray(code)
            effects = np.empty(X.shape)
            for k in np.unique(column):
                rows = np.flatnonzero(column == k)

                def of_class(some: Rows, k: int = int(k)) -> FloatArray:
                    return np.asarray(score_samples(some))[:, k]

                effects[rows] = occlusion(of_class, safe_indexing(X, rows), background)
            score, base_value = own[np.arange(len(own)), column], usual.mean(axis=0)[column]
        if known.get("usual") is None:
            known["usual"] = usual_values(background)
        return cls(effects=effects, base_value=base_value, **{"score": score, "values": as_values(X)} | known)

    def __len__(self) -> int:
        return len(self.score)

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, rows: int | slice) -> Explanation:
        if not isinstance(rows, slice):
            i = range(len(self))[rows]  # refuses a number beyond the last row, as lists do
            rows = slice(i, i + 1)
        by_row = [f.name for f in fields(self) if f.name not in ("features", "unit", "usual", "additive")]
        return replace(self, **{name: getattr(self, name)[rows] for name in by_row if getattr(self, name) is not None})

    def contributions(self, row: int = 0) -> list[Contribution]:
        """Return the features of a row, the largest effect first; in their own order where effects are not known."""
        one = self[row]
        values = [plain(value) for value in one.values[0]]
        unknown = [None] * len(self.features)
        usual = unknown if self.usual is None else [plain(value) for value in self.usual]
        effects = unknown if one.effects is None else one.effects[0].tolist()
        found = [Contribution(*of) for of in zip(self.features, values, usual, effects, strict=True)]
        return found if one.effects is None else sorted(found, key=lambda c: -abs(c.effect or 0.0))

    def to_frame(self) -> Frame:
        """Return a pandas data frame with a line for each row and feature: row, feature, value, usual, effect.

        Rows are numbered from 0, and features are in their own order.
        """
        pd = require("pandas", "to_frame")
        n, p = len(self), len(self.features)
        usual = np.full(p, np.nan) if self.usual is None else self.usual
        return pd.DataFrame(
            {
                "row": np.repeat(np.arange(n), p),
                "feature": np.tile(np.array(self.features, dtype=object), n),
                "value": self.values.ravel(),
                "usual": np.tile(usual, n),
                "effect": np.full(n * p, np.nan) if self.effects is None else self.effects.ravel(),
            }
        )

    def to_dicts(self) -> list[Json]:
        """Return a dictionary for each row as plain data, which JSON can hold; the keys are the same for all methods.

        They are label, score, probability, base_value, unit, additive, contributions, neighbours and rule. What is not
        known is None. The largest effects come first.
        """
        return [
            {
                "label": plain(one.label[0]),
                "score": float(one.score[0]),
                "probability": None if one.probability is None else float(one.probability[0]),
                "base_value": None if one.base_value is None else float(one.base_value[0]),
                "unit": self.unit,
                "additive": self.additive,
                "contributions": [c._asdict() for c in one.contributions()],
                "neighbours": [{k: plain(v) for k, v in near._asdict().items()} for near in one.neighbours[0]],
                "rule": one.rule[0],
            }
            for one in self
        ]

    def __repr__(self) -> str:
        return f"<Explanation of {len(self)} rows, {len(self.features)} features>"

    def __str__(self) -> str:
        shown = [self[i]._text(i) for i in range(min(len(self), _SHOWN_ROWS))]
        more = len(self) - len(shown)
        return "\n\n".join(shown + ([f"… and {more} more row{'s' * (more > 1)}"] if more else [])) or repr(self)

    def _text(self, number: int) -> str:
        """Return the table of one row."""
        unit = "" if self.unit == "score" else f" ({self.unit})"
        head = f"Row {number}: score {self.score[0]:.4g}{unit} for class {self.label[0]}"
        if self.probability is not None:
            head += f", probability {self.probability[0]:.4g}"
        if self.base_value is not None:
            head += f", base value {self.base_value[0]:.4g}"
        effects = [] if self.effects is None else self.contributions()
        return text_of_row(head, effects, self.neighbours[0], self.rule[0])

    def plot(self, row: int = 0, ax: Axes | None = None, *, max_features: int = SHOWN_EFFECTS) -> Axes:
        """Draw the largest effects of one row; see :class:`scarce.plotting.ExplanationDisplay`.

        Parameters
        ----------
        row : int, default=0
            The row.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        max_features : int, default=10
            The most bars; all other features share one more.

        Returns
        -------
        matplotlib Axes
        """
        if self.effects is None:
            raise ValueError("There are no effects of features to draw: this method explains by neighbours or a rule.")
        found = self.contributions(row)
        shown = [c for c in found[:max_features] if c.effect]
        names, effects = [described(*c[:3]) for c in shown], [c.effect or 0.0 for c in shown]
        if len(found) > len(shown):
            others = len(found) - len(shown)
            names.append(f"{others} other feature{'s' * (others > 1)}")
            effects.append(sum(c.effect or 0.0 for c in found[len(shown) :]))
        one = self[row]
        start = 0.0 if one.base_value is None else float(one.base_value[0])
        ax = axes_or_new(ax)
        score = float(one.score[0])
        draw_effects(ax, names, effects, start=start, end=score, additive=self.additive, unit=self.unit)
        ax.set_title(f"Why class {one.label[0]}?", loc="left", pad=20)  # above the legend
        return ax


def neighbours(
    rows: ArrayLike, labels: ArrayLike, distances: ArrayLike, votes: ArrayLike | None = None
) -> tuple[tuple[Neighbour, ...], ...]:
    """Return the neighbours of each row, the nearest first.

    Parameters
    ----------
    rows, labels, distances : array-like of shape (n_samples, n_neighbors)
        The numbers of the training rows, below 0 for one that is not of them; their classes and distances. Places
        without a neighbour have an infinite distance, and are left out.
    votes : array-like of shape (n_samples, n_neighbors), optional
        What each neighbour adds to the score.

    Examples
    --------
    >>> from scarce.explanation import neighbours
    >>> neighbours([[4, -1]], [["ok", "fraud"]], [[2.0, float("inf")]])
    ((Neighbour(row=4, label='ok', distance=2.0, effect=None),),)
    """
    number, label, distance = np.asarray(rows), np.asarray(labels), np.asarray(distances, dtype=np.float64)
    vote = None if votes is None else np.asarray(votes, dtype=np.float64)
    return tuple(
        tuple(
            Neighbour(
                int(number[i, k]) if number[i, k] >= 0 else None,
                plain(label[i, k]),
                float(distance[i, k]),
                None if vote is None else float(vote[i, k]),
            )
            for k in np.argsort(distance[i], kind="stable")
            if np.isfinite(distance[i, k])
        )
        for i in range(len(distance))
    )


def distance_effects(to_own: ArrayLike, to_other: ArrayLike) -> FloatArray:
    """Return how much each feature brings rows nearer to one class than to another.

    Parameters
    ----------
    to_own, to_other : array-like of shape (n_samples, n_features)
        What each feature adds to the squared distance to a row of the class that is scored, and of another class.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The difference, as a share of both squared distances: positive where the feature speaks for the class. A row's
        effects add up to (b - a) / (b + a), with a and b the squared distances; 0 where both are 0.

    Examples
    --------
    >>> from scarce.explanation import distance_effects
    >>> distance_effects([[1.0, 0.0]], [[0.0, 3.0]])
    array([[-0.25,  0.75]])
    """
    own, other = np.asarray(to_own, dtype=np.float64), np.asarray(to_other, dtype=np.float64)
    total = (own + other).sum(axis=1, keepdims=True)
    return (other - own) / np.where(total > 0, total, 1.0)
