"""Options that several commands share, and the one place that turns their text into values."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, NamedTuple, TypeVar

import typer

from k3preflight.errors import UsageError
from k3preflight.models.names import RESERVED_PRESETS, CheckId, Role
from k3preflight.render import Detail, Format
from k3preflight.units import Size, Speed, parse_percent, parse_seconds

T = TypeVar("T")


class PlaceOption(NamedTuple):
    """One `--place ROLE=PATH`."""

    role: Role
    path: str


class BandwidthOption(NamedTuple):
    """One `--bandwidth [ROLE=]SPEED`, in bytes a second."""

    role: Role | None
    bytes_per_second: int


class CheckList(NamedTuple):
    """One `--skip` or `--ignore`, which may name several checks."""

    ids: tuple[CheckId, ...]


class OutputOption(NamedTuple):
    """One `--output [FORMAT=]FILE`; without a format it takes that of stdout."""

    form: Format | None
    path: Path


def _parser(parse: Callable[[str], T]) -> Callable[[str], T]:
    """`parse` for Typer: its message, with the option named in front."""

    def parsed(text: str) -> T:
        try:
            return parse(text)
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error

    return parsed


def _check_ids(text: str) -> CheckList:
    known = [check.value for check in CheckId]
    for name in text.split(","):
        if name not in known:
            raise ValueError(f"{name!r} is not a check; k3preflight checks lists them")
    return CheckList(tuple(CheckId(name) for name in text.split(",")))


def _role_path(text: str) -> PlaceOption:
    role, equals, path = text.partition("=")
    if not equals or not path:
        raise ValueError(f"{text!r} is not ROLE=PATH, such as trunk=/fast/trunk")
    return PlaceOption(_role(role), path)


def _role_speed(text: str) -> BandwidthOption:
    role, equals, amount = text.partition("=")
    if not equals:
        return BandwidthOption(None, Speed.parse(text))
    return BandwidthOption(_role(role), Speed.parse(amount))


def _role(text: str) -> Role:
    roles = [known.value for known in Role]
    if text not in roles:
        raise ValueError(f"{text!r} is not a role; known: {', '.join(roles)}")
    return Role(text)


def _output(text: str) -> OutputOption:
    """FORMAT=FILE where the part before the first `=` is a format; else all of it is the file."""
    name, equals, rest = text.partition("=")
    known = bool(equals) and name in {form.value for form in Format}
    path = rest if known else text
    if not path:
        raise ValueError(f"{text!r} names no file; write FILE or FORMAT=FILE")
    return OutputOption(Format(name) if known else None, Path(path))


def _scenarios(incomplete: str) -> list[str]:
    """What the shell offers: profiles, and behind a colon their presets.

    Typer's completion for bash offers nothing behind a colon; zsh and fish do.
    """
    from k3preflight.profiles import catalog, read_profile  # noqa: PLC0415 - pydantic

    known = catalog()
    name, colon, _ = incomplete.partition(":")
    offered = list(known)
    if colon and name in known:
        presets = [preset.name for preset in read_profile(known[name]).presets]
        offered = [f"{name}:{preset}" for preset in (*presets, *sorted(RESERVED_PRESETS))]
        offered = offered if presets else []
    return [offer for offer in offered if offer.startswith(incomplete)]


Scenarios = Annotated[
    list[str] | None,
    typer.Argument(
        autocompletion=_scenarios,
        metavar="SCENARIO",
        help="NAME, NAME:PRESET, NAME:all or NAME:largest; with none, every profile of the default "
        "check, any of which may fit.",
    ),
]
Every = Annotated[bool, typer.Option("--all", help="Every profile there is, any of which may fit.")]
Directory = Annotated[
    str | None,
    typer.Option(
        "--dir",
        metavar="PATH",
        envvar="K3PREFLIGHT_DIR",
        help="The directory handed to the runtime. [default: where its own commands put the files]",
    ),
]
Places = Annotated[
    list[PlaceOption] | None,
    typer.Option(
        "--place",
        metavar="ROLE=PATH",
        parser=_parser(_role_path),
        help="Put one role (checkpoint, trunk) elsewhere.",
    ),
]
ProfileFiles = Annotated[
    list[Path] | None,
    typer.Option("--profile-file", metavar="FILE", help="A profile of your own; repeatable."),
]
Skip = Annotated[
    list[CheckList] | None,
    typer.Option(
        "--skip",
        metavar="ID[,ID]",
        parser=_parser(_check_ids),
        help="Leave checks out; what only they need is not looked at.",
    ),
]
Ignore = Annotated[
    list[CheckList] | None,
    typer.Option(
        "--ignore",
        metavar="ID[,ID]",
        parser=_parser(_check_ids),
        help="Turn a check's failure into a warning; it stays visible.",
    ),
]
FormatOption = Annotated[
    Format, typer.Option("--format", envvar="K3PREFLIGHT_FORMAT", help="What stdout gets.")
]
Outputs = Annotated[
    list[OutputOption] | None,
    typer.Option(
        "--output",
        metavar="[FORMAT=]FILE",
        parser=_parser(_output),
        help="Write the report to a file too, whole or not at all; repeatable.",
    ),
]
Quiet = Annotated[
    bool, typer.Option("--quiet", "-q", help="Only what is not a pass, and the verdict.")
]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Every finding, and what its figures are made of.")
]
Bench = Annotated[
    bool,
    typer.Option(
        "--bench",
        help="Also measure what each place's drive delivers, as bench does: it writes a file that "
        "is gone afterwards.",
    ),
]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show the traceback of a bug of k3preflight's own.")
]
Bandwidths = Annotated[
    list[BandwidthOption] | None,
    typer.Option(
        "--bandwidth",
        metavar="[ROLE=]SPEED",
        parser=_parser(_role_speed),
        help="What each volume delivers, or what one role gets; for seconds per token.",
    ),
]
SizeOption = _parser(Size.parse)
SpeedOption = _parser(Speed.parse)
SecondsOption = _parser(parse_seconds)
PercentOption = _parser(parse_percent)


def detail_of(quiet: bool, verbose: bool) -> Detail:
    """How much a person is shown.

    Raises:
        UsageError: both less and more were asked for.
    """
    if quiet and verbose:
        raise UsageError("--quiet with --verbose: leave one out")
    return Detail.QUIET if quiet else Detail.VERBOSE if verbose else Detail.NORMAL


def from_environment(context: typer.Context, parameter: str) -> bool:
    """Whether the value of this parameter came from its environment variable."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "ENVIRONMENT"


def flat(lists: Sequence[CheckList] | None) -> tuple[CheckId, ...]:
    """The checks of a repeatable option whose every use may name several, each once."""
    return tuple(dict.fromkeys(name for entry in lists or () for name in entry.ids))
