"""Speed: the seconds a token that storage alone costs, from measured or stated bandwidth."""

import math
from collections.abc import Iterator
from typing import NamedTuple

from k3preflight.assess import traffic
from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.drives import Drives, drives_of
from k3preflight.assess.traffic import End, Reads, Setting
from k3preflight.models.figures import Compute, Sourced
from k3preflight.models.names import Status
from k3preflight.models.pace import Pace, PaceInput
from k3preflight.models.profile import Traffic
from k3preflight.units import ceil_div, exact, seconds, seconds_floor, speed

_SAY = "Measure it with k3preflight bench DIR, or say it, such as --bandwidth '3.2 GB/s'."
_ENDS: tuple[End, ...] = ("low", "mid", "high")


def storage(case: Case) -> Iterator[Outcome]:
    """How many seconds a token costs at least, by storage alone, and where published about.

    Bandwidth comes from --bandwidth or a bench in the host document; skipped where there is
    neither. With --max-seconds-per-token it fails where even the bound is above the limit, warns
    where only the estimate is, and is unknown where nothing was measured.
    """
    limit = case.policy.max_milliseconds_per_token
    missing = Status.SKIP if limit is None else Status.UNKNOWN
    profile_traffic = case.scenario.profile.traffic
    if profile_traffic is None:
        yield Outcome(missing, "what one token reads is not in the profile")
        return
    drives = drives_of(case)
    if not any(drive.best for drive in drives.all):
        yield Outcome(missing, f"bandwidth not measured{drives.why}", _SAY)
        return
    figures = _figures(case, profile_traffic, drives)
    status, judgement, remedy = _judged(figures, limit)
    yield Outcome(
        status,
        judgement + _sentence(figures, drives, failed=status is Status.FAIL),
        remedy,
        pace=_pace(case, figures, drives),
    )


class _Figures(NamedTuple):
    """Everything `storage` says, in bytes and milliseconds."""

    setting: Setting
    fewest: Reads
    bound: int
    weak: str | None
    compute: Compute | None
    compute_ms: tuple[int, int, int]
    cores: int | None
    estimate: tuple[int, int, int] | None


def _figures(case: Case, profile_traffic: Traffic, drives: Drives) -> _Figures:
    setting = _setting(case, profile_traffic, drives)
    fewest = traffic.fewest_reads(setting)
    bound = traffic.io_ms(fewest, drives.all)
    compute = next(iter(profile_traffic.compute), None)
    cores = case.host.cpu.cores
    times = _compute_ms(compute, cores) if compute else (0, 0, 0)
    estimate = None
    if compute and all(drive.best for drive in drives.all):
        low, mid, high = (
            traffic.token_ms(
                traffic.likely_io_ms(traffic.likely_reads(setting, end), drives.all, end),
                time,
                traffic.overlap(profile_traffic, end),
            )
            for end, time in zip(_ENDS, times, strict=True)
        )
        estimate = low, mid, high
    return _Figures(setting, fewest, bound, _weak(setting, bound), compute, times, cores, estimate)


def _setting(case: Case, profile_traffic: Traffic, drives: Drives) -> Setting:
    profile, preset = case.scenario
    slots = profile_traffic.slots_per_layer
    setting = Setting(
        profile_traffic,
        profile.model.experts_per_token,
        pinned=preset.pinned.bytes if preset and preset.pinned else 0,
        cache=preset.expert_cache.bytes if preset and preset.expert_cache else 0,
        slots=slots.count if slots else None,
    )
    linux = case.host.system.system in {None, "linux"}
    if profile_traffic.reads == "direct" and linux and not drives.refuse_direct:
        return setting
    usable = case.host.memory.usable
    if usable is None:  # it may hold anything: nothing can be claimed
        everything = profile_traffic.dense_stream.bytes + profile_traffic.expert_pool.bytes
        return setting._replace(page=everything)
    return setting._replace(page=traffic.left_for_pages(setting, usable))


def _compute_ms(compute: Compute, cores: int | None) -> tuple[int, int, int]:
    """Fewer cores than the reference: mid x sqrt(k), high x k."""
    low, mid, high = (round(1000 * value) for value in (compute.low, compute.mid, compute.high))
    if cores is None or cores >= compute.cores or cores < 1:
        return low, mid, high
    ratio = compute.cores / cores
    return low, round(mid * math.sqrt(ratio)), round(high * ratio)


def _weak(setting: Setting, bound: int) -> str | None:
    """Why the bound says little; None where it says something."""
    useless = setting.traffic.useless_above
    if setting.all_paged:
        held = bound == 0 or (useless is not None and (setting.page or 0) >= useless.bytes)
        return "memory may hold what a token reads" if held else None
    tokens = traffic.granted(setting)
    if tokens > 1:
        return f"caches may hold {tokens:.1f} tokens' worth of experts"
    return None if bound else "nothing has to be read"


def _judged(figures: _Figures, limit: int | None) -> tuple[Status, str, str | None]:
    """The status, what the sentence begins with, and what to do."""
    if limit is None:
        return Status.PASS, "", None
    most = f"the limit of {seconds(limit)}"
    if figures.bound > limit:
        faster = ceil_div(figures.bound * 100, limit)
        return (
            Status.FAIL,
            f"even the bound is above {most}: ",
            f"Use storage {faster // 100}.{faster % 100:02d} times as fast, or more memory.",
        )
    if figures.estimate is not None and figures.estimate[1] > limit:
        return (
            Status.WARN,
            f"the estimate is above {most}, the bound is not: ",
            "Expect it slower than that; a run on this machine would settle it.",
        )
    if figures.estimate is None and figures.weak:
        return (
            Status.WARN,
            f"neither a useful bound nor an estimate for {most}: ",
            "Only a run on this machine can tell.",
        )
    return Status.PASS, "", None


def _sentence(figures: _Figures, drives: Drives, *, failed: bool) -> str:
    if figures.weak is None or failed:
        text = f"at least {seconds_floor(figures.bound)} per token"
    else:
        rest = f"; at least {seconds_floor(figures.bound)} per token" if figures.bound else ""
        text = f"no useful bound ({figures.weak}{rest})"
    if figures.estimate and figures.compute:
        low, mid, high = (seconds(value).removesuffix(" s") for value in figures.estimate)
        text += f", about {mid} ({low} to {high}) on {_reference(figures.compute, figures.cores)}"
    text += f"; {drives.stated}"
    return text + "".join(f"; {caveat}" for caveat in drives.caveats)


def _reference(compute: Compute, cores: int | None) -> str:
    text = f"{compute.cpu} with {compute.cores} cores"
    if cores is not None and 0 < cores < compute.cores:
        text += f", scaled to the {cores} here"
    return text


def _pace(case: Case, figures: _Figures, drives: Drives) -> Pace:
    low, mid, high = (
        (value / 1000 for value in figures.estimate) if figures.estimate else (None, None, None)
    )
    compute = figures.compute if figures.estimate else None
    return Pace(
        at_least_seconds=figures.bound / 1000,
        useful_bound=figures.weak is None,
        low_seconds=low,
        about_seconds=mid,
        high_seconds=high,
        reference_cpu=compute.cpu if compute else None,
        reference_cores=compute.cores if compute else None,
        inputs=tuple(_inputs(case, figures, drives)),
        arithmetic=tuple(_arithmetic(figures, drives)),
    )


def _inputs(case: Case, figures: _Figures, drives: Drives) -> Iterator[PaceInput]:
    setting, preset = figures.setting, case.scenario.preset
    data = setting.traffic
    yield _figure("dense weights read a token", data.dense_stream.bytes, data.dense_stream)
    if preset and preset.pinned:
        yield _figure("of them pinned in memory", setting.pinned, preset.pinned)
    yield _figure("experts a token", data.experts_per_token.bytes, data.experts_per_token)
    if preset and preset.expert_cache:
        yield _figure("expert cache", setting.cache, preset.expert_cache)
    if setting.page is not None:
        yield PaceInput(
            name="memory granted to the page cache",
            value=setting.page,
            unit="B",
            source=case.host.memory.usable_from or "unknown: nothing is claimed",
        )
    yield from drives.inputs
    if figures.compute:
        for end, value in zip(_ENDS, figures.compute_ms, strict=True):
            yield PaceInput(
                name=f"computing a token, {end}",
                value=value,
                unit="ms",
                source=f"{figures.compute.source}; {_reference(figures.compute, figures.cores)}",
            )


def _figure(name: str, value: int, figure: Sourced) -> PaceInput:
    return PaceInput(name=name, value=value, unit="B", source=f"{figure.source} ({figure.basis})")


def _arithmetic(figures: _Figures, drives: Drives) -> Iterator[str]:
    fewest = figures.fewest
    saved = f" less {exact(fewest.saved)} the page cache may hold" if fewest.saved else ""
    yield (
        f"fewest bytes a token: {exact(fewest.dense)} of dense weights and "
        f"{exact(fewest.experts)} of experts{saved}"
    )
    for drive in drives.all:
        what = " and ".join(
            "dense weights" if kind == "sequential" else "experts" for kind in drive.holds
        )
        if drive.best:
            yield f"{drive.name} reads {what} at no more than 1.1 x {speed(drive.best)}"
        else:
            yield f"{drive.name} reads {what}: not measured, counted as no time"
    yield f"bound: the slowest volume, no computing: {figures.bound} ms"
    if figures.estimate is None:
        return
    for end, compute, total in zip(_ENDS, figures.compute_ms, figures.estimate, strict=True):
        reads = traffic.likely_reads(figures.setting, end)
        io = traffic.likely_io_ms(reads, drives.all, end)
        hidden = traffic.overlap(figures.setting.traffic, end)
        yield (
            f"{end}: {exact(reads.total)} read in {io} ms; max({io}, {compute}) + "
            f"{100 - hidden}% x min({io}, {compute}) = {total} ms"
        )
