"""A simulator of a retailer's payments, some of them fraudulent."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from scarce._extras import require
from scarce._typing import BoolArray, FloatArray
from scarce.datasets import _retailer as retailer

Ints = NDArray[np.int64]


class _Customers(NamedTuple):
    """One entry per customer, in order of the opening of the account."""

    opened: FloatArray  # in days from the start
    activity: FloatArray
    shop: Ints
    home: FloatArray
    bank: Ints
    age: FloatArray
    log_spend: FloatArray


class _Frauds(NamedTuple):
    """One entry per fraud: its ring, its time, the customer whose name is used, and what the strategy asks for."""

    ring: Ints
    discipline: FloatArray
    day: Ints
    customer: Ints
    shop: Ints
    category: Ints
    amount: FloatArray
    payment: Ints
    hour: FloatArray


def make_transactions(
    n_samples: int = 30_000,
    *,
    fraud_rate: float = 0.004,
    months: int = 10,
    missing_rate: float = 0.03,
    as_frame: bool = True,
    seed: int = 0,
) -> Bunch:
    """Simulate a retailer's payments over months, a few of them fraudulent.

    The data stand in for those that banks and retailers cannot publish: dates, categories, missing values,
    heavy-tailed amounts, and frauds that come in short bursts, each with its own strategy, which change over
    the months. Nothing in them is real.

    Parameters
    ----------
    n_samples : int, default=30_000
        Number of payments.
    fraud_rate : float, default=0.004
        Share of known frauds: exactly ``round(fraud_rate * n_samples)`` rows have target 1.
    months : int, default=10
        Calendar months covered, from January 2024.
    missing_rate : float, default=0.03
        Expected share of missing values, at most 0.5, in each of the columns ``bank``, ``n_items``,
        ``customer_age``, ``account_age`` and ``distance_home``.
    as_frame : bool, default=True
        Return pandas objects. Otherwise, return NumPy arrays, in dictionaries that other data frame
        libraries read as they are.
    seed : int, default=0
        The same seed gives the same data.

    Returns
    -------
    Bunch
        ``frame`` holds all the columns, in order of date; ``data`` the columns but the target; ``target`` 1
        for a known fraud and 0 otherwise; ``ring`` an array with the number of the ring behind each row, -1
        for a genuine payment; ``feature_names`` the columns of ``data``; ``DESCR`` what each column means.

    Examples
    --------
    >>> from scarce.datasets import make_transactions
    >>> payments = make_transactions(5_000, seed=0)
    >>> payments.frame.shape
    (5000, 20)
    >>> int(payments.target.sum())
    20
    """
    n_fraud = _check_arguments(n_samples, fraud_rate, months, missing_rate)
    n_bad = n_fraud + min(round(retailer.UNDETECTED_SHARE * n_fraud), n_samples - n_fraud - 1)
    n_days = int(
        ((retailer.START.astype("datetime64[M]") + months).astype("datetime64[D]") - retailer.START).astype(int)
    )

    rng = np.random.default_rng(seed)
    shop_xy = _draw_shops(rng)
    customers = _draw_customers(rng, max(1, n_samples // retailer.PAYMENTS_PER_CUSTOMER), n_days, shop_xy)
    frauds = _draw_frauds(rng, n_bad, n_days, customers)
    columns = _draw_payments(rng, n_samples, n_days, customers, frauds, shop_xy)
    columns["ring"] = np.full(n_samples, -1)
    columns["ring"][:n_bad] = frauds.ring
    columns["fraud"] = np.zeros(n_samples, dtype=np.int64)
    columns["fraud"][rng.permutation(n_bad)[:n_fraud]] = 1

    order = np.argsort(columns["second"], kind="stable")
    columns = {name: column[order] for name, column in columns.items()}
    columns |= _history(columns["second"], columns["customer"], columns["cents"], columns["shop"])
    _blank(rng, columns, missing_rate)

    frame = _to_frame(columns, as_frame)
    data = frame.drop(columns="fraud") if as_frame else {k: v for k, v in frame.items() if k != "fraud"}
    rate = n_fraud / n_samples
    description = retailer.DESCR.format(
        n_samples=n_samples,
        months=months,
        n_fraud=n_fraud,
        rate=rate,
        lone=retailer.LONE_SHARE,
        undetected=retailer.UNDETECTED_SHARE,
    )
    return Bunch(
        frame=frame,
        data=data,
        target=frame["fraud"],
        ring=columns["ring"],
        feature_names=list(data),
        DESCR=description,
    )


def _check_arguments(n_samples: int, fraud_rate: float, months: int, missing_rate: float) -> int:
    """Return the number of known frauds."""
    for name, value in (("n_samples", n_samples), ("months", months)):
        if not isinstance(value, int | np.integer) or value < 1:
            raise ValueError(f"{name} must be an integer of at least 1, and it is {value!r}.")
    if not 0 < fraud_rate < 1:
        raise ValueError(f"fraud_rate must lie strictly between 0 and 1, and it is {fraud_rate!r}.")
    if not 0 <= missing_rate <= 0.5:
        raise ValueError(f"missing_rate must lie between 0 and 0.5, and it is {missing_rate!r}.")
    n_fraud = round(fraud_rate * n_samples)
    asked = f"n_samples={n_samples} and fraud_rate={fraud_rate}"
    if n_fraud == 0:
        raise ValueError(f"There would be no fraud with {asked}: raise one of the two.")
    if n_fraud == n_samples:
        raise ValueError(f"There would be nothing but frauds with {asked}: lower fraud_rate.")
    return n_fraud


def _pick(rng: np.random.Generator, shares: FloatArray, row: Ints) -> Ints:
    """Draw a column of ``shares`` for each entry of ``row``, in proportion to that row of the table."""
    cumulated = shares.cumsum(axis=1)
    steps = cumulated / cumulated[:, -1:] + np.arange(len(shares))[:, None]
    found = np.searchsorted(steps.ravel(), row + rng.random(len(row)), side="right")
    # Rounding may lift row + u to row + 1, which belongs to the next row of the table.
    return np.minimum(found - row * shares.shape[1], shares.shape[1] - 1)


def _draw_shops(rng: np.random.Generator) -> FloatArray:
    """Place the shops around the centres of their regions, in kilometres."""
    angle = np.arange(len(retailer.REGIONS)) * 2 * np.pi / (len(retailer.REGIONS) - 1)
    centres = 180 * np.column_stack([np.sin(angle), np.cos(angle)])
    centres[-1] = 0
    return np.repeat(centres, retailer.SHOPS_PER_REGION, axis=0) + rng.normal(0, 25, (len(retailer.SHOPS), 2))


def _draw_customers(rng: np.random.Generator, n: int, n_days: int, shop_xy: FloatArray) -> _Customers:
    # A fifth of the accounts open during the period; the others are up to ten years old.
    old = -rng.exponential(1_000, n).clip(1, 3_650)
    opened = np.sort(np.where(rng.random(n) < 0.2, rng.uniform(0, n_days, n), old))
    opened[0] = min(opened[0], -1)  # someone must be able to pay on the first day
    shop = rng.choice(len(retailer.SHOPS), size=n, p=rng.dirichlet(np.full(len(retailer.SHOPS), 5.0)))
    sizes = 1 / np.arange(2, len(retailer.BANKS) + 2)
    return _Customers(
        opened=opened,
        activity=rng.lognormal(0, 1, n),
        shop=shop,
        home=shop_xy[shop] + rng.normal(0, 4, (n, 2)) * rng.lognormal(0, 0.7, (n, 1)),
        bank=rng.choice(len(retailer.BANKS), size=n, p=sizes / sizes.sum()),
        age=rng.normal(46, 15, n).clip(18, 92).round(),
        log_spend=rng.normal(0, 0.4, n),
    )


def _draw_frauds(rng: np.random.Generator, n: int, n_days: int, customers: _Customers) -> _Frauds:
    """Draw rings and lone fraudsters, and ``n`` frauds of theirs."""
    n_lone = round(retailer.LONE_SHARE * (n - 1))
    n_rings = max(1, round((n - n_lone) / retailer.PAYMENTS_PER_RING))
    member = rng.choice(n_rings, size=n - n_lone, p=rng.dirichlet(np.full(n_rings, 2.0)))
    ring = np.unique(np.concatenate([member, n_rings + np.arange(n_lone)]), return_inverse=True)[1]
    size = np.bincount(ring)
    r = len(size)

    begin = rng.random(r)
    alive = np.array([(s.begin <= begin) & (begin <= s.end) for s in retailer.SCHEMES])
    scheme = np.where(alive, rng.random(alive.shape), -1).argmax(axis=0)
    # The rings of a scheme share what they know: which shops look away and which banks are slow to react.
    shops = rng.integers(len(retailer.SHOPS), size=(len(retailer.SCHEMES), 9))[
        scheme[:, None], rng.integers(9, size=(r, 3))
    ]
    bank = rng.integers(len(retailer.BANKS), size=(len(retailer.SCHEMES), 3))[scheme, rng.integers(3, size=r)]
    region = np.where(rng.random(r) < 0.6, shops[:, 0] // retailer.SHOPS_PER_REGION, -1)
    log_amount = np.log([s.amount for s in retailer.SCHEMES])[scheme] + rng.normal(0, 0.2, r)
    hour = np.array([s.hour for s in retailer.SCHEMES])[scheme] + rng.normal(0, 0.8, r)
    new = np.array([s.new_accounts for s in retailer.SCHEMES])[scheme]

    # Each victim's account serves for a day or two, then the ring goes on to the next.
    slot = rng.integers(-(-size // 4)[ring])
    victims, victim = np.unique(ring * n + slot, return_inverse=True)
    owner = victims // n
    first_day = begin[owner] * (n_days - 12) + rng.random(len(owner)) * rng.uniform(2, 12, r)[owner]
    customer = _draw_victims(rng, customers, first_day, new[owner], bank[owner], region[owner])
    day = np.floor(first_day[victim] + rng.exponential(0.8, n)).astype(np.int64)

    goods = np.array([[list(retailer.CATEGORIES).index(c) for c in s.categories] for s in retailer.SCHEMES])
    return _Frauds(
        ring=ring,
        discipline=np.where(np.arange(n) < n - n_lone, retailer.RING_DISCIPLINE, retailer.LONE_DISCIPLINE),
        day=day.clip(max=n_days - 1),
        customer=customer[victim],
        shop=shops[ring, rng.integers(3, size=n)],
        category=goods[scheme[ring], (rng.random(n) < 0.35).astype(int)],
        amount=np.exp(log_amount[ring] + rng.normal(0, 0.2, n)),
        payment=np.array([s.payment for s in retailer.SCHEMES])[scheme[ring]],
        hour=hour[ring] + rng.normal(0, 1.0, n),
    )


def _draw_victims(
    rng: np.random.Generator, customers: _Customers, day: FloatArray, new: BoolArray, bank: Ints, region: Ints
) -> Ints:
    """Draw for each entry a customer of that day, the best of a few in bank and region."""
    last = np.searchsorted(customers.opened, day).clip(1)
    first = np.where(new, np.searchsorted(customers.opened, day - 45), 0).clip(max=last - 1)
    candidates = rng.integers(first[:, None], last[:, None], size=(len(day), 20))
    fit = (customers.bank[candidates] == bank[:, None]).astype(int)
    fit += customers.shop[candidates] // retailer.SHOPS_PER_REGION == region[:, None]
    return candidates[np.arange(len(day)), fit.argmax(axis=1)]


def _draw_payments(
    rng: np.random.Generator, n: int, n_days: int, customers: _Customers, frauds: _Frauds, shop_xy: FloatArray
) -> dict[str, NDArray[Any]]:
    """Draw ``n`` payments, the frauds first.

    Every value is drawn as for a genuine payment of the customer; a fraudster then replaces most of them.
    """
    n_bad = len(frauds.ring)

    def replace(column: NDArray[Any], wanted: NDArray[Any], possible: BoolArray | bool = True) -> None:
        follows = (rng.random(n_bad) < frauds.discipline) & possible
        column[:n_bad][follows] = wanted[follows]

    days = np.arange(n_days)
    busy = np.array([0.9, 0.9, 1.0, 1.0, 1.3, 1.7, 0.4])[days % 7] * (1 + 0.2 * np.sin(days * 2 * np.pi / 365))
    day = rng.choice(n_days, size=n, p=busy / busy.sum())
    known = np.searchsorted(customers.opened, day)
    cumulated = np.concatenate([[0.0], customers.activity.cumsum()])
    customer = np.searchsorted(cumulated, rng.random(n) * cumulated[known], side="right") - 1
    customer = np.minimum(customer, known - 1)
    day[:n_bad], customer[:n_bad] = frauds.day, frauds.customer

    usual = customers.shop[customer]
    near = usual // retailer.SHOPS_PER_REGION * retailer.SHOPS_PER_REGION + rng.integers(
        retailer.SHOPS_PER_REGION, size=n
    )
    mood = rng.random(n)
    shop = np.where(mood < 0.75, usual, np.where(mood < 0.9, near, rng.integers(len(retailer.SHOPS), size=n)))
    replace(shop, frauds.shop)

    traits = np.array(list(retailer.CATEGORIES.values()))
    category = _pick(rng, rng.dirichlet(traits[:, 0] * 30, size=len(retailer.SHOPS)), shop)
    replace(category, frauds.category)
    typical, margin_rate, further_items = traits[category, 1:].T

    amount = typical * np.exp(customers.log_spend[customer] + rng.normal(0, 0.6, n))
    bulk = rng.random(n) < 0.02
    amount[bulk] *= 1 + rng.pareto(1.8, int(bulk.sum()))
    replace(amount, frauds.amount)
    cents = np.rint(100 * amount.clip(1)).astype(np.int64)
    amount = cents / 100

    band = np.searchsorted(retailer.AMOUNT_BOUNDS, amount, side="right")
    growth = 1 + np.outer(np.arange(12) / 11, retailer.PAYMENT_TREND)
    shares = (retailer.PAYMENT_SHARES[:, None, :] * growth).reshape(-1, len(retailer.PAYMENT_TYPES))
    payment = _pick(rng, shares, band * 12 + day * 12 // n_days)
    replace(payment, frauds.payment, retailer.PAYMENT_SHARES[band[:n_bad], frauds.payment] > 0)

    online = payment == retailer.ONLINE
    peak = np.where(online, 20, np.where(rng.random(n) < 0.45, 11, 17))
    hour = rng.normal(peak, np.where(online, 4.0, 2.2))
    replace(hour, frauds.hour)
    hour = np.where(online, hour % 24, 9 + (hour - 9) % 12)  # shops close at 21
    second = np.floor(hour * 3_600).astype(np.int64).clip(max=retailer.DAY - 1)

    return {
        "second": day * retailer.DAY + second,
        "customer": customer,
        "cents": cents,
        "shop": shop,
        "category": category,
        "payment_type": payment,
        "bank": customers.bank[customer],
        "hour": second // 3_600,
        "amount": amount,
        "margin": np.round(amount * rng.normal(margin_rate, 0.04), 2),
        "n_items": 1.0 + rng.poisson(further_items * np.sqrt(amount / typical).clip(max=5)),
        "customer_age": customers.age[customer],
        "account_age": np.floor(day - customers.opened[customer]).clip(0),
        "distance_home": np.hypot(*(customers.home[customer] - shop_xy[shop]).T).round(1),
    }


def _history(second: Ints, customer: Ints, cents: Ints, shop: Ints) -> dict[str, NDArray[Any]]:
    """Describe what each customer did before each payment; rows are in order of time.

    Sums are of whole cents, so they are exact whatever the order of the additions.
    """
    order = np.argsort(customer, kind="stable")
    who, when = customer[order], second[order]
    here = np.arange(len(who))
    first = np.searchsorted(who, who)
    # One increasing key for all: customers lie further apart than the longest window.
    key = who * (int(second[-1]) + 31 * retailer.DAY) + when
    spent = np.concatenate([[0], cents[order].cumsum()])
    recent = spent[:-1] - spent[np.searchsorted(key, key - 30 * retailer.DAY)]
    gap = np.where(here > first, np.diff(when, prepend=0) / retailer.DAY, np.nan)
    with np.errstate(invalid="ignore"):  # 0 / 0, hence missing, for a customer's first payment
        ratio = cents[order] * (here - first) / (spent[:-1] - spent[first])

    back = np.empty_like(order)
    back[order] = here
    new_shop = np.zeros(len(who), dtype=bool)
    new_shop[np.unique(customer * len(retailer.SHOPS) + shop, return_index=True)[1]] = True
    return {
        "payments_7d": (here - np.searchsorted(key, key - 7 * retailer.DAY))[back],
        "amount_30d": recent[back] / 100,
        "days_since_last": gap[back],
        "amount_ratio": ratio[back],
        "new_shop": new_shop,
    }


def _blank(rng: np.random.Generator, columns: dict[str, NDArray[Any]], missing_rate: float) -> None:
    """Remove values in place; how often depends on the payment type."""
    weight = np.array([1.6, 1.0, 1.0, 0.6, 0.6])[columns["payment_type"]]
    chance = missing_rate * weight / weight.mean()
    for name in ("bank", "n_items", "customer_age", "account_age", "distance_home"):
        columns[name][rng.random(len(chance)) < chance] = -1 if name == "bank" else np.nan


def _to_frame(columns: dict[str, NDArray[Any]], as_frame: bool) -> Any:
    """Give codes their names and the columns their order."""
    customers = np.array([f"C{i:07d}" for i in range(int(columns["customer"].max()) + 1)], dtype=object)
    names = {"shop": retailer.SHOPS, "region": retailer.REGIONS, "category": tuple(retailer.CATEGORIES)}
    names |= {"payment_type": retailer.PAYMENT_TYPES, "bank": retailer.BANKS}
    columns = columns | {
        "date": retailer.START.astype("datetime64[us]") + columns["second"].astype("timedelta64[s]"),
        "customer_id": customers[columns["customer"]],
        "region": columns["shop"] // retailer.SHOPS_PER_REGION,
    }
    ordered = ["date", "customer_id", *names, "hour", "amount", "margin", "n_items", "customer_age"]
    ordered += ["account_age", "distance_home", "payments_7d", "amount_30d", "days_since_last"]
    ordered += ["amount_ratio", "new_shop", "fraud"]
    if not as_frame:
        # The code -1 of a missing value picks the last name.
        labels = {name: np.array([*levels, None], dtype=object) for name, levels in names.items()}
        return {name: labels[name][columns[name]] if name in names else columns[name] for name in ordered}
    pd = require("pandas", "make_transactions without as_frame=False")
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(columns[name], names[name]) if name in names else columns[name]
            for name in ordered
        }
    )
