"""A host document from a machine that means harm: every text in it tries to be something else."""

import json

from factory import choices, host
from k3preflight.assess import assess
from k3preflight.models.host import Host
from k3preflight.models.names import Status
from k3preflight.models.report import Policy, Report
from k3preflight.text import visible

HOSTILE = (
    "::error::pwned <script>alert(1)</script> <b>&amp;\"' \n::error title=x::y\r\n##[error]z "
    "[a](http://b) [bold red]c[/] \x1b[31m\x1b]8;;http://d\x07 \x9b2J `e` | f @everyone #1 "
    'é漢字 \u202egnp ]]> <!-- \\ "} 1\nk3preflight_verdict{status="pass"} 1 %0A::error::g ~~h~~ $i$'
    " \udcff\ufffe\x00{{ 7*7 }} {% raw %} :smile: *j* _k_ &lt; \\x1b -- ```"
)
SHOWN = visible(HOSTILE)


def hostile_report(text: str, *names: str) -> Report:
    """A report on a host document in which every text that can be is `text`."""
    facts = json.loads(host(usable=None, free=None).model_dump_json())
    for place in facts["places"]:
        place |= {"path": text, "requested": text, "decided_by": text, "resolved": text}
        place |= {"measured": text, "volume": text}
    for volume in facts["volumes"]:
        volume |= {"id": text, "mount_point": text, "device": text, "filesystem": text}
    facts |= {"name": text, "unknown": [{"fact": "memory.usable", "reason": text}]}
    facts["system"] = {"system": text, "machine": text, "release": text}
    facts["memory"] |= {"usable_from": text}
    return assess(choices(*names), Host.model_validate(facts), Policy(), named=bool(names))


def many(number: int) -> Report:
    """A hostile report with this many scenarios."""
    judged = hostile_report(HOSTILE)
    first = judged.assessments[0]
    items = tuple(first.model_copy(update={"scenario": f"way-{index}"}) for index in range(number))
    verdict = judged.verdict
    if not items:
        verdict = verdict.model_copy(
            update={"status": Status.UNKNOWN, "options": (), "obstacles": ()}
        )
    return judged.model_copy(update={"assessments": items, "verdict": verdict})
