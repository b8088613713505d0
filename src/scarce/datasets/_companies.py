"""A simulator of companies' declarations to a tax office, a few of them checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson
from sklearn.utils import Bunch

from scarce._extras import require
from scarce._typing import FloatArray
from scarce.datasets import _tax_office as office

Columns = dict[str, NDArray[Any]]

_LEVELS = {"region": office.REGIONS, "sector": tuple(office.SECTORS)}
_ORDER = (
    *("company_id", "period", "region", "sector", "employees", "company_age", "late_filings"),
    *("turnover", "purchases", "wages", "vat_collected", "vat_deducted", "vat_due"),
    *("margin_rate", "purchase_ratio", "vat_ratio", "turnover_per_employee", "growth", "export_share"),
    *("eu_purchase_share", "checked", "fraud"),
)


def make_companies(
    n_samples: int = 40_000,
    *,
    check_rate: float = 0.03,
    missing_rate: float = 0.02,
    first_row: int = 0,
    as_frame: bool = True,
    seed: int = 0,
) -> Bunch:
    """Simulate companies' declarations to a tax office, of which a few per cent were checked.

    The data stand in for those of a tax office, which are not public: regions and sectors, ratios of accounts, VAT,
    checks that are not drawn at random, and an outcome that is known for checked declarations only. The rates of
    fraud among these are those of the tax office's sets in the paper of γk-NN. Nothing in them is real.

    Parameters
    ----------
    n_samples : int, default=40_000
        Number of declarations. A company has four, one for each quarter, in rows that follow each other.
    check_rate : float, default=0.03
        Expected share of checked declarations, at most 0.2.
    missing_rate : float, default=0.02
        Expected share of missing values, at most 0.5, in each of ``employees``, ``wages`` and ``export_share``.
    first_row : int, default=0
        The number of the first row. The rows of a seed are one long table, of which any part can be drawn alone: two
        calls for the rows 0 to 999 and 1000 to 1999 give what one call for 2000 rows gives.
    as_frame : bool, default=True
        Return pandas objects. Otherwise, return NumPy arrays, in dictionaries that other data frame
        libraries read as they are.
    seed : int, default=0
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``frame`` holds all the columns; ``data`` the columns but the target; ``target`` 1 for a fraud, 0 for a
        correct declaration, and NaN where nobody checked; ``truth`` 1 for every fraud, checked or not, and ``scheme``
        its kind, -1 for none, for evaluation only; ``feature_names`` the columns of ``data``; ``DESCR`` what each
        column means.

    Examples
    --------
    >>> from scarce.datasets import make_companies
    >>> companies = make_companies(8_000, seed=0)
    >>> companies.frame.shape
    (8000, 22)
    >>> bool(companies.target.notna().equals(companies.frame["checked"] == 1))
    True
    """
    _check_arguments(n_samples, check_rate, missing_rate, first_row)
    rows_per_block = office.COMPANIES_PER_BLOCK * office.QUARTERS
    end = first_row + n_samples
    parts: list[Columns] = []
    for block in range(first_row // rows_per_block, -(-end // rows_per_block)):
        rows = slice(max(first_row - block * rows_per_block, 0), min(end - block * rows_per_block, rows_per_block))
        drawn = _draw_block(seed, block, check_rate, missing_rate)
        parts.append({name: column[rows] for name, column in drawn.items()})
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    truth, scheme = columns.pop("truth"), columns.pop("scheme")
    frame = _to_frame(columns, as_frame)
    data = frame.drop(columns="fraud") if as_frame else {k: v for k, v in frame.items() if k != "fraud"}
    checked, frauds = int(columns["checked"].sum()), int(np.nansum(columns["fraud"]))
    description = office.DESCR.format(
        n_samples=n_samples, checked=checked, check_rate=checked / n_samples, frauds=frauds
    )
    return Bunch(
        frame=frame,
        data=data,
        target=frame["fraud"],
        truth=truth,
        scheme=scheme,
        feature_names=list(data),
        DESCR=description,
    )


def _check_arguments(n_samples: int, check_rate: float, missing_rate: float, first_row: int) -> None:
    for name, value, least in (("n_samples", n_samples, 1), ("first_row", first_row, 0)):
        if not isinstance(value, int | np.integer) or value < least:
            raise ValueError(f"{name} must be an integer of at least {least}, and it is {value!r}.")
    if not 0 < check_rate <= 0.2:
        raise ValueError(f"check_rate must lie above 0 and not above 0.2, and it is {check_rate!r}.")
    if not 0 <= missing_rate <= 0.5:
        raise ValueError(f"missing_rate must lie between 0 and 0.5, and it is {missing_rate!r}.")


def _expected_weight(late: float) -> float:
    """Return the mean factor by which late filings raise the chance of a check, for a mean number of them."""
    few = np.arange(office.MOST_LATE)
    mean = (poisson.pmf(few, late) * few).sum() + office.MOST_LATE * poisson.sf(office.MOST_LATE - 1, late)
    return float(1 + office.LATE_CHECKS * mean)


def fraud_rates() -> FloatArray:
    """Return the share of frauds among all declarations of each sector.

    Among checked declarations it shall be the sector's rate. Given the sector, a fraud makes a check more likely by
    late filings alone, and by a factor that is known.
    """
    lift = _expected_weight(office.LATE_FRAUD) / _expected_weight(office.LATE_HONEST)
    rate = np.array([sector.rate for sector in office.SECTORS.values()])
    return rate / (rate + lift * (1 - rate))


def _draw_block(seed: int, block: int, check_rate: float, missing_rate: float) -> Columns:
    """Draw all declarations of a block of companies, one company after the other."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(block,)))
    n, quarters = office.COMPANIES_PER_BLOCK, office.QUARTERS
    traits = np.array([tuple(sector) for sector in office.SECTORS.values()])
    sector = rng.choice(len(traits), size=n, p=traits[:, 0] / traits[:, 0].sum())
    region = rng.choice(len(office.REGIONS), size=n, p=office.REGION_SHARES / office.REGION_SHARES.sum())
    _, _, usual, purchases, wages, vat, exports = traits[sector].T

    size = rng.normal(0, 1.1, n)
    employees = np.rint(usual * np.exp(size) * wages / 9 * rng.lognormal(0, 0.3, n))
    age = np.floor(rng.gamma(1.6, 7, n))
    cheats = rng.random(n) < fraud_rates()[sector] / office.PERSISTENCE
    scheme = rng.choice(len(office.FRAUDS), size=n, p=office.FRAUD_SHARES)
    # Carousels pass through young companies that trade with other countries.
    carousel = cheats & (scheme == office.CAROUSEL)
    age = np.where(carousel, np.floor(age * 0.25), age)

    def each(values: NDArray[Any]) -> NDArray[Any]:
        return np.repeat(values, quarters)

    fraud = each(cheats) & (rng.random(n * quarters) < office.PERSISTENCE)
    kind = np.where(fraud, each(scheme), -1)
    strength = rng.beta(1.1, 2.8, n * quarters)  # of a fraud: many change the accounts by little
    season = np.tile(np.array([0.92, 1.02, 0.97, 1.09]), n)
    trend = np.exp(np.cumsum(rng.normal(0.01, 0.12, (n, quarters)), axis=1).ravel())
    turnover = 1_000 * each(usual * np.exp(size)) * season * trend
    turnover *= np.where(kind == office.CAROUSEL, 1 + 3 * strength, 1)
    bought = each(purchases * rng.lognormal(0, 0.12, n)) * rng.lognormal(0, 0.08, n * quarters)
    abroad = np.clip(rng.beta(0.5 + 8 * each(exports), 6), 0, 1)
    from_union = np.clip(rng.beta(0.6 + 4 * each(exports), 5), 0, 1)
    from_union = np.where(kind == office.CAROUSEL, 1 - (1 - from_union) * (1 - 0.8 * strength), from_union)
    spent = turnover * bought
    paid = turnover * each(wages * rng.lognormal(0, 0.15, n)) * rng.lognormal(0, 0.06, n * quarters)
    spent *= np.where(kind == office.CHARGES, 1 + 0.7 * strength, 1)
    declared = turnover * np.where(kind == office.TURNOVER, 1 - 0.45 * strength, 1)
    rate = each(vat)
    collected = declared * (1 - abroad) * rate * rng.normal(1, 0.02, n * quarters).clip(0.9, 1.1)
    deducted = spent * rate * 0.9 * rng.lognormal(0, 0.1, n * quarters)
    deducted *= np.where(kind == office.DEDUCTED, 1 + 0.9 * strength, 1)

    late = rng.poisson(np.where(fraud, office.LATE_FRAUD, office.LATE_HONEST))
    checked = rng.random(n * quarters) < check_rate * _check_weights(each(region), each(employees), late, each(sector))
    with np.errstate(divide="ignore", invalid="ignore"):
        growth = declared / np.concatenate([[np.nan], declared[:-1]])
    growth[::quarters] = np.nan
    staff = np.maximum(each(employees), 1)
    columns: Columns = {
        "company_id": each(block * n + np.arange(n)),
        "period": np.tile(np.arange(quarters), n),
        "region": each(region),
        "sector": each(sector),
        "employees": each(employees),
        "company_age": each(age),
        "late_filings": late,
        "turnover": declared.round(),
        "purchases": spent.round(),
        "wages": paid.round(),
        "vat_collected": collected.round(),
        "vat_deducted": deducted.round(),
        "vat_due": (collected.round() - deducted.round()),
        "margin_rate": ((declared - spent - paid) / declared).round(4),
        "purchase_ratio": (spent / declared).round(4),
        "vat_ratio": (deducted / np.maximum(collected, 1)).round(4),
        "turnover_per_employee": (declared / staff).round(),
        "growth": growth.round(4),
        "export_share": abroad.round(4),
        "eu_purchase_share": from_union.round(4),
        "checked": checked.astype(np.int64),
        "fraud": np.where(checked, fraud, np.nan),
        "truth": fraud.astype(np.int64),
        "scheme": kind,
    }
    for name in ("employees", "wages", "export_share"):
        columns[name] = np.where(rng.random(n * quarters) < missing_rate, np.nan, columns[name])
    return columns


def _check_weights(region: NDArray[Any], employees: FloatArray, late: NDArray[Any], sector: NDArray[Any]) -> FloatArray:
    """Return how much more likely than the mean each declaration is to be checked."""
    places = office.REGION_CHECKS / (office.REGION_CHECKS * office.REGION_SHARES).sum() * office.REGION_SHARES.sum()
    rates = fraud_rates()[sector]
    mean = rates * _expected_weight(office.LATE_FRAUD) + (1 - rates) * _expected_weight(office.LATE_HONEST)
    by_late = (1 + office.LATE_CHECKS * np.minimum(late, office.MOST_LATE)) / mean
    by_size = np.where(employees >= office.MANY_EMPLOYEES, office.SIZE_CHECKS, 1.0)
    return places[region] * by_size / by_size.mean() * by_late


def _to_frame(columns: Columns, as_frame: bool) -> Any:
    """Give codes their names and the columns their order."""
    ends = (office.START + 3 * (np.arange(office.QUARTERS) + 1)).astype("datetime64[D]") - 1
    columns = columns | {
        "company_id": np.char.add("F", np.char.zfill(columns["company_id"].astype(str), 8)).astype(object),
        "period": ends[columns["period"]].astype("datetime64[us]"),
    }
    if not as_frame:
        labels = {name: np.array(levels, dtype=object) for name, levels in _LEVELS.items()}
        return {name: labels[name][columns[name]] if name in labels else columns[name] for name in _ORDER}
    pd = require("pandas", "make_companies without as_frame=False")
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(columns[name], _LEVELS[name]) if name in _LEVELS else columns[name]
            for name in _ORDER
        }
    )
