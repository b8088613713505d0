"""Small drawings as SVG elements without styles of their own, which the pages' policy would not run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup, escape

__all__ = ["Dot", "Node", "bars", "network", "plot"]

_WIDTH, _HEIGHT = 640, 240
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 12, 34


class Node(NamedTuple):
    """A case or an entity in a drawing: its text, its look, and where a click leads."""

    text: str
    look: str
    href: str | None = None


class Dot(NamedTuple):
    """A value of a plot, with the ends of its interval where it has one."""

    label: str
    value: float
    low: float | None = None
    high: float | None = None


def bars(rows: Sequence[tuple[str, float, str]], title: str) -> Markup:
    """Return a bar for each row of label, share of the longest bar and text."""
    height = 30 * len(rows)
    parts = []
    for place, (label, share, text) in enumerate(rows):
        top = 30 * place
        width = max(2.0, 300 * min(max(share, 0.0), 1.0))
        parts.append(
            f'<text x="0" y="{top + 19}">{escape(_short(label, 26))}</text>'
            f'<rect class="bar" x="190" y="{top + 6}" width="{width:.1f}" height="18" rx="3"/>'
            f'<text class="soft" x="{198 + width:.1f}" y="{top + 19}">{escape(text)}</text>'
        )
    return _svg(_WIDTH, height, title, "".join(parts))


def network(centre: Node, entities: Sequence[tuple[Node, Sequence[Node]]], title: str) -> Markup:
    """Return a drawing of a case, the entities around it, and the cases that share each of them."""
    width, height, middle = 640, max(64, 20 + 46 * sum(max(1, len(cases)) for _, cases in entities)), 110
    lines, nodes = [], []
    y = 32.0
    for entity, cases in entities:
        rows = max(1, len(cases))
        own = y + 46 * (rows - 1) / 2
        lines.append(_line(middle, height / 2, 320, own))
        nodes.append(_node(320, own, entity))
        for place, case in enumerate(cases):
            at = y + 46 * place
            lines.append(_line(320, own, 540, at))
            nodes.append(_node(540, at, case))
        y += 46 * rows
    inside = "".join([*lines, *nodes, _node(middle, height / 2, centre)])
    return _svg(width, height, title, inside, role="group")  # a drawing with links is no picture


def _line(x: float, y: float, x2: float, y2: float) -> str:
    return f'<line class="link" x1="{x:.0f}" y1="{y:.0f}" x2="{x2:.0f}" y2="{y2:.0f}"/>'


def _node(x: float, y: float, node: Node) -> Markup:
    text = _short(node.text, 24)
    drawn = Markup(
        '<g class="node {}"><rect x="{:.0f}" y="{:.0f}" width="188" height="32" rx="16"/>'
        '<text x="{:.0f}" y="{:.0f}" text-anchor="middle">{}</text></g>'
    ).format(node.look, x - 94, y - 16, x, y + 5, text)
    return drawn if node.href is None else Markup('<a href="{}">{}</a>').format(node.href, drawn)


def plot(dots: Sequence[Dot], title: str, *, top: float | None = None, percent: bool = False) -> Markup:
    """Return dots in order with their intervals, above an axis with some of the labels."""
    highest = top or max([*(dot.value for dot in dots), *(dot.high or 0.0 for dot in dots), 1e-9])
    wide, tall = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def x(place: int) -> float:
        return _LEFT + wide * (place + 0.5) / max(len(dots), 1)

    def y(value: float) -> float:
        return _TOP + tall * (1 - value / highest)

    parts = []
    for share in (0.0, 0.5, 1.0):
        value = highest * share
        text = f"{value:.0%}".replace("%", " %") if percent else f"{value:,.0f}" if highest >= 10 else f"{value:.3g}"
        parts.append(
            f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            f'<text class="soft" x="{_LEFT - 8}" y="{y(value) + 5:.1f}" text-anchor="end">{text}</text>'
        )
    every = max(1, -(-len(dots) // 8))
    for place, dot in enumerate(dots):
        if dot.low is not None and dot.high is not None:
            low, high = y(dot.low), y(min(dot.high, highest))
            parts.append(
                f'<line class="range" x1="{x(place):.1f}" x2="{x(place):.1f}" y1="{low:.1f}" y2="{high:.1f}"/>'
            )
        parts.append(f'<circle class="dot" cx="{x(place):.1f}" cy="{y(dot.value):.1f}" r="4"/>')
        if place % every == 0:
            label = escape(dot.label)
            parts.append(
                f'<text class="soft" x="{x(place):.1f}" y="{_HEIGHT - 10}" text-anchor="middle">{label}</text>'
            )
    return _svg(_WIDTH, _HEIGHT, title, "".join(parts), look="plot")


def _svg(width: float, height: float, title: str, inside: str, role: str = "img", look: str = "") -> Markup:
    # Every text inside was escaped where it was put in.
    begins = '<svg class="{}" role="{}" viewBox="0 0 {:.0f} {:.0f}" aria-label="{}">'
    size = Markup(begins).format(look, role, width, height, title)
    return size + Markup(inside) + Markup("</svg>")


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
