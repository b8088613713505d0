"""What is in the table: the kind of each column, and which columns must not be learned from."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from .encoding import MISSING, target_encoder
from .tables import AuditError, listed

__all__ = ["Column", "Profile", "conform", "profile_table"]

Kind = Literal["number", "category", "date"]
Role = Literal["feature", "identifier", "constant", "text", "leak", "dropped", "order"]

LEAK_AUC = 0.99
LEAK_SAMPLE = 50_000
MIN_ROWS_FOR_IDENTIFIER = 20
# An account number comes back a few times, a shop's number hundreds of times.
MAX_ROWS_PER_IDENTIFIER = 50
MAX_DISTINCT_TEXT = 0.5

DATE_FORMATS = tuple(
    day + time
    for day in ("%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%Y/%m/%d")
    for time in ("", " %H:%M", " %H:%M:%S")
)
ISO = "ISO8601"

_NAMED_AS_CODE = re.compile(r"(^|[_\s-])(id|code|key|zip|postcode|mcc)$|[a-z]Id$", re.IGNORECASE)
_PLAIN_NUMBER = re.compile(r"[-+]?\d+")
_CURRENCY = r"(?:[€$£¥%]|EUR|USD|GBP|CHF|JPY)?"
_NUMBER_AS_TEXT = re.compile(
    rf"\(?\s*[-+]?\s*{_CURRENCY}\s*[-+]?(?:\d{{1,3}}(?:[.,'\s]\d{{3}})+(?:[.,]\d+)?|\d*[.,]?\d+)\s*{_CURRENCY}\s*\)?",
    re.IGNORECASE,
)


@dataclass
class Column:
    """One column of the table and what becomes of it.

    Attributes
    ----------
    name : str
        Its name in the table.
    kind : {"number", "category", "date"}
        What its cells are read as.
    role : str
        ``"feature"`` if it is learned from; otherwise why it is not.
    missing : float
        Share of empty cells.
    distinct : int
        Number of different values.
    date_format : str
        How its dates are written, where they come as text.
    said : str
        A sentence for the report, where there is something to say.
    """

    name: str
    kind: Kind
    role: Role = "feature"
    missing: float = 0.0
    distinct: int = 0
    date_format: str = ISO
    said: str = ""


@dataclass
class Profile:
    """The table in figures: its columns, its rows, and what the user should know before believing anything."""

    columns: list[Column]
    rows: int
    labelled: int
    positives: int
    duplicates: int
    warnings: list[str] = field(default_factory=list)

    @property
    def features(self) -> list[Column]:
        """The columns that are learned from."""
        return [c for c in self.columns if c.role == "feature"]

    @property
    def identifiers(self) -> list[str]:
        """The names of the columns that tell rows apart."""
        return [c.name for c in self.columns if c.role == "identifier"]

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for the report and the manifest."""
        return asdict(self)


def profile_table(
    frame: pd.DataFrame,
    target: str,
    y: NDArray[np.int64],
    *,
    time: str | None = None,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
) -> tuple[Profile, pd.DataFrame]:
    """Profile a table and return it typed, without its target.

    Parameters
    ----------
    frame : DataFrame
        The table as it was read.
    target : str
        Name of the target column.
    y : ndarray of shape (n_rows,)
        1 for positive, 0 for negative, -1 for unknown.
    time : str, optional
        A column that orders the rows.
    keep, drop : collections of str
        Columns to learn from, or not to learn from, whatever the profile says.

    Returns
    -------
    profile : Profile
    typed : DataFrame
        Numbers as float64, categories as text, dates as dates; all columns but the target.
    """
    names = [name for name in frame.columns if name != target]
    columns = []
    for name in names:
        columns.append(_dropped(frame[name]) if name in drop else _infer(frame[name]))
    typed = conform(frame, columns)
    labelled = y >= 0
    infinite = [c.name for c in columns if c.kind == "number" and _has_infinite(frame[c.name])]
    for column in columns:
        values = typed[column.name]
        column.missing = float(frame[column.name].isna().mean())
        column.distinct = int(values.nunique())
        if column.role != "feature" or column.name in keep:
            continue
        column.role, column.said = _judge(column, values[labelled], time) or (column.role, column.said)
    for column in columns:
        if column.role == "feature" and column.name not in keep:
            auc = _alone(typed.loc[labelled, column.name], column.kind, y[labelled])
            if auc > LEAK_AUC:
                column.role = "leak"
                column.said = (
                    f"By itself it separates the target almost perfectly (AUC {auc:.3f}): it may have been filled in "
                    "after the outcome was known."
                )
    profile = Profile(
        columns,
        rows=len(frame),
        labelled=int(labelled.sum()),
        positives=int((y == 1).sum()),
        duplicates=int(typed.duplicated().sum()),
    )
    profile.warnings = _warnings(profile, infinite, time)
    if not profile.features:
        raise AuditError(
            "No column is left to learn from, because every one is constant, an identifier or a leak; "
            "bring a column back with --keep COLUMN."
        )
    return profile, typed


def conform(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Return the named columns of `frame` typed as they were when the model learned.

    Examples
    --------
    >>> import pandas as pd
    >>> from scarce.audit.profile import Column, conform
    >>> table = pd.DataFrame({"shop": [3, None], "paid": [7, 8]})
    >>> conform(table, [Column("shop", "category"), Column("paid", "number")]).values.tolist()
    [['3', 7.0], ['(missing)', 8.0]]
    """
    return pd.DataFrame({c.name: _typed(frame[c.name], c) for c in columns}, index=frame.index)


def _typed(values: pd.Series, column: Column) -> pd.Series:
    if column.kind == "number":
        try:
            numbers = pd.to_numeric(values).astype("float64")
        except (ValueError, TypeError) as error:
            raise AuditError(
                f"Column {column.name!r} must hold numbers, and it holds text such as {_first_text(values)!r}; "
                "write plain numbers such as 1234.5, or leave the cell empty."
            ) from error
        return numbers.where(np.isfinite(numbers))
    if column.kind == "date":
        try:
            dates = pd.to_datetime(values, format=column.date_format, utc=True)
        except (ValueError, TypeError) as error:
            raise AuditError(
                f"Column {column.name!r} holds cells that are not dates as before; write them like 2024-01-31."
            ) from error
        return dates.dt.tz_localize(None).astype("datetime64[us]")
    text = values.astype(object).where(values.notna(), None).map(_as_text, na_action="ignore")
    return text.fillna(MISSING).astype(str)


def _as_text(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _first_text(values: pd.Series) -> str:
    return str(values[pd.to_numeric(values, errors="coerce").isna() & values.notna()].iloc[0])


def _has_infinite(values: pd.Series) -> bool:
    return pd.api.types.is_float_dtype(values.dtype) and bool(np.isinf(values.to_numpy("float64", na_value=0.0)).any())


def _infer(values: pd.Series) -> Column:
    """Tell numbers, dates and categories apart."""
    name, dtype = str(values.name), values.dtype
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return Column(name, "date")
    if pd.api.types.is_numeric_dtype(dtype):
        if _NAMED_AS_CODE.search(name):
            return Column(name, "category", said="Read as a category, because its name says that it is a code.")
        return Column(name, "number")
    known = values.dropna()
    if known.empty:
        return Column(name, "category")
    first = known.iloc[0]
    if isinstance(first, (list, dict, set, tuple, np.ndarray, bytes)):
        return Column(name, "category", "dropped", said="Its cells hold more than one value each.")
    if not isinstance(first, str):
        # Decimals, dates without times and the like: pandas knows what they are.
        if pd.api.types.infer_dtype(known) in ("boolean", "decimal", "integer", "floating", "mixed-integer-float"):
            return Column(name, "number")
        return Column(name, "date" if pd.api.types.infer_dtype(known) in ("date", "datetime") else "category")
    text = known.astype(str).str.strip()
    if written_as := _date_format(text):
        ambiguous = "%d" in written_as[0] and "%m/%d/%Y" in written_as[-1]
        return Column(
            name, "date", date_format=written_as[0], said="Its dates are read as day/month/year." if ambiguous else ""
        )
    _refuse_numbers_as_text(name, text)
    return Column(name, "category")


def _dropped(values: pd.Series) -> Column:
    """Return a column that the user does not want, and which may be unreadable for that."""
    try:
        kind = _infer(values).kind
    except AuditError:
        kind = "category"
    return Column(str(values.name), kind, "dropped", said="Left out, as asked.")


def _date_format(text: pd.Series) -> list[str]:
    """Return the formats that every cell follows, those that the first cells do not follow left out early."""
    few = text.iloc[:200]
    if not few.str.contains(r"\d[-/.]\d", regex=True).all():
        return []
    return [
        f
        for f in (ISO, *DATE_FORMATS)
        if pd.to_datetime(few, format=f, errors="coerce", utc=True).notna().all()
        and pd.to_datetime(text, format=f, errors="coerce", utc=True).notna().all()
    ]


def _refuse_numbers_as_text(name: str, text: pd.Series) -> None:
    plain = text.str.fullmatch(_PLAIN_NUMBER)
    number = text.str.fullmatch(_NUMBER_AS_TEXT)
    if number.mean() < 0.9:
        return
    decorated = text[number & ~plain]
    advice = f"or leave the column out with --drop {name}."
    if len(decorated) >= 0.1 * len(text):
        raise AuditError(
            f"Column {name!r} holds numbers written as text, such as {decorated.iloc[0]!r}; "
            f"write them as plain numbers (1234.5 for 1,234.5 €), {advice}"
        )
    other = text[~number]
    if 0 < other.nunique() <= 3:
        raise AuditError(
            f"Column {name!r} holds numbers and also text such as {other.iloc[0]!r} (data row {other.index[0] + 1}); "
            f"leave such cells empty, {advice}"
        )


def _judge(column: Column, values: pd.Series, time: str | None) -> tuple[Role, str] | None:
    """Say why a column should not be learned from, if there is a reason in the column alone."""
    distinct, rows = values.nunique(dropna=False), len(values)
    if distinct <= 1:
        return "constant", "Every row has the same value."
    if column.name == time and column.kind == "number":
        return "order", "It puts the rows in order of time, and is not learned from."
    if column.kind == "date" or rows < MIN_ROWS_FOR_IDENTIFIER:
        return None
    whole = column.kind == "category" or bool((values == values.round()).all())
    if whole and distinct == rows:
        return "identifier", "Every row has another value."
    if _NAMED_AS_CODE.search(column.name) and rows / distinct < MAX_ROWS_PER_IDENTIFIER:
        return "identifier", "Its name and its many values say that it identifies someone or something."
    if column.kind == "category" and distinct > MAX_DISTINCT_TEXT * rows:
        return "text", "Almost every row has another value."
    return None


def _alone(values: pd.Series, kind: Kind, y: NDArray[np.int64]) -> float:
    """Return the honest AUC of a column as the only feature, empty cells included."""
    rows = np.arange(len(y))
    if len(y) > LEAK_SAMPLE:
        some = np.random.default_rng(0).choice(rows[y == 0], LEAK_SAMPLE, replace=False)
        rows = np.sort(np.concatenate([rows[y == 1], some]))
    truth, cell = y[rows], values.iloc[rows].to_frame()
    folds = int(min(3, truth.sum()))
    if kind == "category":
        scores = target_encoder(folds, seed=0).fit_transform(cell, truth)[:, 0]
    else:
        if kind == "date":
            cell = cell.apply(lambda dates: (dates - dates.min()).dt.total_seconds())
        tree = DecisionTreeClassifier(max_depth=4, min_samples_leaf=2, random_state=0)
        cv = StratifiedKFold(folds, shuffle=True, random_state=0)
        scores = cross_val_predict(tree, cell.to_numpy("float64"), truth, cv=cv, method="predict_proba")[:, 1]
    return float(roc_auc_score(truth, scores))


def _warnings(profile: Profile, infinite: Sequence[str], time: str | None) -> list[str]:
    said = [
        f"LEAK: column {c.name!r} was left out. {c.said} "
        f"Keep it with --keep {c.name} if it is known before the outcome."
        for c in profile.columns
        if c.role == "leak"
    ]
    if profile.duplicates:
        said.append(
            f"Rows that repeat an earlier row: {profile.duplicates:,}. A copy in the learning part flatters every "
            "figure, those of neighbour methods most; remove copies unless they are separate cases."
        )
    if infinite:
        said.append(f"Infinite numbers in {listed(infinite)} count as missing.")
    said += [f"Column {c.name!r} is empty in {c.missing:.0%} of the rows." for c in profile.features if c.missing > 0.5]
    dates = [c.name for c in profile.columns if c.kind == "date" and c.role in ("feature", "dropped")]
    if dates and time is None:
        said.append(
            f"The table has dates ({listed(dates)}) but the folds are drawn at random: pass --time {dates[0]} to test "
            "on later rows than those learned from, as happens in use."
        )
    return said
