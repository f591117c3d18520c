"""NAME:largest, the largest preset this host can hold, and what the next one would need."""

from typing import NamedTuple

from k3preflight.assess.case import Case
from k3preflight.assess.limits import refusal
from k3preflight.assess.memory import holds, minimum_of
from k3preflight.models.host import Host
from k3preflight.models.report import Policy
from k3preflight.models.scenario import Choice, Scenario
from k3preflight.units import LARGEST, gb, ram


class Picked(NamedTuple):
    """The scenario that stands for NAME:largest, and a sentence about the next larger one."""

    scenario: Scenario
    note: str


def largest(choice: Choice, host: Host, policy: Policy) -> Picked:
    """The largest preset whose minimum the limits allow; the smallest where none does."""

    def most(case: Case) -> int:
        need = minimum_of(case)
        return need.high if need else LARGEST  # a minimum nobody stated is not held by anything

    cases = sorted((Case(item, host, policy) for item in choice.scenarios), key=most)
    fitting = [case for case in cases if holds(case)]
    picked = (fitting or cases)[-1 if fitting else 0]
    larger = cases[cases.index(picked) + 1 :]
    name = picked.scenario.name
    if not fitting:
        note = f"{choice.requested}: no preset is known to fit; {name} is judged"
        return Picked(picked.scenario, note)
    if not larger:
        return Picked(picked.scenario, f"{choice.requested} is {name}, the largest there is")
    return Picked(picked.scenario, f"{choice.requested} is {name}; {_wish(larger[0])}")


def _wish(case: Case) -> str:
    """What the next larger preset would need, and what of it is missing."""
    need, usable, name = minimum_of(case), case.host.memory.usable, case.scenario.name
    if need is None or usable is None:  # pragma: no cover - a smaller preset fits: both are known
        return f"what {name} would need is not known"
    if usable < need.high:
        return f"{name} would need {ram(need.high)} usable, {gb(need.high - usable)} more"
    refused = refusal(case, need.plan)
    return f"{name} is {refused[0]}" if refused else f"{name} would need {ram(need.high)} usable"
