"""The compiling of loops: options of those that only other loops call, and what happens while a user waits."""

from __future__ import annotations

import gc
import logging
import time
from typing import Any

from numba import njit
from numba.core.event import Event, Listener, register

__all__ = ["INNER", "inner", "inner_numpy"]

# Whoever calls an inner loop holds its code. It needs no place on disk, and no entry for Python or C.
INNER: dict[str, Any] = {"nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
inner = njit(**INNER)
# Division by 0 gives infinity or NaN, as in NumPy, instead of an error.
inner_numpy = njit(error_model="numpy", **INNER)

WORTH_A_LINE = 1.5  # seconds


class Compiling(Listener):
    """Log one line where compiling takes long, and let the garbage collector rest meanwhile.

    The compiler makes millions of small objects and hardly any garbage; looking through them is a tenth of its time.
    numba's lock lets one thread compile at a time.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._began = self._waited = 0.0
        self._collects = self._told = False

    def on_start(self, event: Event) -> None:
        """Begin to count where this loop was not called by another that is being compiled."""
        if self._depth == 0:
            self._began, self._collects = time.perf_counter(), gc.isenabled()
            gc.disable()
        self._depth += 1
        self._tell()

    def on_end(self, event: Event) -> None:
        """Return to the way it was before."""
        self._tell()
        self._depth -= 1
        if self._depth == 0:
            self._waited += time.perf_counter() - self._began
            if self._collects:
                gc.enable()

    def _tell(self) -> None:
        if not self._told and self._waited + time.perf_counter() - self._began > WORTH_A_LINE:
            self._told = True
            logging.getLogger("scarce").info(
                "Compiling once after installation; from the next start on the compiled loops are read from disk."
            )


register("numba:compile", Compiling())  # type: ignore[no-untyped-call]
