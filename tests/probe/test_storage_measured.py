"""Measuring on the real file system of this machine, in windows short enough to test with."""

import _thread
import ctypes
import fcntl
import os
import resource
import signal
import threading
from pathlib import Path

import pytest

from k3preflight.models.storage import Storage
from k3preflight.probe.counters import Came, Disks
from k3preflight.probe.direct import keep_cache_out
from k3preflight.probe.judged import caveats_of, judged
from k3preflight.probe.mounts import Mount
from k3preflight.probe.places import look
from k3preflight.probe.reading import buffer_size, read_whole, reading_buffer
from k3preflight.probe.sources import NotMeasurableError, Sizes, Source, obstacle, shards, source
from k3preflight.probe.storage import Plan, Step, probe_storage, why_not
from k3preflight.probe.windows import (
    EXPERT,
    PATTERNS,
    Opened,
    Target,
    Windows,
    measure,
)

SMALL = Sizes(largest_fresh=48 * 2**20, least_shards=16 * 2**20)
QUICK = Plan(window=0.02, windows=5, sizes=SMALL)


def measured(*directories: Path, plan: Plan = QUICK) -> tuple[Storage, list[Step]]:
    steps: list[Step] = []
    return probe_storage([str(path) for path in directories], steps.append, plan), steps


def weights(path: Path, size: int = 32 * 2**20) -> Path:
    with path.open("wb") as stream:
        stream.write(os.urandom(2**20) * (size // 2**20))
        stream.flush()
        os.fsync(stream.fileno())
    return path


def test_a_fresh_file_is_measured_and_gone(tmp_path: Path) -> None:
    found, steps = measured(tmp_path)
    (entry,) = found.directories
    assert entry.source == "a fresh file, 50.33 MB"
    assert [rate.pattern for rate in entry.rates] == [reading.pattern for reading in PATTERNS]
    assert all(len(rate.windows) == 5 and rate.delivered > 0 for rate in entry.rates)
    assert list(tmp_path.iterdir()) == []
    assert {step.what for step in steps} >= {"writing a fresh file", "random-1", "sequential-8"}
    assert found.complete
    assert found.together == ()


def test_two_directories_are_measured_together_too(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    other.mkdir()
    found, steps = measured(one, other)
    figures = [entry.best_bytes_per_second for entry in found.directories]
    if all(figures):  # a machine whose own disk caches gives none, and then nothing is added up
        assert len(found.together) == len(PATTERNS)
        assert any(step.where == "all at once" for step in steps)


def test_what_cannot_be_measured_says_why(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    found, _ = measured(tmp_path / "missing", tmp_path / "file")
    assert [entry.reason for entry in found.directories] == [
        f"{tmp_path}/missing is not there",
        f"{tmp_path}/file is a file, not a directory",
    ]
    assert why_not(str(tmp_path)) is None


def test_whole_shards_are_read_and_sparse_ones_are_not(tmp_path: Path) -> None:
    whole = weights(tmp_path / "a.gguf")
    weights(tmp_path / "trunk.bin", 16 * 2**20)
    weights(tmp_path / "notes.txt")
    with (tmp_path / "sparse.gguf").open("wb") as stream:
        stream.truncate(2**30)
    with (tmp_path / "aside.safetensors").open("wb") as stream:
        os.posix_fallocate(stream.fileno(), 0, 64 * 2**20)
    (tmp_path / "gone.gguf").symlink_to("nowhere")
    weights(tmp_path / "tiny.gguf", 0)
    (tmp_path / "small.gguf").write_bytes(os.urandom(4000))
    (tmp_path / "folder.gguf").mkdir()
    found = shards(tmp_path, "ext4", SMALL.least_shards)
    assert found == [(whole, 32 * 2**20), (tmp_path / "trunk.bin", 16 * 2**20)]
    assert shards(tmp_path, "ext4", 2**30) == []
    assert shards(tmp_path / "none", "ext4", 0) == []
    entry = measured(tmp_path)[0].directories[0]
    assert entry.source == "2 files already there, 50.33 MB"


def opened(tmp_path: Path, free: int | None = None, barrier: str | None = None) -> Source:
    seen = look(str(tmp_path))
    assert seen.space
    if free is not None:
        seen = seen.model_copy(update={"space": seen.space.model_copy(update={"free": free})})
    seen = seen.model_copy(update={"barrier": barrier})
    with source(seen, "ext4", lambda _done, _total: None) as found:
        return found


def test_too_little_room_or_none_to_write_in_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasurableError, match=r"^0.20 GB free: a fresh file may take 5%"):
        opened(tmp_path, free=200_000_000)
    with pytest.raises(NotMeasurableError, match=r"^read-only$"):
        opened(tmp_path, barrier="read-only")


def test_a_directory_that_vanished_is_no_measurement(tmp_path: Path) -> None:
    folder = tmp_path / "there"
    folder.mkdir()
    seen = look(str(folder))
    folder.rmdir()
    with (
        pytest.raises(NotMeasurableError, match="cannot be written there: No such file"),
        source(seen, "ext4", lambda _done, _total: None),
    ):
        pass


def test_a_fresh_file_holds_no_block_twice(tmp_path: Path) -> None:
    with source(look(str(tmp_path)), "ext4", lambda _done, _total: None, SMALL) as found:
        (file,) = found.target.files
        blocks = Path(f"/proc/self/fd/{file.descriptor}").read_bytes()
    assert len(blocks) == 48 * 2**20
    kept = {blocks[place : place + 4096] for place in range(0, len(blocks), 4096)}
    assert len(kept) == len(blocks) // 4096


def test_direct_io_that_is_refused_is_not_claimed(tmp_path: Path) -> None:
    ordinary = os.open(weights(tmp_path / "file"), os.O_RDONLY)
    refusing = os.open("/proc/self/io", os.O_RDONLY)
    try:
        assert keep_cache_out([ordinary, refusing]) == "uncached"
        assert not fcntl.fcntl(ordinary, fcntl.F_GETFL) & os.O_DIRECT
    finally:
        os.close(ordinary)
        os.close(refusing)


def test_a_file_that_cannot_be_read_is_no_measurement(tmp_path: Path) -> None:
    weights(tmp_path / "a.gguf")
    opened = os.open(tmp_path / "a.gguf", os.O_WRONLY)
    try:
        with pytest.raises(OSError, match="Bad file descriptor"):
            keep_cache_out([opened])
    finally:
        os.close(opened)


@pytest.mark.parametrize(("mode", "words"), [("uncached", "emptied"), ("buffered", "may have")])
def test_a_mode_other_than_direct_is_labelled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, words: str
) -> None:
    monkeypatch.setattr("k3preflight.probe.sources.keep_cache_out", lambda _descriptors: mode)
    with source(look(str(tmp_path)), "ext4", lambda _done, _total: None, SMALL) as found:
        assert words in found.caveats[0]


def test_a_read_that_fails_at_once_is_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_descriptors: list[int]) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr("k3preflight.probe.sources.keep_cache_out", refuse)
    found, _ = measured(tmp_path)
    assert found.directories[0].reason == "a fresh file cannot be read: Input/output error"


def test_shards_that_cannot_all_be_open_are_no_measurement(tmp_path: Path) -> None:
    for name in "ab":
        weights(tmp_path / f"{name}.gguf", 8 * 2**20)
    seen = look(str(tmp_path))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = os.dup(0)
    os.close(lowest)
    resource.setrlimit(resource.RLIMIT_NOFILE, (lowest + 1, hard))  # one file more, and no other
    try:
        with (
            pytest.raises(
                NotMeasurableError, match=rf"^{tmp_path}/[ab]\.gguf cannot be opened: Too many"
            ),
            source(seen, "ext4", lambda _done, _total: None, SMALL),
        ):
            pass
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert os.dup(0) == lowest  # the one that was opened is closed again
    os.close(lowest)


def test_a_barrier_without_shards_says_both(tmp_path: Path) -> None:
    seen = look(str(tmp_path)).model_copy(update={"barrier": "read-only"})
    assert obstacle(seen) == (
        "read-only, and whole shards of 1.07 GB or more are not there to be read"
    )


def test_an_expert_is_a_whole_number_of_aligned_blocks() -> None:
    assert EXPERT % 4096 == 0


def run(path: Path, size: int, **settings: float) -> Windows:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return measure(
            [Target((Opened(descriptor, size), Opened(descriptor, size)), "uncached")],
            PATTERNS[3],
            window=settings.get("window", 0.005),
            count=3,
            tell=lambda _done, _rate: None,
        )
    finally:
        os.close(descriptor)


def test_dropped_pages_are_read_again(tmp_path: Path) -> None:
    found = run(weights(tmp_path / "file"), 32 * 2**20)
    assert len(found.rates) == 3
    assert all(found.rates)
    assert found.problem is None


def test_a_file_that_ends_early_is_a_problem(tmp_path: Path) -> None:
    found = run(weights(tmp_path / "file", 2**20), 2**25)
    assert found.problem == "reading failed: the file became shorter while it was read"


def test_a_request_of_many_pieces_goes_on_where_it_was_short(tmp_path: Path) -> None:
    path = weights(tmp_path / "file", 2**20)
    descriptor = os.open(path, os.O_RDONLY)
    buffer = bytearray(3 * 4096)
    try:
        read_whole(descriptor, 0, 2**20, memoryview(buffer))
    finally:
        os.close(descriptor)
    last = 2**20 % len(buffer)
    assert buffer[:last] == path.read_bytes()[-last:]


@pytest.mark.parametrize("repeat", [True, False])
def test_a_request_larger_than_the_buffer_is_read_to_its_end(
    tmp_path: Path, *, repeat: bool
) -> None:
    path = weights(tmp_path / "a.gguf")
    descriptor = os.open(path, os.O_RDONLY)
    with reading_buffer(2**24) as buffer, path.open("rb") as stream:
        read_whole(descriptor, 0, len(buffer) + 2**20, buffer, repeat=repeat)
        stream.seek(len(buffer))
        assert buffer[: 2**20] == stream.read(2**20)  # the last that was read into it
        with pytest.raises(OSError, match="shorter"):
            read_whole(descriptor, 2**20, 2**25, buffer, repeat=repeat)
    os.close(descriptor)


def test_memory_to_read_into_is_of_whole_huge_pages() -> None:
    with reading_buffer(2**22) as buffer:
        address = ctypes.addressof(ctypes.c_char.from_buffer(buffer))
        assert address % 2**21 == 0
        assert len(buffer) == 2**22


def test_however_many_read_their_memory_stays_the_same() -> None:
    assert [buffer_size(threads) // 2**20 for threads in (1, 8, 16, 24, 128)] == [16, 16, 8, 5, 1]
    assert buffer_size(1000) == 2**20  # a request of less would measure requests, not bytes


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    seen: list[Step] = []

    def tell(step: Step) -> None:
        seen.append(step)
        if step.what == "random-8" and step.done:
            raise KeyboardInterrupt

    plan = QUICK._replace(window=0.3)
    found = probe_storage([str(tmp_path), "/another"], tell, plan)
    first, second = found.directories
    assert not found.complete
    assert first.rates[0].pattern == "random-1"
    assert len(first.rates[0].windows) == 5
    assert 0 < len(first.rates[1].windows) < 5
    assert second.reason == "interrupted before it was measured"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_in_the_first_window_leaves_no_figure(tmp_path: Path) -> None:
    def tell(step: Step) -> None:
        if step.what == "random-1":
            raise KeyboardInterrupt

    (entry,) = probe_storage([str(tmp_path)], tell, QUICK._replace(window=60)).directories
    assert entry.rates == ()
    assert entry.reason == "interrupted before it was measured"


def test_an_interrupt_while_the_file_is_written_leaves_nothing(tmp_path: Path) -> None:
    def tell(step: Step) -> None:
        assert step.what == "writing a fresh file"
        raise KeyboardInterrupt

    found = probe_storage([str(tmp_path)], tell, QUICK)
    assert found.directories[0].reason == "interrupted before it was measured"
    assert not found.complete
    assert list(tmp_path.iterdir()) == []


def test_a_real_interrupt_ends_the_waiting(tmp_path: Path) -> None:
    path = weights(tmp_path / "file")
    timer = threading.Timer(0.3, _thread.interrupt_main)
    timer.start()
    found = run(path, 32 * 2**20, window=60)
    timer.join()
    assert found.interrupted
    assert found.rates == ()


def test_an_interrupt_between_two_threads_ends_those_that_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def interrupted(thread: threading.Thread) -> None:
        if len(started) == 3:
            signal.raise_signal(signal.SIGINT)
        started.append(thread)
        start(thread)

    path = weights(tmp_path / "file")
    monkeypatch.setattr(threading.Thread, "start", interrupted)
    found = run(path, 32 * 2**20, window=60)
    assert found.interrupted
    assert len(started) == 3
    assert not any(thread.is_alive() for thread in started)


PLAIN = Disks(("8:0",))


@pytest.mark.parametrize(
    ("rates", "came", "disks", "reason"),
    [
        ((100, 120, 110), Came(1000, 1000), PLAIN, None),
        ((100, 120, 110), Came(900, 1000), PLAIN, None),
        ((100, 120, 110), Came(None, None), PLAIN, None),
        ((100,), Came(899, 1000), PLAIN, "only 899 B came from the device"),
        ((100,), Came(1000, 1000), Disks(memory=True), "it lies in memory"),
        ((100,), Came(1000, 0), PLAIN._replace(cached_loop=True), "only 0 B came from"),
        ((100,), Came(0, 1000), PLAIN._replace(served=True), None),
        ((100,), Came(0, None), Disks(served=True), "another process serves it"),
        ((20_000_000_001,), Came(1000, 1000), PLAIN, "20.00 GB/s is more than a drive delivers"),
        ((20_000_000_001,), Came(1000, 1000), Disks(("8:0", "8:16")), None),
    ],
)
def test_only_what_came_from_the_drive_is_a_figure(
    rates: tuple[int, ...], came: Came, disks: Disks, reason: str | None
) -> None:
    rate, _ = judged("random-8", Windows(rates, 1000), came, [disks])
    assert rate.windows == rates
    if reason is None:
        assert rate.reason is None
        assert rate.best_bytes_per_second == max(rates)
        assert rate.min_bytes_per_second == min(rates)
    else:
        assert reason in (rate.reason or "")
        assert rate.median_bytes_per_second is None


def test_median_and_spread_are_whole() -> None:
    rate, notes = judged("random-1", Windows((40, 100, 101, 120), 1000), Came(1000, 1101), [PLAIN])
    assert (rate.median_bytes_per_second, rate.spread_percent) == (100, 80)
    assert notes == (
        "random-1: the slowest window, 40 B/s, is under half the median",
        "random-1: others read 101 B from the same disk meanwhile: alone it may deliver more",
    )
    assert judged("random-1", Windows((100,), 1000), Came(1000, 1100), [PLAIN])[1] == ()
    assert judged("random-1", Windows((100,), 1000), Came(1000, None), [PLAIN])[1] == ()


def test_a_failed_read_has_no_figure() -> None:
    rate, _ = judged("random-1", Windows((5,), 10, "reading failed: x"), Came(10, 10), [PLAIN])
    assert rate.reason == "reading failed: x"
    assert rate.best_bytes_per_second is None


def test_what_to_know_about_a_volume() -> None:
    served = Mount("/mnt", "fuse.sshfs", "host:/")
    notes = caveats_of(Disks(virtual=True, cached_loop=True), served)
    assert [note.partition(":")[0] for note in notes] == [
        "a virtual disk", "a loop device that reads its file through the page cache", "fuse.sshfs",
    ]  # fmt: skip
    assert caveats_of(PLAIN, Mount("/", "ext4", "/dev/sda1")) == []
    assert caveats_of(PLAIN, None) == []
