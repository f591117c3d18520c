"""A run record: what to write down of a run, so that it can be repeated and compared.

A TOML file, filled in by `k3preflight record` as far as that can see and by hand beyond. A field
nobody filled in is `""` in the file and null here; it is never zero. A field's description is the
comment beside it in the file.
"""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from k3preflight.models.base import Count, Strict, Text, WrittenSize, WrittenSpeed
from k3preflight.models.names import Role

SCHEMA_VERSION: Literal[1] = 1

RunSeconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
PerToken = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Fillable(Strict):
    """Part of a record: a key with the value `""` is one that nobody has filled in."""

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, data: object) -> object:
        if not isinstance(data, dict):
            return data
        return {key: value for key, value in data.items() if value != ""}


class RuntimeUsed(Fillable):
    """The program that ran."""

    name: Text
    commit: Text | None = Field(default=None, description="git commit it was built from")
    modified: bool | None = Field(
        default=None, description="whether its source differed from the commit"
    )
    version: Text | None = Field(default=None, description="as it prints it")


class CheckpointUsed(Fillable):
    """The weights that ran."""

    repository: Text | None = None
    revision: Text | None = Field(default=None, description="the exact commit of the repository")
    quant: Text | None = Field(default=None, description="of a quantised checkpoint")
    bytes: WrittenSize | None = None


class SettingsUsed(Fillable):
    """How it was run."""

    prompt_renderer: Text | None = Field(
        default=None, description="what turned the prompt into tokens: which chat template, or none"
    )
    context: Count | None = Field(default=None, description="positions")
    cache: Text | None = Field(
        default=None, description="every cache and memory setting it was given"
    )
    pinned: WrittenSize | None = Field(
        default=None, description="dense weights kept in memory, where no preset says it"
    )
    expert_cache: WrittenSize | None = Field(
        default=None, description="of experts, where no preset says it"
    )
    slots_per_layer: Count | None = Field(
        default=None, description="experts cached a layer, where the runtime counts so"
    )
    command: Text | None = Field(default=None, description="the line that was run")


class Hardware(Fillable):
    """The machine."""

    host: Text | None = None
    system: Text | None = None
    machine: Text | None = None
    cpu: Text | None = None
    cores: Count | None = Field(default=None, description="that the run could use")
    gpus: tuple[Text, ...] | None = Field(
        default=None, description="a list: name and memory of each"
    )
    memory_total: WrittenSize | None = None
    memory_usable: WrittenSize | None = Field(default=None, description="after container limits")
    memory_available: WrittenSize | None = Field(default=None, description="when this was recorded")


class VolumeUsed(Fillable):
    """A volume that was read from."""

    roles: tuple[Role, ...] = Field(min_length=1, description="what of the model lies on it")
    mount_point: Text | None = None
    device: Text | None = None
    filesystem: Text | None = None
    best_bytes_per_second: WrittenSpeed | None = Field(
        default=None, description="the most it gave this host by any access pattern"
    )
    best_from: Literal["concurrent", "in-run", "headline"] | None = Field(
        default=None,
        description="where that comes from: concurrent (parallel reads), in-run, or headline",
    )
    headline_bytes_per_second: WrittenSpeed | None = Field(
        default=None, description="the one figure a publisher prints"
    )
    sequential_median_bytes_per_second: WrittenSpeed | None = Field(
        default=None, description="reading dense weights in order"
    )
    sequential_min_bytes_per_second: WrittenSpeed | None = None
    random_median_bytes_per_second: WrittenSpeed | None = Field(
        default=None, description="reading experts here and there"
    )
    random_min_bytes_per_second: WrittenSpeed | None = None


class Run(Fillable):
    """What the run took."""

    prompt_tokens: Count | None = None
    tokens: Count | None = Field(default=None, description="generated")
    load_seconds: RunSeconds | None = Field(default=None, description="as the runtime counts it")
    prefill_seconds: RunSeconds | None = Field(default=None, description="reading the prompt")
    decode_seconds: RunSeconds | None = Field(default=None, description="generating the tokens")
    seconds_per_token: PerToken | None = Field(
        default=None, description="over the generated tokens"
    )
    prefill_included: bool | None = Field(
        default=None, description="whether reading the prompt is in the two above"
    )
    peak_rss: WrittenSize | None = Field(default=None, description="peak resident memory")
    bytes_read: WrittenSize | None = Field(
        default=None, description="from storage, in the whole run"
    )
    bytes_read_per_token: WrittenSize | None = Field(default=None, description="from storage")
    under_memory_pressure: bool | None = Field(
        default=None, description="whether the machine ran short of memory meanwhile"
    )


class Record(Fillable):
    """One run of one scenario (`NAME` or `NAME:PRESET`) on one machine."""

    schema_version: Literal[1] = SCHEMA_VERSION
    tool_version: Text | None = None
    recorded_at: Text | None = None
    label: Text | None = Field(default=None, description="your own name for this run")
    source: Text | None = Field(default=None, description="where it is published, if it is")
    scenario: Text
    runtime: RuntimeUsed
    checkpoint: CheckpointUsed = CheckpointUsed()
    settings: SettingsUsed = SettingsUsed()
    hardware: Hardware = Hardware()
    volumes: tuple[VolumeUsed, ...] = ()
    run: Run = Run()

    @model_validator(mode="after")
    def _each_volume_once(self) -> Self:
        mounts = [volume.mount_point for volume in self.volumes if volume.mount_point]
        if len(set(mounts)) != len(mounts):
            raise ValueError("volumes: a mount point is given twice")
        return self

    def volumes_of(self, role: Role) -> tuple[VolumeUsed, ...]:
        """The volumes one role was read from; several where it is spread."""
        return tuple(volume for volume in self.volumes if role in volume.roles)
