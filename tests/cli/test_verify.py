"""verify: after a download, what is whole, what is broken, by size and by digest."""

import hashlib
from pathlib import Path

import pytest

from disks import small_choice, small_profile
from k3preflight.cli import run
from k3preflight.cli.verifying import digests, inventory
from k3preflight.cli.wanted import wanted
from k3preflight.probe.digests import behind
from k3preflight.probe.disk import probe_disk
from powerless import powerless


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A whole download as `hf download --local-dir` leaves it."""
    profile = small_choice(tmp_path).scenarios[0].profile
    folder = tmp_path / "model"
    beside = folder / ".cache" / "huggingface" / "download"
    beside.mkdir(parents=True)
    for number, (name, size) in enumerate(profile.checkpoint.files.items()):
        content = hashlib.sha256(name.encode()).digest() * (size // 32 + 1)
        (folder / name).write_bytes(content[:size])
        digest = hashlib.sha256(content[:size]).hexdigest()
        if number:  # of the first one nothing is known
            (beside / f"{name}.metadata").write_text(f"{'c' * 40}\n{digest}\n1760000000.0\n")
    for name in profile.checkpoint.named_files:
        (folder / name).write_bytes(b"{}")
        digest = hashlib.sha1(b"blob 2\0{}", usedforsecurity=False).hexdigest()
        (beside / f"{name}.metadata").write_text(f"{'c' * 40}\n{digest}\n1760000000.0\n")
    return folder


def verify(tmp_path: Path, folder: Path, *more: str) -> int:
    profile = small_profile(tmp_path)
    return run(["verify", "small", "--profile-file", str(profile), "--dir", str(folder), *more])


def test_a_whole_download(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert verify(tmp_path, model) == 0
    out = capsys.readouterr().out
    assert "100 of 100 files whole" in out
    assert "Verified: PASS" in out
    assert verify(tmp_path, model, "--sha256") == 0
    out = capsys.readouterr().out
    assert "digests: 99 match" in out
    assert "model-00001-of-000096.safetensors" in out


def test_what_is_broken_is_named(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"model-{number:05}-of-000096.safetensors" for number in range(1, 8)]
    (model / names[0]).unlink()
    with (model / names[1]).open("ab") as stream:
        stream.write(b"k")
    size = (model / names[2]).stat().st_size
    (model / names[2]).unlink()
    with (model / names[2]).open("wb") as stream:
        stream.truncate(size)
    (model / "config.json").write_bytes(b"")
    assert verify(tmp_path, model) == 1
    out = capsys.readouterr().out
    assert f"missing: {names[0]}" in out
    for name, why in (
        (names[1], "should have"),
        (names[2], "is sparse"),
        ("config.json", "is empty"),
    ):
        assert any(f"broken: {model}/{name}" in line and why in line for line in out.splitlines())
    assert "Verified: FAIL" in out


def test_a_changed_byte_shows_only_in_the_digest(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = model / "model-00005-of-000096.safetensors"
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    assert verify(tmp_path, model) == 0
    assert verify(tmp_path, model, "--sha256") == 1
    assert "has another digest" in " ".join(capsys.readouterr().out.split())


def test_nothing_there_and_nothing_to_see(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert verify(tmp_path, tmp_path / "not" / "there") == 1
    assert "0 of 100 files" in capsys.readouterr().out
    (tmp_path / "file").write_text("")
    assert verify(tmp_path, tmp_path / "file") == 1


def test_presets_share_their_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["verify", "kimi-k3-in-c:all", "--dir", str(tmp_path)]) == 2
    assert "same files" in capsys.readouterr().err
    assert run(["verify", "no-such-profile"]) == 2


def test_what_is_only_missing_has_nothing_to_delete(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert verify(tmp_path, empty) == 1
    out = capsys.readouterr().out
    assert "Delete" not in out
    assert "Start the same download again" in out


@pytest.mark.parametrize("name", ["caf\udce9", "a\x1b[31mb", "back\\slash"])
def test_a_path_that_cannot_be_shown_as_it_is_is_read_all_the_same(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    folder = model.rename(tmp_path / name)
    assert verify(tmp_path, folder, "--sha256") == 0
    out = capsys.readouterr().out
    assert "digests: 99 match" in out
    assert "\x1b" not in out


def test_a_file_that_vanished_is_named_as_it_is_shown(tmp_path: Path) -> None:
    (tmp_path / "a\x1bb").mkdir()
    assert behind(f"{tmp_path}/a\\x1bb/c") == tmp_path / "a\x1bb" / "c"
    assert behind(f"{tmp_path}/none\\x1b/c") == tmp_path / "none\\x1b" / "c"


def test_a_place_that_is_none_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"")
    assert verify(tmp_path, file) == 1
    out = capsys.readouterr().out
    assert f"{file} is a file, not a directory" in out
    assert "missing" not in out
    assert "Name the directory the download went to" in out
    assert verify(tmp_path, tmp_path / "nowhere") == 1
    out = capsys.readouterr().out
    assert "missing: all of them" in out


def test_a_place_that_may_not_be_looked_at_is_undetermined(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o000)
    with powerless():
        assert verify(tmp_path, locked / "deep") == 3
    assert f"checkpoint: {locked}/deep cannot be looked at: Permission denied" in (
        capsys.readouterr().err
    )


def test_a_file_that_may_not_be_read_is_undetermined_and_not_to_be_deleted(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = model / "model-00005-of-000096.safetensors"
    path.chmod(0o000)
    with powerless():
        assert verify(tmp_path, model) == 0
        assert verify(tmp_path, model, "--sha256") == 3
    said = capsys.readouterr()
    assert f"{path} cannot be read: Permission denied" in said.err
    assert "Delete" not in said.out


def test_a_file_that_fails_while_it_is_read_is_broken(model: Path, tmp_path: Path) -> None:
    asked = wanted([small_choice(tmp_path)], str(model), ())
    (part,) = inventory(small_choice(tmp_path).scenarios[0].profile, probe_disk(asked))
    path = Path(part.files[4].path)
    path.unlink()
    path.mkdir()  # as a disk that fails would: it opens or reads no more
    (broken,) = digests(part).broken
    assert (broken.path, broken.why) == (str(path), "cannot be read: Is a directory")


def test_what_is_still_to_be_derived_is_not_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = small_profile(tmp_path, "kimi-k3-in-c")
    folder = tmp_path / "model"
    (folder / "trunk").mkdir(parents=True)
    command = ["verify", "small", "--profile-file", str(profile), "--dir", str(folder)]
    assert run(command) == 1
    assert "trunk" not in capsys.readouterr().out
    (folder / "trunk" / "trunk.bin").write_bytes(b"k")
    assert run(command) == 1
    assert f"broken: {folder}/trunk/trunk.bin has " in capsys.readouterr().out
