"""`k3preflight bench` beside fio on one file, in interleaved pairs: `bench_vs_fio.py DIR`.

Each pair reads the same written file with the same request sizes and threads, one after the other,
and the next pair in the other order: what a disk had saved up while it was idle helps both alike.
The first second of each run is thrown away for the same reason. Prints every pattern's median ratio
and fio's own spread. Both read into huge pages, which a disk takes in fewer pieces. Run it inside
a blkio group to see both against a throttle.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

from k3preflight.probe.direct import keep_cache_out
from k3preflight.probe.windows import PATTERNS, Opened, Reading, Target, measure
from k3preflight.units import speed

_CHUNK = 2**22


def ours(path: Path, size: int, reading: Reading, seconds: int) -> int:
    """Bytes a second over `seconds` windows of one second, the first not counted."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        mode = keep_cache_out([descriptor])
        found = measure(
            [Target((Opened(descriptor, size),), mode)],
            reading,
            window=1.0,
            count=seconds + 1,
            tell=lambda _done, _rate: None,
        )
    finally:
        os.close(descriptor)
    return int(statistics.harmonic_mean(found.rates[1:]))  # windows of one length each, nearly


def fio(path: Path, size: int, reading: Reading, seconds: int) -> int:
    """What fio reports of the same requests."""
    order = ["--rw=randread", f"--size={size}"]
    if not reading.at_random:  # each thread of fio has a part of its own
        part = size // reading.threads // 4096 * 4096
        order = ["--rw=read", f"--size={part}", f"--offset_increment={part}"]
    done = subprocess.run(
        [
            *("fio", "--name=pair", f"--filename={path}", "--direct=1", "--ioengine=psync"),
            *(
                "--thread",
                "--group_reporting",
                "--time_based",
                f"--runtime={seconds}",
                "--ramp_time=1",
            ),
            *(
                "--readonly",
                "--output-format=json",
                f"--bs={reading.request}",
                "--randrepeat=0",
                "--iomem_align=2M",
            ),
            *(f"--numjobs={reading.threads}", "--blockalign=4096", *order),
        ],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"},
    )
    return int(json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]["bw_bytes"])


def pair(
    path: Path, size: int, reading: Reading, seconds: int, *, ours_first: bool
) -> tuple[int, int]:
    """One reading by each: ours and fio's."""
    if ours_first:
        our = ours(path, size, reading, seconds)
        return our, fio(path, size, reading, seconds)
    their = fio(path, size, reading, seconds)
    return ours(path, size, reading, seconds), their


def written(path: Path, size: int) -> None:
    """Random bytes, on the disk."""
    with path.open("wb") as stream:
        for _ in range(size // _CHUNK):
            stream.write(os.urandom(_CHUNK))
        stream.flush()
        os.fsync(stream.fileno())
        os.posix_fadvise(stream.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def main() -> None:
    """Run the pairs and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--pairs", type=int, default=6)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--size", type=int, default=2**31)
    options = parser.parse_args()
    print("| pattern | ours, median | fio, median | ours / fio | fio's own spread |")
    print("|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.directory) as folder:
        path = Path(folder) / "pairs.data"
        written(path, options.size)
        for reading in PATTERNS:
            pairs = [
                pair(path, options.size, reading, options.seconds, ours_first=number % 2 == 0)
                for number in range(options.pairs)
            ]
            theirs = [their for _, their in pairs]
            middle = int(statistics.median(theirs))
            print(
                f"| {reading.pattern} | {speed(int(statistics.median(our for our, _ in pairs)))} "
                f"| {speed(middle)} | {statistics.median(a / b for a, b in pairs):.3f} "
                f"| {min(theirs) / middle:.2f} to {max(theirs) / middle:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
