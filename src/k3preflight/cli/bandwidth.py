"""What the user says volumes deliver, held against the chosen scenarios."""

from collections.abc import Iterable, Sequence

from k3preflight.cli.options import BandwidthOption
from k3preflight.errors import UsageError
from k3preflight.models.scenario import Choice
from k3preflight.models.storage import Bandwidth
from k3preflight.units import speed


def bandwidths(said: Sequence[BandwidthOption], choices: Iterable[Choice]) -> tuple[Bandwidth, ...]:
    """Every --bandwidth as part of the policy.

    Raises:
        UsageError: a role no chosen profile has, or two figures for the same.
    """
    profiles = {
        scenario.profile.name: scenario.profile
        for choice in choices
        for scenario in choice.scenarios
    }
    seen: set[str | None] = set()
    for role, rate in said:
        if role is not None and not any(profile.artifact(role) for profile in profiles.values()):
            raise UsageError(
                f"--bandwidth {role}={speed(rate)}: none of {', '.join(profiles)} has a {role}"
            )
        if role in seen:
            raise UsageError(f"--bandwidth: two figures for {role or 'every volume'}")
        seen.add(role)
    return tuple(Bandwidth(role=role, bytes_per_second=rate) for role, rate in said)
