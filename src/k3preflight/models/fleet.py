"""What many reports come to: how many hosts fit each scenario, what stops the others."""

from typing import Literal

from k3preflight.models.base import Count, Document, Text
from k3preflight.models.names import CheckId, Status


class Stop(Document):
    """How many hosts one check keeps from fitting: it fails there, or cannot be told."""

    check: CheckId
    status: Status
    hosts: Count


class Miss(Document):
    """A host that does not fit, by how little: its failing checks and what they lack in bytes."""

    host: Text
    failures: Count
    gap: Count
    message: Text


class ScenarioSummary(Document):
    """One scenario over all hosts. A warning fits, and is counted among `fits` too."""

    scenario: Text
    hosts: Count
    fits: Count
    warns: Count
    fails: Count
    unknown: Count
    stops: tuple[Stop, ...] = ()
    nearest: tuple[Miss, ...] = ()


class Summary(Document):
    """All hosts: every one must pass, each by its own rule. `broken` are documents not read."""

    hosts: Count
    broken: Count
    passes: Count
    fails: Count
    unknown: Count
    status: Literal[Status.PASS, Status.FAIL, Status.UNKNOWN]
    scenarios: tuple[ScenarioSummary, ...] = ()
