"""What bench says to a person."""

import pytest

from k3preflight.models.storage import DirectoryRates, Rate, Storage
from k3preflight.render import Screen
from k3preflight.render.bench import page
from k3preflight.render.progress import steps

RATE = Rate(
    pattern="random-8",
    windows=(1, 2),
    median_bytes_per_second=3_000_000_000,
    min_bytes_per_second=2_900_000_000,
    best_bytes_per_second=3_100_000_001,
    spread_percent=6,
)
GOOD = DirectoryRates(
    directory="/data",
    volume="/",
    mode="direct",
    source="a fresh file, 4.29 GB",
    rates=(RATE,),
    best_bytes_per_second=3_100_000_001,
    caveats=("a virtual disk",),
)
CACHED = DirectoryRates(
    directory="/mnt/[red]x",
    rates=(Rate(pattern="random-1", reason="it lies in memory"),),
    reason="it lies in memory",
)


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_figure_is_whole_at_any_width(width: int) -> None:
    text = page(Storage(directories=(GOOD, CACHED), together=(RATE,)), Screen(width), paste=False)
    assert text.count("3.00 GB/s") == 2
    assert "/mnt/[red]x" in text
    assert "unknown: it lies in memory" in text
    assert "note: a virtual disk" in text
    assert "--bandwidth" not in text
    assert all(len(line) <= width for line in text.splitlines())


def test_the_line_to_paste_is_rounded_up() -> None:
    text = page(Storage(directories=(GOOD,)), Screen(), paste=True)
    assert text.endswith("  k3preflight check --bandwidth '3.11 GB/s'\n")
    slow = GOOD.model_copy(update={"best_bytes_per_second": 80_000_001})
    assert "'80.01 MB/s'" in page(Storage(directories=(slow,)), Screen(), paste=True)


def test_several_directories_each_have_their_line() -> None:
    other = GOOD.model_copy(update={"directory": "/fast"})
    text = page(Storage(directories=(GOOD, other)), Screen(), paste=True)
    assert "--bandwidth 'ROLE=3.11 GB/s'   # /fast" in text


def test_nothing_measured_has_nothing_to_paste() -> None:
    bare = DirectoryRates(directory="/x")
    text = page(Storage(directories=(CACHED, bare), complete=False), Screen(), paste=True)
    assert "--bandwidth" not in text
    assert "Interrupted: this is what was measured so far." in text


def test_progress_is_quiet_without_a_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    with steps() as show:
        show("/data", "random-1", 1, 5, None)
        show("/data", "random-1", 2, 5, 10**9)
    assert capfd.readouterr() == ("", "")
