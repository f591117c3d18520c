"""A report: budgets, findings and assessments of scenarios on one host, and the verdict."""

import math
from collections.abc import Iterable
from typing import Annotated, Literal, Self

from pydantic import Field

from k3preflight.models.base import Bytes, Count, Document, Percent, Text
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Pool, Sizes, Status
from k3preflight.models.pace import Pace
from k3preflight.models.profile import Stage
from k3preflight.models.storage import Bandwidth

SCHEMA_VERSION: Literal[1] = 1

Coverage = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]


class Item(Document):
    """One part of what a budget needs or has, in bytes."""

    side: Literal["need", "have"]
    name: Text
    bytes: Bytes
    source: Text


class Budget(Document):
    """Bytes needed against bytes there. `have` is null where it is unknown, and so is the rest."""

    need: Bytes
    have: Bytes | None
    gap: Bytes | None
    coverage_percent: Coverage | None
    items: tuple[Item, ...] = ()

    @classmethod
    def of(cls, need: int, have: int | None, items: Iterable[Item] = ()) -> Self:
        """The comparison: gap = max(0, need - have), coverage = min(100, 100 x have / need).

        Coverage is 100 exactly where nothing is missing; a gap never rounds up to it.
        """
        if have is None:
            return cls(need=need, have=None, gap=None, coverage_percent=None, items=tuple(items))
        gap = max(0, need - have)
        coverage = 100.0 if gap == 0 else min(100 * have / need, math.nextafter(100, 0))
        return cls(need=need, have=have, gap=gap, coverage_percent=coverage, items=tuple(items))

    @property
    def fits(self) -> bool | None:
        """Whether nothing is missing; None where that is unknown."""
        return None if self.gap is None else self.gap == 0


class Finding(Document):
    """What one check concludes about one subject."""

    check: CheckId
    subject: Text | None = None
    status: Status
    message: Text
    remedy: Text | None = None
    budget: Budget | None = None
    pace: Pace | None = None
    anchor: Text


class NextCommand(Document):
    """A line to paste, with the directories filled in."""

    stage: Stage
    run: Text


class Expert(Document):
    """How sparse the model is: experts selected a token, of how many; null where not known."""

    model: Text
    selected: Count | None
    of: Count | None


class Assessment(Document):
    """One scenario's findings and its status: fail over unknown over warn over pass."""

    scenario: Text
    requested: Text
    title: Text
    status: Status
    mode: Literal["resident", "offload/stream"] | None
    experts: Expert
    findings: tuple[Finding, ...]
    caveats: tuple[Text, ...] = ()
    notes: tuple[Text, ...] = ()
    commands: tuple[NextCommand, ...] = ()

    def of(self, check: CheckId) -> tuple[Finding, ...]:
        """The findings of one check."""
        return tuple(finding for finding in self.findings if finding.check == check)

    @property
    def fits(self) -> bool:
        """A scenario that passes or warns fits."""
        return self.status in {Status.PASS, Status.WARN}


class Policy(Document):
    """What was asked for. Null means the profile's own value."""

    sizes: Sizes = Sizes.EXACT
    headroom_percent: Percent | None = None
    context: Count | None = None
    require_resident: bool = False
    pool: Pool | None = None
    memory: Bytes | None = None
    free_disk: Bytes | None = None
    link: Bytes | None = None
    bandwidth: tuple[Bandwidth, ...] = ()
    max_milliseconds_per_token: Count | None = None
    ignore: tuple[CheckId, ...] = ()
    skip: tuple[CheckId, ...] = ()
    notes: tuple[Text, ...] = ()


class Option(Document):
    """A scenario that fits: why one would take it, and what it costs.

    `disk` (with headroom) and `memory` in bytes, null where they were not judged; `time` says how
    slow a token and how long the download is, where that is known.
    """

    scenario: Text
    why: Text
    disk: Bytes | None
    memory: Bytes | None
    time: tuple[Text, ...] = ()


class Obstacle(Document):
    """A scenario that does not fit, or cannot be told: what stops it, and what would change it."""

    scenario: Text
    check: CheckId
    status: Status
    message: Text
    change: Text | None
    others: Count = 0


class Verdict(Document):
    """The answer, best first. `fits` names the scenarios that pass or warn.

    `options` are the same scenarios with why and what they cost; `obstacles` the others, the
    nearest to fitting first; `advice` what to do where nothing fits.
    """

    rule: Literal["all", "any"]
    status: Literal[Status.PASS, Status.FAIL, Status.UNKNOWN]
    fits: tuple[Text, ...]
    options: tuple[Option, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    advice: tuple[Text, ...] = ()


class Report(Document):
    """One host, judged. `host` is null only where its document was broken.

    `document` names the file, and the line where it has several, that the host was read from;
    `problem` says what is broken about it.
    """

    schema_version: Literal[1] = SCHEMA_VERSION
    tool_version: Text
    host: Host | None
    document: Text | None = None
    problem: Text | None = None
    policy: Policy
    assessments: tuple[Assessment, ...]
    verdict: Verdict

    @property
    def name(self) -> str:
        """What the host calls itself, else the document it was read from."""
        return (self.host and self.host.name) or self.document or "unnamed"
