"""What bench measured, for a person at a terminal."""

from collections.abc import Sequence

from rich.table import Table

from k3preflight.models.storage import DirectoryRates, Pattern, Rate, Storage
from k3preflight.render import Screen
from k3preflight.render.console import Page
from k3preflight.units import ceil_div, speed

_WORDS: dict[Pattern, str] = {
    "random-1": "experts, random, 1 thread",
    "random-8": "experts, random, 8 threads",
    "sequential-1": "trunk, in order, 1 thread",
    "sequential-8": "trunk, in order, 8 threads",
}


def page(found: Storage, screen: Screen, *, paste: bool) -> str:
    """Each directory's figures, what to know about them, and what to give to check."""
    out = Page(screen)
    for entry in found.directories:
        out.blank()
        out.line((entry.directory, "bold"), _how(entry))
        _rates(out, entry.rates)
        if entry.best_bytes_per_second:
            out.line(f"best window of any pattern: {speed(entry.best_bytes_per_second)}", indent=2)
        elif entry.reason:
            out.line(("unknown", "magenta"), f": {entry.reason}", indent=2)
        for caveat in entry.caveats:
            out.line(f"note: {caveat}", indent=2)
    if found.together:
        out.blank()
        out.line(("all at once", "bold"), ", added up")
        _rates(out, found.together)
    if not found.complete:
        out.blank()
        out.line("Interrupted: this is what was measured so far.")
    if paste:
        _paste(out, [entry for entry in found.directories if entry.best_bytes_per_second])
    return out.text


def _how(entry: DirectoryRates) -> str:
    parts = [f"on {entry.volume}" if entry.volume else "", entry.source or "", _mode(entry)]
    return "".join(f", {part}" for part in parts if part)


def _mode(entry: DirectoryRates) -> str:
    return {"direct": "direct I/O", "uncached": "uncached", "buffered": "buffered"}.get(
        entry.mode or "", ""
    )


def _rates(out: Page, rates: Sequence[Rate]) -> None:
    if not rates:
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in ("  reads", "median", "slowest", "best", "spread"):
        table.add_column(name, justify="left" if name == "  reads" else "right", no_wrap=True)
    for rate in rates:
        table.add_row(f"  {_WORDS[rate.pattern]}", *_cells(rate))
    if out.fits(table):
        out.draw(table)
    else:
        for rate in rates:
            median, least, best, spread = _cells(rate)
            out.line(
                f"{_WORDS[rate.pattern]}: median {median}, slowest {least}, best {best}, "
                f"spread {spread}",
                indent=2,
            )
    for rate in rates:
        if rate.reason:
            out.line(f"{_WORDS[rate.pattern]}: unknown: {rate.reason}", indent=2)


def _cells(rate: Rate) -> tuple[str, str, str, str]:
    figures = (
        rate.median_bytes_per_second,
        rate.min_bytes_per_second,
        rate.best_bytes_per_second,
    )
    median, least, best = ("?" if figure is None else speed(figure) for figure in figures)
    return median, least, best, "?" if rate.spread_percent is None else f"{rate.spread_percent}%"


def _paste(out: Page, known: Sequence[DirectoryRates]) -> None:
    if not known:
        return
    out.blank()
    if len(known) == 1:
        out.line("Seconds per token, from what it delivers at best:")
        out.paste(f"k3preflight check --bandwidth '{_best(known[0])}'")
        return
    out.line("Seconds per token, each role (checkpoint, trunk) with what its directory delivers:")
    for entry in known:
        out.paste(f"--bandwidth 'ROLE={_best(entry)}'   # {entry.directory}")


def _best(entry: DirectoryRates) -> str:
    """Rounded up, so that what is made of it stays a bound."""
    best = entry.best_bytes_per_second or 0
    unit, size = ("GB", 10**9) if best >= 10**9 else ("MB", 10**6)
    hundredths = ceil_div(best * 100, size)
    return f"{hundredths // 100}.{hundredths % 100:02d} {unit}/s"
