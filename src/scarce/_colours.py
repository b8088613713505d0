"""The colours of all drawings, after Okabe and Ito: the colour-blind can distinguish them, on white as on black."""

from __future__ import annotations

__all__ = ["BLACK", "BLUE", "GREEN", "GREY", "ORANGE", "PINK", "RED", "SKY"]

BLUE, ORANGE, GREEN, PINK, RED, SKY = "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9"
BLACK, GREY = "#000000", "#7F7F7F"
