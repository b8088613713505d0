"""KEEL's own partitions."""

import zipfile

import numpy as np
import pytest

from scarce.datasets import DatasetUnavailable, _catalogue, info, load, load_keel_folds
from scarce.datasets._catalogue import CATALOGUE
from scarce.datasets._records import Record, Source
from tests.conftest import ROOT

ARCHIVE = ROOT.parent / "shared" / "data" / "keel_imbalanced_5fold.zip"


def partitioned():
    if not ARCHIVE.is_file():
        return []
    with zipfile.ZipFile(ARCHIVE) as archive:
        return sorted({name.split("/")[0].removesuffix("Imb") for name in archive.namelist()})


@pytest.mark.skipif(not ARCHIVE.is_file(), reason="KEEL's partitions are not on this machine")
def test_forty_four_sets_are_partitioned():
    assert len(partitioned()) == 44


@pytest.mark.skipif(not ARCHIVE.is_file(), reason="KEEL's partitions are not on this machine")
def test_set_whose_folds_leak_is_refused():
    with pytest.raises(ValueError, match=r"'keel-abalone9-18' .* are not a partition of its 731 rows"):
        load_keel_folds("abalone9-18", ARCHIVE)


@pytest.mark.parametrize("name", [name for name in partitioned() if name != "abalone9-18"])
def test_test_rows_of_the_folds_are_the_whole_set(name):
    folds = load_keel_folds(name, ARCHIVE)
    assert len(folds) == 5
    record = CATALOGUE[f"keel-{name}"]
    for X_train, y_train, X_test, y_test in folds:
        assert len(X_train) + len(X_test) == len(y_train) + len(y_test) == record.rows
        assert X_train.shape[1] == X_test.shape[1] == record.features
        assert abs(y_test.sum() - record.positives / 5) <= 1
    if info(record.name).available:
        whole = load(record.name)
        ours = np.column_stack([np.vstack([f.X_test for f in folds]), np.concatenate([f.y_test for f in folds])])
        theirs = np.column_stack([whole.data, whole.target])
        np.testing.assert_array_equal(ours[np.lexsort(ours.T)], theirs[np.lexsort(theirs.T)])


@pytest.fixture
def tiny(monkeypatch, tmp_path):
    """A partition of ten rows; one word is only ever in the first test part."""
    source = Source(kind="file", members=("tiny.dat",), positive=("positive",))
    monkeypatch.setitem(_catalogue.CATALOGUE, "keel-tiny", Record("keel-tiny", 10, 4, 5, (source,), "Ten rows"))
    words = ["red", *["blue"] * 4, *["green"] * 5]
    rows = [f"{word}, {i}, {'positive' if i % 2 else 'negative'}" for i, word in enumerate(words)]
    archive = tmp_path / "keel_imbalanced_5fold.zip"

    def write(n_folds=5, rows=rows):
        with zipfile.ZipFile(archive, "w") as opened:
            for k in range(n_folds):
                test = rows[2 * k : 2 * k + 2]
                for part, lines in (("tra", [row for row in rows if row not in test]), ("tst", test)):
                    head = ["@relation tiny", "@attribute Colour {red, green, blue}", "@data"]
                    opened.writestr(f"tiny/tiny-5-{k + 1}{part}.dat", "\r\n".join(head + lines) + "\r\n")
        return archive

    return write


def test_words_have_the_same_columns_in_all_folds(tiny):
    folds = load_keel_folds("tiny", tiny())
    assert folds[0].X_test.tolist() == [[0, 0, 1, 0], [1, 0, 0, 1]]
    assert folds[0].X_train[:, 2].sum() == 0
    assert folds[1].X_train[0].tolist() == [0, 0, 1, 0]
    assert folds[0].y_test.tolist() == [0, 1]


def test_archive_in_the_data_folder(monkeypatch, tiny):
    monkeypatch.setenv("SCARCE_DATA", str(tiny().parent))
    assert len(load_keel_folds("keel-tiny")) == 5


def test_folds_with_other_counts_than_the_set(tiny):
    archive = tiny(rows=[f"red, {i}, positive" for i in range(10)])
    with pytest.raises(ValueError, match="not a partition"):
        load_keel_folds("tiny", archive)


def test_folds_that_share_rows(tiny):
    """The test part of the second fold is put in the place of the first: the counts hold, the rows do not."""
    archive = tiny()
    with zipfile.ZipFile(archive) as opened:
        files = {name: opened.read(name) for name in opened.namelist()}
    files["tiny/tiny-5-1tst.dat"] = files["tiny/tiny-5-2tst.dat"]
    with zipfile.ZipFile(archive, "w") as opened:
        for name, content in files.items():
            opened.writestr(name, content)
    with pytest.raises(ValueError, match="not a partition"):
        load_keel_folds("tiny", archive)


def test_archive_or_set_missing(monkeypatch, tmp_path, tiny):
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.chdir(tiny().parent)
    with pytest.raises(DatasetUnavailable, match="not set"):
        load_keel_folds("tiny")
    with pytest.raises(DatasetUnavailable, match=r"keel_imbalanced_5fold\.zip"):
        load_keel_folds("tiny", tmp_path / "elsewhere")
    with pytest.raises(DatasetUnavailable, match="does not hold a partition of 'keel-zoo-3'"):
        load_keel_folds("zoo-3", tiny())


def test_unknown_name():
    with pytest.raises(ValueError, match="no data set named 'keel-nothing'"):
        load_keel_folds("nothing")
