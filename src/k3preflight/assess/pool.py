"""Several hosts as one, for runtimes that can spread a model over them.

An aggregate, not a promise: whether the hosts can really be combined is for a run to show.
"""

from collections import Counter
from collections.abc import Sequence

from k3preflight.models.host import Host, Unknown
from k3preflight.models.machine import Memory, Share
from k3preflight.units import percent, ram


def pool_hosts(hosts: Sequence[Host]) -> tuple[Host, tuple[str, ...]]:
    """The first host, which downloads, with the memory of all; and the notes it is to be read with.

    Of each host the available memory is counted, in bytes: a server that lends its memory reports
    the total, whatever else runs there. Unknown where one host's is.
    """
    names = [host.name or f"host {number}" for number, host in enumerate(hosts, 1)]
    shares = []
    unknown = []
    for name, host in zip(names, hosts, strict=True):
        memory = host.memory
        if memory.available is None or memory.usable is None:
            fact = "memory.usable" if memory.usable is None else "memory.available"
            unknown.append(f"{name}: {host.why(fact)}")
        else:
            shares.append(Share(host=name, bytes=min(memory.available, memory.usable)))
    total = None if unknown else sum(share.bytes for share in shares)
    first = hosts[0].model_copy(
        update={
            "memory": Memory(
                total=total,
                usable=total,
                available=total,
                usable_from=f"available memory of {len(hosts)} hosts",
                shares=tuple(shares),
            ),
            "unknown": (
                *(item for item in hosts[0].unknown if not item.fact.startswith("memory.")),
                *(Unknown(fact="memory.usable", reason=reason) for reason in unknown),
            ),
        }
    )
    return first, (*_sum(total, shares, len(hosts)), *_doubts(names))


def _sum(total: int | None, shares: Sequence[Share], hosts: int) -> tuple[str, ...]:
    if total is None:
        return (f"--pool hosts: the memory of {hosts} hosts cannot be added up",)
    parts = ", ".join(
        f"{share.host} {ram(share.bytes)}, {percent(100 * share.bytes / total)}"
        if total
        else f"{share.host} nothing"
        for share in shares
    )
    return (
        (
            f"--pool hosts: {ram(total)} available on {hosts} hosts ({parts}): "
            "an aggregate, not a promise that they can be combined"
        ),
    )


def _doubts(names: Sequence[str]) -> tuple[str, ...]:
    first = (
        f"the disk need stays on {names[0]}, the first host given, which downloads; disk, "
        "processor and tools of the others are not judged"
    )
    confirm = (
        "to confirm: RPC servers are not authenticated, so keep them on a private network; they "
        "report total, not available, memory, so what is free there must stay free; every token "
        "crosses the network between the hosts"
    )
    twice = [name for name, times in Counter(names).items() if times > 1]
    asked = [f"two documents are of {name}: is one host counted twice?" for name in twice]
    return (first, confirm, *asked)
