"""Results appear whole or not at all."""

import errno
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scarce._files import (
    CannotWriteError,
    PathTakenError,
    check_free,
    read_toml,
    sentence_of_system,
    temporary_folder,
    written_whole,
)
from scarce._processes import is_alive, own_mark


def test_a_folder_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "deep" / "out"

    def interrupted() -> None:
        with written_whole(place) as new:
            new.mkdir()
            (new / "half").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert list((tmp_path / "deep").iterdir()) == []
    with written_whole(place) as new:
        new.mkdir()
        assert not place.exists()
    assert [p.name for p in (tmp_path / "deep").iterdir()] == ["out"]


def test_only_a_folder_with_the_marker_is_replaced_and_only_by_force(tmp_path: Path) -> None:
    check_free(tmp_path)
    (tmp_path / "thesis.tex").write_text("")
    with pytest.raises(PathTakenError, match=r"exists already; name another place \(`out`\), or .* \(`force`\)"):
        check_free(tmp_path)
    with pytest.raises(PathTakenError, match="holds other files than would be replaced"):
        check_free(tmp_path, force=True, marker="manifest.json")
    (tmp_path / "manifest.json").write_text("{}")
    check_free(tmp_path, force=True, marker="manifest.json")
    with pytest.raises(PathTakenError, match="holds other files"):
        check_free(tmp_path, force=True)


def test_a_file_is_not_replaced_by_a_folder_and_a_device_by_nothing(tmp_path: Path) -> None:
    (tmp_path / "payments.csv").write_text("all that we have")
    with pytest.raises(PathTakenError, match="is a file, and a folder is to be written"):
        check_free(tmp_path / "payments.csv", force=True, marker="manifest.json")
    os.mkfifo(tmp_path / "pipe")
    for place in (Path("/dev/null"), Path("/"), tmp_path / "pipe"):
        with pytest.raises(PathTakenError, match="is no file or folder that can be replaced"):
            check_free(place, force=True)


def test_a_pipe_is_no_toml(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(OSError, match="a pipe or a device"):
        read_toml(tmp_path / "pipe.toml")
    (tmp_path / "deep.toml").write_text(f"a = {'[' * 9_000}{']' * 9_000}")
    with pytest.raises(ValueError, match="nested too deeply"):
        read_toml(tmp_path / "deep.toml")


def test_a_file_is_replaced_in_one_step_or_stays(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("old")

    def interrupted() -> None:
        with written_whole(file, force=True) as new:
            new.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert file.read_text() == "old"
    with written_whole(file, force=True) as new:
        new.write_text("new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert list(tmp_path.iterdir()) == [file]


# Replaces a folder, and kills itself before the n-th step that changes the disk.
KILLED = """
import os, pathlib, shutil, signal, sys
from scarce._files import written_whole
steps = int(sys.argv[2])
def counted(step):
    def done(*arguments, **options):
        global steps
        if not steps:
            os.kill(os.getpid(), signal.SIGKILL)
        steps -= 1
        return step(*arguments, **options)
    return done
with written_whole(pathlib.Path(sys.argv[1]), force=True, marker="marker") as new:
    new.mkdir()
    for name in ("marker", "a", "b"):
        (new / name).write_text("new")
    for name in ("rename", "replace", "rmdir", "unlink", "write_text"):
        setattr(pathlib.Path, name, counted(getattr(pathlib.Path, name)))
    os.unlink, os.rmdir = counted(os.unlink), counted(os.rmdir)
    shutil.rmtree = counted(shutil.rmtree)
"""


def test_a_kill_at_any_step_leaves_the_old_or_the_new_folder_whole(tmp_path: Path) -> None:
    place, killed, seen = tmp_path / "out", 0, set()
    for step in range(20):
        with written_whole(place, force=True, marker="marker") as new:
            new.mkdir()
            for name in ("marker", "a", "b"):
                (new / name).write_text("old")
        done = subprocess.run([sys.executable, "-c", KILLED, str(place), str(step)], check=False)
        killed += done.returncode == -signal.SIGKILL
        here = place if place.exists() else place.with_name("out.previous")
        held = {(here / name).read_text() for name in ("marker", "a", "b")}
        assert len(held) == 1
        seen |= held
        check_free(place, force=True, marker="marker")  # what the next run does first
        assert {(place / name).read_text() for name in ("marker", "a", "b")} == held
        with written_whole(place, force=True, marker="marker") as new:
            new.mkdir()
            (new / "marker").write_text("next")
        assert [path.name for path in tmp_path.iterdir()] == ["out"]
        if not done.returncode:
            break
    assert killed >= 5
    assert seen == {"old", "new"}


def test_a_folder_of_the_user_that_is_called_previous_stays(tmp_path: Path) -> None:
    for name in ("out", "out.previous"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "marker").write_text(name)
    with (
        pytest.raises(PathTakenError, match=r"out\.previous is where the earlier folder would be"),
        written_whole(tmp_path / "out", force=True, marker="marker") as new,
    ):
        new.mkdir()
    assert {path.name: (path / "marker").read_text() for path in tmp_path.iterdir()} == {
        name: name for name in ("out", "out.previous")
    }


def test_what_killed_processes_left_is_removed_and_what_living_ones_use_stays(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    child.wait()
    host, _, born = own_mark("~").rsplit("~", 2)
    dead, foreign = (tmp_path / f".out[1]~{mark}~x" for mark in (f"{host}~{child.pid}~{born}", "elsewhere~1~2"))
    for folder in (dead, foreign, tmp_path / ".out[1]~mine"):
        folder.mkdir()
        (folder / "half").write_text("")
    with temporary_folder(tmp_path, "out[1]") as first, temporary_folder(tmp_path, "out[1]") as second:
        assert first.exists()
        assert second.exists()
        assert not dead.exists()
    assert {path.name for path in tmp_path.iterdir()} == {foreign.name, ".out[1]~mine"}
    assert is_alive(own_mark())
    assert is_alive("what is this?")


def write_much(place: Path) -> None:
    with written_whole(place) as new:
        new.mkdir()
        (new / "data").write_bytes(b"x" * 300_000)


@contextmanager
def small_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def without_rights() -> Iterator[None]:
    if os.geteuid():
        yield
        return
    os.seteuid(65_534)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("Only root may mount a small disk.")
    try:
        yield
        assert list(folder.iterdir()) == []
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def test_a_limit_on_files_is_answered_in_a_sentence(tmp_path: Path) -> None:
    with (
        small_files(),
        pytest.raises(CannotWriteError, match=r"out cannot be written \(File too large\); raise the limit .*\(`out`\)"),
    ):
        write_much(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_answered_in_a_sentence(tmp_path: Path) -> None:
    with (
        full_disk(tmp_path),
        pytest.raises(CannotWriteError, match=r"out cannot be written \(No space left on device\); free some space"),
    ):
        write_much(tmp_path / "out")


def test_a_missing_right_is_answered_in_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    # Nobody may look into the folders of root above it, so that it becomes the current one.
    before = Path.cwd()
    os.chdir(tmp_path)
    try:
        with without_rights(), pytest.raises(CannotWriteError, match=r"\(Permission denied\); ask for the right"):
            write_much(tmp_path / "out")
    finally:
        os.chdir(before)
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("below", [Path("table.csv"), Path("table.csv", "deep")])
def test_a_place_below_a_file_is_answered_in_a_sentence(tmp_path: Path, below: Path) -> None:
    (tmp_path / "table.csv").write_text("x")
    for attempt in (write_much, check_free):
        with pytest.raises(CannotWriteError, match="a part of this path is a file; name another place"):
            attempt(tmp_path / below / "out")
    assert (tmp_path / "table.csv").read_text() == "x"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError(errno.ENOSPC, "full"), "A file cannot be written"),
        (OSError(errno.EACCES, "no", "a.csv"), "a.csv cannot be written (Permission denied)"),
        (OSError("[Errno 28] Error writing bytes to file. Detail: [errno 28] No space left on device"), "No space"),
        (OSError("30000 requested and 4048 written"), "No space left on device"),
    ],
)
def test_errors_of_the_system_are_sentences(error: OSError, words: str) -> None:
    assert words in str(sentence_of_system(error))


@pytest.mark.parametrize("error", [OSError("what"), ConnectionRefusedError(errno.ECONNREFUSED, "no")])
def test_other_errors_stay_what_they_are(error: OSError, tmp_path: Path) -> None:
    assert sentence_of_system(error) is None

    def fail() -> None:
        with written_whole(tmp_path / "out"):
            raise error

    with pytest.raises(type(error)) as caught:
        fail()
    assert caught.value is error


def test_a_place_that_takes_no_files_is_named() -> None:
    with pytest.raises(CannotWriteError, match=r"^/proc/x cannot be written"):
        write_much(Path("/proc/x"))
