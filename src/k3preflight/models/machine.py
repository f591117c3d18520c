"""What one machine is: its system, memory, CPU, tools and GPUs. Facts, nothing judged."""

from typing import Literal

from k3preflight.models.base import Bytes, Count, Document, Text

Source = Literal["measured", "flag"]

Counts = Literal["resident", "address-space", "private", "locked"]


class System(Document):
    """The operating system and architecture.

    `machine` is the processor's own architecture, also where an emulated interpreter claims
    another (`emulated`). `bits` is the interpreter's word, `like` the distribution and those it
    is built on, nearest first.
    """

    system: Text | None = None
    release: Text | None = None
    machine: Text | None = None
    python: Text | None = None
    bits: Count | None = None
    emulated: bool | None = None
    like: tuple[Text, ...] = ()


class Limit(Document):
    """What keeps a process under the machine's total, in bytes, and where it is set.

    `counts` is what counts against it: resident memory with its page cache, all address space,
    private memory alone (a file mapped for reading is not), or locked memory. `left` is what is
    not used up right now; page cache is not use. A `soft` one throttles instead of refusing.
    """

    name: Text
    counts: Counts
    bytes: Bytes
    left: Bytes | None = None
    soft: bool = False


class Share(Document):
    """What one host of a pool brings, in bytes."""

    host: Text
    bytes: Bytes


class Memory(Document):
    """RAM in bytes. `usable` is what a process can have at most, `available` what it gets now.

    `limits` are those under the total, `usable_from` names the one that binds. Of `available`,
    `zfs_arc` is not part: it could be freed. `gpu_limit` is what a Mac lets its GPU hold of the
    shared memory; `gpu_limit_from` says whether it is set or estimated.
    `shares` are there where it is the sum of several hosts.
    """

    total: Bytes | None = None
    usable: Bytes | None = None
    available: Bytes | None = None
    swap_total: Bytes | None = None
    usable_from: Text | None = None
    limits: tuple[Limit, ...] = ()
    huge_pages: Bytes | None = None
    zfs_arc: Bytes | None = None
    wsl: bool | None = None
    gpu_limit: Bytes | None = None
    gpu_limit_from: Text | None = None
    shares: tuple[Share, ...] = ()
    source: Source = "measured"

    @property
    def binding(self) -> Limit | None:
        """The limit that `usable` comes from; None where it is the machine's own total."""
        return next(
            (
                limit
                for limit in self.limits
                if limit.counts == "resident" and limit.name == self.usable_from
            ),
            None,
        )


class Cpu(Document):
    """The processor. `flags` are those every core has, `cores` those this process gets."""

    model: Text | None = None
    flags: tuple[Text, ...] | None = None
    logical: Count | None = None
    cores: Count | None = None
    cores_from: Text | None = None
    hypervisor: bool | None = None


class Tool(Document):
    """A program the commands need, found and tried. `works` is null where it was not found.

    `chosen_by` is the variable that names it, where one does; `flavor` the family of a compiler,
    `problem` what it said instead of working, `note` how it was made to work.
    """

    id: Text
    command: Text | None = None
    chosen_by: Text | None = None
    path: Text | None = None
    version: Text | None = None
    flavor: Text | None = None
    works: bool | None = None
    problem: Text | None = None
    note: Text | None = None


class Gpu(Document):
    """One NVIDIA device, or one MIG instance of a device (`instance_of`).

    A device in MIG mode is `divided`: its memory is that of its instances. `unified` memory is the
    system's own, and counted there. `visible` is false where CUDA_VISIBLE_DEVICES hides it.
    """

    name: Text | None = None
    uuid: Text | None = None
    total: Bytes | None = None
    free: Bytes | None = None
    unified: bool | None = None
    divided: bool = False
    instance_of: Text | None = None
    visible: bool = True
