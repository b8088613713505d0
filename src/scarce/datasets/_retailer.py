"""The simulated retailer: its shops, its goods, its customers' ways to pay, and the frauds."""

from typing import NamedTuple

import numpy as np

START = np.datetime64("2024-01-01")  # a Monday
DAY = 86_400
SHOPS_PER_REGION = 6
PAYMENTS_PER_CUSTOMER = 12
PAYMENTS_PER_RING = 6
LONE_SHARE = 0.15
UNDETECTED_SHARE = 0.1
# How often a choice of the fraudster (shop, goods, ...) follows the strategy; otherwise it looks genuine.
RING_DISCIPLINE = 0.85
LONE_DISCIPLINE = 0.25

REGIONS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "centre")
SHOPS = tuple(f"S{i + 1:02d}" for i in range(len(REGIONS) * SHOPS_PER_REGION))
BANKS = ("Alder", "Birch", "Cedar", "Elm", "Hazel", "Juniper", "Larch", "Maple", "Rowan", "Willow")
PAYMENT_TYPES = ("cheque", "card", "contactless", "online", "instalments")
CHEQUE, CARD, CONTACTLESS, ONLINE, INSTALMENTS = range(5)

# Share of the payments, median amount, margin rate and mean number of further articles.
CATEGORIES = {
    "grocery": (0.34, 42.0, 0.08, 12.0),
    "clothing": (0.14, 60.0, 0.32, 2.0),
    "electronics": (0.08, 170.0, 0.10, 0.6),
    "appliances": (0.05, 300.0, 0.14, 0.3),
    "jewellery": (0.03, 190.0, 0.40, 0.3),
    "perfume": (0.06, 65.0, 0.30, 0.8),
    "toys": (0.08, 35.0, 0.25, 1.5),
    "garden": (0.08, 70.0, 0.22, 3.0),
    "sports": (0.09, 80.0, 0.26, 1.2),
    "gift cards": (0.05, 50.0, 0.03, 0.5),
}

# The amount decides how one pays: a row of shares below each bound, and one above the last.
AMOUNT_BOUNDS = np.array([20.0, 50.0, 300.0])
PAYMENT_SHARES = np.array(
    [
        [0.03, 0.25, 0.60, 0.12, 0.00],
        [0.10, 0.40, 0.30, 0.20, 0.00],
        [0.18, 0.50, 0.00, 0.27, 0.05],
        [0.20, 0.38, 0.00, 0.20, 0.22],
    ]
)
PAYMENT_TREND = np.array([-0.4, 0.0, 0.2, 0.5, 0.0])  # growth of each share from the first to the last day


class Scheme(NamedTuple):
    """The strategy that a family of rings has in common; begin and end are fractions of the whole period."""

    payment: int
    categories: tuple[str, str]
    amount: float
    hour: float
    new_accounts: bool
    begin: float
    end: float


# Half of them last, so that the past helps with the future; the others make it treacherous.
SCHEMES = (
    Scheme(CHEQUE, ("electronics", "perfume"), 150.0, 18.5, False, 0.0, 0.55),
    Scheme(CONTACTLESS, ("perfume", "grocery"), 35.0, 10.0, False, 0.0, 0.4),
    Scheme(ONLINE, ("electronics", "sports"), 280.0, 3.0, False, 0.0, 1.0),
    Scheme(CARD, ("gift cards", "toys"), 130.0, 14.0, False, 0.0, 1.0),
    Scheme(INSTALMENTS, ("appliances", "electronics"), 560.0, 15.0, True, 0.35, 1.0),
    Scheme(CHEQUE, ("jewellery", "clothing"), 260.0, 11.0, True, 0.7, 1.0),
)

DESCR = """\
SIMULATED payments of a retailer. No row describes a real person, shop, bank or payment.

{n_samples} payments over {months} months, in order of date. {n_fraud} of them ({rate:.2%}) are known frauds.

Columns
  date             when the payment was made
  customer_id      who pays; not a feature
  shop, region     where; for online orders, where the goods are collected
  category         the goods that weigh most in the basket
  payment_type     cheque, card, contactless, online or instalments
  bank             the customer's bank
  hour             hour of the day, 0 to 23
  amount           price paid, in euros
  margin           what the retailer earns on the sale if it is genuine, in euros
  n_items          articles in the basket
  customer_age     in years
  account_age      days since the customer's account was opened
  distance_home    kilometres from the customer's home to the shop
  payments_7d      number of the customer's payments in the 7 days before this one
  amount_30d       sum of the customer's payments in the 30 days before this one
  days_since_last  days since the customer's previous payment; missing for the first
  amount_ratio     amount over the mean of all the customer's previous payments; missing for the first
  new_shop         whether it is the customer's first payment in this shop
  fraud            the target, 1 for a known fraud

The history columns look at earlier rows of this frame only. Values are also missing at random in bank,
n_items, customer_age, account_age and distance_home, more often for some payment types than for others.

Frauds come in rings. A ring has one strategy (goods, amounts, shops, hours, payment type, bank of the victims)
that it follows most of the time, uses a few customers' accounts and is gone within days. Strategies belong to a
few schemes that come and go, so that the frauds of the last months differ in part from those of the first.
About {lone:.0%} of the frauds are the work of lone fraudsters who look much like the customers they rob. Beside
the known frauds, {undetected:.0%} as many were never detected: their target is 0.

`ring` numbers the ring behind each row, -1 for a genuine payment; a lone fraudster is a ring of one. It is the
truth, so an undetected fraud has a ring too. It is not a feature.
"""
