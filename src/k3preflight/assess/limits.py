"""What a host's limits say to what a runtime maps, commits or holds."""

from k3preflight.assess.case import Case
from k3preflight.models.machine import Limit, Memory
from k3preflight.units import gb, ram

_RAISE = {
    "address-space": "Raise it in the shell that starts the runtime: ulimit -v unlimited.",
    "private": "Raise it in the shell that starts the runtime: ulimit -d unlimited.",
}
_COMMIT = (
    "Let the kernel promise more: sysctl vm.overcommit_memory=0, or a larger overcommit_ratio."
)


def refusal(case: Case, plan: int, *, now: bool = False) -> tuple[str, str] | None:
    """The first limit that refuses the runtime memory it maps, and how to raise it.

    `plan` is what the runtime takes. One that maps its weights needs address space for the whole
    file too; only KV and state are its private memory. `now` judges what a limit has left.
    """
    for limit in case.host.memory.limits:
        allows = limit.left if now else limit.bytes
        if limit.counts not in _RAISE or allows is None:
            continue
        need, what = _counted(case, plan, limit)
        if allows < need:
            leaves = "leaves" if now else "allows"
            return (
                (
                    f"short by {gb(need - allows)} of {what}: needs {ram(need)}, "
                    f"{limit.name} {leaves} {ram(allows)}"
                ),
                _COMMIT if limit.name.startswith("vm.") else _RAISE[limit.counts],
            )
    return None


def _counted(case: Case, plan: int, limit: Limit) -> tuple[int, str]:
    if case.scenario.profile.memory.overflow == "stream":
        return plan, limit.counts.replace("-", " ") + ("" if "-" in limit.counts else " memory")
    held = kv_and_state(case)
    if limit.counts == "address-space":
        return case.weights + held, "address space for the mapped weights, KV and state"
    return held, "private memory for KV and state"


def kv_and_state(case: Case) -> int:
    """Bytes of KV cache for the context, and of recurrent state, as far as they are published."""
    memory = case.scenario.profile.memory
    kv = memory.kv_per_token.bytes * case.context if memory.kv_per_token else 0
    return kv + (memory.state.bytes if memory.state else 0)


def paged(case: Case, usable: int) -> str | None:
    """Why mapped weights that fit on their own page all the same: KV and state take their share."""
    if case.scenario.profile.memory.overflow == "stream":
        return None
    over = case.weights + kv_and_state(case) - usable
    if over <= 0:
        return None
    return f"beside KV and state the page cache lacks {gb(over)} for them: they page from disk"


def more_memory(memory: Memory, need: int, otherwise: str) -> str:
    """The remedy for too little usable memory: raise what limits it, or use a larger machine."""
    limit = memory.binding
    if limit and memory.total is not None and memory.total >= need:
        text = f"Raise it to at least {ram(need)} ({limit.name}){otherwise}."
    else:
        text = f"Use a machine with at least {ram(need)}{otherwise}."
    if memory.wsl:
        text += " WSL gets half of the RAM unless .wslconfig says more: memory= under [wsl2]."
    return text


def could_be_freed(memory: Memory) -> str:
    """What counts as used but gives way."""
    if not memory.zfs_arc:
        return ""
    return f" The ZFS cache could give back up to {gb(memory.zfs_arc)}."


def doubtful(case: Case) -> tuple[str, str] | None:
    """What a sufficient figure leaves open: a limit that throttles, or one that holds no number."""
    memory = case.host.memory
    if memory.binding and memory.binding.soft:
        return (
            f"{memory.binding.name} throttles what goes beyond it, page cache included",
            "Raise memory.high to memory.max where the runtime is to use the page cache.",
        )
    odd = [entry.reason for entry in case.host.unknown if entry.fact == "memory.limits"]
    if odd:
        return "; ".join(odd), "Look at that file, or say what there is with --memory."
    return _unlockable(case)


def _unlockable(case: Case) -> tuple[str, str] | None:
    if not case.scenario.profile.memory.locks_weights:
        return None
    for limit in case.host.memory.limits:
        if limit.counts == "locked" and limit.bytes < case.weights:
            return (
                (
                    f"{limit.name} lets {ram(limit.bytes)} be locked, the weights are "
                    f"{gb(case.weights)}: mlock will be refused"
                ),
                "Raise it with ulimit -l unlimited, or run without mlock.",
            )
    return None
