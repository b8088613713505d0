"""Results appear whole or not at all."""

from pathlib import Path

import pytest

from scarce._files import PathTakenError, check_free, written_whole


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
