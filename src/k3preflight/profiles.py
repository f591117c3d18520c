"""Find, read and validate profile files, and turn what a user names into scenarios."""

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from pydantic import ValidationError

from k3preflight.errors import UsageError
from k3preflight.models.base import problems
from k3preflight.models.names import ALL, LARGEST
from k3preflight.models.profile import NAME_PATTERN, Profile
from k3preflight.models.scenario import Choice, Scenario
from k3preflight.toml import read_first_keys, read_toml

LARGEST_PROFILE = 4 * 2**20  # bytes; a hundred times the longest profile known

Catalog = Mapping[str, Path]
"""Profile names and the files they are read from."""


def packaged_folder(name: str) -> Path:
    """The folder `name` (profiles, schemas) of the wheel, or of the checkout it runs from."""
    package = Path(str(files("k3preflight")))
    checkout = package.parents[1] / name
    # The checkout first: an editable install leaves a copy from the day it was made.
    return checkout if (package.parents[1] / "pyproject.toml").is_file() else package / f"_{name}"


def catalog(own_files: Iterable[Path] = ()) -> Catalog:
    """The profiles that come with the tool, and the user's own, which win over the same name.

    Raises:
        UsageError: two of the user's files have the same name.
    """
    found = {path.stem: path for path in sorted(packaged_folder("profiles").glob("*.toml"))}
    own: dict[str, Path] = {}
    for path in own_files:
        if path.stem in own:
            raise UsageError(
                f"two profile files are named {path.stem!r}: {own[path.stem]} and {path}",
                "A profile is named after its file; rename one.",
            )
        own[path.stem] = path
    return found | own


def refuse_name(path: Path) -> None:
    """Refuse a file that no profile can be named after.

    Raises:
        UsageError: its ending is not .toml, or the rest of its name is no profile's.
    """
    if path.suffix != ".toml" or not re.match(NAME_PATTERN, path.stem):
        raise UsageError(
            f"{path}: a profile is named after its file, and {path.name!r} is none",
            "Write lower-case letters, digits, dots and dashes, such as glm-5-q2.toml.",
        )


def read_profile(path: Path) -> Profile:
    """The profile in `path`, named after the file.

    Raises:
        UsageError: it cannot be read, is not TOML, or a key is wrong; file, key and reason.
    """
    data = read_toml(path, most=LARGEST_PROFILE, kind="profile")
    if "name" in data:
        raise UsageError(f"{path}: name: not a key of the file; a profile is named after its file")
    try:
        return Profile.model_validate(data | {"name": path.stem})
    except ValidationError as error:
        raise UsageError(
            f"{path}: {problems(error)}", "The format: k3preflight schema profile"
        ) from error


def choose(names: Sequence[str], known: Catalog, *, every: bool = False) -> tuple[Choice, ...]:
    """The scenarios that `names` ask for; with none, those of the default check or `every` one.

    Raises:
        UsageError: an unknown profile or preset, with the known ones and the nearest spelling; or
            names where every profile is asked for.
    """
    if names and every:
        raise UsageError(
            f"--all with {names[0]!r}: --all is every profile there is",
            "Leave one out; NAME:all is every preset of one profile.",
        )
    if not names:
        profiles = [read_profile(path) for path in known.values() if every or not _left_out(path)]
        judged = [profile for profile in profiles if every or profile.in_default_check]
        return tuple(Choice(scenario.name, (scenario,)) for scenario in map(_default, judged))
    return tuple(_choice(name, known) for name in dict.fromkeys(names))


def _left_out(path: Path) -> bool:
    """Whether its first lines say that it is not in the default check.

    Of the tool's own profiles alone, which are known to be whole: most are not in it, and reading
    them costs a tenth of a run. A user's own is always read, so that what is wrong with it is said.
    """
    return path.parent == packaged_folder("profiles") and not read_first_keys(path).get(
        "in_default_check", True
    )


def unchosen(choices: Iterable[Choice], known: Catalog) -> tuple[Scenario, ...]:
    """Every known profile that is not among `choices`, at its default preset.

    Raises:
        UsageError: a profile file that cannot be read.
    """
    taken = {scenario.profile.name for choice in choices for scenario in choice.scenarios}
    return tuple(_default(read_profile(path)) for name, path in known.items() if name not in taken)


def _choice(requested: str, known: Catalog) -> Choice:
    name, colon, preset_name = requested.partition(":")
    if name not in known:
        raise UsageError(
            f"no profile is named {name!r}; known: {', '.join(known)}", _nearest(name, known)
        )
    profile = read_profile(known[name])
    if not colon:
        return Choice(requested, (_default(profile),))
    if not profile.presets:
        raise UsageError(f"{name} has no presets: write {name} without {':' + preset_name!r}")
    every = tuple(Scenario(profile, preset) for preset in profile.presets)
    if preset_name == ALL:
        return Choice(requested, every, "any")
    if preset_name == LARGEST:
        return Choice(requested, every, "largest")
    for scenario in every:
        if scenario.preset and scenario.preset.name == preset_name:
            return Choice(requested, (scenario,))
    presets = [preset.name for preset in profile.presets] + [ALL, LARGEST]
    raise UsageError(
        f"{name} has no preset {preset_name!r}; known: {', '.join(presets)}",
        _nearest(preset_name, presets),
    )


def _default(profile: Profile) -> Scenario:
    preset = next((item for item in profile.presets if item.name == profile.default_preset), None)
    return Scenario(profile, preset)


def _nearest(name: str, known: Iterable[str]) -> str | None:
    close = get_close_matches(name, list(known), n=1)
    return f"Did you mean {close[0]!r}?" if close else None


def refuse_context(context: int, choices: Iterable[Choice]) -> None:
    """Refuse a context that one of the chosen scenarios cannot take.

    Raises:
        UsageError: names the scenario and its limit.
    """
    for choice in choices:
        for scenario in choice.scenarios:
            most = scenario.profile.memory.max_context
            if most is not None and context > most.count:
                raise UsageError(
                    f"--context {context:,}: {scenario.name} takes at most {most.count:,} "
                    "positions",
                    f"Write --context {most.count} or less, or leave {scenario.profile.name} out.",
                )
