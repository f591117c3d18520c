"""Places with what is known of them, and a reason for each fact that is not."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from disks import small_choice
from k3preflight.cli.options import PlaceOption
from k3preflight.cli.wanted import wanted
from k3preflight.models.host import Unknown, Wanted
from k3preflight.models.names import CheckId, Role
from k3preflight.models.scenario import Choice
from k3preflight.probe import trial
from k3preflight.probe.disk import DiskFacts, probe_disk
from k3preflight.probe.root import REAL, Root
from powerless import powerless

NEEDS_FILES = ("disk.capacity", "disk.inodes", "download.")


@pytest.fixture
def choice(tmp_path: Path) -> Choice:
    return small_choice(tmp_path)


def facts(choice: Choice, path: Path | str, root: Root = REAL) -> DiskFacts:
    return probe_disk(wanted([choice], str(path), ()), root)


def reasons(found: DiskFacts) -> dict[str, str]:
    prefix = "places.small.checkpoint."
    return {entry.fact.removeprefix(prefix): entry.reason for entry in found.unknown}


def test_a_place_that_does_not_answer_is_unknown_in_every_fact(
    choice: Choice, tmp_path: Path
) -> None:
    """A mount table that nobody writes: whoever opens it hangs, as on a dead mount."""
    table = tmp_path / "proc" / "self" / "mountinfo"
    table.parent.mkdir(parents=True)
    os.mkfifo(table)
    found = facts(choice, tmp_path, Root(tmp_path))
    why = (
        f"{tmp_path} did not answer within 5 s: is what it is mounted from still there? "
        "findmnt shows it"
    )
    assert reasons(found) == dict.fromkeys(("measured", "volume", "writable", "presence"), why)
    (place,) = found.places
    assert (place.path, place.measured, place.presence) == (str(tmp_path), None, None)
    assert found.volumes == ()


def test_a_place_that_may_not_be_looked_at_is_unknown_in_every_fact(
    choice: Choice, tmp_path: Path
) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o000)
    with powerless():
        found = facts(choice, locked / "deep")
    why = f"{locked}/deep cannot be looked at: Permission denied"
    assert reasons(found) == dict.fromkeys(("measured", "volume", "writable", "presence"), why)


def test_without_a_mount_table_the_volume_is_unknown(choice: Choice, tmp_path: Path) -> None:
    found = facts(choice, tmp_path, Root(tmp_path))
    table = f"{tmp_path}/proc/self/mountinfo"
    assert reasons(found) == {"volume": f"{table} cannot be read: No such file or directory"}
    (place,) = found.places
    assert place.measured == str(tmp_path)
    assert place.presence is not None


def test_a_file_system_of_no_size_is_a_reason(choice: Choice) -> None:
    found = facts(choice, "/proc")
    assert reasons(found) == {"volume": "the file system at /proc does not report its size"}


def test_what_no_check_asks_for_is_not_looked_for(choice: Choice, tmp_path: Path) -> None:
    left_out = [check for check in CheckId if check.startswith(NEEDS_FILES)]
    found = probe_disk(wanted([choice], str(tmp_path), (), left_out))
    (place,) = found.places
    assert place.measured == str(tmp_path)
    assert (place.presence, found.disk.scratch) == (None, None)
    nothing = probe_disk(wanted([choice], str(tmp_path), (), CheckId))
    assert nothing.places[0].measured is None
    assert nothing.unknown == ()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory, where there is one: on it nobody else writes meanwhile."""
    beside = Path("/dev/shm")  # noqa: S108 - a private folder is made in it
    with tempfile.TemporaryDirectory(dir=beside if beside.is_dir() else tmp_path) as name:
        yield Path(name)


def spread(choice: Choice, *folders: Path) -> Wanted:
    """Rabbit's checkpoint over these folders, to be tried with files."""
    places = [PlaceOption(Role.CHECKPOINT, str(folder)) for folder in folders]
    return wanted([choice], None, places).model_copy(update={"write_probe": True})


def test_volumes_that_prove_to_be_one_are_counted_once(
    choice: Choice, tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three folders of one file system, which a mount table shows as disks of their own."""
    monkeypatch.setattr(trial, "_SHARE", 2**22)
    folders = [memory / name for name in "abc"]
    lines = ["1 0 0:1 / /proc rw - proc proc rw"]
    for number, folder in enumerate(folders):
        folder.mkdir()
        lines.append(f"{number} 0 400:{number} / {folder} rw - ext4 /dev/sd{number} rw")
    table = tmp_path / "proc" / "self" / "mountinfo"
    table.parent.mkdir(parents=True)
    table.write_text("\n".join(lines))
    asked = spread(choice, *folders, Path("/proc"))
    for _ in range(5):  # others may write there meanwhile
        found = probe_disk(asked, Root(tmp_path))
        if len(found.volumes) == 2:
            break
    first, other = found.volumes
    assert (first.id, other.id) == (str(folders[0]), "/proc")
    assert first.unsure == (
        f"room set aside on {folders[0]} was taken from {folders[2]}: counted as one volume"
    )
    assert [place.volume for place in found.places] == [first.id] * 3 + ["/proc"]
    assert [place.trial and place.trial.created for place in found.places] == [True] * 3 + [False]
    assert [place.trial and place.trial.sized for place in found.places] == [True] * 3 + [None]
    untried = probe_disk(asked.model_copy(update={"write_probe": False}), Root(tmp_path))
    assert len(untried.volumes) == 4
    assert all(list(folder.iterdir()) == [] for folder in folders)


def test_a_place_that_cannot_be_looked_at_is_not_tried(choice: Choice, tmp_path: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o000)
    with powerless():
        found = probe_disk(spread(choice, tmp_path, locked / "deep"))
    assert [place.trial and place.trial.created for place in found.places] == [True, None]
    assert (
        Unknown(
            fact="places.small.checkpoint.volume",
            reason=f"{locked}/deep cannot be looked at: Permission denied",
        )
        in found.unknown
    )
