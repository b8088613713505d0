"""The simulated tax office: its regions and trades, how companies file, and which frauds there are."""

from typing import NamedTuple

import numpy as np

START = np.datetime64("2023-01")  # the month after which the first quarter ends is April
QUARTERS = 4
# The companies of a block are drawn together, from a seed of their own, so that any rows can be drawn alone.
COMPANIES_PER_BLOCK = 4_096

REGIONS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "centre")
REGION_SHARES = np.array([0.14, 0.09, 0.10, 0.15, 0.11, 0.10, 0.12, 0.19])
# Some offices have more inspectors than others.
REGION_CHECKS = np.array([1.0, 0.6, 0.8, 1.5, 1.3, 0.7, 0.9, 1.2])


class Sector(NamedTuple):
    """A trade: its share of companies, the rate of fraud among checked declarations, and its usual accounts.

    The rates are those of the eleven sets of the tax office in Table I of the paper of γk-NN, one for each trade.
    """

    share: float
    rate: float
    turnover: float  # median of a quarter, in thousands of euros
    purchases: float  # share of the turnover
    wages: float  # share of the turnover
    vat: float  # usual rate
    exports: float  # usual share of the turnover


SECTORS = {
    "telephone wholesale": Sector(0.02, 0.351, 420, 0.82, 0.04, 0.20, 0.25),
    "used cars": Sector(0.06, 0.248, 130, 0.74, 0.07, 0.20, 0.10),
    "cleaning": Sector(0.08, 0.208, 60, 0.18, 0.55, 0.20, 0.01),
    "building": Sector(0.18, 0.178, 110, 0.42, 0.32, 0.14, 0.01),
    "restaurants": Sector(0.14, 0.179, 70, 0.33, 0.36, 0.11, 0.00),
    "security": Sector(0.03, 0.164, 80, 0.12, 0.62, 0.20, 0.01),
    "road transport": Sector(0.07, 0.162, 120, 0.44, 0.33, 0.20, 0.12),
    "retail": Sector(0.17, 0.103, 95, 0.66, 0.14, 0.16, 0.02),
    "hairdressers": Sector(0.09, 0.099, 28, 0.14, 0.48, 0.20, 0.00),
    "engineering": Sector(0.09, 0.050, 150, 0.28, 0.45, 0.20, 0.15),
    "health": Sector(0.07, 0.039, 65, 0.16, 0.38, 0.08, 0.00),
}

# Late declarations are visible, more frequent with fraud, and a reason to check.
LATE_HONEST, LATE_FRAUD = 0.3, 0.6
LATE_CHECKS, MOST_LATE = 1.5, 3
# Companies with many employees are checked more often.
SIZE_CHECKS, MANY_EMPLOYEES = 2.0, 20
# A company that cheats does so in most quarters.
PERSISTENCE = 0.7

FRAUDS = ("fictitious charges", "hidden turnover", "VAT deducted twice", "VAT carousel")
CHARGES, TURNOVER, DEDUCTED, CAROUSEL = range(4)
FRAUD_SHARES = np.array([0.35, 0.30, 0.25, 0.10])

DESCR = """\
SIMULATED declarations of companies to a tax office. No row describes a real company, region or declaration.

{n_samples} declarations, one for each company and quarter. {checked} of them ({check_rate:.1%}) were checked, and
{frauds} of these are frauds; of all others nobody knows. The rates of fraud among checked declarations are by sector
those of Table I of R. Viola, R. Emonet, A. Habrard, G. Metzler, S. Riou and M. Sebban, "An Adjusted Nearest Neighbor
Algorithm Maximizing the F-Measure from Imbalanced Data", ICTAI 2019, which describes eleven sets of the French tax
office that are not public.

Columns
  company_id       who declares; not a feature
  period           the last day of the quarter
  region, sector   where, and the trade
  employees        number of employees
  company_age      years since it was founded
  late_filings     declarations of the last two years that came late
  turnover         of the quarter, in euros, and so the amounts below
  purchases, wages
  vat_collected, vat_deducted, vat_due
  margin_rate      what purchases and wages leave of the turnover, as a share of it
  purchase_ratio   purchases over turnover
  vat_ratio        deducted over collected VAT
  turnover_per_employee
  growth           turnover over that of the quarter before; missing in the first quarter
  export_share     share of the turnover that was sold abroad
  eu_purchase_share  share of the purchases that came from other countries of the Union
  checked          1 if the declaration was checked
  fraud            the target: 1 for a fraud, 0 for a correct declaration, missing if it was not checked

Checks are not drawn at random: offices differ in how many inspectors they have, companies with many employees and those
that file late are checked more often. All of that is in the columns, so that the chance of a check can be estimated.

`truth` is 1 for every fraud, checked or not, and `scheme` the number of the kind of fraud, -1 for none: fictitious
charges, hidden turnover, VAT deducted twice, VAT carousel. Both are for evaluation only, and are not in the frame.
"""
