"""`k3preflight profiles`: list, show, validate, renew and make the ways of running the model."""

import shlex
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from k3preflight.cli import options
from k3preflight.cli.out import (
    complain,
    refuse_existing,
    screen,
    write_file,
    write_new_file,
    write_stdout,
)
from k3preflight.errors import Exit, UsageError
from k3preflight.units import gb

app = typer.Typer(
    help="The ways of running the model: list, show, validate, refresh, new.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


class ShowFormat(StrEnum):
    """How a profile is shown."""

    TEXT = "text"
    JSON = "json"


@app.command("list")
def list_profiles(profile_files: options.ProfileFiles = None) -> int:
    """List the profiles, their presets and what they download."""
    from k3preflight.profiles import catalog, read_profile  # noqa: PLC0415 - pydantic
    from k3preflight.render.profile import profile_list  # noqa: PLC0415 - rich

    profiles = [read_profile(path) for path in catalog(profile_files or ()).values()]
    write_stdout(profile_list(profiles, screen()))
    return Exit.PASS


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A profile's name.")],
    profile_files: options.ProfileFiles = None,
    form: Annotated[ShowFormat, typer.Option("--format", help="Text or JSON.")] = ShowFormat.TEXT,
) -> int:
    """Show one profile: every figure with where it was published."""
    from k3preflight.profiles import catalog, choose  # noqa: PLC0415 - pydantic

    profile = choose([name], catalog(profile_files or ()))[0].scenarios[0].profile
    if form is ShowFormat.JSON:
        write_stdout(profile.model_dump_json(indent=2) + "\n")
    else:
        from k3preflight.render.profile import profile_page  # noqa: PLC0415 - rich

        write_stdout(profile_page(profile, screen()))
    return Exit.PASS


@app.command("validate")
def validate(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Profile files.")],
) -> int:
    """Check profile files against the format; exits 2 when one is refused."""
    from k3preflight.profiles import read_profile  # noqa: PLC0415 - pydantic

    refused = 0
    for path in files:
        try:
            profile = read_profile(path)
        except UsageError as error:
            complain(error.message)
            refused += 1
        else:
            write_stdout(f"{path}: valid, profile {profile.name}\n")
    if refused:
        raise UsageError(
            f"{refused} of {len(files)} profile files refused",
            "The format: k3preflight schema profile",
        )
    return Exit.PASS


Revision = Annotated[
    str | None,
    typer.Option(metavar="REVISION", help="A branch, tag or commit. [default: the newest]"),
]


@app.command("refresh")
def refresh(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A profile's name.")],
    revision: Revision = None,
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the updated profile there.")
    ] = None,
    profile_files: options.ProfileFiles = None,
    debug: options.Debug = False,
) -> int:
    """Compare a profile with the Hub's file list, and print what differs as a patch."""
    del debug
    from k3preflight.hub import require_extra  # noqa: PLC0415 - an extra

    require_extra()
    from k3preflight.hub.client import fetch  # noqa: PLC0415
    from k3preflight.hub.listing import repository_name  # noqa: PLC0415
    from k3preflight.hub.refresh import refreshable, refreshed, summary  # noqa: PLC0415
    from k3preflight.profiles import catalog, choose  # noqa: PLC0415 - pydantic

    known = catalog(profile_files or ())
    profile = choose([name], known)[0].scenarios[0].profile
    listing = fetch(repository_name(refreshable(profile)), revision)
    text = known[profile.name].read_text(encoding="utf-8")
    result = refreshed(profile, text, listing, _today())
    write_stdout(summary(profile, text, result, listing))
    if write is not None:
        write_file(write, result.text, "--write")
    return Exit.PASS


@app.command("new")
def new(
    source: Annotated[
        str,
        typer.Argument(
            metavar="REPO[:QUANT]", help="A repository of the Hub, and one of its quants."
        ),
    ],
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="FILE", help="The profile; its name is the file's."),
    ],
    revision: Revision = None,
    debug: options.Debug = False,
) -> int:
    """Make a profile for any repository with safetensors or GGUF files."""
    del debug
    from k3preflight.hub import require_extra  # noqa: PLC0415 - an extra

    require_extra()
    from k3preflight.hub.client import fetch  # noqa: PLC0415
    from k3preflight.hub.listing import chosen, repository_name  # noqa: PLC0415
    from k3preflight.hub.new import new_profile  # noqa: PLC0415
    from k3preflight.profiles import refuse_name  # noqa: PLC0415 - pydantic

    refuse_name(output)
    refuse_existing(output)
    repository, colon, quant = source.partition(":")
    if colon and not quant:
        raise UsageError(f"{source}: no quant after the colon", f"Write {repository}:QUANT.")
    listing = fetch(repository_name(repository), revision)
    selection = chosen(listing, quant or None)
    write_new_file(output, new_profile(listing, selection, source, _today()))
    write_stdout(
        f"{output}: {len(selection.files)} files, {gb(selection.bytes)}, "
        f"{listing.repository} at {listing.commit}\n"
        "Fill in what FILL IN marks, then: "
        f"k3preflight check {output.stem} --profile-file {shlex.quote(str(output))}\n"
    )
    return Exit.PASS


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
