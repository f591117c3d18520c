"""What a run costs beside its own dependencies: whole commands, interleaved, medians as ratios.

The floor is the least a program on these dependencies can do: a Typer app of one command with one
option that imports psutil, builds one pydantic model and prints nothing.

    python benchmarks/startup.py [ROUNDS]
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

FLOOR = """
from typing import Annotated
import psutil, typer
from pydantic import BaseModel
class Model(BaseModel):
    number: int = 1
app = typer.Typer(rich_markup_mode=None, add_completion=False)
@app.command()
def main(number: Annotated[int, typer.Option()] = 1) -> None:
    Model(number=number)
app()
"""


class Run(NamedTuple):
    """One whole command: seconds of wall time and bytes of peak resident set."""

    seconds: float
    peak: int


def run(command: list[str]) -> Run:
    """Run `command` to its end, output thrown away."""
    started = time.perf_counter()
    # As installed: compiled once, whatever the shell this runs in forbids.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0  # reaped here, not by Popen
    return Run(time.perf_counter() - started, usage.ru_maxrss * 1024)


def main(rounds: int) -> None:
    """Print a Markdown table of medians against the floor and against a bare interpreter."""
    tool = [sys.executable, "-m", "k3preflight"]
    with tempfile.TemporaryDirectory() as folder:
        host = Path(folder) / "host.json"
        host.write_bytes(subprocess.run([*tool, "probe"], capture_output=True, check=True).stdout)
        commands = {
            "`python -c pass`": [sys.executable, "-c", "pass"],
            "floor of the dependencies": [sys.executable, "-c", FLOOR],
            "`--version`": [*tool, "--version"],
            "`--help`": [*tool, "--help"],
            "`check --host FILE --format json`": [
                *tool, "check", "--host", str(host), "--format", "json"
            ],
            "`check`": [*tool, "check"],
        }  # fmt: skip
        runs: dict[str, list[Run]] = {name: [] for name in commands}
        for command in commands.values():  # so that everything is compiled, and in the page cache
            run(command)
        for _ in range(rounds):
            for name, command in commands.items():
                runs[name].append(run(command))
    wall = {name: statistics.median(item.seconds for item in kept) for name, kept in runs.items()}
    floor, bare = wall["floor of the dependencies"], wall["`python -c pass`"]
    print("| command | against the floor | against `python -c pass` | peak RSS |")
    print("|---|---|---|---|")
    for name, kept in runs.items():
        peak = max(item.peak for item in kept) / 1e6
        print(f"| {name} | {wall[name] / floor:.2f} | {wall[name] / bare:.1f} | {peak:.0f} MB |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
