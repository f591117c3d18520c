"""The disks under a volume and what they count, from files as the kernel lays them out."""

from pathlib import Path

from k3preflight.probe.counters import Came, Count, Disks, between, count, disks_under
from k3preflight.probe.mounts import Mount
from k3preflight.probe.root import Root


def disk(root: Path, device: str, name: str, **files: str) -> Path:
    """A block device in /sys, linked as the kernel does; `a__b` is the file a/b."""
    folder = root / "sys" / "devices" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dev").write_text(f"{device}\n")
    for key, text in files.items():
        path = folder / key.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")
    links = root / "sys" / "dev" / "block"
    links.mkdir(parents=True, exist_ok=True)
    (links / device).symlink_to(folder)
    return folder


def mount(device: str, filesystem: str = "ext4", point: str = "/", source: str = "none") -> Mount:
    return Mount(point, filesystem, source, device)


def under(root: Path, of: Mount, *table: Mount) -> Disks:
    return disks_under(of, (of, *table), Root(root))


def test_a_partition_counts_with_its_disk(tmp_path: Path) -> None:
    disk(tmp_path, "8:0", "sda")
    disk(tmp_path, "8:1", "sda/sda1", partition="1")
    assert under(tmp_path, mount("8:1")) == Disks(("8:0",))


def test_a_volume_counts_with_the_disks_it_is_made_of(tmp_path: Path) -> None:
    made = disk(tmp_path, "253:0", "dm-0")
    (made / "slaves").mkdir()
    for device, name in (("8:0", "sda"), ("8:16", "sdb")):
        (made / "slaves" / name).symlink_to(disk(tmp_path, device, name))
    assert set(under(tmp_path, mount("253:0")).devices) == {"8:0", "8:16"}


def test_a_loop_file_counts_with_the_disk_it_lies_on(tmp_path: Path) -> None:
    disk(tmp_path, "8:0", "sda")
    loop = disk(tmp_path, "7:0", "loop0", loop__backing_file="/data/image", loop__dio="0")
    top, below = mount("7:0", point="/mnt"), mount("8:0")
    assert under(tmp_path, top, below) == Disks(("8:0",), cached_loop=True)
    (loop / "loop" / "dio").write_text("1\n")
    assert under(tmp_path, top, below) == Disks(("8:0",))
    assert under(tmp_path, top, mount("0:9", "tmpfs")).memory
    assert under(tmp_path, top) == Disks()


def test_memory_is_no_disk(tmp_path: Path) -> None:
    assert under(tmp_path, mount("0:9", "tmpfs")) == Disks(memory=True)
    disk(tmp_path, "1:0", "ram0")
    disk(tmp_path, "253:0", "dm-0")
    assert under(tmp_path, mount("1:0")).memory


def test_a_hypervisors_disk_is_virtual(tmp_path: Path) -> None:
    disk(tmp_path, "254:0", "vda")
    disk(tmp_path, "8:0", "sda", device__vendor="QEMU", device__model="QEMU HARDDISK")
    disk(tmp_path, "8:16", "sdb", device__vendor="ATA", device__model="Samsung SSD 870")
    disk(tmp_path, "259:0", "virtio3/block/nvme0n1")
    devices = ("254:0", "8:0", "8:16", "259:0")
    found = [under(tmp_path, mount(device)).virtual for device in devices]
    assert found == [True, True, False, True]


def test_what_fuse_serves_is_read_by_another_process(tmp_path: Path) -> None:
    assert under(tmp_path, mount("0:40", "fuse.sshfs")) == Disks(served=True)


def test_loops_in_circles_end(tmp_path: Path) -> None:
    disk(tmp_path, "7:0", "loop0", loop__backing_file="/mnt/image", loop__dio="1")
    assert under(tmp_path, mount("7:0", point="/mnt")) == Disks()


def test_counts_are_bytes(tmp_path: Path) -> None:
    (tmp_path / "proc" / "self").mkdir(parents=True)
    (tmp_path / "proc" / "self" / "io").write_text("rchar: 9\nread_bytes: 4096\nwrite_bytes: 1\n")
    (tmp_path / "proc" / "diskstats").write_text(
        "   8       0 sda 10 0 16 1 0 0 0 0 0 0 0\n   8      16 sdb 1 0 2 1 0 0\nshort 1\n"
    )
    before = count(["8:0"], Root(tmp_path))
    assert before == Count(4096, {"8:0": 8192})
    assert between(before, Count(5000, {"8:0": 9000})) == Came(904, 808)
    assert between(before, Count(None, {})) == Came(None, None)
    assert count(["8:0"], Root(tmp_path / "none")) == Count(None, {})
