"""The published runs against the formulas: the goals hold, and records of one's own are read."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import backtest
from conftest import CHECKOUT

SPENT = "seconds_per_token"
DATA = CHECKOUT / "benchmarks" / "data"


@pytest.fixture(scope="module")
def published() -> list[backtest.Row]:
    return backtest.rows()


def test_the_goals_hold(published: list[backtest.Row]) -> None:
    assert [goal for goal in backtest.goals(published) if not goal.met] == []


def test_no_bound_is_above_a_measured_value_that_counts(published: list[backtest.Row]) -> None:
    assert len([row for row in published if row.apart is None]) >= 14
    assert all(row.ratio <= 1 for row in published if row.apart is None)


# As published beside the runs: bound, then the estimate's low, mid and high.
PUBLISHED = [
    ("ladder 8 GB", 18.82, (24.4, 31.2, 54.5)),
    ("ladder 16 GB", 18.24, (23.8, 30.5, 52.9)),
    ("ladder 32 GB", 17.12, (22.6, 29.0, 49.8)),
    ("ladder 64 GB", 14.88, (20.1, 26.1, 43.7)),
    ("ladder 128 GB", 8.17, (13.5, 18.4, 29.4)),
    ("ladder 192 GB", 3.93, (9.2, 12.5, 17.5)),
    ("split 2.7 GB trunk, 24.3 GB cache", 18.82, (24.4, 31.2, 54.5)),
    ("split 25.6 GB trunk, 1.4 GB cache", 16.05, (21.4, 27.6, 46.9)),
    ("split 73.8 GB trunk, 49.2 GB cache", 8.21, (13.5, 18.4, 29.5)),
    ("server preset, steady step", 3.55, (5.6, 8.9, 10.5)),
    ("server preset, 28 tokens", 4.28, (7.0, 10.5, 13.1)),
    ("v1.0.0, 8 GB", 26.61, (30.5, 32.2, 32.9)),
    ("v1.0.0, 64 GB", 17.91, (20.9, 22.6, 23.3)),
    ("rabbit v0.23.0, 64 slots", 1.17, (35.0, 39.0, 43.5)),
    ("rabbit v0.25, 64 slots", 1.17, (4.4, 5.7, 7.5)),
]


@pytest.mark.parametrize(("label", "bound", "estimate"), PUBLISHED)
def test_the_published_figures_come_out(
    published: list[backtest.Row], label: str, bound: float, estimate: tuple[float, float, float]
) -> None:
    row = next(row for row in published if row.label == label)
    assert row.bound_ms / 1000 == pytest.approx(bound, rel=0.012)
    assert row.estimate_ms is not None
    assert [ms / 1000 for ms in row.estimate_ms] == pytest.approx(estimate, rel=0.012)


def test_what_is_listed_apart_says_why(published: list[backtest.Row]) -> None:
    assert {row.label: row.apart for row in published if row.apart} == {
        "v1.0.0, 8 GB": "one headline figure; its run implies 5.08 GB/s",
        "v1.0.0, 64 GB": "one headline figure; its run implies 4.58 GB/s",
        "rabbit v0.23.0, 64 slots": "memory pressure",
        "rabbit v0.25, 64 slots": "memory pressure",
    }


def test_prefill_is_taken_out_where_it_is_known(published: list[backtest.Row]) -> None:
    row = next(row for row in published if row.label == "rabbit v0.23.0, 64 slots")
    assert row.measured_ms == 58_597  # (2698.1 - 412.8) / 39


def own(tmp_path: Path, **changes: str) -> Path:
    text = (DATA / "kimi-server-steady.toml").read_text()
    for old, new in changes.items():
        assert f"{old} = " in text
        text = "\n".join(
            f"{old} = {new}" if line.startswith(f"{old} = ") else line for line in text.splitlines()
        )
    (tmp_path / "own.toml").write_text(text)
    return tmp_path


def test_a_folder_of_records_is_added(tmp_path: Path) -> None:
    (row,) = backtest.rows([own(tmp_path, label='"mine"', **{SPENT: "9.5"})])
    assert (row.label, row.measured_ms, row.apart) == ("mine", 9500, None)


def test_a_bound_that_does_not_hold_is_a_missed_goal(tmp_path: Path) -> None:
    folder = own(tmp_path, **{SPENT: "3.0"})
    table = backtest.rows([backtest.DATA, folder])
    assert not backtest.goals(table)[0].met
    assert "MISSED: bounds above the measured value: 1 of 15" in backtest.markdown(table)


def test_a_prompt_of_unknown_length_cannot_be_compared(tmp_path: Path) -> None:
    (row,) = backtest.rows([own(tmp_path, prefill_included="true")])
    assert row.apart == "the prompt's time is in it, and not known"


def test_without_rows_no_goal_is_met() -> None:
    assert [goal.met for goal in backtest.goals([])] == [True, False, False, False, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seconds_per_token": '""'}, "seconds_per_token is not filled in"),
        ({"best_bytes_per_second": '""'}, "without traffic and bandwidth"),
    ],
)
def test_an_unfilled_record_is_refused(
    tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        backtest.rows([own(tmp_path, **changes)])


def test_a_cached_read_needs_the_memory_it_could_be_cached_in(tmp_path: Path) -> None:
    text = (DATA / "rabbit-v0.27.toml").read_text()
    (tmp_path / "own.toml").write_text(text.replace("memory_", "#memory_"))
    with pytest.raises(ValueError, match="memory is not filled in"):
        backtest.rows([tmp_path])


def test_every_row_says_where_it_comes_from() -> None:
    for path in DATA.glob("*.toml"):
        assert tomllib.loads(path.read_text())["source"]


def test_the_command_prints_markdown() -> None:
    done = subprocess.run(
        [
            sys.executable,
            str(CHECKOUT / "benchmarks" / "backtest.py"),
            str(DATA / "profiles" / "x"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("| run |")
    assert done.stdout.count("- met: ") == 5
