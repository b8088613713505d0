"""A split by time in which outcomes become known late."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_consistent_length, column_or_1d

from scarce._moments import Duration, length_of, moments_of
from scarce._typing import BoolArray, IntArray, MatrixLike

__all__ = ["DelayedTimeSplit"]

_DAY = 86_400 * 10**9


class DelayedTimeSplit(BaseCrossValidator):
    """Test on later rows, and train on rows whose outcome was known by then.

    Whether a payment is a fraud becomes known days after it: when its customer complains, or an investigator has
    looked. A model that decides at the start of the test rows can have learned only from rows that are older by
    that delay. Each split has ``train | delay | test`` in this order; the rows of the delay are in neither part.

    Parameters
    ----------
    n_splits : int, default=5
        Number of splits, in the order of time. The test rows of the last one end with the last row.
    train : duration or None, default="7d"
        Length of the training rows; None for all earlier rows.
    delay : duration, default="7d"
        Time after which an outcome is known. It may be 0.
    test : duration, default="7d"
        Length of the test rows.
    step : duration, default=None
        From one split's test rows to those of the next; None for `test`, so that they follow each other.
    known_positive_groups : {"keep", "drop"}, default="keep"
        "drop" leaves out of the test rows those whose group (a card, a customer) has a positive row that was known
        by then: nobody would check it again. Needs `groups` and `y`.

    Notes
    -----
    A duration is a number in the unit of `times`, where these are numbers; or a `timedelta` or text such as "7d",
    "12h", "30min", "90s" or "2w", where these are dates. Where all durations are whole days, parts begin at midnight,
    and the outcomes of a day are known at the midnight that ends it, plus `delay`.

    `cross_validate` and the searches of scikit-learn hand `times` on with metadata routing enabled:
    ``cross_validate(model, X, y, cv=DelayedTimeSplit(), params={"times": times})``. Without it, give them the splits
    themselves: ``cv=list(DelayedTimeSplit().split(X, y, times=times))``.

    References
    ----------
    Y.-A. Le Borgne, W. Siblini, B. Lebichot and G. Bontempi, "Reproducible Machine Learning for Credit Card Fraud
    Detection - Practical Handbook", Université Libre de Bruxelles, 2022, chapter 5.

    See Also
    --------
    sklearn.model_selection.TimeSeriesSplit : By the order of rows, with a gap counted in rows.
    scarce.metrics.group_precision_at_k : Found groups among those that can be checked in a day.

    Examples
    --------
    >>> import numpy as np
    >>> from scarce.model_selection import DelayedTimeSplit
    >>> days = np.arange(10)
    >>> for train, test in DelayedTimeSplit(2, train=3, delay=2, test=2).split(days, times=days):
    ...     print(train, test)
    [1 2 3] [6 7]
    [3 4 5] [8 9]
    """

    # Asked for without further ado wherever metadata routing is enabled.
    __metadata_request__split = {"groups": True, "times": True}

    def __init__(
        self,
        n_splits: int = 5,
        *,
        train: Duration | None = "7d",
        delay: Duration = "7d",
        test: Duration = "7d",
        step: Duration | None = None,
        known_positive_groups: str = "keep",
    ) -> None:
        self.n_splits = n_splits
        self.train = train
        self.delay = delay
        self.test = test
        self.step = step
        self.known_positive_groups = known_positive_groups

    def get_n_splits(
        self,
        X: MatrixLike = None,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
    ) -> int:
        """Return the number of splits; the arguments are not used."""
        return self.n_splits

    def split(
        self,
        X: MatrixLike,
        y: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        times: ArrayLike | None = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield the numbers of the training rows and of the test rows of each split.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, of which only the number is used.
        y : array-like of shape (n_samples,), optional
            The outcomes, 1 for positive, for ``known_positive_groups="drop"``.
        groups : array-like of shape (n_samples,), optional
            The card, customer or company of each row, for the same.
        times : array-like of shape (n_samples,)
            When each row happened: dates or numbers, in any order.

        Yields
        ------
        train, test : ndarray
        """
        self._check_parameters()
        if times is None:
            raise ValueError(
                "DelayedTimeSplit needs times: call split(X, y, times=times), or enable metadata routing and pass "
                "params={'times': times} to cross_validate."
            )
        moment, dated = moments_of(times)
        check_consistent_length(X, moment)
        delay, test = length_of("delay", self.delay, dated=dated), length_of("test", self.test, dated=dated)
        step = test if self.step is None else length_of("step", self.step, dated=dated)
        train: int | float = np.inf if self.train is None else length_of("train", self.train, dated=dated)
        if dated:
            whole_days = all(
                length % _DAY == 0 for length in (delay, test, step, *([] if self.train is None else [train]))
            )
            unit = _DAY if whole_days else 1
            moment = moment // unit * unit
        else:
            # Whole numbers are periods, such as days, that end where the next one begins; others are instants.
            unit = 1 if (moment == np.floor(moment)).all() else 0
        known = moment + unit + delay
        dropped_from = self._dropped_from(moment, known, y, groups)
        end = moment.max() + unit if unit else np.nextafter(moment.max(), np.inf)
        for later in reversed(range(self.n_splits)):
            start = end - test - step * later
            in_train = (known <= start) & (moment >= start - delay - train)
            in_test = (start <= moment) & (moment < start + test) & (moment < dropped_from)
            for part, rows in (("training", in_train), ("test", in_test)):
                if not rows.any():
                    first, last, begin = (_shown(m, dated=dated) for m in (moment.min(), moment.max(), start))
                    raise ValueError(
                        f"The split whose test rows begin at {begin} has no {part} rows; the times reach from "
                        f"{first} to {last}. Ask for fewer splits or for shorter parts."
                    )
            yield np.flatnonzero(in_train), np.flatnonzero(in_test)

    def _dropped_from(
        self, moment: NDArray[Any], known: NDArray[Any], y: ArrayLike | None, groups: ArrayLike | None
    ) -> NDArray[Any]:
        """Return for each row the moment from which its group is known to have a positive row."""
        never = np.iinfo(np.int64).max if moment.dtype.kind == "i" else np.inf
        if self.known_positive_groups == "keep":
            return np.full(len(moment), never)
        if y is None or groups is None:
            raise ValueError("known_positive_groups='drop' needs y and groups: call split(X, y, groups, times).")
        positive: BoolArray = column_or_1d(np.asarray(y)) == 1
        check_consistent_length(moment, positive, groups)
        group = np.unique(np.asarray(groups), return_inverse=True)[1]
        first = np.full(group.max() + 1, never)
        np.minimum.at(first, group[positive], known[positive])
        return first[group]

    def _check_parameters(self) -> None:
        if not isinstance(self.n_splits, int | np.integer) or self.n_splits < 1:
            raise ValueError(f"n_splits must be a whole number of at least 1; got {self.n_splits!r}.")
        if self.known_positive_groups not in ("keep", "drop"):
            raise ValueError(f"known_positive_groups must be 'keep' or 'drop'; got {self.known_positive_groups!r}.")


def _shown(moment: Any, *, dated: bool) -> str:
    return str(np.datetime64(int(moment), "ns").astype("datetime64[s]")) if dated else f"{moment:g}"
