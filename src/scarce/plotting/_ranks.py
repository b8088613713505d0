"""Mean ranks of methods over data sets, and the groups that do not differ significantly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import studentized_range

from scarce._extras import require
from scarce._ranks import critical_difference, mean_ranks, nemenyi
from scarce._typing import Axes, FloatArray, MatrixLike
from scarce.plotting._display import AxesDisplay

__all__ = ["CriticalDifferenceDisplay"]


class CriticalDifferenceDisplay(AxesDisplay):
    """The mean ranks of methods over data sets, with a bar over those that Nemenyi's test does not separate.

    Make one with :meth:`from_scores`; the parameters become attributes. It is drawn by scikit-posthocs
    (``pip install "scarce[study]"``).

    Parameters
    ----------
    ranks : ndarray of shape (n_methods,)
        The mean rank of each method; 1 is the best.
    names : sequence of str
        The methods.
    n_sets : int
        The number of sets that the ranks are means over.
    alpha : float, default=0.05
        The level of the test.

    Attributes
    ----------
    critical_difference : float
        By how much two mean ranks must differ.
    groups : list of list of str
        The methods under each bar, best first.
    artists_ : dict
        The parts of the drawing.
    ax_, figure_
        Where it was drawn.

    References
    ----------
    J. Demšar, "Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 2006.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from scarce.plotting import CriticalDifferenceDisplay
    >>> scores = [[0.9, 0.8, 0.3], [0.7, 0.8, 0.2], [0.9, 0.6, 0.1], [0.8, 0.7, 0.5], [0.6, 0.5, 0.4]]
    >>> display = CriticalDifferenceDisplay.from_scores(scores, names=["GammaKNN", "forest", "chance"])
    >>> display.groups
    [['GammaKNN', 'forest'], ['forest', 'chance']]
    >>> plt.close(display.figure_)
    """

    def __init__(self, ranks: ArrayLike, *, names: Sequence[str], n_sets: int, alpha: float = 0.05) -> None:
        self.ranks: FloatArray = np.asarray(ranks, dtype=np.float64)
        self.names = [str(name) for name in names]
        self.n_sets = n_sets
        self.alpha = alpha
        if len(self.names) != len(self.ranks) or len(set(self.names)) != len(self.names):
            raise ValueError(f"Give each of the {len(self.ranks)} methods a name of its own; got {self.names}.")
        self.critical_difference = critical_difference(nemenyi(len(self.ranks), alpha), len(self.ranks), n_sets)

    @classmethod
    def from_scores(
        cls,
        scores: MatrixLike,
        *,
        names: Sequence[str] | None = None,
        lower_is_better: bool = False,
        alpha: float = 0.05,
        ax: Axes | None = None,
        **kwargs: Any,
    ) -> Self:
        """Draw the ranks of scores.

        Parameters
        ----------
        scores : array-like or data frame of shape (n_sets, n_methods)
            One figure for each set and method, such as the mean over splits.
        names : sequence of str, optional
            The methods; the columns of a frame if not given.
        lower_is_better : bool, default=False
            Whether the smallest figure has rank 1.
        alpha : float, default=0.05
            The level of the test.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.
        **kwargs
            For scikit-posthocs' `critical_difference_diagram`, such as ``label_props``.

        Returns
        -------
        display
        """
        frame = nw.from_native(scores, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            names, scores = frame.columns if names is None else names, frame.to_numpy()
        elif names is None:
            raise ValueError("Give names, one for each column of scores, or a data frame with columns.")
        ranks = mean_ranks(scores, lower_is_better=lower_is_better)
        return cls(ranks, names=names, n_sets=len(scores), alpha=alpha).plot(ax, **kwargs)

    @property
    def groups(self) -> list[list[str]]:
        """The methods under each bar, best first: as many neighbours as differ by less than the critical difference."""
        order = np.argsort(self.ranks, kind="stable")
        together = self._p_values()[np.ix_(order, order)] >= self.alpha
        found: list[list[str]] = []
        last = 0
        for first in range(len(order)):
            end = first + int(together[first, first:].sum())
            if end - first > 1 and end > last:
                found.append([self.names[i] for i in order[first:end]])
            last = max(last, end)
        return found

    def _p_values(self) -> FloatArray:
        k = len(self.ranks)
        apart = np.abs(self.ranks[:, None] - self.ranks) / critical_difference(1.0, k, self.n_sets)
        p: FloatArray = studentized_range.sf(apart * np.sqrt(2), k, np.inf)
        return p

    def _draw(self, **kwargs: Any) -> None:
        pd, posthocs = (require(module, "The diagram") for module in ("pandas", "scikit_posthocs"))
        p = pd.DataFrame(self._p_values(), self.names, self.names)
        options = {"crossbar_props": {"linewidth": 2.5}, **kwargs}
        ranks = dict(zip(self.names, self.ranks.tolist(), strict=True))
        self.artists_ = posthocs.critical_difference_diagram(ranks, p, alpha=self.alpha, ax=self.ax_, **options)
