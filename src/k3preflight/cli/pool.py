"""`--pool hosts`: several host documents judged as one, where the runtime can combine them."""

from collections.abc import Iterator, Sequence

from k3preflight.assess import assess
from k3preflight.assess.pool import pool_hosts
from k3preflight.cli.hosts import BrokenDocument, Document, HostDocument
from k3preflight.errors import UsageError
from k3preflight.models.report import Policy, Report
from k3preflight.models.scenario import Choice


def judge_pool(
    documents: HostDocument | Iterator[Document],
    choices: Sequence[Choice],
    policy: Policy,
    *,
    named: bool,
) -> Report:
    """One report on all hosts together.

    Raises:
        UsageError: a scenario's runtime works on one host alone, there is one host alone or a
            document is broken, or --memory says already how much there is.
    """
    _refuse_others(choices)
    if policy.memory is not None:
        raise UsageError(
            "--pool hosts with --memory: the one adds up what the other says", "Leave one out."
        )
    found = [documents] if isinstance(documents, HostDocument) else list(documents)
    hosts = []
    for document in found:
        if isinstance(document, BrokenDocument):
            raise UsageError(
                f"--pool hosts: {document.problem}", "A pool is judged with all of its hosts."
            )
        hosts.append(document.host)
    if len(hosts) == 1:
        raise UsageError(
            f"--pool hosts: {found[0].name} is one host alone",
            "Give one --host for each, the one that downloads first.",
        )
    host, notes = pool_hosts(hosts)
    policy = policy.model_copy(update={"notes": (*policy.notes, *notes)})
    report = assess(choices, host, policy, named=named)
    names = ", ".join(document.name for document in found)
    return report.model_copy(update={"document": names})


def _refuse_others(choices: Sequence[Choice]) -> None:
    profiles = {
        scenario.profile.name: scenario.profile.needs.pools_hosts
        for choice in choices
        for scenario in choice.scenarios
    }
    able = [name for name, pools in profiles.items() if pools]
    others = [name for name, pools in profiles.items() if not pools]
    if others:
        raise UsageError(
            f"--pool hosts: {', '.join(others)} cannot pool hosts, running on one alone",
            f"Name only what can: {', '.join(able)}."
            if able
            else "llama.cpp can, by its RPC servers: ud-iq1-s.",
        )
