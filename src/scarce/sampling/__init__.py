"""Resampling that remembers where a row came from, on imbalanced-learn.

imbalanced-learn is an extra: ``pip install "scarce[sampling]"``. Without it everything here can be imported, and
raises an error with this hint when it is used.
"""

from scarce.sampling._prior import correct_prior
from scarce.sampling._resample import Resampled, resample
from scarce.sampling._resampled_classifier import ResampledClassifier
from scarce.sampling._resampled_gamma import ResampledGammaKNN
from scarce.sampling._sdc import SDC

__all__ = ["SDC", "Resampled", "ResampledClassifier", "ResampledGammaKNN", "correct_prior", "resample"]
