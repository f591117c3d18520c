"""Other volumes, where the mount table is another machine's."""

from pathlib import Path

import pytest

import factory
from k3preflight.probe import alternatives
from k3preflight.probe.alternatives import with_alternatives
from replay import replay


def test_without_a_mount_table_there_are_no_others(tmp_path: Path) -> None:
    host = factory.host()
    assert with_alternatives(host, replay(tmp_path, {})) == host


def test_only_local_volumes_that_can_be_written_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("disk", "readonly", "server", "known", "same", "boot")
    folders = {name: tmp_path / name for name in names}
    monkeypatch.setattr(alternatives, "_SYSTEM", (str(folders["boot"]),))
    for folder in folders.values():
        folder.mkdir()
    table = (
        f"1 0 400:1 / {folders['disk']} rw - ext4 /dev/sda1 rw\n"
        f"2 0 400:2 / {folders['readonly']} ro - ext4 /dev/sdb1 rw\n"
        f"3 0 0:9 / {folders['server']} rw - nfs4 server:/x rw\n"
        f"4 0 400:4 / {folders['known']} rw - ext4 /dev/sdd1 rw\n"
        f"5 0 400:4 / {folders['same']} rw - ext4 /dev/sdd1 rw\n"
        f"6 0 400:6 / {tmp_path}/not-there rw - ext4 /dev/sde1 rw\n"
        f"7 0 400:7 / {folders['boot']} rw - ext4 /dev/sdf1 rw\n"
    )
    root = replay(tmp_path / "machine", {"/proc/self/mountinfo": table})
    host = factory.host()
    (volume,) = host.volumes
    known = volume.model_copy(update={"mount_points": (str(folders["known"]),)})
    found = with_alternatives(host.model_copy(update={"volumes": (known,)}), root)
    assert [volume.id for volume in found.disk.alternatives] == [str(folders["disk"])]
