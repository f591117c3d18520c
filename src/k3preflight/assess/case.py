"""What a check is handed, and what it answers."""

from typing import NamedTuple

from k3preflight.models.host import Host
from k3preflight.models.names import Sizes, Status
from k3preflight.models.pace import Pace
from k3preflight.models.report import Budget, Policy
from k3preflight.models.scenario import Scenario


class Case(NamedTuple):
    """One scenario on one host under one policy."""

    scenario: Scenario
    host: Host
    policy: Policy

    @property
    def published(self) -> bool:
        """Whether the publishers' rounded sizes are judged."""
        return self.policy.sizes is Sizes.PUBLISHED

    @property
    def headroom_percent(self) -> int:
        """The policy's headroom, or else the profile's own."""
        asked = self.policy.headroom_percent
        return self.scenario.profile.headroom.percent if asked is None else asked

    @property
    def context(self) -> int:
        """Positions the KV cache must hold: as asked for, or the profile's default."""
        asked = self.policy.context
        return self.scenario.profile.memory.default_context.count if asked is None else asked

    @property
    def weights(self) -> int:
        """Bytes of the checkpoint, the whole artifact."""
        return self.scenario.profile.checkpoint.bytes(published=self.published)


class Outcome(NamedTuple):
    """A finding before its check's id is put on it."""

    status: Status
    message: str
    remedy: str | None = None
    budget: Budget | None = None
    subject: str | None = None
    pace: Pace | None = None
