"""NVIDIA's library as it answered on other machines: plain, MIG, unified, N/A, broken."""

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pynvml  # type: ignore[import-untyped]  # NVIDIA's binding has no types
import pytest

from k3preflight.models.machine import Gpu
from k3preflight.probe import gpu
from k3preflight.probe.gpu import GpuFacts, graphics, probe_gpu
from replay import replay

GIB = 2**30
NOT_SUPPORTED = pynvml.NVML_ERROR_NOT_SUPPORTED

# What each call answered, by device; an int in place of an answer is the error it raised.
H100 = {
    "Name": "NVIDIA H100 80GB HBM3",
    "UUID": "GPU-1a2b",
    "MemoryInfo": SimpleNamespace(total=80 * GIB, free=79 * GIB, used=GIB),
    "MigMode": [0, 0],
    "AddressingMode": 1,
}
INSTANCES = [
    {
        "Name": "NVIDIA H100 80GB HBM3 MIG 3g.40gb",
        "UUID": f"MIG-{number}",
        "MemoryInfo": SimpleNamespace(total=size * GIB, free=size * GIB, used=0),
        "MigMode": pynvml.NVML_ERROR_INVALID_ARGUMENT,
    }
    for number, size in ((1, 40), (2, 20))
]
DIVIDED = H100 | {"UUID": "GPU-mig", "MigMode": [1, 1], "Parts": [INSTANCES[0], None, INSTANCES[1]]}
GB10 = {
    "Name": b"NVIDIA GB10",
    "UUID": "GPU-gb10",
    "MemoryInfo": NOT_SUPPORTED,
    "MigMode": NOT_SUPPORTED,
    "AddressingMode": 2,
}
CONSUMER = {
    "Name": "NVIDIA GeForce RTX 3090",
    "UUID": "GPU-3090",
    "MemoryInfo": SimpleNamespace(total=24 * GIB, free=2 * GIB, used=22 * GIB),
    "MigMode": NOT_SUPPORTED,
    "AddressingMode": pynvml.NVML_ERROR_FUNCTION_NOT_FOUND,
}
SILENT = CONSUMER | {
    "UUID": pynvml.NVML_ERROR_UNKNOWN,
    "MemoryInfo": SimpleNamespace(total=0, free=0),
}


class Recorded:
    """The library with recorded answers: the real errors and constants, no driver."""

    def __init__(self, *devices: dict[str, Any], start: int = 0, count: int = 0) -> None:
        self._devices = devices
        self._start = start
        self._count = count
        self.shut = False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("nvmlDeviceGet"):
            return lambda device: self._answer(device, name.removeprefix("nvmlDeviceGet"))
        return getattr(pynvml, name)

    @staticmethod
    def _answer(device: dict[str, Any], name: str) -> Any:
        answer = device.get(name, NOT_SUPPORTED)
        if isinstance(answer, int) and name != "AddressingMode":
            raise pynvml.NVMLError(answer)
        if name == "AddressingMode" and answer not in {0, 1, 2}:
            raise pynvml.NVMLError(answer)
        return answer

    def nvmlInit(self) -> None:  # noqa: N802 - the library's own name
        if self._start:
            raise pynvml.NVMLError(self._start)

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.shut = True

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        if self._count:
            raise pynvml.NVMLError(self._count)
        return len(self._devices)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> dict[str, Any]:  # noqa: N802
        return self._devices[index]

    def nvmlDeviceGetMaxMigDeviceCount(self, device: dict[str, Any]) -> int:  # noqa: N802
        return len(device["Parts"])

    def nvmlDeviceGetMigDeviceHandleByIndex(  # noqa: N802
        self, device: dict[str, Any], index: int
    ) -> dict[str, Any]:
        part: dict[str, Any] | None = device["Parts"][index]
        if part is None:
            raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_FOUND)
        return part


def asked(*devices: dict[str, Any], visible: str | None = None, **start: int) -> GpuFacts:
    recorded = Recorded(*devices, **start)
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    found = probe_gpu(lambda: recorded, environment)
    assert recorded.shut is not bool(start.get("start"))
    return found


def gpus(found: GpuFacts) -> tuple[Gpu, ...]:
    assert found.gpus is not None
    return found.gpus


def test_plain_devices() -> None:
    found = asked(H100, CONSUMER)
    first, second = gpus(found)
    assert (first.name, first.uuid, first.unified) == (H100["Name"], "GPU-1a2b", False)
    assert (first.total, first.free) == (80 * GIB, 79 * GIB)
    assert (second.total, second.free, second.unified) == (24 * GIB, 2 * GIB, None)
    assert found.unknown == ()


def test_a_divided_device_has_its_instances() -> None:
    whole, *parts = gpus(asked(DIVIDED))
    assert whole.divided
    assert [(part.total, part.instance_of) for part in parts] == [
        (40 * GIB, "GPU-mig"),
        (20 * GIB, "GPU-mig"),
    ]


def test_unified_memory_that_answers_na_is_unknown_and_not_zero() -> None:
    found = asked(GB10)
    (device,) = gpus(found)
    assert (device.name, device.total, device.free, device.unified) == (
        "NVIDIA GB10",
        None,
        None,
        True,
    )
    assert found.unknown[0].fact == "gpus.GPU-gb10.total"


def test_a_total_of_zero_is_no_answer() -> None:
    found = asked(SILENT)
    (device,) = gpus(found)
    assert (device.total, device.uuid) == (None, None)
    assert found.unknown[0].fact == "gpus.NVIDIA GeForce RTX 3090.total"


@pytest.mark.parametrize(
    "error", [pynvml.NVML_ERROR_LIBRARY_NOT_FOUND, pynvml.NVML_ERROR_DRIVER_NOT_LOADED]
)
def test_no_driver_is_no_gpu(error: int) -> None:
    assert asked(start=error) == GpuFacts(())


def test_a_driver_of_another_version_is_unknown() -> None:
    found = asked(start=pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH)
    assert found.gpus is None
    assert "version mismatch" in found.unknown[0].reason.lower()


def test_a_driver_that_fails_later_is_unknown() -> None:
    assert asked(count=pynvml.NVML_ERROR_GPU_IS_LOST).gpus is None


def test_a_driver_that_never_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gpu, "_LIMIT", 0.1)
    release = threading.Event()
    found = probe_gpu(lambda: release.wait(5))
    release.set()
    assert found.gpus is None
    assert "does not answer within 0.1 s" in found.unknown[0].reason


def test_without_the_extra_nothing_is_looked_at() -> None:
    def missing() -> None:
        raise ImportError

    found = probe_gpu(missing)
    assert found.gpus is None
    assert "k3preflight[gpu]" in found.unknown[0].reason


def test_a_bug_is_not_hidden_in_the_thread() -> None:
    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        probe_gpu(broken)


def test_this_machine_answers_with_the_real_library() -> None:
    found = probe_gpu()
    assert found.gpus is not None or found.unknown


@pytest.mark.parametrize(
    ("visible", "shown"),
    [
        (None, [True, True, True, True]),
        ("", [False, False, False, False]),
        ("-1", [False, False, False, False]),
        ("1", [False, True, False, False]),
        ("0,1", [True, True, True, True]),
        ("GPU-30", [False, True, False, False]),
        ("MIG-2", [False, False, False, True]),
        ("9,nonsense", [False, False, False, False]),
    ],
)
def test_cuda_visible_devices(visible: str | None, shown: list[bool]) -> None:
    found = gpus(asked(DIVIDED, CONSUMER, visible=visible))
    order = [found[0], found[3], found[1], found[2]]  # the two devices, then the instances
    assert [device.visible for device in order] == shown


def test_older_bindings_have_no_addressing_mode() -> None:
    recorded = Recorded(CONSUMER)
    vars(recorded)["nvmlDeviceGetAddressingMode"] = None
    (device,) = gpus(probe_gpu(lambda: recorded, {}))
    assert device.unified is None


def pci(*devices: tuple[str, str]) -> dict[str, str]:
    return {
        f"/sys/bus/pci/devices/{number}/{name}": text
        for number, (kind, maker) in enumerate(devices)
        for name, text in (("class", f"{kind}\n"), ("vendor", f"{maker}\n"))
    }


def test_graphics_on_the_bus(tmp_path: Path) -> None:
    files = pci(
        ("0x030200", "0x10de"), ("0x030000", "0x1002"), ("0x010802", "0x10de"), ("0x030000", "0x1")
    )
    root = replay(tmp_path, files)
    (tmp_path / "sys/bus/pci/devices/gone").mkdir()
    assert graphics(root) == ("NVIDIA", "AMD")


def test_no_bus_no_graphics(tmp_path: Path) -> None:
    assert graphics(replay(tmp_path, {})) == ()
