"""The choice: what fits, best first and why; what does not, and the least that would change it."""

from collections.abc import Iterable, Mapping, Sequence

from k3preflight.assess.verdict import Rule, distance, status_of, stopping
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Finding, Obstacle, Option, Verdict
from k3preflight.models.scenario import Scenario
from k3preflight.units import gb, percent

Scenarios = Mapping[str, Scenario]

# What no disk and no memory can change comes first: it is the one thing that stops a scenario.
_STOPS_FIRST = (CheckId.RUNTIME_PLATFORM, CheckId.RUNTIME_CPU, CheckId.MEMORY_MINIMUM)

NOTHING_FITS = (
    "No way of running it fits this machine: use a hosted API, or machines with several "
    "accelerators whose memory together holds the weights."
)

NAMED_ONLY = (
    "Only what was named was judged: k3preflight check without a name looks at the other ways, "
    "and with --all at every profile."
)


def verdict_of(
    assessments: Sequence[Assessment],
    scenarios: Scenarios,
    *,
    named: bool,
    smaller: Sequence[Assessment] = (),
) -> Verdict:
    """The answer, with the choice it leaves; `smaller` are quants to suggest, largest first."""
    rule: Rule = "all" if named else "any"
    # Once each: NAME:all and NAME:PRESET may both have asked for a scenario.
    judged = {item.scenario: item for item in assessments}.values()
    fitting = sorted(
        (item for item in judged if item.fits), key=lambda item: _rank(item, scenarios)
    )
    missing = sorted((item for item in judged if not item.fits), key=_nearest)
    return Verdict(
        rule=rule,
        status=status_of(assessments, rule),
        fits=tuple(item.scenario for item in fitting),
        options=tuple(_option(item, scenarios[item.scenario]) for item in fitting),
        obstacles=tuple(_obstacle(item) for item in missing),
        advice=() if fitting else _advice(missing, scenarios, smaller, named=named),
    )


def _rank(item: Assessment, scenarios: Scenarios) -> tuple[bool, int, bool, int]:
    """Full weights over quants, larger quants over smaller, a pass over a warning.

    Between presets of one profile the later, which uses more memory, is the faster.
    """
    profile, preset = scenarios[item.scenario]
    return (
        profile.weights != "full",
        -profile.checkpoint.size.bytes,
        item.status is not Status.PASS,
        -profile.presets.index(preset) if preset else 0,
    )


def _option(item: Assessment, scenario: Scenario) -> Option:
    # As judged: the publisher's rounded size where that was asked for.
    weights = _needs(item.of(CheckId.MEMORY_RESIDENCY)) or scenario.profile.checkpoint.size.bytes
    what = (
        "the full weights, nothing lost to quantisation"
        if scenario.profile.weights == "full"
        else f"a quant of {gb(weights)}: its quality is yours to evaluate"
    )
    return Option(
        scenario=item.scenario,
        why=f"{what}; {_residency(item)}",
        disk=_needs(item.of(CheckId.DISK_CAPACITY)),
        memory=_needs(item.of(CheckId.MEMORY_MINIMUM)),
        time=tuple(
            finding.message
            for check in (CheckId.SPEED_STORAGE, CheckId.DOWNLOAD_TIME)
            for finding in item.of(check)
            if finding.status is not Status.SKIP
        ),
    )


def _residency(item: Assessment) -> str:
    for finding in item.of(CheckId.MEMORY_RESIDENCY):
        if finding.budget and finding.budget.coverage_percent is not None:
            if finding.budget.gap == 0:
                return "memory holds all of them"
            share = percent(finding.budget.coverage_percent)
            how = "streams the rest" if finding.status is Status.PASS else "pages the rest, slowly"
            return f"memory holds {share} and {how}"
    return "how much memory holds was not judged"


def _needs(findings: Iterable[Finding]) -> int | None:
    needs = [finding.budget.need for finding in findings if finding.budget]
    return sum(needs) if needs else None


def _nearest(item: Assessment) -> tuple[bool, tuple[int, int]]:
    """What only has to be found out comes before what fails, then what fails by least."""
    return item.status is not Status.UNKNOWN, distance(item)


def _obstacle(item: Assessment) -> Obstacle:
    stops = stopping(item)
    if not stops:  # nothing but skips
        return Obstacle(
            scenario=item.scenario,
            check=CheckId.DISK_CAPACITY,
            status=Status.UNKNOWN,
            message="nothing was judged: every check was left out",
            change="Leave fewer checks out with --skip.",
        )
    first = min(stops, key=lambda found: (found.check not in _STOPS_FIRST, stops.index(found)))
    return Obstacle(
        scenario=item.scenario,
        check=first.check,
        status=first.status,
        message=first.message,
        change=first.remedy,
        others=len(stops) - 1,
    )


def _advice(
    missing: Sequence[Assessment],
    scenarios: Scenarios,
    smaller: Sequence[Assessment],
    *,
    named: bool,
) -> tuple[str, ...]:
    """Where nothing fits: a smaller quant that does, or may, or only just does not; the way out.

    A smaller quant is suggested, never put in another's place. Of what nobody looked at nothing is
    said: where scenarios were named, others may fit.
    """
    if not missing or any(item.status is not Status.FAIL for item in missing):
        return ()  # something may yet fit: the obstacles say what to find out
    quants = [item for item in missing if scenarios[item.scenario].profile.weights == "quant"]
    by_size = sorted(
        quants, key=lambda item: -scenarios[item.scenario].profile.checkpoint.size.bytes
    )
    candidates = [*by_size, *smaller]
    for item in candidates:
        if item.fits:
            return (f"A smaller quant fits: k3preflight check {item.scenario}",)
    for item in candidates:
        if item.status is Status.UNKNOWN:
            name, reason = item.scenario, stopping(item)[0].message
            may = f"A smaller quant may fit, but it cannot be told: {name}: {reason}. "
            return (f"{may}k3preflight check {name}", NAMED_ONLY if named else NOTHING_FITS)
    if named:
        return (NAMED_ONLY,)
    if not candidates:
        return (NOTHING_FITS,)
    smallest = candidates[-1]
    return (
        f"The smallest quant is {smallest.scenario}: {_obstacle(smallest).message}.",
        NOTHING_FITS,
    )
