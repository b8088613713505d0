"""Matplotlib for every display."""

from scarce._drawing import axes_or_new, pyplot

__all__ = ["axes_or_new", "pyplot"]
