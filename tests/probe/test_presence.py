"""What is already there, in every layout, with the clients' own names for their partial files."""

import base64
import fcntl
import hashlib
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from disks import as_client, findings, judged, looked_at, small_choice, status
from k3preflight.assess.here import here
from k3preflight.models.disk import Presence, WantedPlace
from k3preflight.models.names import CheckId, Role, Status
from k3preflight.models.scenario import Choice
from k3preflight.probe.partials import partials_in
from k3preflight.probe.presence import allocated_of, presence, written_whole
from k3preflight.probe.root import REAL, Root
from powerless import powerless

REPOSITORY = "moonshotai/Kimi-K3"
REVISION = "9f62e4e9fffbd0a83ddd60e1c209d828994b3569"


@pytest.fixture
def choice(tmp_path: Path) -> Choice:
    return small_choice(tmp_path)


@pytest.fixture
def there(tmp_path: Path) -> Path:
    folder = tmp_path / "there"
    folder.mkdir()
    return folder


def files_of(choice: Choice) -> dict[str, int]:
    return dict(choice.scenarios[0].profile.checkpoint.files)


def in_directory(base: Path, name: str, size: int) -> None:
    (base / name).write_bytes(b"k" * size)


def in_hub_cache(base: Path, name: str, size: int) -> None:
    repository = base / "models--moonshotai--Kimi-K3"
    blob = repository / "blobs" / hashlib.sha256(name.encode()).hexdigest()
    for folder in (blob.parent, repository / "snapshots" / REVISION, repository / "refs"):
        folder.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(b"k" * size)
    link = repository / "snapshots" / REVISION / name
    link.symlink_to(os.path.relpath(blob, link.parent))
    (repository / "refs" / "main").write_text(REVISION)


def in_flat_cache(base: Path, name: str, size: int) -> None:
    (base / f"moonshotai_Kimi-K3_{name}").write_bytes(b"k" * size)


LAYOUTS = pytest.mark.parametrize(
    ("put", "client"),
    [
        (in_directory, "hf-local-dir"),
        (in_hub_cache, "hf-cache"),
        (in_hub_cache, "llama-cache"),
        (in_flat_cache, "llama-cache"),
    ],
)


@LAYOUTS
def test_every_file_in_every_layout(
    put: Callable[[Path, str, int], None], client: str, choice: Choice, there: Path
) -> None:
    choice = as_client(choice, client)
    for name, size in files_of(choice).items():
        put(there, name, size)
    for name in choice.scenarios[0].profile.checkpoint.named_files:
        put(there, name, 10)
    host = looked_at((choice,), there)
    found = host.places[0].presence
    assert found is not None
    artifact = choice.scenarios[0].profile.checkpoint
    sorted_out = here(artifact, host.places)
    assert len(sorted_out.whole) == 100
    assert not sorted_out.missing
    assert not sorted_out.wrong
    assert len({item.inode for item in found.files}) == 100
    report = judged((choice,), host)
    assert status(report, CheckId.DOWNLOAD_PRESENT) is Status.PASS
    items = findings(report, CheckId.DISK_CAPACITY)[0].budget
    assert items is not None
    credit = {item.name: item.bytes for item in items.items}
    assert credit["whole files already there"] >= artifact.size.bytes


@pytest.mark.parametrize(
    ("put", "client"),
    [
        (in_directory, "hf-cache"),
        (in_directory, "llama-cache"),
        (in_hub_cache, "hf-local-dir"),
        (in_flat_cache, "hf-local-dir"),
        (in_flat_cache, "hf-cache"),
    ],
)
def test_what_another_client_left_is_told_and_not_counted(
    put: Callable[[Path, str, int], None], client: str, choice: Choice, there: Path
) -> None:
    choice = as_client(choice, client)
    for name, size in list(files_of(choice).items())[:7]:
        put(there, name, size)
    report = judged((choice,), looked_at((choice,), there))
    (found,) = findings(report, CheckId.DOWNLOAD_PRESENT)
    assert found.message.startswith("checkpoint: 0 of 100 files")
    assert "7 whole files" in found.message
    assert str(there) in found.message
    (capacity,) = findings(report, CheckId.DISK_CAPACITY)
    assert capacity.budget is not None
    assert all(item.name == "free" for item in capacity.budget.items if item.side == "have")


def test_a_wrong_file_is_as_much_room_as_deleting_it_gives_back(
    choice: Choice, there: Path
) -> None:
    choice = as_client(choice, "hf-cache")
    (name, size), (other, _), *_ = files_of(choice).items()
    in_hub_cache(there, name, size - 1)
    in_hub_cache(there, other, 7)
    wrong = {item.name: item for item in seen(choice, there).files}
    blob = Path(wrong[name].target or "")
    assert blob.parent.name == "blobs"
    assert wrong[name].frees == wrong[name].allocated
    os.link(blob, there / "second name")
    wrong = {item.name: item for item in seen(choice, there).files}
    assert wrong[name].frees == 0
    assert wrong[other].frees
    (found,) = findings(judged((choice,), looked_at((choice,), there)), CheckId.DOWNLOAD_PRESENT)
    assert f"rm -- {blob} " in (found.remedy or "")  # the link alone would free nothing


def test_links_to_one_file_count_once(choice: Choice, there: Path) -> None:
    (name, size), (other, _) = list(files_of(choice).items())[2:4]
    in_directory(there, name, size)
    os.link(there / name, there / other)
    budget = findings(judged((choice,), looked_at((choice,), there)), CheckId.DISK_CAPACITY)[
        0
    ].budget
    assert budget is not None
    parts = {item.name: item.bytes for item in budget.items if item.side == "have"}
    assert parts["whole files already there"] + parts.get("deletable files", 0) == size


def test_a_wrong_size_is_named_and_deletable(choice: Choice, there: Path) -> None:
    names = list(files_of(choice).items())
    in_directory(there, names[0][0], names[0][1])
    in_directory(there, names[1][0], names[1][1] - 1)
    (found,) = findings(judged((choice,), looked_at((choice,), there)), CheckId.DOWNLOAD_PRESENT)
    assert found.status is Status.WARN
    assert "1 of 100 files" in found.message
    assert names[1][0] in found.message
    assert f"rm -- {there}/{names[1][0]}" in (found.remedy or "")
    assert "missing: " in found.message
    assert "and 95 more" in found.message


def test_of_several_snapshots_the_right_size_wins(choice: Choice, there: Path) -> None:
    choice = as_client(choice, "hf-cache")
    name, size = next(iter(files_of(choice).items()))
    in_hub_cache(there, name, size - 1)
    newer = there / "models--moonshotai--Kimi-K3" / "snapshots" / "abc"
    newer.mkdir()
    (newer / name).write_bytes(b"k" * size)
    found = looked_at((choice,), there).places[0].presence
    assert found is not None
    assert [item.bytes for item in found.files] == [size]


def hub_partial(name: str) -> str:
    told = hashlib.sha1(f"{name}.metadata".encode(), usedforsecurity=False).digest()
    return f"{base64.urlsafe_b64encode(told).decode()}.{'e' * 64}.abcd1234.incomplete"


def test_live_and_orphaned_partial_files(choice: Choice, there: Path) -> None:
    names = list(files_of(choice))
    for name in names[:40]:
        in_directory(there, name, files_of(choice)[name])
    folder = there / ".cache" / "huggingface" / "download"
    folder.mkdir(parents=True)
    old = time.time() - 3600
    for name in names[40:59]:
        (folder / hub_partial(name)).write_bytes(b"k" * 4096)
        os.utime(folder / hub_partial(name), (old, old))
    for name in names[40:55]:
        os.utime(folder / hub_partial(name))
    lock = folder / f"{names[55]}.lock"
    with lock.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        host = looked_at((choice,), there)
    sorted_out = here(choice.scenarios[0].profile.checkpoint, host.places)
    assert len(sorted_out.whole) == 40
    assert len(sorted_out.live) == 16
    assert sorted(Path(item.path).name for item in sorted_out.orphans) == sorted(
        hub_partial(name) for name in (*names[56:59],)
    )
    (found,) = findings(judged((choice,), host), CheckId.DOWNLOAD_PRESENT)
    assert "3 orphaned partial files" in found.message
    assert "16 partial files are being written" in found.message
    for item in sorted_out.live:
        assert item.path not in (found.remedy or "")
    for item in sorted_out.orphans:
        assert item.path in (found.remedy or "")


def want(choice: Choice) -> WantedPlace:
    from k3preflight.cli.wanted import wanted  # noqa: PLC0415 - beside what it is held against

    return wanted([choice], ".", ()).places[0]


def seen(choice: Choice, there: Path, root: Root = REAL) -> Presence:
    return presence(str(there), want(choice), root, "ext4")


def test_partial_files_of_the_hub_cache_and_of_llama(
    choice: Choice, there: Path, tmp_path: Path
) -> None:
    name = next(iter(files_of(choice)))
    blobs = there / "models--moonshotai--Kimi-K3" / "blobs"
    blobs.mkdir(parents=True)
    old = time.time() - 3600
    paths = [
        blobs / "abc.12345678.incomplete",
        blobs / "def.downloadInProgress",
        there / f"moonshotai_Kimi-K3_{name}.downloadInProgress",
        there / f"{name}.part",
    ]
    for path in paths:
        path.write_bytes(b"k" * 100)
        os.utime(path, (old, old))
    lock = there / ".locks" / "models--moonshotai--Kimi-K3" / "abc.lock"
    lock.parent.mkdir(parents=True)
    lock.touch()
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "locks").write_text(
        f"1: FLOCK  ADVISORY  WRITE 77 fe:00:{lock.stat().st_ino} 0 EOF\n"
    )
    found = seen(choice, there, Root(tmp_path))
    told = {Path(item.path).name: (item.live, item.resumes) for item in found.partials}
    assert told == {
        paths[0].name: (True, False),
        paths[1].name: (False, True),
        paths[2].name: (False, True),
        paths[3].name: (False, False),
    }
    assert seen(choice, there, Root(tmp_path / "nowhere")).partials[0].live is False


def test_odd_things_under_the_right_names(choice: Choice, there: Path) -> None:
    names = list(files_of(choice))
    (there / names[0]).mkdir()
    (there / names[1]).symlink_to("nowhere")
    (there / names[2]).symlink_to(names[2])
    (there / f"{names[3]}.part").mkdir()
    (there / ".git" / "lfs").mkdir(parents=True)
    found = seen(choice, there)
    assert found.files == ()
    assert found.partials == ()
    assert found.git_lfs == str(there / ".git" / "lfs")
    (finding,) = findings(judged((choice,), looked_at((choice,), there)), CheckId.DOWNLOAD_PRESENT)
    assert finding.status is Status.WARN
    assert "second time" in finding.message


def test_files_elsewhere_are_told_and_not_counted(
    choice: Choice, there: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "hub"
    cache.mkdir()
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.delenv("LLAMA_CACHE", raising=False)
    for name, size in list(files_of(choice).items())[:5]:
        in_hub_cache(cache, name, size)
    in_hub_cache(cache, "model-00009-of-000096.safetensors", 1)
    host = looked_at((choice,), there)
    report = judged((choice,), host)
    (found,) = findings(report, CheckId.DOWNLOAD_PRESENT)
    assert "5 whole files" in found.message
    assert str(cache) in found.message
    assert found.message.startswith("checkpoint: 0 of 100 files")
    (capacity,) = findings(report, CheckId.DISK_CAPACITY)
    assert capacity.budget is not None
    assert all(item.name == "free" for item in capacity.budget.items if item.side == "have")
    # The very same files by another path are no second copy.
    same = looked_at((as_client(choice, "hf-cache"),), f"{cache}/.").places[0].presence
    assert same is not None
    assert same.elsewhere == ()


def test_derived_files_may_differ_a_little(tmp_path: Path, there: Path) -> None:
    choice = small_choice(tmp_path, "kimi-k3-in-c")
    profile = choice.scenarios[0].profile
    trunk = profile.artifact(Role.TRUNK)
    assert trunk is not None
    size = trunk.files["trunk.bin"]
    (there / "trunk").mkdir()
    for off, whole in ((0, 1), (size // 1001, 1), (-(size // 900), 0)):
        (there / "trunk" / "trunk.bin").write_bytes(b"k" * (size + off))
        host = looked_at((choice,), there)
        assert len(here(trunk, host.places_of("small", Role.TRUNK)).whole) == whole


def test_a_folder_that_cannot_be_listed_is_unknown(choice: Choice, there: Path) -> None:
    loop = there / "models--moonshotai--Kimi-K3"
    loop.symlink_to(loop.name)
    host = looked_at((choice,), there)
    assert host.places[0].presence is None
    (found,) = findings(judged((choice,), host), CheckId.DOWNLOAD_PRESENT)
    assert found.status is Status.SKIP
    assert "cannot be looked at" in found.message


def test_folders_that_may_not_be_passed_are_an_error_and_not_nothing(
    choice: Choice, there: Path
) -> None:
    asked = want(choice)
    name = asked.files[0].name
    asked = asked.model_copy(
        update={"files": (asked.files[0].model_copy(update={"name": f"locked/{name}"}),)}
    )
    locked = there / "locked"
    locked.mkdir(mode=0o000)
    with powerless(), pytest.raises(PermissionError, match=rf"/{name}'$"):
        presence(str(there), asked, REAL, "ext4")
    with powerless(), pytest.raises(PermissionError, match=rf"{name}\.downloadInProgress"):
        list(partials_in(there, there / "no-cache", "flat_", asked, REAL))


def test_what_cannot_be_read_may_be_whole_or_not(choice: Choice, there: Path) -> None:
    name, size = next(iter(files_of(choice).items()))
    in_directory(there, name, size)
    (there / name).chmod(0o000)
    with powerless():
        (found,) = seen(choice, there).files
    assert (found.bytes, found.written) == (size, None)


def test_a_file_that_became_a_pipe_meanwhile_tells_nothing(tmp_path: Path) -> None:
    path = tmp_path / "shard"
    path.write_bytes(b"k" * 5000)
    told = path.stat()
    assert written_whole(path, told, "ext4") is True
    path.unlink()
    os.mkfifo(path)
    assert written_whole(path, told, "ext4") is None


@pytest.mark.parametrize(
    ("filesystem", "allocated", "written"),
    [("ext4", 0, False), ("xfs", 0, False), ("vfat", 2**20, None), (None, 2**20, None)],
)
def test_only_some_file_systems_are_asked_for_holes(
    tmp_path: Path, filesystem: str | None, allocated: int, *, written: bool | None
) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as stream:
        stream.truncate(2**20)
    told = path.stat()
    assert allocated_of(told, filesystem) == allocated
    assert written_whole(path, told, filesystem) is written


def test_an_empty_file_has_no_hole(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert written_whole(tmp_path / "empty", (tmp_path / "empty").stat(), "ext4") is True
