"""Many host documents: hosts a second and peak memory, beside `jq` reading the same stream.

Each document is this machine's own probe under another name, one in a hundred of them broken.

    python benchmarks/fleet.py [MOST]
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from k3preflight.units import gb

# Broken lines end jq, so it is given raw lines and parses each, as the check does.
JQ = "try fromjson catch {} | select(.memory.usable > 0) | .name"


class Run(NamedTuple):
    """One whole command: seconds of wall time and bytes of peak resident set."""

    seconds: float
    peak: int


def run(command: list[str], stream: Path) -> Run:
    """Run `command` on the stream to its end, output thrown away."""
    with stream.open("rb") as source:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # reaped here, not by Popen
    return Run(time.perf_counter() - started, usage.ru_maxrss * 1024)


def documents(count: int, path: Path) -> None:
    """Write a stream of `count` documents to `path`."""
    tool = [sys.executable, "-m", "k3preflight", "probe"]
    machine = json.loads(subprocess.run(tool, capture_output=True, check=True).stdout)
    with path.open("w") as stream:
        for number in range(count):
            text = json.dumps(machine | {"name": f"node{number}"})
            stream.write((text[:500] if number % 100 == 99 else text) + "\n")  # noqa: PLR2004 - the hundredth


def main(most: int) -> None:
    """Print a Markdown table; ratios are against `jq` on the same stream."""
    jq = shutil.which("jq")
    if jq is None:
        sys.exit("jq is not installed: there is nothing to compare with")
    check = [sys.executable, "-m", "k3preflight", "check", "--host", "-", "--format"]
    print("| hosts | format | hosts a second | time against `jq` | peak RSS | against `jq` |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        stream = Path(folder) / "hosts.ndjson"
        count = 100
        while count <= most:
            documents(count, stream)
            beside = run([jq, "-R", JQ], stream)
            for form in ("table", "ndjson"):
                ours = run([*check, form], stream)
                print(
                    f"| {count:,} | {form} | {count / ours.seconds:,.0f} "
                    f"| {ours.seconds / beside.seconds:.1f} | {gb(ours.peak)} "
                    f"| {ours.peak / beside.peak:.1f} |"
                )
            count *= 10


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
