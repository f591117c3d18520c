"""The commands to paste next: the profile's own lines with this host's directories filled in."""

import re
import shlex

from k3preflight.assess.case import Case
from k3preflight.assess.runtime import builds_for_gpu
from k3preflight.models.names import Role
from k3preflight.models.report import NextCommand

_FIELD = re.compile(r"\{(checkpoint|trunk|preset|context)\}")
_SPELLED_BYTE = re.compile(r"\\x[0-9a-f]{2}")


def next_commands(case: Case) -> tuple[NextCommand, ...]:
    """Build and test first, as a build that fails costs minutes; then download, then run."""
    scenario = case.scenario
    values = {
        "context": str(case.context),
        "preset": scenario.preset.name if scenario.preset else "",
    }
    for role in Role:
        places = case.host.places_of(scenario.profile.name, role)
        values[role] = quoted(places[0].path) if places else f"{role.upper()}_DIR"
    gpu = builds_for_gpu(case)
    return tuple(
        NextCommand(stage=line.stage, run=_FIELD.sub(lambda match: values[match[1]], line.run))
        for line in scenario.profile.commands
        if line.place in {None, "named"} and line.gpu in {None, gpu}
    )


def quoted(path: str) -> str:
    """`path` quoted for a POSIX shell; bytes a document spells out are spelled for bash too."""
    if _SPELLED_BYTE.search(path):
        return "$'" + path.replace("'", r"\'") + "'"
    return shlex.quote(path)
