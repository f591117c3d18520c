"""What bench and `probe --bench` share: which directories, the progress, the document."""

import json
import os
from collections.abc import Sequence

from k3preflight.cli.out import SCHEMA_VERSION
from k3preflight.errors import UsageError
from k3preflight.models.host import Host
from k3preflight.models.storage import Storage
from k3preflight.probe.storage import Step, probe_storage, why_not
from k3preflight.render.progress import steps


def measured(directories: Sequence[str], *, refuse: bool = False) -> Storage:
    """Each directory once, with progress on a terminal.

    Raises:
        UsageError: `refuse` is set, and one is not there, is a file, or cannot be measured.
    """
    once = {os.path.realpath(directory): directory for directory in reversed(directories)}
    named = list(reversed(once.values()))
    for directory in named if refuse else ():
        reason = why_not(directory)
        if reason:
            raise UsageError(
                f"bench {directory}: {reason}", "Name a directory this user can write to."
            )
    with steps() as show:

        def tell(step: Step) -> None:
            show(*step)

        return probe_storage(named, tell)


def document(found: Storage) -> str:
    """The measurements as one JSON document."""
    return (
        json.dumps({"schema_version": SCHEMA_VERSION} | found.model_dump(mode="json"), indent=2)
        + "\n"
    )


def with_bench(host: Host) -> Host:
    """The host with every volume of its places measured, each once."""
    where: dict[str, str] = {}
    for place in host.places:
        if place.volume and place.measured and (place.exists or place.volume not in where):
            where.setdefault(place.volume, place.measured)
    found = measured(list(where.values()))
    volumes = {os.path.realpath(path): volume for volume, path in where.items()}
    return host.model_copy(
        update={
            "storage": found.model_copy(
                update={
                    "directories": tuple(
                        entry.model_copy(
                            update={"volume": volumes[os.path.realpath(entry.directory)]}
                        )
                        for entry in found.directories
                    )
                }
            )
        }
    )
