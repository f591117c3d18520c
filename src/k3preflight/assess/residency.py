"""Residency: how much of the weights memory holds at once, and what becomes of the rest."""

from collections.abc import Iterator

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.limits import paged
from k3preflight.assess.memory import item_of, usable_item
from k3preflight.assess.vram import pooled
from k3preflight.models.names import Status
from k3preflight.models.report import Budget, Item
from k3preflight.units import gb, percent


def residency_of(case: Case) -> Budget:
    """The weights against usable memory, capped by the preset's peak where it caps itself.

    With --pool vram the VRAM is added where the runtime offloads.
    """
    preset, usable = case.scenario.preset, case.host.memory.usable
    checkpoint = case.scenario.profile.checkpoint
    items = [
        item_of(
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
        items.extend(usable_item(case))
    vram = pooled(case)
    if have is not None and vram and vram.devices:
        have += vram.total
        items.extend(vram.items)
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
    vram = pooled(case)
    if vram and vram.devices:
        note += "; with VRAM, an aggregate and not a promise"
    if budget.gap == 0:
        crowded = paged(case, budget.have)
        if crowded:
            yield Outcome(Status.WARN, f"{share} ({note}), but {crowded}", _LESS_PAGING, budget)
        else:
            yield Outcome(Status.PASS, f"{share} ({note})", None, budget)
        return
    left = f"{share}, {gb(budget.gap)} not ({note})"
    if require and vram and not vram.devices and case.host.gpus is None:
        yield Outcome(Status.UNKNOWN, f"{left}; VRAM is unknown: {vram.why}", None, budget)
    elif require:
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
