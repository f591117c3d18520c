"""`k3preflight verify`: after a download, is every file there and whole?"""

from typing import Annotated

import typer

from k3preflight.cli import options
from k3preflight.cli.out import screen, write_stdout
from k3preflight.errors import Exit, UsageError


def verify(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="NAME or NAME:PRESET, as for check.")
    ],
    directory: options.Directory = None,
    places: options.Places = None,
    profile_files: options.ProfileFiles = None,
    sha256: Annotated[
        bool,
        typer.Option(
            "--sha256",
            help="Also read every file and compare digests: the profile's, or those the Hub client "
            "left beside the files.",
        ),
    ] = False,
    debug: options.Debug = False,
) -> int:
    """Say whether every file is there and of its exact size, and name those that are not.

    Exits 0 when all are, 1 when one is missing or broken, 3 when the place cannot be looked at.
    """
    del debug
    from k3preflight.cli.verifying import digests, inventory  # noqa: PLC0415 - pydantic, psutil
    from k3preflight.cli.wanted import wanted  # noqa: PLC0415 - pydantic
    from k3preflight.probe.disk import probe_disk  # noqa: PLC0415 - psutil
    from k3preflight.profiles import catalog, choose  # noqa: PLC0415 - pydantic
    from k3preflight.render.verify import page  # noqa: PLC0415 - rich

    (choice,) = choose([scenario], catalog(profile_files or ()))
    if choice.rule != "one":
        raise UsageError(
            f"{scenario}: every preset uses the same files", "Name one, or the profile alone."
        )
    profile = choice.scenarios[0].profile
    found = inventory(profile, probe_disk(wanted([choice], directory, places or ())))
    if sha256:
        found = tuple(digests(part) for part in found)
    write_stdout(page(profile.name, found, screen(), digests=sha256))
    return Exit.PASS if all(part.whole for part in found) else Exit.FAIL
