"""RAM: what there is, what a process can have, what is available now."""

import psutil

from k3preflight.models.host import Memory, Unknown


def probe_memory() -> tuple[Memory, tuple[Unknown, ...]]:
    """Total, usable and available RAM in bytes; null and a reason where the system does not say."""
    try:
        ram = psutil.virtual_memory()
        swap = psutil.swap_memory().total
    except (OSError, RuntimeError, psutil.Error) as error:
        reason = f"the system does not report it: {error}"
        facts = ("memory.total", "memory.usable", "memory.available", "memory.swap_total")
        return Memory(), tuple(Unknown(fact=fact, reason=reason) for fact in facts)
    return (
        Memory(
            total=ram.total,
            usable=ram.total,
            available=ram.available,
            swap_total=swap,
            usable_from="physical memory",
        ),
        (),
    )
