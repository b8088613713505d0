"""The stages of an audit in a notebook, as small pieces of HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from scarce.tables import show

from .words import percent

if TYPE_CHECKING:
    from .compare import Comparison
    from .evidence import Evidence
    from .result import Audit

__all__ = ["audit_html", "comparison_html", "evidence_html", "sentences_html"]

_QUEUE_ROWS = 10


def audit_html(result: Audit) -> str:
    """Return the promise, the doubts, the methods and the head of the queue."""
    promise = f"Of the rows to check, {result.promise} should be positive." if result.new_rows else ""
    doubts = [result.shift.sentence if result.shift is not None else "", *result.warnings]
    return (
        f"<h3>Audit of {escape(result.source.name)}{' (SIMULATED)' if result.source.simulated else ''}</h3>"
        + sentences_html([promise])
        + _listed([doubt for doubt in doubts if doubt])
        + comparison_html(result.comparison)
        + result.queue.head(_QUEUE_ROWS).to_html(index=False, float_format="{:.3g}".format)
        + sentences_html([f"The first {min(_QUEUE_ROWS, len(result.queue))} of {len(result.queue):,} rows to check."])
    )


def comparison_html(comparison: Comparison) -> str:
    """Return the methods with their figures and intervals, and what to make of the lead."""
    names = list(comparison.winner.figures)
    rows = [
        [outcome.candidate.name, *(f"{f.estimate:.3g} ({f.low:.3g} to {f.high:.3g})" for f in outcome.figures.values())]
        for outcome in comparison.outcomes
    ]
    rows += [[stopped.candidate.name, stopped.reason, *[""] * (len(names) - 1)] for stopped in comparison.stopped]
    return _table(["method", *names], rows) + sentences_html([comparison.summary, *comparison.left_out])


def evidence_html(evidence: Evidence) -> str:
    """Return a case: its probability, the reasons, its rule, the rows that it resembles or is linked with."""
    money = "" if evidence.money is None else f", expected money {evidence.money:,.0f}"
    parts = [
        f"<h4>Row {evidence.row}: probability {percent(evidence.probability)}{money}</h4>",
        _listed([reason.sentence() for reason in evidence.reasons]),
        sentences_html([f"Rule: {evidence.rule}." if evidence.rule else ""]),
        sentences_html(
            [f"It lies in the ellipsoids of rows {', '.join(map(str, evidence.inside))}." if evidence.inside else ""]
        ),
        _listed(
            [
                f"{link.column} {show(link.value)}: {link.n_positives:,} known positive of {link.n_rows:,} rows"
                for link in evidence.links
            ]
        ),
    ]
    if evidence.look_alikes:
        rows = [
            [
                f"row {alike.row}",
                "positive" if alike.positive else "negative",
                f"{alike.distance:.2g}",
                ", ".join(f"{d.column} {show(d.own)} / {show(d.other)}" for d in alike.differ[:3]),
            ]
            for alike in evidence.look_alikes
        ]
        parts.append(_table(["resembles", "known as", "distance", "differs most in (own / other)"], rows))
    return "".join(parts)


def sentences_html(sentences: Iterable[str]) -> str:
    """Return sentences as one paragraph; nothing where there are none."""
    text = " ".join(sentence for sentence in sentences if sentence)
    return f"<p>{escape(text)}</p>" if text else ""


def _listed(sentences: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences) + "</ul>" if sentences else ""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"
