"""A study file is data: it names estimators of known packages, and nothing that it names is run or imported."""

import sys

import pytest
from sklearn.ensemble import VotingClassifier

from scarce._errors import StudyError
from scarce.objectives import Profit
from scarce.study import load_study
from scarce.study.build import build, resolve
from scarce.study.names import TRUST, check_name

HEAD = """
title = "Not to be trusted"
source = "Somewhere"
sets = ["wine"]
metrics = ["f1"]
[protocol]
kind = "shuffle"
splits = 1
"""
PLACES = {
    "method": '[methods.x]\nestimator = "{name}"',
    "parameter": '[methods.x]\nestimator = "TunedThreshold"\nparams.estimator.estimator = "{name}"',
    "list": '[methods.x]\nestimator = "sklearn.ensemble.VotingClassifier"\n'
    'params.estimators = [["a", {{ estimator = "{name}" }}]]',
    "step": '[methods.x]\nestimator = "GammaKNN"\nsteps = [{{ name = "a", estimator = "{name}" }}]',
    "grid": '[methods.x]\nestimator = "TunedThreshold"\ngrid.estimator = [{{ estimator = "{name}" }}]',
    "paper grid": '[methods.x]\nestimator = "TunedThreshold"\npaper_grid.estimator = [{{ estimator = "{name}" }}]',
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", ["subprocess.Popen", "os.system", "builtins.eval", "this.that", "pickle.Unpickler"])
def test_any_callable_of_another_package_is_refused_by_name_before_an_import(tmp_path, place, name):
    file = tmp_path / "bad.toml"
    file.write_text(HEAD + PLACES[place].format(name=name))
    before = set(sys.modules)
    with pytest.raises(StudyError, match=f"may name estimators of sklearn, .* only, not {name}"):
        load_study(str(file))
    assert "this" not in set(sys.modules) - before


@pytest.mark.parametrize(
    "name",
    ["sklearn.utils.check_array", "sklearn.datasets.fetch_openml", "scarce.registry.all_estimators", "sklearn.svm.os"],
)
def test_what_is_no_class_of_an_estimator_is_refused(name):
    with pytest.raises(StudyError, match=r"classes of estimators, samplers and objectives only|not installed"):
        resolve(name)


@pytest.mark.parametrize("name", ["sklearn.pipeline.joblib", "sklearn.base.BaseEstimator.fit.__globals__"])
def test_modules_and_what_hangs_on_classes_are_refused(name):
    with pytest.raises(StudyError):
        resolve(name)


@pytest.mark.parametrize("name", ["", "sklearn..SVC", "sklearn.svm.SVC()", "os system", 3, True])
def test_what_is_no_name_is_refused(name):
    with pytest.raises(StudyError, match="is no such name"):
        check_name(name)


def test_parameters_stay_text():
    recipe = {"estimator": "sklearn.preprocessing.FunctionTransformer", "params": {"func": "os.system"}}
    model = build(recipe, {}, seed=0, fewest=9)
    assert model.named_steps["model"].func == "os.system"


def test_estimators_samplers_and_objectives_may_be_named():
    assert resolve("sklearn.ensemble.VotingClassifier") is VotingClassifier
    assert resolve("scarce.objectives.Profit") is Profit
    assert resolve("imblearn.over_sampling.SMOTE").__name__ == "SMOTE"
    assert resolve("lightgbm.LGBMClassifier").__name__ == "LGBMClassifier"
    assert resolve("GammaKNN").__name__ == "GammaKNN"


def test_whoever_runs_a_study_may_trust_a_package_of_their_own(monkeypatch):
    monkeypatch.delenv(TRUST)
    with pytest.raises(StudyError, match=f"not tests.study.slow.Slow. To trust another package, .* {TRUST}"):
        resolve("tests.study.slow.Slow")
    monkeypatch.setenv(TRUST, "other, tests")
    assert resolve("tests.study.slow.Slow").__name__ == "Slow"
