"""A run record from what is known: the scenario, this machine, the runtime's source and its log."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from k3preflight.errors import UsageError
from k3preflight.models.host import Host
from k3preflight.models.machine import Gpu
from k3preflight.models.names import Role
from k3preflight.models.record import (
    CheckpointUsed,
    Hardware,
    Record,
    Run,
    RuntimeUsed,
    SettingsUsed,
    VolumeUsed,
)
from k3preflight.models.scenario import Scenario
from k3preflight.probe.checkout import Checkout, downloaded_revision
from k3preflight.probe.runlog import RunLog, read_log
from k3preflight.units import ram

LARGEST_LOG = 64 * 2**20  # bytes; a runtime prints some hundred a token


def read_run_log(log: Path) -> RunLog:
    """The last finished run in the file `log`.

    Raises:
        UsageError: it cannot be read, no known runtime's timings are in it, or the runtime itself
            calls the run invalid.
    """
    try:
        with log.open("rb") as stream:
            raw = stream.read(LARGEST_LOG + 1)
    except OSError as error:
        raise UsageError(f"--log {log}: cannot be read: {error.strerror}") from error
    if len(raw) > LARGEST_LOG:
        raise UsageError(f"--log {log}: over {LARGEST_LOG} bytes; cut it to the run in question")
    said = read_log(raw.decode(errors="replace").replace("\r\n", "\n"))
    if said is None:
        raise UsageError(
            f"--log {log}: no finished run of kimi-k3-in-c, Rabbit or llama.cpp in it",
            "Give all it printed, such as COMMAND 2>&1 | tee FILE.",
        )
    if said.invalid:
        raise UsageError(f"--log {log}: the runtime calls this run invalid: {said.invalid}")
    return said


def mismatch(scenario: Scenario, said: RunLog) -> str | None:
    """What the log says was run, where that is not what the record is to be of."""
    name = scenario.profile.runtime.name
    if not name.startswith(said.runtime):
        return f"the log is of {said.runtime}, the record of {name}"
    if said.preset and scenario.preset and said.preset != scenario.preset.name:
        return f"the log is of preset {said.preset}, the record of {scenario.name}"
    return None


def recorded(
    scenario: Scenario, host: Host, source: Checkout | None, said: RunLog | None
) -> Record:
    """The record, with what is known; what is not stays empty."""
    profile, checkpoint = scenario.profile, scenario.profile.checkpoint
    places = host.places_of(profile.name, Role.CHECKPOINT)
    revisions = {downloaded_revision(Path(place.path)) for place in places}
    return Record(
        tool_version=host.tool_version,
        recorded_at=host.probed_at,
        scenario=scenario.name,
        runtime=RuntimeUsed(
            name=profile.runtime.name,
            commit=source.commit if source else None,
            modified=source.modified if source else None,
        ),
        checkpoint=CheckpointUsed(
            repository=checkpoint.repository,
            revision=revisions.pop() if len(revisions) == 1 else None,
            quant=_quant(checkpoint.include),
            bytes=checkpoint.size.bytes,
        ),
        settings=said.settings if said else SettingsUsed(),
        hardware=_hardware(host),
        volumes=tuple(_volumes(scenario, host)),
        run=said.run if said else Run(),
    )


def _quant(include: Sequence[str]) -> str | None:
    """The folder of the repository that a quant lies in, or the pattern of its files."""
    return ", ".join(pattern.removesuffix("/*") for pattern in include) or None


def _hardware(host: Host) -> Hardware:
    return Hardware(
        host=host.name,
        system=" ".join(part for part in (host.system.system, host.system.release) if part) or None,
        machine=host.system.machine,
        cpu=host.cpu.model,
        cores=host.cpu.cores,
        gpus=None if host.gpus is None else tuple(_gpu(gpu) for gpu in host.gpus if gpu.visible),
        memory_total=host.memory.total,
        memory_usable=host.memory.usable,
        memory_available=host.memory.available,
    )


def _gpu(gpu: Gpu) -> str:
    memory = "memory unknown" if gpu.total is None else ram(gpu.total)
    return f"{gpu.name or 'unnamed'}, {memory}"


def _volumes(scenario: Scenario, host: Host) -> Iterator[VolumeUsed]:
    """Each volume once, with the roles that lie on it; one without a name where none is known."""
    places = host.places_of(scenario.profile.name)
    for volume_id in dict.fromkeys(place.volume for place in places):
        volume = host.volume(volume_id)
        roles = (place.role for place in places if place.volume == volume_id)
        measured = host.storage.of(volume_id) if host.storage else None
        in_order = measured.rate("sequential-8") if measured else None
        here_and_there = measured.rate("random-8") if measured else None
        yield VolumeUsed(
            roles=tuple(dict.fromkeys(roles)),
            mount_point=volume.mount_point if volume else None,
            device=volume.device if volume else None,
            filesystem=volume.filesystem if volume else None,
            best_bytes_per_second=measured.best_bytes_per_second if measured else None,
            best_from="concurrent" if measured else None,
            sequential_median_bytes_per_second=in_order and in_order.median_bytes_per_second,
            sequential_min_bytes_per_second=in_order and in_order.min_bytes_per_second,
            random_median_bytes_per_second=(
                here_and_there and here_and_there.median_bytes_per_second
            ),
            random_min_bytes_per_second=here_and_there and here_and_there.min_bytes_per_second,
        )
