"""What one token reads and how long that takes: the formulas, over plain integers.

Bytes, bytes a second and milliseconds are whole, and a cache's hits become parts in a million as
soon as they are known, so no float is ever compared.

    io     = max over volumes of (bytes read from it / its bandwidth)
    time   = max(io, c) + (1 - w) x min(io, c)     c = computing, w = overlap
    bound  = io(fewest bytes, 1.1 x the best window of any access pattern), no computing

Dense weights are scanned in a cycle, so only what is pinned is saved. Experts are saved by the hit
rate of their cache; one of C tokens' worth hits 1 - b x C^((b-1)/b), as n positions in a row touch
n^b tokens' worth of distinct experts.
"""

import math
from typing import Literal, NamedTuple

from k3preflight.models.profile import Traffic

Kind = Literal["sequential", "random"]  # how dense weights and experts are read
End = Literal["low", "mid", "high"]  # of an estimate, in seconds

PPM = 10**6
REUSE: dict[End, float] = {"low": 0.70, "mid": 0.75, "high": 0.80}  # b
REUSE_AT_MOST = 0.60  # b no published run goes under
MOST_HITS_UNDER_ONE_TOKEN = 0.70
NO_CLAIM = 8  # tokens' worth of cache beyond which no hit rate is claimed


class Setting(NamedTuple):
    """How a runtime is set on a host, in bytes.

    `page` is the memory the page cache may have; None where reads bypass it. `selected` experts a
    layer and token, `slots` cached experts a layer where the runtime counts so.
    """

    traffic: Traffic
    selected: int | None
    pinned: int = 0
    cache: int = 0
    slots: int | None = None
    page: int | None = None

    @property
    def tokens_cached(self) -> float:
        """C: how many tokens' worth of experts the runtime's own cache holds."""
        if self.slots is not None and self.selected:
            return self.slots / self.selected
        return self.cache / self.traffic.experts_per_token.bytes

    @property
    def tokens_paged(self) -> float:
        """C of the page cache; 0 where reads bypass it."""
        return (self.page or 0) / self.traffic.experts_per_token.bytes

    @property
    def all_paged(self) -> bool:
        """Whether dense weights and experts compete for one page cache."""
        return self.page is not None and _share_pages(self.traffic)


class Reads(NamedTuple):
    """Bytes read. `saved` of them, dense or experts, may come from the page cache instead."""

    dense: int
    experts: int
    saved: int = 0

    @property
    def total(self) -> int:
        """Bytes that reach the device."""
        return max(0, self.dense + self.experts - self.saved)


class Rates(NamedTuple):
    """Bytes a second of one access pattern."""

    best: int
    median: int
    minimum: int

    def at(self, end: End) -> int:
        """The rate at one end of an estimate: the best makes it low."""
        return {"low": self.best, "mid": self.median, "high": self.minimum}[end]


class Drive(NamedTuple):
    """Volumes that share their work: one, or those a role is spread over, their rates added.

    `best` is the most it gives by any pattern; 0 where nobody measured it.
    """

    name: str
    holds: tuple[Kind, ...]
    best: int
    sequential: Rates
    random: Rates


def law(tokens: float, reuse: float) -> float:
    """Hits of a global LRU cache of `tokens` tokens' worth, at least one."""
    return 1 - reuse * math.pow(tokens, (reuse - 1) / reuse)


def fewest_reads(setting: Setting) -> Reads:
    """What one token must read at least, the caches granted all they could hold."""
    dense, experts = _streamed(setting), setting.traffic.experts_per_token.bytes
    if setting.all_paged:
        return Reads(dense, experts, saved=setting.page or 0)
    hits = _most_hits(setting)
    return Reads(dense, experts * (PPM - math.ceil(hits * PPM)) // PPM)


def granted(setting: Setting) -> float:
    """How many tokens' worth of expert cache the bound grants."""
    return setting.tokens_cached + setting.tokens_paged


def likely_reads(setting: Setting, end: End) -> Reads:
    """What one token reads, at one end of the estimate: `low` seconds read the fewest bytes."""
    dense, every = _streamed(setting), setting.traffic.experts_per_token.bytes
    if setting.all_paged:
        return Reads(dense, every, saved=_saved(dense + every, setting.page or 0, end))
    cold = every * (PPM - round(_own_hits(setting, end) * PPM)) // PPM
    if setting.page is None:
        return Reads(dense, cold)
    warm = every * (PPM - round(_page_hits(setting, end) * PPM)) // PPM
    return Reads(dense, cold - _saved(cold, max(0, cold - warm), end))


def io_ms(reads: Reads, drives: tuple[Drive, ...]) -> int:
    """The bound in milliseconds: the slowest drive at 1.1 x its best. Unmeasured ones take none."""
    times = [
        max(0, _on(drive, reads) - reads.saved) * 10_000 // (11 * drive.best)
        for drive in drives
        if drive.best
    ]
    return max(times, default=0)


def likely_io_ms(reads: Reads, drives: tuple[Drive, ...], end: End) -> int:
    """Milliseconds of reading at one end of the estimate: each pattern at its own rate."""
    asked = reads.dense + reads.experts
    times = [
        sum(
            _of(kind, reads)
            * 1000
            // (drive.sequential if kind == "sequential" else drive.random).at(end)
            for kind in drive.holds
        )
        for drive in drives
    ]
    return max(times, default=0) * reads.total // asked if asked else 0


def token_ms(io: int, compute: int, overlap_percent: int) -> int:
    """max(io, c) + (1 - w) x min(io, c), in milliseconds."""
    return max(io, compute) + (100 - overlap_percent) * min(io, compute) // 100


def overlap(traffic: Traffic, end: End) -> int:
    """The percent of the shorter hidden behind the longer: most of it makes the estimate low."""
    return {
        "low": traffic.overlap_high,
        "mid": traffic.overlap_mid,
        "high": traffic.overlap_low,
    }[end]


def _streamed(setting: Setting) -> int:
    return max(0, setting.traffic.dense_stream.bytes - setting.pinned)


def _most_hits(setting: Setting) -> float:
    tokens = granted(setting)
    exact = setting.traffic.cache_policy == "lru-global" and setting.page is None
    if tokens < 1:  # under one token's worth, a global LRU drops every expert before its next use
        return 0.0 if exact else min(tokens, MOST_HITS_UNDER_ONE_TOKEN)
    if tokens < NO_CLAIM:
        return max(MOST_HITS_UNDER_ONE_TOKEN, law(tokens, REUSE_AT_MOST))
    return 1.0


def _own_hits(setting: Setting, end: End) -> float:
    tokens = setting.tokens_cached
    if setting.slots is not None and tokens < 1:
        return 0.27 * math.pow(tokens, 3.5)  # fitted to published hit rates of few slots a layer
    return 0.0 if tokens < 1 else law(tokens, REUSE[end])


def _page_hits(setting: Setting, end: End) -> float:
    tokens = setting.tokens_paged
    return min(tokens, 1 - REUSE[end]) if tokens < 1 else law(tokens, REUSE[end])


def _saved(asked: int, most: int, end: End) -> int:
    """Of `asked` bytes the page cache serves all it can, nothing, or their geometric mean."""
    most = min(asked, most)
    if end == "low":
        return most
    return 0 if end == "high" else asked - math.isqrt(asked * (asked - most))


def _of(kind: Kind, reads: Reads) -> int:
    return reads.dense if kind == "sequential" else reads.experts


def _on(drive: Drive, reads: Reads) -> int:
    return sum(_of(kind, reads) for kind in drive.holds)


def left_for_pages(setting: Setting, usable: int) -> int:
    """Of `usable` bytes of memory what the page cache may have, beside what the runtime holds.

    Where dense weights go through it too, the runtime's own cache counts as part of it.
    """
    resident = setting.traffic.resident.bytes if setting.traffic.resident else 0
    if _share_pages(setting.traffic):
        return max(0, usable - resident)
    own = int(setting.tokens_cached * setting.traffic.experts_per_token.bytes)
    return max(0, usable - resident - own)


def _share_pages(traffic: Traffic) -> bool:
    return traffic.dense_stream.bytes > 0 or traffic.cache_policy == "page-cache"
