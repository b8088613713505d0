"""The finished methods of an audit that is not complete, kept in a folder so that a killed run goes on."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import skops.io
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

import scarce
from scarce._errors import AuditError
from scarce._files import explained, sha256
from scarce._typing import Json

from .settings import Settings

__all__ = ["Kept", "key_of", "partial_folder"]

KEY = "key.json"
PACKAGES = ("lightgbm", "numpy", "pandas", "scikit-learn", "scipy", "skops")


def partial_folder(out: Path) -> Path:
    """Return the folder beside an audit's folder in which its finished methods are kept until it is complete."""
    return out.absolute().with_name(f".{out.name}.partial")


def key_of(data: str, settings: Settings, read_reviews: Callable[[str], pd.DataFrame]) -> Json:
    """Return all that decides the result of a method: the table, the options, the files they name, and versions."""
    files = {"columns": None if settings.columns is None else sha256(settings.columns)}
    if settings.reviews is not None:
        files["reviews"] = hashlib.sha256(read_reviews(settings.reviews).to_csv().encode()).hexdigest()
    options = json.loads(json.dumps(asdict(settings), default=str))
    versions = {"python": platform.python_version(), "scarce": scarce.__version__}
    return {
        "data": data,
        "settings": options,
        "files": files,
        "versions": {**versions, **{name: version(name) for name in PACKAGES}},
    }


class Kept:
    """A folder of finished methods, which are read without running code that it may contain.

    Parameters
    ----------
    folder : path
        It is made when the first method is finished, and emptied where it is of another audit.
    key : dict
        What decides the results; see :func:`key_of`.
    """

    def __init__(self, folder: Path, key: Json) -> None:
        self.folder = folder
        mark = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
        file = folder / KEY
        if folder.exists():
            if any(folder.iterdir()) and not file.exists():
                raise AuditError(
                    f"{folder} holds other files than a killed audit leaves; remove it, or name another place (`out`)."
                )
            if not file.exists() or json.loads(file.read_text(encoding="utf-8")).get("sha256") != mark:
                shutil.rmtree(folder)
        self._key = json.dumps({"sha256": mark, **key}, indent=2)

    def keep(self, name: str, arrays: Mapping[str, NDArray], models: list[Pipeline]) -> None:
        """Keep what a method gave: the models first, so that a method with arrays is a finished one."""
        with explained(self.folder):
            if not (self.folder / KEY).exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                (self.folder / KEY).write_text(self._key, encoding="utf-8")
            if models:
                part = self.folder / f"{name}.skops.part"
                skops.io.dump(models, part)
                os.replace(part, self.folder / f"{name}.skops")
            found: dict[str, Any] = dict(arrays)
            part = self.folder / f"{name}.npz.part"
            with part.open("wb") as stream:
                np.savez(stream, **found)
            os.replace(part, self.folder / f"{name}.npz")

    def arrays(self, name: str) -> dict[str, NDArray] | None:
        """Return what a finished method gave, or None."""
        try:
            with np.load(self.folder / f"{name}.npz", allow_pickle=False) as found:
                return dict(found)
        except (OSError, ValueError):
            return None

    def models(self, name: str) -> list[Pipeline] | None:
        """Return the models of a finished method, or None where they were not kept or hold unknown types."""
        file = self.folder / f"{name}.skops"
        if not file.exists() or set(skops.io.get_untrusted_types(file=file)) - set(scarce.trusted_types()):
            return None
        models: list[Pipeline] = skops.io.load(file, trusted=scarce.trusted_types())
        return models
