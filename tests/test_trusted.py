"""The types that skops may load: enough for every model, and none that runs code."""

import inspect
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest
import skops.io
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import scarce
from scarce import TunedThreshold, _trusted
from scarce.neighbors import GammaKNN
from scarce.objectives import Budget, Objective
from scarce.tables.encoding import DateParts


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(200, 3)), rng.random(200) < 0.2


SPLITTER = "sklearn.model_selection._split.StratifiedKFold"
WRAPPED = [
    TunedThreshold(LGBMClassifier(n_estimators=3, verbose=-1), threshold=Budget(rows=20)),
    TunedThreshold(ExtraTreesClassifier(5)),
    TunedThreshold(CalibratedClassifierCV(GaussianNB(), cv=StratifiedKFold(3))),
    TunedThreshold(KNeighborsClassifier(algorithm="kd_tree")),
    make_pipeline(SimpleImputer(), GammaKNN(threshold=Budget(share=0.1))),
]


@pytest.mark.parametrize("model", WRAPPED, ids=lambda model: type(getattr(model, "estimator", model)).__name__)
def test_models_of_other_libraries_can_be_loaded(rows, model):
    X, y = rows
    model.fit(X, y)
    loaded = skops.io.loads(skops.io.dumps(model), trusted=scarce.trusted_types())
    np.testing.assert_array_equal(loaded.score_samples(X), model.score_samples(X))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_every_foreign_type_is_needed(rows):
    needed = set()
    for model in WRAPPED:
        needed |= set(skops.io.get_untrusted_types(data=skops.io.dumps(model.fit(*rows))))
    assert {name for name in needed if not name.startswith("scarce.")} == {*_trusted._FOREIGN, SPLITTER}


def test_all_are_classes():
    names = scarce.trusted_types()
    assert names == sorted(set(names))
    for name in names:
        module, _, attribute = name.rpartition(".")
        assert inspect.isclass(getattr(import_module(module), attribute)), name


def test_holds_what_models_are_made_of_and_nothing_else():
    def name(cls):
        return f"{cls.__module__}.{cls.__name__}"

    trusted = set(scarce.trusted_types())
    assert {name(cls) for _, cls in scarce.all_estimators()} <= trusted
    assert {name(cls) for cls in [*Objective.__subclasses__(), DateParts]} <= trusted
    assert not [t for t in trusted if t.startswith(tuple(f"scarce.{room}." for room in _trusted._USERS_OF_MODELS))]


def test_a_foreign_type_is_refused():
    stored = skops.io.dumps(FunctionTransformer(subprocess.run))
    with pytest.raises(skops.io.exceptions.UntrustedTypesFoundException, match=r"subprocess\.run"):
        skops.io.loads(stored, trusted=scarce.trusted_types())


def test_the_import_of_the_library_does_not_look_for_types():
    program = "import scarce._trusted; scarce.all_estimators(); print(scarce._trusted._all_types.cache_info().currsize)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0"]


def test_without_an_extra_the_rest_is_found():
    program = (
        "import scarce, sys; sys.modules['skops'] = sys.modules['pandas'] = None\nnames = scarce.trusted_types()\n"
        "print('scarce.neighbors._ccnnd.CCNND' in names, 'scarce.tables.encoding.DateParts' in names)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "False"]
