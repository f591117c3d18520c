"""Memory: can the runtime start and keep what it must, and how much of the weights is resident?"""

from collections.abc import Iterator
from typing import NamedTuple

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.limits import could_be_freed, doubtful, more_memory, paged, refusal
from k3preflight.models.names import Status
from k3preflight.models.profile import Sourced
from k3preflight.models.report import Budget, Item
from k3preflight.units import ceil_div, gb, percent, ram


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
    items = [_item(part.name, part.bytes, part) for part in parts]
    unsure = sum(part.at_most - part.bytes for part in parts if part.at_most is not None)
    if preset and preset.expert_cache:
        items.append(_item("expert cache", preset.expert_cache.bytes, preset.expert_cache))
    if memory.state:
        items.append(_item("state", memory.state.bytes, memory.state))
    if memory.kv_per_token:
        kv = memory.kv_per_token.bytes * case.context
        items.append(_item(f"KV cache, {case.context:,} positions", kv, memory.kv_per_token))
    start = memory.start_percent.percent if memory.start_percent else 100
    plan = sum(item.bytes for item in items)
    low, high = (ceil_div(size * 100, start) for size in (plan, plan + unsure))
    if memory.start_percent:
        kept_free = _item(
            f"kept free by the runtime ({100 - start}%)", low - plan, memory.start_percent
        )
        items.append(kept_free)
    if preset and preset.peak and preset.peak.bytes > low:
        items.append(_item("up to the measured peak", preset.peak.bytes - low, preset.peak))
        low, high = preset.peak.bytes, max(high, preset.peak.bytes)
        plan = max(plan, low)
    if high > low:
        items.append(
            Item(side="need", name="not published, at most", bytes=high - low, source="whole file")
        )
    return Minimum(low, high, plan, tuple(items))


def _item(name: str, size: int, figure: Sourced) -> Item:
    return Item(side="need", name=name, bytes=size, source=f"{figure.source} ({figure.basis})")


def _usable_item(case: Case) -> tuple[Item, ...]:
    memory = case.host.memory
    if memory.usable is None:
        return ()
    source = memory.usable_from or "not recorded"
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
    budget = Budget.of(need.high, memory.usable, (*need.items, *_usable_item(case)))
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
    usable = case.host.memory.usable
    items = (_item("recommended", asked.bytes, asked), *_usable_item(case))
    budget = Budget.of(asked.bytes, usable, items)
    if usable is None:
        yield Outcome(
            Status.SKIP, f"usable memory is unknown: {case.host.why('memory.usable')}", None, budget
        )
    elif budget.gap:
        yield Outcome(
            Status.WARN,
            f"{ram(usable)} usable, {ram(asked.bytes)} recommended ({asked.source})",
            f"Expect it slower than published; {gb(budget.gap)} more would meet it.",
            budget,
        )
    else:
        yield Outcome(
            Status.PASS, f"{ram(usable)} usable, {ram(asked.bytes)} recommended", None, budget
        )


def residency_of(case: Case) -> Budget:
    """The weights against usable memory, capped by the preset's peak where it caps itself."""
    preset, usable = case.scenario.preset, case.host.memory.usable
    checkpoint = case.scenario.profile.checkpoint
    items = [
        _item(
            "weights",
            case.weights,
            checkpoint.published_size
            if case.published and checkpoint.published_size
            else checkpoint.size,
        )
    ]
    have = usable
    if usable is not None and preset and preset.peak and preset.peak.bytes < usable:
        have = preset.peak.bytes
        source = f"{preset.peak.source} ({preset.peak.basis})"
        items.append(Item(side="have", name=f"preset {preset.name}", bytes=have, source=source))
    else:
        items.extend(_usable_item(case))
    return Budget.of(case.weights, have, items)


def residency(case: Case) -> Iterator[Outcome]:
    """How much of the weights memory can hold at once; KV, OS and buffers are not in it.

    A runtime that streams by design passes with a gap, one that would page warns. With
    --require-resident a gap fails.
    """
    budget = residency_of(case)
    require = case.policy.require_resident
    if budget.have is None or budget.gap is None or budget.coverage_percent is None:
        why = f"usable memory is unknown: {case.host.why('memory.usable')}"
        yield Outcome(Status.UNKNOWN if require else Status.SKIP, why, None, budget)
        return
    share = f"{percent(budget.coverage_percent)} of {gb(budget.need)} of weights resident"
    note = "KV, OS and buffers not counted"
    if budget.gap == 0:
        crowded = paged(case, budget.have)
        if crowded:
            yield Outcome(Status.WARN, f"{share} ({note}), but {crowded}", _LESS_PAGING, budget)
        else:
            yield Outcome(Status.PASS, f"{share} ({note})", None, budget)
        return
    left = f"{share}, {gb(budget.gap)} not ({note})"
    if require:
        yield Outcome(
            Status.FAIL,
            left,
            f"Use {gb(budget.gap)} more memory, or leave out --require-resident.",
            budget,
        )
    elif case.scenario.profile.memory.overflow == "stream":
        yield Outcome(Status.PASS, f"{left}; streamed from disk by design", None, budget)
    else:
        yield Outcome(
            Status.WARN,
            f"{left}; what is not resident pages from disk{_consequence(case)}",
            _LESS_PAGING,
            budget,
        )


_LESS_PAGING = "Use more memory, or a runtime that streams by design."


def _consequence(case: Case) -> str:
    """What the profile's publisher says of weights beyond memory."""
    note = case.scenario.profile.memory.note
    return f": {note}" if note else ", which is slow"
