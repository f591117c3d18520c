"""A host: facts about one machine, nothing judged.

A fact that could not be read is null, and listed in `unknown` with the reason. A host is a file
that any machine can judge later.
"""

from typing import Annotated, Literal

from pydantic import Field

from k3preflight.models.base import Document, Text
from k3preflight.models.disk import Disk, Place, Volume, WantedPlace
from k3preflight.models.machine import Cpu, Gpu, Memory, System, Tool
from k3preflight.models.names import Role
from k3preflight.models.storage import Storage

SCHEMA_VERSION: Literal[1] = 1


class Wanted(Document):
    """What the probe is to look at. Built by the command line from the chosen profiles."""

    profiles: tuple[Text, ...] = ()
    places: tuple[WantedPlace, ...] = ()
    touch_disk: bool = True
    write_probe: bool = False
    skip: frozenset[str] = frozenset()
    tools: tuple[Text, ...] = ()
    gpu: bool = False


class Unknown(Document):
    """A fact that is null, and why."""

    fact: Text
    reason: Text


class Host(Document):
    """Everything known about one machine. `profiles` lists what it was probed for.

    `graphics` names the makers of the graphics devices on its bus, `gpus` is what NVIDIA's driver
    says of its own; null where it could not be asked.
    """

    # Older documents are read, what they lack is unknown; a newer one may mean something else.
    schema_version: Annotated[int, Field(strict=True, ge=0, le=SCHEMA_VERSION)] = SCHEMA_VERSION
    tool_version: Text
    name: Text | None = None
    probed_at: Text | None = None
    profiles: tuple[Text, ...] = ()
    # Made unchecked: checking would compile each on its own, besides with the host.
    system: System = System.model_construct()
    memory: Memory = Memory.model_construct()
    cpu: Cpu = Cpu.model_construct()
    tools: tuple[Tool, ...] = ()
    gpus: tuple[Gpu, ...] | None = None
    graphics: tuple[Text, ...] = ()
    places: tuple[Place, ...] = ()
    volumes: tuple[Volume, ...] = ()
    disk: Disk = Disk.model_construct()
    storage: Storage | None = None
    unknown: tuple[Unknown, ...] = ()

    def why(self, fact: str) -> str:
        """The reason `fact` is null."""
        return next(
            (entry.reason for entry in self.unknown if entry.fact == fact),
            "not in the host document",
        )

    def tool(self, tool_id: str) -> Tool | None:
        """What was found of one tool; None where it was not looked for."""
        return next((tool for tool in self.tools if tool.id == tool_id), None)

    def places_of(self, profile: str, role: Role | None = None) -> tuple[Place, ...]:
        """The places of one profile, of one role where given; several where it is spread."""
        return tuple(
            place
            for place in self.places
            if place.profile == profile and (role is None or place.role is role)
        )

    def volume(self, volume_id: str | None) -> Volume | None:
        """The volume with this id."""
        return next((volume for volume in self.volumes if volume.id == volume_id), None)
