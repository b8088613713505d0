"""Gains of the four outcomes of each row, and the rule that maximises the expected profit.

`gains` are an (n_samples, 4) array with columns tp, fp, tn, fn: what a row earns as a true positive, false positive,
true negative and false negative. :class:`Gains` compute them from the columns of a table.
"""

from scarce.profit._base import ProfitClassifier
from scarce.profit._bayes import BayesProfitClassifier
from scarce.profit._gains import Gains, bayes_threshold
from scarce.profit._menu import MenuEntry, profit_menu

__all__ = ["BayesProfitClassifier", "Gains", "MenuEntry", "ProfitClassifier", "bayes_threshold", "profit_menu"]
