"""Measures what directories deliver, read the way the runtimes will read them."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import NamedTuple

from k3preflight.models.storage import DirectoryRates, Rate, Storage
from k3preflight.probe.counters import Came, Disks, between, count, disks_under
from k3preflight.probe.judged import caveats_of, judged
from k3preflight.probe.mounts import Mount, covering, mounts
from k3preflight.probe.places import look
from k3preflight.probe.root import REAL, Root
from k3preflight.probe.sources import SIZES, NotMeasurableError, Sizes, Source, obstacle, source
from k3preflight.probe.windows import PATTERNS, Reading, Windows, measure

_INTERRUPTED = "interrupted before it was measured"


class Step(NamedTuple):
    """What is going on: where, what, how much of it is done, and the last rate seen."""

    where: str
    what: str
    done: int
    total: int
    bytes_per_second: int | None = None


class Plan(NamedTuple):
    """How long and how often: seconds a window, windows a pattern, and the sizes of files."""

    window: float = 1.0
    windows: int = 5
    sizes: Sizes = SIZES


Tell = Callable[[Step], None]
PLAN = Plan()


class _Job(NamedTuple):
    """What stays the same for every directory."""

    tell: Tell
    plan: Plan
    root: Root
    table: Sequence[Mount]


class _Ready(NamedTuple):
    """A directory whose files are open."""

    source: Source
    disks: Disks


class _Measured(NamedTuple):
    rates: tuple[Rate, ...]
    caveats: tuple[str, ...]
    interrupted: bool


def why_not(directory: str, plan: Plan = PLAN) -> str | None:
    """Why nothing can be measured there, as far as looking tells."""
    return obstacle(look(directory), plan.sizes)


def probe_storage(
    directories: Sequence[str], tell: Tell, plan: Plan = PLAN, root: Root = REAL
) -> Storage:
    """Each directory apart, then all that gave a figure at once. Ctrl-C keeps what is measured."""
    job = _Job(tell, plan, root, mounts(root))
    told: list[DirectoryRates] = []
    ready: list[_Ready] = []
    together = _Measured((), (), interrupted=False)
    with ExitStack() as stack:
        for number, directory in enumerate(directories):
            try:
                found, opened, interrupted = _directory(directory, job, stack)
            except KeyboardInterrupt:
                found, opened, interrupted = _nothing(directory, _INTERRUPTED), None, True
            told.append(found)
            if opened and found.best_bytes_per_second:
                ready.append(opened)
            if interrupted:
                told += [_nothing(rest, _INTERRUPTED) for rest in directories[number + 1 :]]
                return Storage(directories=tuple(told), complete=False)
        if len(ready) > 1:
            together = _patterns(ready, "all at once", job)
    return Storage(
        directories=tuple(told), together=together.rates, complete=not together.interrupted
    )


def _nothing(directory: str, reason: str, mount: Mount | None = None) -> DirectoryRates:
    return DirectoryRates(directory=directory, volume=mount and mount.point, reason=reason)


def _directory(
    directory: str, job: _Job, stack: ExitStack
) -> tuple[DirectoryRates, _Ready | None, bool]:
    seen = look(directory)
    mount = covering(job.table, seen.measured, seen.device) if seen.measured else None
    reason = obstacle(seen, job.plan.sizes)
    if reason:
        return _nothing(directory, reason, mount), None, False

    def wrote(done: int, total: int) -> None:
        job.tell(Step(directory, "writing a fresh file", done, total))

    filesystem = mount.filesystem if mount else None
    try:
        opened = stack.enter_context(source(seen, filesystem, wrote, job.plan.sizes))
    except NotMeasurableError as error:
        return _nothing(directory, str(error), mount), None, False
    ready = _Ready(opened, disks_under(mount, job.table, job.root) if mount else Disks())
    measured = _patterns([ready], directory, job)
    best = max((rate.best_bytes_per_second or 0 for rate in measured.rates), default=0)
    reasons = [rate.reason for rate in measured.rates if rate.reason]
    found = DirectoryRates(
        directory=directory,
        volume=mount.point if mount else None,
        mode=opened.target.mode,
        source=opened.what,
        rates=measured.rates,
        best_bytes_per_second=best or None,
        reason=None if best else next(iter(reasons), _INTERRUPTED),
        caveats=tuple(
            dict.fromkeys((*opened.caveats, *caveats_of(ready.disks, mount), *measured.caveats))
        ),
    )
    return found, ready, measured.interrupted


def _patterns(ready: Sequence[_Ready], where: str, job: _Job) -> _Measured:
    """Every access pattern in turn, of all `ready` directories at once."""
    rates: list[Rate] = []
    caveats: list[str] = []
    for reading in PATTERNS:
        windows, came = _one(ready, reading, where, job)
        if windows.rates or windows.problem:
            rate, notes = judged(reading.pattern, windows, came, [item.disks for item in ready])
            rates.append(rate)
            caveats += notes
        if windows.interrupted:
            return _Measured(tuple(rates), tuple(caveats), interrupted=True)
    return _Measured(tuple(rates), tuple(caveats), interrupted=False)


def _one(ready: Sequence[_Ready], reading: Reading, where: str, job: _Job) -> tuple[Windows, Came]:
    devices = tuple(dict.fromkeys(name for item in ready for name in item.disks.devices))
    before = count(devices, job.root)
    windows = measure(
        [item.source.target for item in ready],
        reading,
        window=job.plan.window,
        count=job.plan.windows,
        tell=lambda done, rate: job.tell(
            Step(where, reading.pattern, done, job.plan.windows, rate)
        ),
    )
    return windows, between(before, count(devices, job.root))
