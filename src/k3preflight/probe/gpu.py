"""GPUs: what is on the bus, and what NVIDIA's own library says of its devices."""

import importlib
import os
import queue
from collections.abc import Callable, Iterator, Mapping
from threading import Thread
from typing import Any, NamedTuple

from k3preflight.models.host import Unknown
from k3preflight.models.machine import Gpu
from k3preflight.probe.root import Root

_LIMIT = 5.0  # seconds: a driver in trouble may never answer
_MAKERS = {"0x10de": "NVIDIA", "0x1002": "AMD", "0x8086": "Intel"}
_ATS = 2  # NVML_DEVICE_ADDRESSING_MODE_ATS: the device's memory is a NUMA node of the system's


class GpuFacts(NamedTuple):
    """The devices, null where they could not be asked, and why."""

    gpus: tuple[Gpu, ...] | None = None
    unknown: tuple[Unknown, ...] = ()


def graphics(root: Root) -> tuple[str, ...]:
    """Makers of the graphics devices on the PCI bus, one entry a device."""
    found = []
    try:
        devices = sorted(root.at("/sys/bus/pci/devices").iterdir())
    except OSError:  # no PCI bus, or not Linux
        return ()
    for device in devices:
        try:
            kind = root.read(f"/sys/bus/pci/devices/{device.name}/class").strip()
            maker = root.read(f"/sys/bus/pci/devices/{device.name}/vendor").strip()
        except OSError:  # unplugged meanwhile
            continue
        if kind.startswith("0x03") and maker in _MAKERS:
            found.append(_MAKERS[maker])
    return tuple(found)


def probe_gpu(
    load: Callable[[], Any] | None = None, environment: Mapping[str, str] | None = None
) -> GpuFacts:
    """Ask NVIDIA's library, from a thread that is abandoned where it does not answer."""
    answers: queue.SimpleQueue[GpuFacts | BaseException] = queue.SimpleQueue()
    given = os.environ if environment is None else environment

    def run() -> None:
        try:
            answers.put(_asked(load or _pynvml, given))
        except BaseException as error:  # noqa: BLE001 - handed over and raised where it is seen
            answers.put(error)

    Thread(target=run, daemon=True).start()
    try:
        found = answers.get(timeout=_LIMIT)
    except queue.Empty:
        return not_asked(f"NVIDIA's driver does not answer within {_LIMIT:g} s")
    if isinstance(found, BaseException):
        raise found
    return found


def _pynvml() -> Any:  # noqa: ANN401 - a module without types, in an extra
    return importlib.import_module("pynvml")


def not_asked(reason: str) -> GpuFacts:
    """No device is known of, and why."""
    return GpuFacts(None, (Unknown(fact="gpus", reason=reason),))


def _asked(load: Callable[[], Any], environment: Mapping[str, str]) -> GpuFacts:
    try:
        nvml = load()
    except ImportError:
        return not_asked("not looked at: the extra is not installed (pip install k3preflight[gpu])")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        if error.value in {nvml.NVML_ERROR_LIBRARY_NOT_FOUND, nvml.NVML_ERROR_DRIVER_NOT_LOADED}:
            return GpuFacts(())
        return not_asked(f"NVIDIA's driver: {error}")
    try:
        found = [gpu for index in range(nvml.nvmlDeviceGetCount()) for gpu in _device(nvml, index)]
    except nvml.NVMLError as error:
        return not_asked(f"NVIDIA's driver: {error}")
    finally:
        nvml.nvmlShutdown()
    shown = _visible(found, environment)
    unknown = [
        Unknown(fact=f"gpus.{gpu.uuid or gpu.name}.total", reason="the driver answers N/A")
        for gpu in shown
        if gpu.total is None and not gpu.divided
    ]
    return GpuFacts(tuple(shown), tuple(unknown))


def _device(nvml: Any, index: int) -> Iterator[Gpu]:  # noqa: ANN401
    """A device, and its instances where it is divided (MIG)."""
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    divided = _or_none(nvml, nvml.nvmlDeviceGetMigMode, handle)
    in_parts = divided is not None and divided[0] == nvml.NVML_DEVICE_MIG_ENABLE
    whole = _gpu(nvml, handle)
    yield whole.model_copy(update={"divided": in_parts})
    if not in_parts:
        return
    for part in range(_or_none(nvml, nvml.nvmlDeviceGetMaxMigDeviceCount, handle) or 0):
        instance = _or_none(nvml, nvml.nvmlDeviceGetMigDeviceHandleByIndex, handle, part)
        if instance is not None:
            named = {"instance_of": whole.uuid or whole.name}
            yield _gpu(nvml, instance).model_copy(update=named)


def _gpu(nvml: Any, handle: object) -> Gpu:  # noqa: ANN401
    memory = _or_none(nvml, nvml.nvmlDeviceGetMemoryInfo, handle)
    mode = _or_none(nvml, getattr(nvml, "nvmlDeviceGetAddressingMode", None), handle)
    known = memory if memory is not None and memory.total > 0 else None
    return Gpu(
        name=_text(_or_none(nvml, nvml.nvmlDeviceGetName, handle)),
        uuid=_text(_or_none(nvml, nvml.nvmlDeviceGetUUID, handle)),
        total=known.total if known else None,
        free=known.free if known else None,
        unified=None if mode is None else mode == _ATS,
    )


def _or_none(nvml: Any, call: Any, *arguments: object) -> Any:  # noqa: ANN401
    """The answer, or None where this device or driver has none."""
    if call is None:
        return None
    try:
        return call(*arguments)
    except nvml.NVMLError:
        return None


def _text(value: str | bytes | None) -> str | None:
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def _visible(found: list[Gpu], environment: Mapping[str, str]) -> list[Gpu]:
    """The devices as CUDA_VISIBLE_DEVICES shows them: numbers or beginnings of UUIDs."""
    chosen = environment.get("CUDA_VISIBLE_DEVICES")
    if chosen is None:
        return found
    wanted = [word.strip() for word in chosen.split(",")]
    whole = [gpu.uuid for gpu in found if gpu.instance_of is None]
    uuids = {
        whole[int(word)] if word.isdecimal() and int(word) < len(whole) else word
        for word in wanted
        if word and word != "-1"
    }

    def shown(gpu: Gpu) -> bool:
        names = [name for name in (gpu.uuid, gpu.instance_of) if name]
        return any(name.startswith(uuid) for name in names for uuid in uuids if uuid)

    return [gpu.model_copy(update={"visible": shown(gpu)}) for gpu in found]
