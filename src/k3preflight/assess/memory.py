"""Memory: can the runtime start, keep what it must, and have what its publisher asks for?"""

from collections.abc import Iterator
from typing import NamedTuple

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.limits import could_be_freed, doubtful, more_memory, refusal
from k3preflight.assess.vram import pooled
from k3preflight.models.figures import Sourced
from k3preflight.models.names import Status
from k3preflight.models.report import Budget, Item
from k3preflight.units import ceil_div, gb, ram


class Minimum(NamedTuple):
    """What a scenario must hold, in bytes; `low` < `high` where only two figures are known.

    `plan` is what the runtime itself takes, without the share it leaves free.
    """

    low: int
    high: int
    plan: int
    items: tuple[Item, ...]


def minimum_of(case: Case) -> Minimum | None:
    """ceil((parts + state + KV x context) x 100 / start percent), never under the measured peak.

    Source of each figure: the profile. The share a runtime leaves free is an item of its own. None
    where the profile does not say what the runtime must hold: a sum with an unknown part is none.
    """
    memory, preset = case.scenario.profile.memory, case.scenario.preset
    if memory.parts is None:
        return None
    parts = [*memory.parts, *(preset.parts if preset else ())]
    items = [item_of(part.name, part.bytes, part) for part in parts]
    unsure = sum(part.at_most - part.bytes for part in parts if part.at_most is not None)
    if preset and preset.expert_cache:
        items.append(item_of("expert cache", preset.expert_cache.bytes, preset.expert_cache))
    if memory.state:
        items.append(item_of("state", memory.state.bytes, memory.state))
    if memory.kv_per_token:
        kv = memory.kv_per_token.bytes * case.context
        items.append(item_of(f"KV cache, {case.context:,} positions", kv, memory.kv_per_token))
    start = memory.start_percent.percent if memory.start_percent else 100
    plan = sum(item.bytes for item in items)
    low, high = (ceil_div(size * 100, start) for size in (plan, plan + unsure))
    if memory.start_percent:
        kept_free = item_of(
            f"kept free by the runtime ({100 - start}%)", low - plan, memory.start_percent
        )
        items.append(kept_free)
    if preset and preset.peak and preset.peak.bytes > low:
        items.append(item_of("up to the measured peak", preset.peak.bytes - low, preset.peak))
        low, high = preset.peak.bytes, max(high, preset.peak.bytes)
        plan = max(plan, low)
    if high > low:
        items.append(
            Item(side="need", name="not published, at most", bytes=high - low, source="whole file")
        )
    return Minimum(low, high, plan, tuple(items))


def item_of(name: str, size: int, figure: Sourced) -> Item:
    """One part of a need, with where its figure is from."""
    return Item(side="need", name=name, bytes=size, source=f"{figure.source} ({figure.basis})")


def usable_item(case: Case) -> tuple[Item, ...]:
    """The host's usable memory and where it is from; nothing where it is unknown."""
    memory = case.host.memory
    if memory.usable is None:
        return ()
    source = memory.usable_from or "not recorded"
    if memory.shares:
        return tuple(
            Item(side="have", name=f"available on {share.host}", bytes=share.bytes, source=source)
            for share in memory.shares
        )
    return (Item(side="have", name="usable memory", bytes=memory.usable, source=source),)


def holds(case: Case) -> bool:
    """Whether usable memory and every other limit leave room for the minimum."""
    need, usable = minimum_of(case), case.host.memory.usable
    if need is None or usable is None:
        return False
    return need.high <= usable and refusal(case, need.plan) is None


def minimum(case: Case) -> Iterator[Outcome]:
    """Usable memory holds what the runtime must keep resident; available memory lets it start now.

    Fails under the minimum, or where an address-space or commit limit is under what the runtime
    maps; warns where only what is available now is under it. Unknown where usable memory could not
    be read, or lies between the two figures of a minimum not published exactly, or where the
    profile states no minimum: a pass without one would promise what nobody measured.
    """
    need, memory = minimum_of(case), case.host.memory
    if need is None:
        name = case.scenario.profile.name
        yield Outcome(
            Status.UNKNOWN,
            f"the profile does not say what {name} must hold in memory",
            "Fill in memory.parts of the profile, or judge the rest with --skip memory.minimum.",
        )
        return
    budget = Budget.of(need.high, memory.usable, (*need.items, *usable_item(case)))
    if memory.usable is None:
        yield _unreadable(case, need, budget)
        return
    has = f"{ram(memory.usable)} usable"
    refused = refusal(case, need.plan)
    if memory.usable < need.low:
        from_limit = f", by {memory.usable_from}" if memory.binding else ""
        yield Outcome(
            Status.FAIL,
            f"short by {gb(need.low - memory.usable)}: needs {_span(need)}, {has}{from_limit}",
            more_memory(memory, need.low, _smaller_preset(case)),
            budget,
        )
    elif refused:
        yield Outcome(Status.FAIL, *refused, budget)
    elif memory.usable < need.high:
        yield Outcome(
            Status.UNKNOWN,
            f"needs {_span(need)}; the exact figure is not published, and {has} lies between",
            f"{ram(need.high)} would settle it.",
            budget,
        )
    else:
        yield _room_for(case, need, has, budget)


def _unreadable(case: Case, need: Minimum, budget: Budget) -> Outcome:
    total, why = case.host.memory.total, case.host.why("memory.usable")
    if total is not None and total < need.low:
        return Outcome(
            Status.FAIL,
            f"short by {gb(need.low - total)}: needs {_span(need)}, {ram(total)} in all",
            f"Use a machine with at least {ram(need.low)}.",
            budget,
        )
    return Outcome(
        Status.UNKNOWN,
        f"{ram(need.high)} needed; usable memory is unknown: {why}",
        "Say how much there is with --memory.",
        budget,
    )


def _room_for(case: Case, need: Minimum, has: str, budget: Budget) -> Outcome:
    """Enough is usable: whether it is there right now, and what else is to be said."""
    memory = case.host.memory
    text = f"needs {_span(need)}, {has}"
    if memory.available is not None and memory.available < need.high:
        return Outcome(
            Status.WARN,
            f"{text}, but only {ram(memory.available)} available: would not start right now",
            f"Free {gb(need.high - memory.available)}: stop what holds it, then check again."
            + could_be_freed(memory),
            budget,
        )
    crowded = refusal(case, need.plan, now=True)
    if crowded:
        return Outcome(Status.WARN, *crowded, budget)
    now = (
        f"{ram(memory.available)} available now"
        if memory.available is not None
        else "what is available now is unknown"
    )
    text = f"{text}, {now}"
    if case.scenario.profile.memory.kv_per_token is None and case.policy.context is not None:
        return Outcome(
            Status.WARN,
            f"{text}; KV not included: nobody published its size, so {case.context:,} positions "
            "cannot be judged",
            "Leave room beyond the minimum, and watch the first run.",
            budget,
        )
    doubt = doubtful(case)
    if doubt:
        return Outcome(Status.WARN, f"{text}; {doubt[0]}", doubt[1], budget)
    return Outcome(Status.PASS, text, None, budget)


def _span(need: Minimum) -> str:
    return ram(need.high) if need.low == need.high else f"{gb(need.low)} to {gb(need.high)}"


def _smaller_preset(case: Case) -> str:
    if case.scenario.preset is None:
        return ""
    for preset in reversed(case.scenario.profile.presets):
        other = case._replace(scenario=case.scenario._replace(preset=preset))
        if holds(other):
            return f", or take a smaller preset: {other.scenario.name} fits"
    return ""


def recommended(case: Case) -> Iterator[Outcome]:
    """Usable memory meets what the publisher asks for, or what a run was measured to take."""
    asked = case.scenario.profile.memory.recommended
    if asked is None:
        yield Outcome(Status.SKIP, "no recommended memory is published")
        return
    usable, vram = case.host.memory.usable, pooled(case)
    items = [item_of("recommended", asked.bytes, asked), *usable_item(case)]
    has = "usable"
    if usable is not None and vram and vram.devices:
        usable += vram.total
        items.extend(vram.items)
        has = "usable with VRAM, an aggregate and not a promise"
    budget = Budget.of(asked.bytes, usable, items)
    if usable is None:
        yield Outcome(
            Status.SKIP, f"usable memory is unknown: {case.host.why('memory.usable')}", None, budget
        )
    elif budget.gap:
        yield Outcome(
            Status.WARN,
            f"{ram(usable)} {has}, {ram(asked.bytes)} recommended ({asked.source})",
            f"Expect it slower than published; {gb(budget.gap)} more would meet it.",
            budget,
        )
    else:
        yield Outcome(
            Status.PASS, f"{ram(usable)} {has}, {ram(asked.bytes)} recommended", None, budget
        )
