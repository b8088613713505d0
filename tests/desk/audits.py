"""Folders as an audit writes them for the desk, made in a moment."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

REGIONS = ("north", "south", "east", "west")


def make_case(number: int, probability: float, *, terminals: int = 400) -> dict[str, Any]:
    """A payment; every 20th was drawn at random."""
    card, terminal = f"C{number * 7 % 1000:04}", f"T{number * 11 % terminals:04}"
    amount = 10.0 + number * 37 % 900
    cells = {
        "payment": f"P{number:06}",
        "card": card,
        "terminal": terminal,
        "region": REGIONS[number % 4],
        "amount": f"{amount:g}",
        "hour": str(number % 24),
    }
    alike = {"name": "payment P900001 (row 7)", "positive": True, "distance": 0.31, "agree": ["region"]}
    alike["values"] = {"region": cells["region"], "hour": "3", "amount": "800"}
    differ = [{"title": "hour", "own": cells["hour"], "other": "3"}, {"title": "amount", "own": "12", "other": "800"}]
    sentence = f"hour = {cells['hour']} (usual 14) raises the probability from 1 % to {probability:.0%}"
    reason = {"title": "hour", "value": cells["hour"], "without": 0.01, "sentence": sentence}
    drawn = number % 20 == 0
    return {
        "id": f"key-{number}",
        "identity": {"payment": cells["payment"]},
        "name": f"payment {cells['payment']}",
        "row": number,
        "rank": number + 1,
        "score": probability,
        "probability": probability,
        "money": probability * amount,
        "expected_gain": None,
        "amount": amount,
        "time": f"2026-01-{number % 28 + 1:02} 12:00",
        "moment": 1_767_225_600.0 + number % 28 * 86_400,
        "drawn": drawn,
        "chance": 0.05 if drawn else 1.0,
        "entities": {"card": card, "terminal": terminal},
        "why": sentence,
        "data": {
            "probability": probability,
            "money": probability * amount,
            "rule": "hour <= 5 and amount > 100",
            "cells": [
                {"title": title, "value": value, "usual": "14" if title == "hour" else None, "telling": title == "hour"}
                for title, value in cells.items()
            ],
            "reasons": [reason],
            "look_alikes": [alike | {"differ": differ}],
            "links": [],
            "inside": [],
            "summary": f"{probability:.0%}",
        },
    }


def make_folder(folder: Path, size: int = 60, *, first: int = 0, terminals: int = 400) -> Path:
    """Write the files that the desk reads of an audit: its manifest, its cases and the rows of known outcome."""
    folder.mkdir(parents=True)
    probability = np.linspace(0.9, 0.01, size)
    cases = [make_case(first + place, float(p), terminals=terminals) for place, p in enumerate(probability)]
    for place, case in enumerate(cases):
        case["rank"] = place + 1
    target = {"column": "fraud", "positive": "1", "negative": ["0"]}
    manifest = {"winner": "LightGBM", "written": "2026-01-29T08:00:00+00:00", "target": target, "first": first}
    data = {
        "key": ["payment"],
        "entities": ["card", "terminal"],
        "checks": 50,
        "period": "day",
        "amount": "amount",
        "time": "date",
        "newest": 1_767_225_600.0 + 27 * 86_400,
        "new_rows": True,
        "cases": cases,
    }
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "cases.json").write_text(json.dumps(data))
    known = pd.DataFrame({"card": ["C0000", "C0007"], "terminal": ["T0000", "T0000"], "outcome": [1, 0]})
    known.to_parquet(folder / "known.parquet")
    return folder
