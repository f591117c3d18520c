"""What is judged: a profile at one preset, alone or as one of several alternatives."""

from typing import Literal, NamedTuple

from k3preflight.models.profile import Preset, Profile


class Scenario(NamedTuple):
    """A profile at one preset; a profile without presets is its own scenario."""

    profile: Profile
    preset: Preset | None

    @property
    def name(self) -> str:
        """`kimi-k3-in-c:laptop`, or the profile's name alone."""
        return f"{self.profile.name}:{self.preset.name}" if self.preset else self.profile.name


class Choice(NamedTuple):
    """What one argument of the command line asks for.

    `rule` is "one" for a single scenario, "any" where it passes if any of them does (NAME:all),
    "largest" where the largest one the host can hold stands for it (NAME:largest).
    """

    requested: str
    scenarios: tuple[Scenario, ...]
    rule: Literal["one", "any", "largest"] = "one"
