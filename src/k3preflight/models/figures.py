"""A figure: a number with where it was published and how far it can be trusted."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, model_validator

from k3preflight.models.base import Count, Percent, SomeText, Strict, Text, WrittenSize


class Basis(StrEnum):
    """How far a number can be trusted."""

    EXACT = "exact"  # bytes as published, or summed from such
    DERIVED = "derived"  # arithmetic from exact inputs
    ROUNDED = "rounded"  # rounded by its source
    REPORTED = "project-reported"  # a measurement of the project itself, not ours
    POLICY = "policy"  # our own choice


class Sourced(Strict):
    """A number with where it was published."""

    basis: Basis
    source: SomeText


class SizeFigure(Sourced):
    """Bytes with their source."""

    bytes: WrittenSize


class NamedSize(SizeFigure):
    """Bytes that are one named part of a sum.

    `at_most` is set where only two figures are known: the true one lies between `bytes` and it.
    """

    name: Text
    at_most: WrittenSize | None = None

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if self.at_most is not None and self.at_most < self.bytes:
            raise ValueError(f"at_most {self.at_most} is below bytes {self.bytes}")
        return self


class PercentFigure(Sourced):
    """A whole percent with its source."""

    percent: Percent


class CountFigure(Sourced):
    """A count with its source."""

    count: Count


class Compute(Sourced):
    """Seconds a token of pure computing, low to high, as one release took on one processor."""

    release: Text
    low: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    mid: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    high: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    cpu: Text
    cores: Annotated[int, Field(strict=True, ge=1)]

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low <= self.mid <= self.high:
            raise ValueError(f"compute {self.release}: low, mid and high are not in this order")
        return self
