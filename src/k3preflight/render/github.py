"""GitHub Actions annotations: one workflow command a line, the verdict first.

GitHub shows the first ten of a kind a step, so what matters most comes first.
"""

from typing import Literal

from k3preflight.models.names import Status
from k3preflight.models.report import Report
from k3preflight.render import words

Level = Literal["error", "warning", "notice"]
_LEVELS: dict[Status, Level] = {
    Status.PASS: "notice",
    Status.WARN: "warning",
    Status.FAIL: "error",
    Status.UNKNOWN: "error",
}


def render(report: Report) -> str:
    """The verdict, then what is not a pass: failed and unknown as errors, warnings as such."""
    verdict = Status(report.verdict.status)
    said = f"{verdict.upper()} on {report.name} {words.fits(report)}"
    nearest = words.nearest(report)
    if nearest:
        said += f"\nNearest miss: {nearest}"
    lines = [_command(_LEVELS[verdict], "k3preflight verdict", said)]
    loud = [
        (finding, item.scenario)
        for item in words.once(report)
        for finding in item.findings
        if finding.status in words.LOUD
    ]
    for finding, scenario in sorted(loud, key=lambda pair: _LEVELS[pair[0].status] != "error"):
        text = f"{finding.status.upper()}: {finding.message}"
        if finding.remedy:
            text += f"\n-> {finding.remedy}"
        lines.append(_command(_LEVELS[finding.status], f"{scenario} {finding.check}", text))
    return "".join(lines)


def _command(level: Level, title: str, message: str) -> str:
    data = message.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    value = title.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    value = value.replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={value}::{data}\n"
