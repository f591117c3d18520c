"""Judges a host against scenarios: pure checks, one report. No I/O, no clock."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from k3preflight import __version__
from k3preflight.assess import (
    capacity,
    download,
    memory,
    places,
    residency,
    runtime,
    speed,
    volumes,
)
from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.choice import verdict_of
from k3preflight.assess.commands import next_commands
from k3preflight.assess.largest import largest
from k3preflight.assess.verdict import worst
from k3preflight.assess.whatif import what_if
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Assessment, Expert, Finding, Policy, Report
from k3preflight.models.scenario import Choice, Scenario


class Check(NamedTuple):
    """A check's id, which is API, and the function that judges it."""

    id: CheckId
    judge: Callable[[Case], Iterable[Outcome]]

    @property
    def summary(self) -> str:
        """What it decides: the first line of the function's docstring."""
        return (self.judge.__doc__ or "").partition("\n")[0]

    @property
    def anchor(self) -> str:
        """Where the README speaks of it."""
        return f"README.md#{self.id.replace('.', '-')}"


CHECKS = (
    Check(CheckId.DISK_CAPACITY, capacity.capacity),
    Check(CheckId.DISK_PATH, places.path),
    Check(CheckId.DISK_WRITABLE, places.writable),
    Check(CheckId.DISK_FILESYSTEM, volumes.filesystem),
    Check(CheckId.DISK_FILE_SIZE, volumes.file_size),
    Check(CheckId.DISK_INODES, volumes.inodes),
    Check(CheckId.DOWNLOAD_PRESENT, download.present),
    Check(CheckId.DOWNLOAD_CLIENT, download.client),
    Check(CheckId.DOWNLOAD_TIME, download.time),
    Check(CheckId.MEMORY_MINIMUM, memory.minimum),
    Check(CheckId.MEMORY_RECOMMENDED, memory.recommended),
    Check(CheckId.MEMORY_RESIDENCY, residency.residency),
    Check(CheckId.RUNTIME_PLATFORM, runtime.platform),
    Check(CheckId.RUNTIME_CPU, runtime.cpu),
    Check(CheckId.RUNTIME_TOOLS, runtime.tools),
    Check(CheckId.RUNTIME_GPU, runtime.gpu),
    Check(CheckId.SPEED_STORAGE, speed.storage),
)


def assess(
    choices: Sequence[Choice],
    host: Host,
    policy: Policy,
    *,
    named: bool = True,
    others: Sequence[Scenario] = (),
) -> Report:
    """Judge every chosen scenario on `host`.

    `named` says whether the user named the scenarios (all must fit) or not (any may). `others` were
    not chosen: where nothing fits, the verdict's advice may name a smaller quant among them.
    """
    scenarios = [scenario for choice in choices for scenario in choice.scenarios]
    host, policy = what_if(host, policy, scenarios)
    assessments: list[Assessment] = []
    for choice in choices:
        if choice.rule == "largest":
            item, note = largest(choice, host, policy)
            assessments.append(_assessment(Case(item, host, policy), choice.requested, (note,)))
        else:
            assessments += [
                _assessment(Case(item, host, policy), choice.requested) for item in choice.scenarios
            ]
    return Report(
        tool_version=__version__,
        host=host,
        policy=policy,
        assessments=tuple(assessments),
        verdict=verdict_of(
            assessments,
            {scenario.name: scenario for scenario in scenarios},
            named=named,
            smaller=_smaller(others, scenarios, host, policy),
        ),
    )


def too_small(report: Report) -> bool:
    """Whether a volume is: then other local volumes are worth a look."""
    return any(
        finding.status is Status.FAIL
        for item in report.assessments
        for finding in item.of(CheckId.DISK_CAPACITY)
    )


def _smaller(
    others: Iterable[Scenario], chosen: Iterable[Scenario], host: Host, policy: Policy
) -> list[Assessment]:
    """Quants smaller than the chosen one of their repository, judged where that would be.

    Largest first. What is already there is not theirs, and is not credited.
    """
    homes = {item.profile.checkpoint.repository: item.profile for item in chosen}
    found = []
    for item in sorted(others, key=lambda one: -one.profile.checkpoint.size.bytes):
        larger, name = homes.get(item.profile.checkpoint.repository), item.profile.name
        if larger is None or item.profile.checkpoint.size.bytes >= larger.checkpoint.size.bytes:
            continue
        home = larger.name
        borrowed = tuple(
            place.model_copy(update={"profile": name, "presence": None})
            for place in host.places_of(home)
        )
        there = host.model_copy(
            update={
                "places": (*host.places, *borrowed),
                "profiles": (*host.profiles, name) if home in host.profiles else host.profiles,
            }
        )
        found.append(_assessment(Case(item, there, policy), name))
    return found


def _assessment(case: Case, requested: str, notes: tuple[str, ...] = ()) -> Assessment:
    profile = case.scenario.profile
    findings = tuple(
        Finding(check=check.id, anchor=check.anchor, **outcome._asdict())
        for check in CHECKS
        for outcome in _judged(check, case)
    )
    gap = residency.residency_of(case).gap
    return Assessment(
        scenario=case.scenario.name,
        requested=requested,
        title=profile.title,
        status=worst(finding.status for finding in findings),
        mode=None if gap is None else "offload/stream" if gap else "resident",
        experts=Expert(
            model=profile.model.name,
            selected=profile.model.experts_per_token,
            of=profile.model.experts,
        ),
        findings=findings,
        caveats=profile.caveats,
        notes=notes,
        commands=next_commands(case),
    )


def _judged(check: Check, case: Case) -> Iterable[Outcome]:
    """The check's outcomes, as the policy's --skip and --ignore let them count."""
    if check.id in case.policy.skip:
        return [Outcome(Status.SKIP, "left out with --skip")]
    if not _probed(check, case):
        name = case.scenario.profile.name
        return [
            Outcome(
                Status.UNKNOWN,
                f"this host was not probed for {name}",
                f"Probe it again: k3preflight probe {name}",
            )
        ]
    outcomes = check.judge(case)
    if check.id not in case.policy.ignore:
        return outcomes
    return [
        outcome._replace(
            status=Status.WARN, message=f"ignored ({outcome.status}): {outcome.message}"
        )
        if outcome.status in {Status.FAIL, Status.UNKNOWN}
        else outcome
        for outcome in outcomes
    ]


def _probed(check: Check, case: Case) -> bool:
    """Memory is a fact of the host alone; the rest is looked at for one profile."""
    if check.id.startswith(("memory.", "speed.")):
        return True
    if check.id.startswith(("disk.", "download.")) and case.policy.free_disk is not None:
        return True
    return case.scenario.profile.name in case.host.profiles
