"""Published and recorded runs against the bound and the estimate that `check` gives.

    python benchmarks/backtest.py [FOLDER...] [--profile-file FILE]

Rows come from TOML files in the format of `k3preflight record`: those in benchmarks/data, and those
of every folder named. Prints the table and what the goals come to, as Markdown, and exits 1 where a
goal is missed.
"""

import argparse
import statistics
import sys
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from k3preflight.assess import traffic
from k3preflight.assess.traffic import Drive, End, Rates, Reads, Setting
from k3preflight.models.figures import Compute
from k3preflight.models.names import Role
from k3preflight.models.profile import Profile, Traffic
from k3preflight.models.record import Record, VolumeUsed
from k3preflight.models.scenario import Scenario
from k3preflight.profiles import Catalog, catalog, choose

DATA = Path(__file__).parent / "data"
ENDS: tuple[End, ...] = ("low", "mid", "high")
WITHIN_PERCENT = 33  # the noise the runs' own authors state


class Row(NamedTuple):
    """One run: what went in, what came out, and why it is listed apart, if it is."""

    label: str
    scenario: str
    best: int
    headline: int | None
    bytes_read: int
    measured_ms: int
    bound_ms: int
    estimate_ms: tuple[int, int, int] | None
    apart: str | None

    @property
    def ratio(self) -> float:
        """Bound over measured: over 1, the bound did not hold."""
        return self.bound_ms / self.measured_ms

    @property
    def off_percent(self) -> float | None:
        """How far the middle of the estimate is from what was measured."""
        if self.estimate_ms is None:
            return None
        return 100 * (self.estimate_ms[1] - self.measured_ms) / self.measured_ms

    @property
    def inside(self) -> bool:
        """Whether the measured value lies in the estimate's range."""
        return self.estimate_ms is not None and (
            self.estimate_ms[0] <= self.measured_ms <= self.estimate_ms[2]
        )


class Turn(NamedTuple):
    """The tokens an average is over, and the prompt that was read in the first step; 0 if not."""

    tokens: int = 1
    prompt: int = 0


def rows(folders: Iterable[Path] = (DATA,), own_profiles: Iterable[Path] = ()) -> list[Row]:
    """Every record in the folders, tested.

    Raises:
        UsageError, ValueError: a record names no known scenario, or is not a record.
    """
    known = catalog([*sorted((DATA / "profiles").glob("*.toml")), *own_profiles])
    files = [path for folder in folders for path in sorted(folder.glob("*.toml"))]
    return [_row(_record(path), known) for path in files]


def _record(path: Path) -> Record:
    return Record.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))


def _row(record: Record, known: Catalog) -> Row:
    scenario = choose([record.scenario], known)[0].scenarios[0]
    profile_traffic = scenario.profile.traffic
    volume = next(iter(record.volumes), None)
    label = record.label or record.scenario
    if profile_traffic is None or volume is None or volume.best_bytes_per_second is None:
        raise ValueError(f"{label}: neither a bound nor an estimate without traffic and bandwidth")
    measured, turn, unclear = _measured(record)
    setting = _setting(record, scenario, profile_traffic)
    drives = _drives(record, scenario.profile)
    bound = _average(traffic.fewest_reads(setting), setting, turn, traffic.REUSE_AT_MOST)
    likely = [
        _average(traffic.likely_reads(setting, end), setting, turn, traffic.REUSE[end])
        for end in ENDS
    ]
    compute = _compute(record, profile_traffic)
    return Row(
        label=label,
        scenario=scenario.name,
        best=volume.best_bytes_per_second,
        headline=volume.headline_bytes_per_second,
        bytes_read=likely[1].total,
        measured_ms=measured,
        bound_ms=traffic.io_ms(bound, drives),
        estimate_ms=_estimate(setting, drives, compute, turn) if compute else None,
        apart=_apart(record, volume, likely[1], measured) or unclear,
    )


def _measured(record: Record) -> tuple[int, Turn, str | None]:
    """Milliseconds a token, what they are an average over, and why they are not comparable."""
    run = record.run
    if run.seconds_per_token is None:
        raise ValueError(f"{record.label or record.scenario}: seconds_per_token is not filled in")
    printed = run.seconds_per_token
    if not run.prefill_included:
        return round(printed * 1000), Turn(), None
    if run.prefill_seconds is not None and run.tokens is not None and run.tokens > 1:
        decode = (printed * run.tokens - run.prefill_seconds) / (run.tokens - 1)
        return round(decode * 1000), Turn(), None
    if run.tokens and run.prompt_tokens:
        return round(printed * 1000), Turn(run.tokens, run.prompt_tokens), None
    return round(printed * 1000), Turn(), "the prompt's time is in it, and not known"


def _setting(record: Record, scenario: Scenario, profile_traffic: Traffic) -> Setting:
    used, preset = record.settings, scenario.preset
    pinned = preset.pinned.bytes if preset and preset.pinned else 0
    cache = preset.expert_cache.bytes if preset and preset.expert_cache else 0
    slots = profile_traffic.slots_per_layer.count if profile_traffic.slots_per_layer else None
    setting = Setting(
        profile_traffic,
        scenario.profile.model.experts_per_token,
        pinned=pinned if used.pinned is None else used.pinned,
        cache=cache if used.expert_cache is None else used.expert_cache,
        slots=slots if used.slots_per_layer is None else used.slots_per_layer,
    )
    if profile_traffic.reads == "direct":
        return setting
    memory = record.hardware.memory_usable or record.hardware.memory_total
    if memory is None:
        raise ValueError(f"{record.label or record.scenario}: memory is not filled in")
    return setting._replace(page=traffic.left_for_pages(setting, memory))


def _drives(record: Record, profile: Profile) -> tuple[Drive, ...]:
    trunk = Role.TRUNK if profile.artifact(Role.TRUNK) else Role.CHECKPOINT
    drives = []
    for volume in record.volumes:
        best = volume.best_bytes_per_second or 0
        sequential = (
            volume.sequential_median_bytes_per_second,
            volume.sequential_min_bytes_per_second,
        )
        random = volume.random_median_bytes_per_second, volume.random_min_bytes_per_second
        holds: list[traffic.Kind] = []
        if trunk in volume.roles:
            holds.append("sequential")
        if Role.CHECKPOINT in volume.roles:
            holds.append("random")
        drives.append(
            Drive(
                name=volume.mount_point or "volume",
                holds=tuple(holds),
                best=best,
                sequential=Rates(best, sequential[0] or best, sequential[1] or best),
                random=Rates(best, random[0] or best, random[1] or best),
            )
        )
    return tuple(drives)


def _average(steady: Reads, setting: Setting, turn: Turn, reuse: float) -> Reads:
    """Bytes a token over a turn whose first step reads everything dense, and a prompt's experts."""
    if not turn.prompt:
        return steady
    first = _first(setting, turn, reuse)
    return Reads(
        (first.dense + (turn.tokens - 1) * steady.dense) // turn.tokens,
        (first.experts + (turn.tokens - 1) * steady.experts) // turn.tokens,
        (turn.tokens - 1) * steady.saved // turn.tokens,
    )


def _first(setting: Setting, turn: Turn, reuse: float) -> Reads:
    experts = round(setting.traffic.experts_per_token.bytes * turn.prompt**reuse)
    return Reads(setting.traffic.dense_stream.bytes, experts)


def _compute(record: Record, profile_traffic: Traffic) -> Compute | None:
    """Of the published figures the one of the record's release; else the profile's own."""
    version = record.runtime.version
    same = (compute for compute in profile_traffic.compute if compute.release == version)
    return next(same, next(iter(profile_traffic.compute), None))


def _estimate(
    setting: Setting, drives: tuple[Drive, ...], compute: Compute, turn: Turn
) -> tuple[int, int, int]:
    def at(end: End) -> int:
        step = round(1000 * {"low": compute.low, "mid": compute.mid, "high": compute.high}[end])
        steady = traffic.token_ms(
            traffic.likely_io_ms(traffic.likely_reads(setting, end), drives, end),
            step,
            traffic.overlap(setting.traffic, end),
        )
        if not turn.prompt:
            return steady
        first_io = traffic.likely_io_ms(_first(setting, turn, traffic.REUSE[end]), drives, end)
        first = first_io + turn.prompt * step
        return (first + (turn.tokens - 1) * steady) // turn.tokens

    return at("low"), at("mid"), at("high")


def _apart(record: Record, volume: VolumeUsed, reads: Reads, measured: int) -> str | None:
    if record.run.under_memory_pressure:
        return "memory pressure"
    if volume.best_from in {"concurrent", "in-run"}:
        return None
    implied = reads.total * 1000 / measured / 1e9
    return f"one headline figure; its run implies {implied:.2f} GB/s"


class Goal(NamedTuple):
    """What the backtest is to come to, and what it did."""

    text: str
    met: bool


def goals(table: Sequence[Row]) -> list[Goal]:
    """The goals over the rows that are not listed apart."""
    counted = [row for row in table if row.apart is None]
    estimated = [row for row in counted if row.estimate_ms is not None]
    above = [row for row in counted if row.bound_ms > row.measured_ms]
    heavy = [row.ratio for row in counted if row.bytes_read >= 60 * 10**9]
    server = [row.ratio for row in counted if row.scenario == "kimi-k3-in-c:server"]
    near = [row for row in estimated if abs(row.off_percent or 0) <= WITHIN_PERCENT]
    inside = [row for row in estimated if row.inside]
    return [
        Goal(
            f"bounds above the measured value: {len(above)} of {len(counted)} (goal 0)", not above
        ),
        _median("60 GB and more read a token", heavy, 0.50),
        _median("the server preset", server, 0.35),
        _share(f"estimates within {WITHIN_PERCENT}%", near, estimated, 80),
        _share("measured values inside the estimate's range", inside, estimated, 75),
    ]


def _median(what: str, ratios: Sequence[float], goal: float) -> Goal:
    if not ratios:
        return Goal(f"bound over measured, {what}: no rows (goal {goal})", False)
    median = statistics.median(ratios)
    text = f"bound over measured, {what}: median {median:.2f} of {len(ratios)} (goal {goal})"
    return Goal(text, median >= goal)


def _share(what: str, some: Sequence[Row], of: Sequence[Row], goal: int) -> Goal:
    text = f"{what}: {len(some)} of {len(of)} (goal {goal}%)"
    return Goal(text, bool(of) and 100 * len(some) >= goal * len(of))


_HEAD = (
    "| run | best (headline) GB/s | GB a token | measured s | bound s | bound / measured "
    "| estimate s, low-mid-high | mid off |\n|---|---|---|---|---|---|---|---|"
)


def markdown(table: Sequence[Row]) -> str:
    """The rows that count, those listed apart, and the goals."""
    counted = [row for row in table if row.apart is None]
    apart = [row for row in table if row.apart is not None]
    parts = [_HEAD, *map(_line, counted)]
    if apart:
        parts += ["", "Listed apart, not counted:", "", _HEAD, *map(_line, apart)]
    parts += ["", *(f"- {'met' if goal.met else 'MISSED'}: {goal.text}" for goal in goals(table))]
    return "\n".join(parts) + "\n"


def _line(row: Row) -> str:
    headline = f" ({row.headline / 1e9:.2f})" if row.headline else ""
    estimate, off = "none: no compute published", "-"
    if row.estimate_ms is not None and row.off_percent is not None:
        estimate = "-".join(f"{value / 1000:.1f}" for value in row.estimate_ms)
        off = f"{row.off_percent:+.0f}%"
    label = row.label + (f": {row.apart}" if row.apart else "")
    cells = (
        label,
        f"{row.best / 1e9:.2f}{headline}",
        f"{row.bytes_read / 1e9:.1f}",
        f"{row.measured_ms / 1000:.2f}",
        f"{row.bound_ms / 1000:.2f}",
        f"{row.ratio:.2f}",
        estimate,
        off,
    )
    return f"| {' | '.join(cells)} |"


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
    parser.add_argument("--profile-file", action="append", default=[], type=Path, metavar="FILE")
    asked = parser.parse_args()
    table = rows([DATA, *asked.folders], asked.profile_file)
    print(markdown(table), end="")
    return 0 if all(goal.met for goal in goals(table)) else 1


if __name__ == "__main__":
    sys.exit(main())
