"""Pictures without a screen."""

import matplotlib

matplotlib.use("Agg")
