"""Ellipsoids around known positives that keep the negatives out."""

from scarce.ellipsoids._me2 import ME2

__all__ = ["ME2"]
