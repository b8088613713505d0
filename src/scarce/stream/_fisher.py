"""Fisher's exact test as a drift detector of river."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from river.base import BinaryDriftDetector
from scipy.stats import hypergeom

from scarce._typing import Keywords

__all__ = ["FisherDrift"]


class FisherDrift(BinaryDriftDetector):
    """Detector of more mistakes in the latest rows than before, by Fisher's exact test.

    The latest `window` rows are compared with all rows before them, back to the last drift. Cabral and Barros test
    after every row at a fixed level, so that a long stream without any drift raises an alarm sooner or later. Here
    windows do not overlap, and the tests share one level: that of number k has ``level / (k (k + 1))``, which adds up
    to `level`.

    Parameters
    ----------
    window : int, default=30
        The number of latest rows.
    level : float, default=0.003
        The chance to find a drift where there is none, over a stream of any length.

    References
    ----------
    D. R. de Lima Cabral and R. S. M. de Barros, "Concept drift detection based on Fisher's Exact test", Information
    Sciences 442, 2018.

    Examples
    --------
    >>> from scarce.stream import FisherDrift
    >>> detector = FisherDrift()
    >>> found = []
    >>> for place in range(600):
    ...     detector.update(place % 10 == 0 if place < 400 else place % 2 == 0)
    ...     if detector.drift_detected:
    ...         found.append(place)
    >>> found
    [449]
    """

    def __init__(self, window: int = 30, level: float = 0.003) -> None:
        super().__init__()
        if window < 1:
            raise ValueError(f"window must be a number of rows of at least 1, got {window!r}.")
        if not 0 < level < 1:
            raise ValueError(f"level must be greater than 0 and less than 1, got {level!r}.")
        self.window = window
        self.level = level
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        self._latest: deque[bool] = deque()
        self._rows = self._mistakes = self._tests = 0

    def update(self, x: bool) -> None:
        """Take a row.

        Parameters
        ----------
        x : bool
            Whether it was a mistake.
        """
        if self.drift_detected:
            self._reset()
        self._latest.append(bool(x))
        if len(self._latest) < self.window:
            return
        recent = sum(self._latest)
        if self._rows:
            self._tests += 1
            everything = self._rows + self.window
            p_value = hypergeom.sf(recent - 1, everything, self._mistakes + recent, self.window)
            self._drift_detected = bool(p_value < self.level / (self._tests * (self._tests + 1)))
        self._rows += self.window
        self._mistakes += recent
        self._latest.clear()

    @classmethod
    def _unit_test_params(cls) -> Iterator[Keywords]:
        yield {}
