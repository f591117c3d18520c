"""`k3preflight profiles`: list, show and validate the ways of running the model."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from k3preflight.cli import options
from k3preflight.cli.out import complain, screen, write_stdout
from k3preflight.errors import Exit, UsageError

app = typer.Typer(
    help="List, show and validate the ways of running the model.",
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
