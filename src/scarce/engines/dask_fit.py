"""Dask: methods fitted on the rows of many files, which stay on the workers that read them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from scarce._errors import EngineError, TableError
from scarce._extras import require
from scarce._typing import Estimator, Labels, PathLike
from scarce.boosting import APBoosting, ProfitBoosting
from scarce.neighbors import GammaKNN

from .dask import check_workers
from .fragments import Fragment, batches_of, find_fragments
from .sharded_gamma import fit_gamma

__all__ = ["fit"]

FORESTS = (ExtraTreesClassifier, RandomForestClassifier)


class Rows(NamedTuple):
    """The rows of a shard and their outcomes."""

    X: NDArray[Any]
    y: Labels


def fit(
    estimator: Estimator,
    data: PathLike,
    *,
    target: str,
    client: Any,
    drop: Sequence[str] = (),
    shards: int | None = None,
) -> Estimator:
    """Fit a method on the rows of files with the workers of a Dask cluster.

    Parameters
    ----------
    estimator : GammaKNN, LGBMClassifier, or a forest of scikit-learn
        The method, which is not changed. γk-NN is fitted over shards, with the threshold and the scores that it has on
        one machine, bit for bit. LightGBM learns by ``lightgbm.dask``, and a forest tree by tree from all rows, which
        this process reads and every worker must hold.
    data : path
        A folder or a pattern such as ``rows/*.parquet``. All columns but the target are numbers without gaps.
    target : str
        The column of outcomes.
    client : distributed.Client
        The cluster, whose workers find the files under the same paths.
    drop : sequence of str
        Columns not to learn from.
    shards : int, optional
        In how many parts the files are divided; as many as there are workers if left out.

    Returns
    -------
    estimator
        The fitted method; of γk-NN a :class:`~scarce.engines.sharded_gamma.ShardedGammaKNN`.
    """
    _refuse(estimator)
    check_workers(client)
    fragments = find_fragments(data)
    names = [name for name in _names(fragments[0], target) if name != target and name not in drop]
    parts = _divide(fragments, shards or len(client.scheduler_info()["workers"]))
    if isinstance(estimator, FORESTS):
        rows = _read(fragments, names, target)
        with client.as_current(), parallel_config("dask"):
            return clone(estimator).fit(rows.X, rows.y)
    futures = [client.submit(_read, part, names, target, pure=False) for part in parts]
    if isinstance(estimator, GammaKNN):
        return fit_gamma(estimator, futures, names, client)
    return _fit_lightgbm(estimator, futures, client)


def _refuse(estimator: Estimator) -> None:
    """Refuse what cannot be fitted in parts, each with a sentence."""
    own = type(estimator).__name__
    if isinstance(estimator, APBoosting | ProfitBoosting) or callable(getattr(estimator, "objective", None)):
        raise EngineError(
            f"The loss of {own} needs all rows at once, and each worker sees its own alone; fit it on one machine, or "
            "LGBMClassifier with its log-loss here."
        )
    lightgbm = type(estimator).__module__.startswith("lightgbm") and hasattr(estimator, "predict_proba")
    if lightgbm and estimator.get_params().get("objective") not in (None, "binary"):
        raise EngineError(f"{own} is fitted here with its log-loss for two classes; leave its objective out.")
    if type(estimator) is not GammaKNN and not lightgbm and not isinstance(estimator, FORESTS):
        raise EngineError(
            f"{own} cannot be fitted on a cluster; GammaKNN, LGBMClassifier and the forests of scikit-learn can."
        )


def _names(fragment: Fragment, target: str) -> list[str]:
    schema = next((batch.schema for batch in batches_of(fragment, rows=1)), pa.schema([]))
    if target not in schema.names:
        raise TableError(f"The table has no column {target!r} (`target`); it has {', '.join(schema.names)}.")
    for field in schema:
        numeric = pa.types.is_integer(field.type) or pa.types.is_floating(field.type) or pa.types.is_boolean(field.type)
        if field.name != target and not numeric:
            raise TableError(
                f"Column {field.name!r} holds {field.type}, and a method takes numbers; encode it, or leave it out "
                "(`drop`)."
            )
    return list(schema.names)


def _divide(fragments: list[Fragment], shards: int) -> list[list[Fragment]]:
    """Divide files into parts of about as many rows, each larger one to the part that has fewest."""
    parts: list[list[Fragment]] = [[] for _ in range(min(max(shards, 1), len(fragments)))]
    for fragment in sorted(fragments, key=lambda one: (-one.size, one.name)):
        min(parts, key=lambda part: sum(one.size for one in part)).append(fragment)
    return parts


def _read(fragments: Sequence[Fragment], names: Sequence[str], target: str) -> Rows:
    """Read the rows of a shard."""
    X, y = [], []
    for fragment in fragments:
        for batch in batches_of(fragment, [*names, target]):
            columns = [batch.column(name) for name in names]
            single = all(pa.types.is_float32(column.type) for column in columns)
            matrix = np.empty((batch.num_rows, len(names)), dtype=np.float32 if single else np.float64)
            for place, column in enumerate(columns):
                matrix[:, place] = column.to_numpy(zero_copy_only=False)
            if not np.isfinite(matrix).all():
                wrong = names[int(np.flatnonzero(~np.isfinite(matrix).all(axis=0))[0])]
                raise TableError(f"Column {wrong!r} has empty or infinite cells in {fragment.path}; fill them.")
            if batch.column(target).null_count:
                raise TableError(f"The target column {target!r} is empty in rows of {fragment.path}; leave them out.")
            X.append(matrix)
            y.append(batch.column(target).to_numpy(zero_copy_only=False))
    return Rows(np.concatenate(X), np.concatenate(y))


def _fit_lightgbm(estimator: Estimator, futures: Sequence[Any], client: Any) -> Estimator:
    lightgbm = require("lightgbm", "Boosting")
    delayed, array = require("dask", "A cluster").delayed, require("dask.array", "A cluster")
    shapes = client.gather([client.submit(_shape, future) for future in futures])
    if shapes[0][2].kind not in "biuf":
        raise TableError("LightGBM takes outcomes written as numbers on a cluster; write 0 and 1.")

    def whole(place: int, width: tuple[int, ...]) -> Any:
        held = [
            array.from_delayed(delayed(_part)(future, place), (rows, *width), dtype=(kind, of_y)[place])
            for future, (rows, kind, of_y) in zip(futures, shapes, strict=True)
        ]
        return array.concatenate(held)

    features = client.submit(_width, futures[0]).result()
    model = lightgbm.DaskLGBMClassifier(client=client, **estimator.get_params())
    with warnings.catch_warnings():
        # It takes as many threads as the workers have, and warns of the number that every estimator has.
        warnings.filterwarnings("ignore", "Parameter n_jobs will be ignored")
        return model.fit(whole(0, (features,)), whole(1, ())).to_local()


def _shape(rows: Rows) -> tuple[int, Any, Any]:
    return len(rows.y), rows.X.dtype, rows.y.dtype


def _width(rows: Rows) -> int:
    return rows.X.shape[1]


def _part(rows: Rows, place: int) -> NDArray[Any]:
    return rows[place]
