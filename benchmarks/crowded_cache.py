"""How long a check takes on a cache of 100,000 other files, against an empty directory.

Run by hand: python benchmarks/crowded_cache.py [FILES]. Prints both medians and their ratio.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROUNDS = 7
COMMAND = (sys.executable, "-m", "k3preflight", "check", "--format", "json", "--dir")


def crowd(folder: Path, count: int) -> None:
    """Other files where the clients keep theirs: beside, in the metadata and among the blobs."""
    places = (
        folder,
        folder / ".cache" / "huggingface" / "download",
        folder / "models--moonshotai--Kimi-K3" / "blobs",
        folder / "models--other--model" / "blobs",
    )
    for place in places:
        place.mkdir(parents=True, exist_ok=True)
        for number in range(count // len(places)):
            (place / f"other-{number}.bin").touch()


def seconds(folder: Path) -> float:
    """One check, from start to exit."""
    began = time.perf_counter()
    done = subprocess.run([*COMMAND, str(folder)], capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr  # noqa: S101 - a benchmark of a failure is none
    return time.perf_counter() - began


def main() -> None:
    """Measure in turns, so that other load meets both."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    with tempfile.TemporaryDirectory() as name:
        empty, full = Path(name, "empty"), Path(name, "full")
        empty.mkdir()
        crowd(full, count)
        os.sync()
        pairs = [(seconds(empty), seconds(full)) for _ in range(ROUNDS)]
    plain, crowded = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"empty directory   {plain:.3f} s")
    print(f"{count:,} other files {crowded:.3f} s")
    print(f"ratio             {crowded / plain:.2f}")


if __name__ == "__main__":
    main()
