"""Drawings of matplotlib as SVG that stands inside an HTML page, or in a file."""

from __future__ import annotations

import io
import re

from matplotlib.figure import Figure

from scarce._typing import Keywords

__all__ = ["STYLE", "to_file", "to_svg"]

# Parameters of matplotlib that the drawings of all pages share; the salt gives the same names on every run.
STYLE: Keywords = {
    "svg.fonttype": "none",
    "svg.hashsalt": "scarce",
    "font.family": "sans-serif",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "legend.frameon": False,
}


def to_svg(figure: Figure, title: str) -> str:
    """Return the drawing as an SVG element, with `title` for readers who cannot see it."""
    stream = io.StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    figure.savefig(stream, format="svg", transparent=True, metadata=nothing)
    drawing = stream.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>", "", drawing, flags=re.DOTALL)
    # Inside a page the drawing needs no namespaces and no names of groups.
    drawing = re.sub(r' xmlns(:\w+)?="[^"]*"', "", drawing)
    drawing = re.sub(r'<g id="[^"]*"', "<g", drawing)
    # Several drawings stand in one page, so the other names must differ.
    salt = re.sub(r"\W", "", title)[:24] + str(len(drawing))
    drawing = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{salt}", drawing)
    return drawing.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def to_file(drawing: str) -> str:
    """Return an SVG element as a file of its own, which a browser shows only with its namespaces."""
    spaces = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
    return drawing.replace("<svg", f"<svg {spaces}", 1)
