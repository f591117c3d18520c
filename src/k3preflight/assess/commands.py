"""The commands to paste next: the profile's own lines with this host's directories filled in."""

import re
import shlex
from collections.abc import Iterator

from k3preflight.assess.case import Case
from k3preflight.assess.layout import REST, lay
from k3preflight.assess.runtime import builds_for_gpu
from k3preflight.models.disk import Place
from k3preflight.models.names import Role
from k3preflight.models.profile import Command
from k3preflight.models.report import NextCommand

_FIELD = re.compile(r"\{(checkpoint|checkpoints|files|trunk|preset|context)\}")
_SPELLED_BYTE = re.compile(r"\\x[0-9a-f]{2}")


def next_commands(case: Case) -> tuple[NextCommand, ...]:
    """Build and test first, as a build that fails costs minutes; then download, then run."""
    kind, gpu = _kind(case), builds_for_gpu(case)
    return tuple(
        NextCommand(stage=line.stage, run=run)
        for line in case.scenario.profile.commands
        if line.place in {None, kind} and line.gpu in {None, gpu}
        for run in _runs(case, line)
    )


def _kind(case: Case) -> str:
    """Whether a directory was named, several were, or the client's own cache is used."""
    places = case.host.places_of(case.scenario.profile.name, Role.CHECKPOINT)
    if len(places) > 1:
        return "spread"
    return "cache" if places and places[0].own_cache else "named"


def _runs(case: Case, line: Command) -> Iterator[str]:
    """The line filled in; one that names `{files}` once for each directory that gets some."""
    if "{files}" not in line.run:
        yield filled(case, line.run)
        return
    seen = set[str]()
    for shares in lay(case).shares.values():
        for share in shares:
            names = [name for name in share.files if name != REST]
            place = share.places[0]
            if names and place.path not in seen:
                seen.add(place.path)
                yield filled(case, line.run, place, names)


def filled(
    case: Case, text: str, place: Place | None = None, files: list[str] | None = None
) -> str:
    """`text` with the scenario's directories and numbers in the place of its fields."""
    scenario = case.scenario
    values = {
        "context": str(case.context),
        "preset": scenario.preset.name if scenario.preset else "",
        "files": " ".join(map(quoted, files or ())),
    }
    for role in Role:
        places = case.host.places_of(scenario.profile.name, role)
        values[role] = quoted(places[0].path) if places else f"{role.upper()}_DIR"
        if role is Role.CHECKPOINT:
            values["checkpoints"] = quoted(",".join(item.path for item in places))
    if place is not None:
        values[place.role] = quoted(place.path)
    return _FIELD.sub(lambda match: values[match[1]], text)


def quoted(path: str) -> str:
    """`path` quoted for a POSIX shell; bytes a document spells out are spelled for bash too."""
    if _SPELLED_BYTE.search(path):
        return "$'" + path.replace("'", r"\'") + "'"
    return shlex.quote(path)
