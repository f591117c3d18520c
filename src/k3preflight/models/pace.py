"""Seconds a token: the bound and the estimate, with what they are made of."""

from typing import Annotated, Literal

from pydantic import Field

from k3preflight.models.base import Count, Document, Text

SecondsPerToken = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class PaceInput(Document):
    """One number that went in, whole, in its unit."""

    name: Text
    value: Count
    unit: Literal["B", "B/s", "ms", "cores", "percent"]
    source: Text


class Pace(Document):
    """Seconds a token while generating; prefill, the first token and loading are not in it.

    `at_least_seconds` is the bound of storage alone; `useful_bound` is false where caches may hold
    so much that it says little. The other three are the estimate on `reference_cpu`, null where no
    computing time is published or a volume was not measured. `arithmetic` spells it out.
    """

    at_least_seconds: SecondsPerToken
    useful_bound: bool
    low_seconds: SecondsPerToken | None = None
    about_seconds: SecondsPerToken | None = None
    high_seconds: SecondsPerToken | None = None
    reference_cpu: Text | None = None
    reference_cores: Count | None = None
    inputs: tuple[PaceInput, ...] = ()
    arithmetic: tuple[Text, ...] = ()
