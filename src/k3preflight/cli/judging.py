"""One host document judged, whole or broken."""

from collections.abc import Sequence

from k3preflight import __version__
from k3preflight.assess import assess
from k3preflight.assess.choice import verdict_of
from k3preflight.cli.hosts import BrokenDocument, Document
from k3preflight.models.report import Policy, Report
from k3preflight.models.scenario import Choice


def judge(document: Document, choices: Sequence[Choice], policy: Policy, *, named: bool) -> Report:
    """The report on one document; on a broken one, that it cannot be told."""
    if isinstance(document, BrokenDocument):
        return Report(
            tool_version=__version__,
            host=None,
            document=document.name,
            problem=document.problem,
            policy=policy,
            assessments=(),
            verdict=verdict_of((), {}, named=named),
        )
    report = assess(choices, document.host, policy, named=named)
    return report.model_copy(update={"document": document.name})
