"""A profile: one way of running the model, with where each of its numbers comes from."""

from enum import StrEnum
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from k3preflight.models.base import Count, Strict, Text, WrittenSize
from k3preflight.models.figures import (
    Compute,
    CountFigure,
    NamedSize,
    PercentFigure,
    SizeFigure,
    Sourced,
)
from k3preflight.models.names import RESERVED_PRESETS, Role
from k3preflight.units import ceil_div

SCHEMA_VERSION: Literal[1] = 1
NAME_PATTERN = r"^[a-z0-9][a-z0-9._-]*$"

Name = Annotated[str, Field(pattern=NAME_PATTERN, max_length=80)]
Version = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)*$")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ModelFacts(Strict):
    """The model itself: how sparse it is and how long its context may be, where that is known."""

    name: Text
    experts: Count | None = None
    experts_per_token: Count | None = None
    context: CountFigure | None = None
    source: Text


class Runtime(Strict):
    """The program that runs the model."""

    name: Text
    version: Text
    homepage: Text
    license: Text | None = None


class Artifact(Strict):
    """What has to lie on disk, in one role.

    `size` is the whole of it: `files`, by name and bytes, and `other_bytes` add up to it.
    `named_files` are known by name alone; their bytes are among `other_bytes`. `include` are the
    patterns of the repository's files it consists of, as the Hub's client takes them; without any
    it is the whole repository. `file_count` stands for `files` where only their number is known.
    """

    role: Role
    obtained: Literal["download", "derive"]
    size: SizeFigure
    published_size: SizeFigure | None = None
    repository: Text | None = None
    revision: Text | None = None
    include: tuple[Text, ...] = ()
    subfolder: Text | None = None
    may_spread: bool = False
    files: dict[Text, WrittenSize] = Field(default_factory=dict)
    file_count: Annotated[int, Field(strict=True, ge=1)] | None = None
    named_files: tuple[Text, ...] = ()
    sha256: dict[Text, Sha256] = Field(default_factory=dict)
    other_bytes: WrittenSize = 0
    source: Text

    @model_validator(mode="after")
    def _adds_up(self) -> Self:
        if self.files and self.file_count is not None:
            raise ValueError("file_count is for files that are not listed, but files are")
        named = sum(self.files.values()) + self.other_bytes
        if (self.files or self.other_bytes) and named != self.size.bytes:
            raise ValueError(
                f"files and other_bytes add up to {named} bytes, but size says {self.size.bytes}"
            )
        return self

    def bytes(self, *, published: bool) -> int:
        """The publisher's rounded size where asked for and known, else the exact one."""
        figure = self.published_size if published and self.published_size else self.size
        return figure.bytes

    @property
    def largest_file(self) -> int:
        """Bytes of the largest file known; the whole artifact where no file is."""
        return max(self.files.values(), default=self.size.bytes)

    @property
    def largest_file_at_least(self) -> int:
        """The same, or what the largest of `file_count` files cannot be under."""
        return max(self.files.values(), default=ceil_div(self.size.bytes, self.file_count or 1))


class Preset(Strict):
    """One setting of a runtime that caps its own memory.

    `parts` and `expert_cache` add to what the runtime must hold; `peak` is the resident set it was
    measured at; `pinned` is what of the dense weights is never read again.
    """

    name: Name
    parts: tuple[NamedSize, ...]
    expert_cache: SizeFigure | None = None
    peak: SizeFigure | None = None
    pinned: SizeFigure | None = None

    @model_validator(mode="after")
    def _not_reserved(self) -> Self:
        if self.name in RESERVED_PRESETS:
            raise ValueError(f"preset name {self.name!r} is reserved")
        return self


class Memory(Strict):
    """What the runtime must hold.

    Its minimum is ceil((parts + preset parts and expert cache + state + kv_per_token x context)
    x 100 / start_percent), never under the preset's measured peak. Without `parts` nobody has said
    what it must hold, and the minimum is not known; `max_context` likewise.
    """

    overflow: Literal["stream", "page"]  # weights beyond memory: streamed by design, or paged
    parts: tuple[NamedSize, ...] | None = None
    locks_weights: bool = False  # with mlock
    state: SizeFigure | None = None
    kv_per_token: SizeFigure | None = None
    start_percent: PercentFigure | None = None
    recommended: SizeFigure | None = None
    default_context: CountFigure
    max_context: CountFigure | None = None
    context_note: Text | None = None
    note: Text | None = None


Share = Annotated[int, Field(strict=True, ge=0, le=100)]


class Traffic(Strict):
    """What one token reads, for the bound on seconds a token.

    `resident` is what the runtime holds besides its caches, so that the page cache cannot have it.
    `compute` begins with the release the profile speaks of; overlap is how much of the shorter of
    reading and computing hides behind the longer, in percent.
    """

    dense_stream: SizeFigure
    expert: SizeFigure
    experts_per_token: SizeFigure
    expert_pool: SizeFigure
    reads: Literal["direct", "buffered", "mmap"]
    cache_policy: Literal["lru-global", "lru-per-layer", "page-cache", "other"]
    slots_per_layer: CountFigure | None = None
    resident: SizeFigure | None = None
    compute: tuple[Compute, ...] = ()
    overlap_low: Share = 0
    overlap_mid: Share = 0
    overlap_high: Share = 0
    useless_above: SizeFigure | None = None


class Platform(Strict):
    """A system the runtime is published for; `warn` says what is not as it should be there."""

    system: Literal["linux", "macos", "windows"]
    machine: Literal["x86_64", "arm64"]
    warn: Text | None = None


class Tool(Strict):
    """A program the commands need. `id` is one the probe knows.

    `at_least_of` is the least version by family of compiler, whose numbers do not compare.
    """

    id: Literal[
        "cc",
        "openmp",
        "make-or-task",
        "git",
        "cargo",
        "cmake",
        "cxx",
        "gpu-toolkit",
        "hf",
        "python",
    ]
    at_least: Version | None = None
    at_least_of: dict[Literal["gcc", "clang"], Version] = Field(default_factory=dict)
    why: Text


class Needs(Strict):
    """What the host must have besides disk and memory.

    Without `platforms` nobody has said where the runtime runs.
    """

    platforms: tuple[Platform, ...] = ()
    cpu_flags: tuple[Text, ...] = ()
    offloads_to_gpu: bool = False
    pools_hosts: bool = False
    tools: tuple[Tool, ...] = ()
    source: Text


class ClientDemand(Strict):
    """What the project's own download script demands, however much is already there."""

    name: Text
    free: SizeFigure | None = None
    environment: tuple[Text, ...] = ()
    instead: Text
    source: Text


class Download(Strict):
    """Which client fetches the checkpoint, and so where and how files lie while it runs."""

    client: Literal["hf-local-dir", "hf-cache", "llama-cache"]
    directory_variable: Text | None = None
    demand: ClientDemand | None = None
    note: Text | None = None


class Stage(StrEnum):
    """The order of the article this project follows: a build that fails costs minutes."""

    BUILD = "build"
    TEST = "test"
    DOWNLOAD = "download"
    PREPARE = "prepare"
    RUN = "run"


class Command(Strict):
    """A line to paste. `{checkpoint}`, `{trunk}`, `{preset}`, `{context}` are filled in.

    Where the checkpoint is spread, `{checkpoints}` are its directories, joined by commas, and a
    line with `{files}` is printed once for each of them, with the files it gets.

    `place` limits it: "named" where a directory was chosen, "cache" where the client's own
    cache is used, "spread" where the checkpoint lies on several drives. `gpu` likewise.
    """

    stage: Stage
    run: Text
    place: Literal["named", "cache", "spread"] | None = None
    gpu: bool | None = None


class Measurement(Sourced):
    """A published run."""

    setting: Text
    host: Text
    seconds_per_token: Annotated[float, Field(gt=0, allow_inf_nan=False)]
    peak_rss: WrittenSize | None = None


class Profile(Strict):
    """One way to run the model. Its name is its file's name."""

    schema_version: Literal[1]
    name: Name
    title: Text
    weights: Literal["full", "quant"]
    in_default_check: bool = True
    model: ModelFacts
    runtime: Runtime
    headroom: PercentFigure
    artifacts: tuple[Artifact, ...] = Field(min_length=1)
    memory: Memory
    presets: tuple[Preset, ...] = ()
    default_preset: Name | None = None
    traffic: Traffic | None = None
    needs: Needs
    download: Download
    commands: tuple[Command, ...] = ()
    measurements: tuple[Measurement, ...] = ()
    caveats: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        roles = [artifact.role for artifact in self.artifacts]
        if len(set(roles)) != len(roles):
            raise ValueError("artifacts: a role is given twice")
        if Role.CHECKPOINT not in roles:
            raise ValueError("artifacts: no checkpoint among the roles")
        names = [preset.name for preset in self.presets]
        if len(set(names)) != len(names):
            raise ValueError("presets: a name is given twice")
        if names and self.default_preset not in names:
            raise ValueError(f"default_preset {self.default_preset!r} is none of {names}")
        if self.default_preset and not names:
            raise ValueError("default_preset is given, but no presets are")
        slots = self.traffic and self.traffic.slots_per_layer
        if slots and not self.model.experts_per_token:
            raise ValueError("traffic: slots_per_layer says nothing without experts_per_token")
        return self

    def artifact(self, role: Role) -> Artifact | None:
        """The artifact in `role`, or None where the profile has none."""
        return next((artifact for artifact in self.artifacts if artifact.role is role), None)

    @property
    def checkpoint(self) -> Artifact:
        """The artifact whose bytes are the weights."""
        return next(found for found in self.artifacts if found.role is Role.CHECKPOINT)
