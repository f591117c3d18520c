"""Sentences and names that several formats share."""

from collections import Counter
from collections.abc import Iterable, Iterator

from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Finding, Report
from k3preflight.render import Detail
from k3preflight.units import exact, gb, percent, ram

LOUD = frozenset({Status.WARN, Status.FAIL, Status.UNKNOWN})


def shown(item: Assessment, detail: Detail) -> tuple[Finding, ...]:
    """The findings a person is shown: what is not a pass, or all of them in verbose output."""
    return tuple(
        finding for finding in item.findings if detail is Detail.VERBOSE or finding.status in LOUD
    )


def system(host: Host) -> str:
    """`linux x86_64`, as far as it is known."""
    return " ".join(part for part in (host.system.system, host.system.machine) if part)


def memory(host: Host) -> Iterator[str]:
    """How much memory a process can have here and why that much; then what else bears on it."""
    yield _usable(host)
    facts = host.memory
    for limit in facts.limits:
        if limit != facts.binding and limit.counts != "locked":
            yield f"also limited: {ram(limit.bytes)} by {limit.name}"
    if facts.zfs_arc:
        yield f"not counted: {gb(facts.zfs_arc)} of ZFS cache could be freed"
    if facts.wsl:
        yield "WSL: a share of the RAM, half unless .wslconfig says more"


def _usable(host: Host) -> str:
    facts = host.memory
    if facts.usable is None:
        total = f"; {ram(facts.total)} in all" if facts.total is not None else ""
        return f"unknown: {host.why('memory.usable')}{total}"
    text = f"{ram(facts.usable)} usable, from {facts.usable_from or 'an unnamed source'}"
    if facts.binding and facts.total is not None:
        text += f", of {ram(facts.total)}"
    if facts.available is not None and facts.source == "measured":
        text += f"; {ram(facts.available)} available now"
    return text


def directories(host: Host) -> Iterator[str]:
    """Each directory once, with what decided on it."""
    for path, decided_by in dict.fromkeys(
        (place.path, place.decided_by) for place in host.places if place.follows is None
    ):
        yield f"{path} ({decided_by})"


def volumes(host: Host) -> Iterator[str]:
    """Each volume: where it is mounted, what it is, and what is free on it."""
    for volume in host.volumes:
        parts = ", ".join(part for part in (volume.device, volume.filesystem) if part)
        free = "free space unknown" if volume.free is None else f"{gb(volume.free)} free"
        total = f" of {gb(volume.total)}" if volume.total is not None else ""
        source = ", from --free-disk" if volume.source == "flag" else ""
        where = volume.mount_point or volume.id
        yield (
            f"{where} ({parts}): {free}{total}{source}"
            if parts
            else (f"{where}: {free}{total}{source}")
        )


def experts(report: Report) -> Iterator[str]:
    """How little of each model one token touches."""
    for item in dict.fromkeys(item.experts for item in report.assessments):
        if item.of and item.selected is not None:
            share = percent(100 * item.selected / item.of)
            yield f"Routed experts selected per token: {share} ({item.selected} of {item.of})"


def notes(report: Report) -> Iterator[str]:
    """What was asked for and what became of it: the policy's notes, then each scenario's."""
    yield from report.policy.notes
    for item in report.assessments:
        yield from item.notes


def fits(report: Report) -> str:
    """What the verdict rests on: the rule, and the scenarios that fit."""
    verdict = report.verdict
    rule = (
        "every scenario named must fit" if verdict.rule == "all" else "any way that fits is enough"
    )
    return f"({rule}). Fits: {', '.join(verdict.fits) or 'none of them'}."


def parts(finding: Finding, detail: Detail) -> Iterator[str]:
    """What a finding speaks of and its figures are made of; shown in verbose output alone."""
    if detail is not Detail.VERBOSE:
        return
    if finding.subject:
        yield f"on {finding.subject}"
    yield from budget_parts(finding)


def budget_parts(finding: Finding) -> Iterator[str]:
    """What the figures of a finding are made of: side, bytes, name and where each is from."""
    for item in finding.budget.items if finding.budget else ():
        yield f"{item.side} {_figure(item.bytes)} {item.name}: {item.source}"

    for number in finding.pace.inputs if finding.pace else ():
        yield f"{number.name} {number.value:,} {number.unit}: {number.source}"
    yield from finding.pace.arithmetic if finding.pace else ()


def paces(report: Report, detail: Detail) -> list[tuple[str, str]]:
    """Each scenario's seconds a token in words, where they are known and not shown elsewhere."""
    return [
        (item.scenario, found.message)
        for item in report.assessments
        for found in item.of(CheckId.SPEED_STORAGE)
        if found.pace and found not in shown(item, detail)
    ]


def _figure(size: int) -> str:
    shown_size = gb(size)
    return shown_size if shown_size.endswith(" B") else f"{shown_size} ({exact(size)})"


def caveats(report: Report) -> dict[str, tuple[str, ...]]:
    """The caveats of each profile, once for all its presets."""
    by_profile: dict[str, tuple[str, ...]] = {}
    for item in report.assessments:
        by_profile.setdefault(item.scenario.partition(":")[0], item.caveats)
    return {name: lines for name, lines in by_profile.items() if lines}


def nearest(report: Report) -> str | None:
    """The scenario that fails by least, and why."""
    failing = [item for item in report.verdict.obstacles if item.status is Status.FAIL]
    return f"{failing[0].scenario}: {failing[0].message}" if failing else None


def options(report: Report) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    """What fits, best first: scenario, why and what it costs, and the commands to paste.

    The commands of a profile stand once, with the first of its presets.
    """
    shown_profiles: set[str] = set()
    lines = {
        item.scenario: tuple(command.run for command in item.commands)
        for item in report.assessments
    }
    for option in report.verdict.options:
        costs = [
            f"{gb(size)} of {what}"
            for size, what in ((option.disk, "disk with headroom"), (option.memory, "memory"))
            if size is not None
        ]
        why = f"{option.why}; takes {' and '.join(costs)}" if costs else option.why
        profile = option.scenario.partition(":")[0]
        commands: tuple[str, ...] = ()
        if profile not in shown_profiles:
            shown_profiles.add(profile)
            commands = lines.get(option.scenario, ())
        yield option.scenario, ". ".join((why, *option.time)), commands


def obstacles(report: Report) -> Iterator[str]:
    """Where there is a choice: what stops each of the others, and the least that changes it."""
    if len(once(report)) < 2:  # noqa: PLR2004 - one alone has its findings above
        return
    for item in report.verdict.obstacles:
        more = f" and {item.others} more" if item.others else ""
        stopped = "stopped by" if item.status is Status.FAIL else "cannot be told:"
        yield f"{item.scenario}: {stopped} {item.check}{more}. {item.change or item.message}"


def once(report: Report) -> tuple[Assessment, ...]:
    """Each scenario once, also where two arguments asked for it."""
    return tuple({item.scenario: item for item in report.assessments}.values())


def subjects(findings: Iterable[Finding]) -> Iterator[tuple[str, Finding]]:
    """Each finding with its subject, numbered where one check speaks of one subject twice."""
    seen: Counter[tuple[str, str]] = Counter()
    for finding in findings:
        key = (finding.check.value, finding.subject or "")
        seen[key] += 1
        number = f"({seen[key]})" if seen[key] > 1 else ""
        yield " ".join(part for part in (finding.subject, number) if part), finding
