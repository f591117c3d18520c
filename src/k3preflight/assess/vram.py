"""VRAM: how much there is for one process, and what of it counts where it is asked for."""

from typing import NamedTuple

from k3preflight.assess.case import Case
from k3preflight.models.host import Host
from k3preflight.models.machine import Gpu
from k3preflight.models.names import Pool
from k3preflight.models.report import Item
from k3preflight.text import listed


class Vram(NamedTuple):
    """Devices whose memory one process can use, and what it comes to in bytes.

    `why` says why there is none, or what is left out.
    """

    devices: tuple[Gpu, ...] = ()
    total: int = 0
    why: str | None = None

    @property
    def items(self) -> tuple[Item, ...]:
        """Each device's own memory."""
        return tuple(
            Item(
                side="have",
                name=f"VRAM of {gpu.name or 'a device'}",
                bytes=gpu.total or 0,
                source=f"NVIDIA's driver, {gpu.uuid or 'no UUID'}",
            )
            for gpu in self.devices
        )


def vram_of(host: Host) -> Vram:
    """Whole devices, or the largest MIG instance where there are only such: a process gets one.

    Shared memory of the system is not added again; a device that answers N/A is left out.
    """
    if host.gpus is None:
        return Vram(why=host.why("gpus"))
    if not host.gpus:
        return Vram(why="no NVIDIA GPU")
    seen = [gpu for gpu in host.gpus if gpu.visible and not gpu.divided]
    if not seen:
        return Vram(why="CUDA_VISIBLE_DEVICES hides every NVIDIA GPU")
    left_out = [
        f"{gpu.name or 'a device'} shares the system's memory, counted there"
        if gpu.unified
        else f"{gpu.name or 'a device'} does not say how much it has (N/A)"
        for gpu in seen
        if gpu.unified or gpu.total is None
    ]
    own = [gpu for gpu in seen if not gpu.unified and gpu.total is not None]
    whole = [gpu for gpu in own if gpu.instance_of is None]
    parts = [gpu for gpu in own if gpu.instance_of is not None]
    if parts and not whole:
        whole = [max(parts, key=lambda gpu: gpu.total or 0)]
        left_out += ["a process gets one MIG instance"] if len(parts) > 1 else []
    elif parts:
        left_out.append("MIG instances are not added to whole devices")
    why = listed(list(dict.fromkeys(left_out)), separator="; ") if left_out else None
    return Vram(tuple(whole), sum(gpu.total or 0 for gpu in whole), why)


def pooled(case: Case) -> Vram | None:
    """The VRAM to add for this scenario; None where it was not asked for, or does not apply."""
    policy = case.policy
    asked = policy.pool is Pool.VRAM and policy.memory is None
    return vram_of(case.host) if asked and case.scenario.profile.needs.offloads_to_gpu else None
