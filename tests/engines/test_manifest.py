"""Models and manifests that were changed, each refused in one sentence."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from scarce._errors import AuditError
from scarce._typing import Json
from scarce.audit import load_model
from scarce.audit.settings import Settings
from scarce.engines.manifest import _FIELDS, FILES, check_file


@pytest.fixture
def changed(model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model, tmp_path / "audit"))


def put(*path: Any) -> Callable[[Json], None]:
    """Return a change of a manifest: the value that stands last, at the place before it."""

    def change(manifest: Json) -> None:
        part: Any = manifest
        for name in path[:-2]:
            part = part[name]
        part[path[-2]] = path[-1]

    return change


CHANGES = {
    "settings.budget must be a number of checks": put("settings", "budget", -1),
    "settings.explore must be a number from 0 to 0.5, and it is 5": put("settings", "explore", 5),
    "settings.objective must be one of ap, f1": put("settings", "objective", "roc"),
    "settings.seed must be a whole number from 0 to 4294967295, and it is -1": put("settings", "seed", -1),
    "reasons must be a whole number from 1, and it is -1": put("reasons", -1),
    "threshold must be a number, and it is '0.5'": put("threshold", "0.5"),
    "has another threshold than the model beside it": put("threshold", 0.123),
    "log_odds_shift must be a number from -1000 to 1000": put("log_odds_shift", 1e300),
    "written must be a date and time, and it is 'today'": put("written", "today"),
    "data.sha256 must be a SHA-256 of 64 digits": put("data", "sha256", "00"),
    "data.rows must be a whole number from 1, and it is True": put("data", "rows", True),
    "data has more positives than labelled rows": put("data", "positives", 10**9),
    "packages must be an object, each a version": put("packages", "scarce", None),
    "columns is empty": put("columns", []),
    "columns[0].kind must be one of number, category, date": put("columns", 0, "kind", "text"),
    "columns[0].usual.weights must be a list": put("columns", 0, "usual", "weights", [-1]),
    "usual values of 'date' and their weights differ in number": put("columns", 0, "usual", "weights", []),
    "usual values of 'date' are not of its kind": put("columns", 0, "usual", "typical", 5),
    "a usual value is no date": put("columns", 0, "usual", "typical", "tomorrow"),
    "readings[0].type must be one of bool": put("readings", 0, "type", "int32"),
    "readings names a column twice": lambda m: m["readings"].append(m["readings"][0]),
    "readings lacks the column 'date'": put("readings", []),
    "it has a field 'run' that no audit writes": put("run", "rm"),
    "target is missing": lambda m: m.pop("target"),
    "settings.target and target.column differ": put("settings", "target", "age"),
    "is of scikit-learn 0.1.0, and": put("packages", "scikit-learn", "0.1.0"),
    "is of scarce 9.0.0, and": put("packages", "scarce", "9.0.0"),
    "is not the file that the audit wrote, by its SHA-256": put("files", "model.skops", 64 * "0"),
    "files must be an object": put("files", "model.skops", "x"),
}


@pytest.mark.parametrize(("sentence", "change"), CHANGES.items(), ids=list(CHANGES))
def test_a_changed_manifest_is_refused(changed: Path, sentence: str, change: Callable[[Json], None]) -> None:
    file = changed / "manifest.json"
    manifest = json.loads(file.read_text())
    change(manifest)
    file.write_text(json.dumps(manifest))
    with pytest.raises(AuditError) as caught:
        load_model(changed)
    assert sentence in str(caught.value)
    assert "run the audit again" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"threshold": NaN}', "[" * 100_000])
def test_a_manifest_that_is_none_is_refused(changed: Path, text: str) -> None:
    (changed / "manifest.json").write_text(text)
    with pytest.raises(AuditError, match=r"manifest\.json is damaged"):
        load_model(changed)


@pytest.mark.parametrize("name", ["model.skops", "training-rows.npy"])
def test_a_changed_file_is_refused_before_it_is_opened(changed: Path, name: str) -> None:
    with (changed / name).open("ab") as stream:
        stream.write(b"\0")
    with pytest.raises(AuditError, match="is not the file that the audit wrote"):
        load_model(changed)
    (changed / name).unlink()
    with pytest.raises(AuditError, match="There is no"):
        load_model(changed)


def test_each_option_and_each_file_is_checked(model: Path) -> None:
    assert list(_FIELDS["settings"]) == list(asdict(Settings()))
    manifest = json.loads((model / "manifest.json").read_text())
    assert list(manifest) == list(_FIELDS)
    held = {path.name for path in model.iterdir()}
    assert set(manifest["files"]) == held & set(FILES)
    for name in manifest["files"]:
        check_file(model, name, manifest)


def test_what_a_killed_run_left_is_named(changed: Path) -> None:
    changed.rename(changed.with_name("audit.previous"))
    with pytest.raises(AuditError, match=r"was killed: run it again, or name .*audit\.previous"):
        load_model(changed)


@pytest.mark.parametrize("name", ["manifest.json", "model.skops"])
def test_a_folder_in_place_of_a_file_is_no_model(changed: Path, name: str) -> None:
    (changed / name).unlink()
    (changed / name).mkdir()
    with pytest.raises(AuditError, match="There is no"):
        load_model(changed)
