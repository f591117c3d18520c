"""Runtime: does it exist for this system and CPU, are its tools there, and can a GPU take part?"""

from collections.abc import Iterator

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.install import install
from k3preflight.assess.limits import kv_and_state
from k3preflight.assess.vram import vram_of
from k3preflight.models.machine import Tool
from k3preflight.models.names import Status
from k3preflight.models.profile import Tool as NeededTool
from k3preflight.models.report import Budget, Item
from k3preflight.text import listed
from k3preflight.units import gb, ram

_SHOWN = {"x86_64": "x86-64", "arm64": "ARM64"}


def platform(case: Case) -> Iterator[Outcome]:
    """The runtime is published for this operating system and processor architecture.

    Unknown where the host document names neither, or the profile does not say where it runs.
    """
    system, needs = case.host.system, case.scenario.profile.needs
    if not needs.platforms:
        yield Outcome(
            Status.UNKNOWN,
            f"the profile does not say on which systems {case.scenario.profile.runtime.name} runs",
            "Fill in needs.platforms, or judge the rest with --skip runtime.platform.",
        )
        return
    if system.system is None or system.machine is None:
        missing = "system" if system.system is None else "machine"
        why = case.host.why(f"system.{missing}")
        yield Outcome(Status.UNKNOWN, f"the host's {missing} is unknown: {why}")
        return
    here = f"{system.system} {system.machine}"
    if system.emulated:
        here += " (this Python runs translated, as x86_64)"
    published = listed([f"{item.system} {item.machine}" for item in needs.platforms], most=9)
    found = next(
        (
            item
            for item in needs.platforms
            if (item.system, item.machine) == (system.system, system.machine)
        ),
        None,
    )
    runtime = case.scenario.profile.runtime.name
    if found is None:
        yield Outcome(
            Status.FAIL,
            f"{runtime} is not published for {here}, but for {published}",
            "Use such a machine, or another way to run the model: k3preflight check names them.",
        )
    elif found.warn:
        yield Outcome(Status.WARN, f"{here}: {found.warn}")
    elif system.bits is not None and system.bits < 64:  # noqa: PLR2004 - bits
        yield Outcome(
            Status.WARN,
            f"{here}, but this Python is a {system.bits}-bit one, and so may be its compilers",
            "Build and run with 64-bit programs: a 32-bit process holds 4 GB at most.",
        )
    else:
        yield Outcome(Status.PASS, f"{runtime} is published for {here}")


def cpu(case: Case) -> Iterator[Outcome]:
    """Every core has the instructions the runtime is built with.

    Unknown where the flags could not be read and some are needed.
    """
    needed, found = case.scenario.profile.needs.cpu_flags, case.host.cpu
    cores = "" if found.cores is None else f"; {found.cores} cores, by {found.cores_from}"
    model = found.model or "this CPU"
    if not needed:
        yield Outcome(Status.PASS, f"no special instructions are needed{cores}")
        return
    words = " and ".join(needed)
    machine = case.host.system.machine
    if machine is not None and machine != "x86_64":
        yield Outcome(
            Status.FAIL,
            f"needs x86-64 with {words}; this is {_SHOWN.get(machine, machine)}",
            "Use an x86-64 machine.",
        )
        return
    if found.flags is None:
        why = case.host.why("cpu.flags")
        yield Outcome(Status.UNKNOWN, f"needs {words}; the CPU's flags are unknown: {why}")
        return
    missing = [flag for flag in needed if flag not in found.flags]
    if not missing:
        yield Outcome(Status.PASS, f"{model} has {words}{cores}")
        return
    lacks = f"{model} lacks {' and '.join(missing)}, which every core must have"
    if found.hypervisor:
        yield Outcome(
            Status.FAIL,
            f"{lacks}; this is a virtual machine, which may hide what the host has",
            "Set the VM's CPU type to host (host-passthrough), then check again.",
        )
    else:
        yield Outcome(Status.FAIL, lacks, f"Use a CPU with {words}.")


def tools(case: Case) -> Iterator[Outcome]:
    """What builds and downloads is found, works and is new enough; compilers by compiling.

    A tool that is missing warns: it can be installed.
    """
    for need in case.scenario.profile.needs.tools:
        found = case.host.tool(need.id)
        if need.id == "gpu-toolkit":
            yield _gpu_toolkit(case, need, found)
        elif found is None:
            yield Outcome(
                Status.SKIP, f"{need.id}: not looked at in this host document", subject=need.id
            )
        else:
            yield _judged(case, need, found)


def _judged(case: Case, need: NeededTool, found: Tool) -> Outcome:
    shown = f"{need.id}: {found.path or found.command or need.id}"
    about = [part for part in (found.flavor, found.chosen_by and f"by {found.chosen_by}") if part]
    if about:
        shown += f" ({', '.join(about)})"
    if found.version:
        shown += f" {found.version}"
    remedy = install(need, found, case.host.system)
    least = need.at_least or need.at_least_of.get(found.flavor or "")  # type: ignore[call-overload]  # a family without a least version has none
    if not found.works:
        what = found.problem or "does not work"
        by = f" (by {found.chosen_by})" if found.chosen_by else ""
        text = f"{shown}: {what}" if found.path else f"{need.id}: {what}{by}"
        return Outcome(Status.WARN, f"{text} ({need.why})", remedy, subject=need.id)
    if least and found.version and _parts(found.version) < _parts(least):
        text = f"{shown} is older than {least} ({need.why})"
        return Outcome(Status.WARN, text, remedy, subject=need.id)
    note = f", {found.note}" if found.note else ""
    return Outcome(Status.PASS, f"{shown} works{note}", subject=need.id)


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _gpu_toolkit(case: Case, need: NeededTool, found: Tool | None) -> Outcome:
    """Wanted only where there is a GPU to build for."""
    if case.host.system.system == "macos":
        return Outcome(Status.PASS, f"{need.id}: Metal comes with the platform", subject=need.id)
    present = has_nvidia(case)
    works = found is not None and bool(found.works)
    if present and found is not None:
        return _judged(case, need, found)
    if present:
        return Outcome(
            Status.SKIP, f"{need.id}: not looked at in this host document", subject=need.id
        )
    text = "no NVIDIA GPU is seen"
    if found is not None and works:
        text = f"{found.path} {found.version} is there, but {text}: build without GGML_CUDA"
    return Outcome(Status.SKIP, f"{need.id}: {text}", subject=need.id)


def has_nvidia(case: Case) -> bool:
    """Whether the driver lists an NVIDIA GPU, or one is on the bus."""
    return bool(case.host.gpus) or "NVIDIA" in case.host.graphics


def builds_for_gpu(case: Case) -> bool:
    """Whether the printed commands are those for a GPU: one is there, and so is its compiler."""
    found = case.host.tool("gpu-toolkit")
    return has_nvidia(case) and found is not None and bool(found.works)


def gpu(case: Case) -> Iterator[Outcome]:
    """GPU memory holds what every token touches, so that only the experts stay on the CPU.

    The non-routed weights, KV and state against all VRAM (--cpu-moe). No GPU is no failure.
    """
    profile = case.scenario.profile
    if not profile.needs.offloads_to_gpu:
        yield Outcome(Status.SKIP, f"{profile.runtime.name} runs on the CPU alone")
        return
    if case.policy.memory is not None:
        yield Outcome(Status.SKIP, "not looked at: --memory says what there is")
        return
    if profile.traffic is None:
        yield Outcome(Status.SKIP, "the size of the non-routed weights is not published")
        return
    figure = profile.traffic.dense_stream
    bare = figure.bytes
    need = bare + kv_and_state(case)
    source = f"{figure.source} ({figure.basis})"
    items = [
        Item(side="need", name="non-routed weights", bytes=bare, source=source),
        Item(side="need", name="KV and state", bytes=need - bare, source="profile"),
    ]
    memory = case.host.memory
    if memory.gpu_limit is not None:
        set_by = memory.gpu_limit_from or "not recorded"
        has = Item(side="have", name="GPU's share of RAM", bytes=memory.gpu_limit, source=set_by)
        budget = Budget.of(need, memory.gpu_limit, [*items, has])
        raise_it = "Raise it: sudo sysctl iogpu.wired_limit_mb=MB, or leave the rest to the CPU."
        yield _fitting(budget, f"the GPU may hold of the shared memory ({set_by})", raise_it)
        return
    vram = vram_of(case.host)
    if not vram.devices:
        seen = " (an NVIDIA GPU is on the bus)" if "NVIDIA" in case.host.graphics else ""
        yield Outcome(Status.SKIP, f"{vram.why}{seen}")
        return
    names = listed([gpu.name or "a device" for gpu in vram.devices])
    budget = Budget.of(need, vram.total, [*items, *vram.items])
    several = ", an aggregate and not a promise" if len(vram.devices) > 1 else ""
    left_out = f"; {vram.why}" if vram.why else ""
    less = "Keep some layers on the CPU too: --n-gpu-layers with fewer than all."
    yield _fitting(budget, f"VRAM of {names}{several}{left_out}", less)


def _fitting(budget: Budget, where: str, otherwise: str) -> Outcome:
    have = budget.have or 0
    wanted = f"{gb(budget.need)} of non-routed weights, KV and state (--cpu-moe)"
    if budget.gap:
        text = f"short by {gb(budget.gap)}: {wanted}, {ram(have)} {where}"
        return Outcome(Status.WARN, text, otherwise, budget)
    return Outcome(Status.PASS, f"{wanted} fit the {ram(have)} {where}", None, budget)
