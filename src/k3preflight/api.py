"""For other tooling: facts, judgement and report without the command line. These names stay.

    >>> from k3preflight.api import Policy, assess, load_profiles, probe
    >>> host = probe("rabbit", directory="/data/k3")
    >>> report = assess(host, "rabbit", policy=Policy(headroom_percent=10))
    >>> report.verdict.status, report.verdict.fits
    >>> print(report.model_dump_json(indent=2))

What is wrong with an argument or a file is a `UsageError`: message, hint, and the exit code the
command would end in. Sizes are whole bytes. What the checks cannot read is None, never zero.
"""

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path

from k3preflight import assess as _assess
from k3preflight import probe as _probe
from k3preflight.cli.options import PlaceOption
from k3preflight.cli.wanted import wanted
from k3preflight.errors import UsageError
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Role, Status
from k3preflight.models.profile import Profile
from k3preflight.models.report import Policy, Report
from k3preflight.profiles import catalog, choose, read_profile, refuse_context

__all__ = [
    "CheckId",
    "Host",
    "Policy",
    "Profile",
    "Report",
    "Role",
    "Status",
    "UsageError",
    "assess",
    "load_profiles",
    "probe",
]

PathLikeText = str | PathLike[str]


def load_profiles(profile_files: Iterable[PathLikeText] = ()) -> dict[str, Profile]:
    """Every profile by name: those that come with the tool, and your own, which win.

    Raises:
        UsageError: a file cannot be read or is no profile.
    """
    return {name: read_profile(path) for name, path in _catalog(profile_files).items()}


def probe(
    *scenarios: str,
    directory: PathLikeText | None = None,
    places: Mapping[Role, Sequence[PathLikeText]] | None = None,
    profile_files: Iterable[PathLikeText] = (),
) -> Host:
    """This machine's facts for the named scenarios, or for the default check where none is named.

    Args:
        scenarios: NAME, NAME:PRESET, NAME:all or NAME:largest.
        directory: the directory handed to the runtime; else where its download client puts things.
        places: directories of single roles; several for a role that may be spread.
        profile_files: profiles of your own.

    Raises:
        UsageError: an unknown scenario, or a place none of them can use.
    """
    choices = choose(scenarios, _catalog(profile_files))
    options = [
        PlaceOption(role, fspath(path)) for role, paths in (places or {}).items() for path in paths
    ]
    home = None if directory is None else fspath(directory)
    return _probe.probe(wanted(choices, home, options))


def assess(
    host: Host,
    *scenarios: str,
    policy: Policy | None = None,
    profile_files: Iterable[PathLikeText] = (),
) -> Report:
    """Judge the named scenarios on `host`, all of which must fit; with none, any of the default.

    Args:
        host: from probe(), or Host.model_validate_json() of a document from any machine.
        scenarios: NAME, NAME:PRESET, NAME:all or NAME:largest.
        policy: headroom, context, what-if sizes, and checks to ignore or skip.
        profile_files: profiles of your own.

    Raises:
        UsageError: an unknown scenario, or a context one of them cannot take.
    """
    choices = choose(scenarios, _catalog(profile_files))
    policy = policy or Policy()
    if policy.context is not None:
        refuse_context(policy.context, choices)
    return _assess.assess(choices, host, policy, named=bool(scenarios))


def _catalog(profile_files: Iterable[PathLikeText]) -> Mapping[str, Path]:
    return catalog([Path(path) for path in profile_files])
