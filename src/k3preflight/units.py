"""Sizes, speeds and percents as integers; the only place that knows GB from GiB.

Inside the program everything is whole bytes. GB is 10**9 bytes, GiB is 2**30. Output is decimal,
as publishers write it, with GiB beside it where RAM is meant.
"""

import re
from decimal import Decimal
from typing import Self

_DECIMAL = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "PB": 10**15}
_BINARY = {"KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
_BITS = {"kbit": 10**3, "Mbit": 10**6, "Gbit": 10**9}
_FACTORS = {unit.lower(): factor for unit, factor in (_DECIMAL | _BINARY).items()}
_BIT_FACTORS = {unit.lower(): factor for unit, factor in _BITS.items()}

_NUMBER = r"([0-9]{1,30}(?:\.[0-9]{1,30})?) ?"
SIZE_PATTERN = rf"^{_NUMBER}([kKmMgGtTpP]?[iI]?[bB])$"
_SIZE = re.compile(SIZE_PATTERN[:-1] + r"\Z")
# No small b: in "1 Gb/s" it could mean bits or bytes, a factor of eight.
_SPEED = re.compile(rf"^{_NUMBER}([kKmMgGtT]?[iI]?B|[kKmMgG][bB]it)/s\Z")
_PERCENT = re.compile(r"^([0-9]{1,4}) ?%?\Z")

_SECONDS = re.compile(r"^([0-9]{1,9}(?:\.[0-9]{1,3})?) ?s?\Z")

LARGEST = 2**63 - 1  # what file systems and JSON readers can carry

_SIZE_HELP = 'write a number and a unit, such as "128 GB", "128GiB" or "683100000000 B"'
_SPEED_HELP = (
    'write a number and a unit a second, such as "3.2 GB/s", "80 MB/s" or "1 Gbit/s" '
    "(bytes with a capital B, bits spelled out)"
)
_PERCENT_HELP = 'write a whole percent from 0 to 1000, such as "15"'

_SECONDS_HELP = 'write seconds above 0 with up to three decimals, such as "30" or "0.5"'


class Size(int):
    """A whole number of bytes, 0 to 2**63 - 1."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Bytes from text with a mandatory unit; a fraction of a byte is dropped.

        Raises:
            ValueError: not a number with a unit, negative, or beyond 2**63 - 1 bytes.
        """
        match = _SIZE.match(text)
        factor = _FACTORS.get(match[2].lower()) if match else None
        if match is None or factor is None:
            raise ValueError(f"{text!r} is not a size: {_SIZE_HELP}")
        if factor == 1 and "." in match[1]:
            raise ValueError(f"{text!r} is not a size: bytes are whole; {_SIZE_HELP}")
        return cls.of(int(Decimal(match[1]) * factor))

    @classmethod
    def of(cls, value: object) -> Self:
        """A size from whole bytes or from text with a unit.

        Raises:
            ValueError: any other type (bool and float included), negative, or beyond 2**63 - 1.
        """
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"{value!r} is not a size: {_SIZE_HELP}")  # noqa: TRY004 - one error type
        if not 0 <= value <= LARGEST:
            raise ValueError(f"{value} bytes is not a size: it must be 0 to {LARGEST} bytes")
        return cls(value)


class Speed(int):
    """A whole number of bytes a second, at least 1."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Bytes a second from text such as `3.2 GB/s` or `1 Gbit/s`.

        Raises:
            ValueError: not a number with a unit a second, or under one byte a second.
        """
        match = _SPEED.match(text)
        if match is None:
            raise ValueError(f"{text!r} is not a speed: {_SPEED_HELP}")
        unit = match[2].lower()
        bits = unit.endswith("bit")
        amount = Decimal(match[1]) * (_BIT_FACTORS[unit] if bits else _FACTORS[unit])
        value = int(amount / 8 if bits else amount)
        if not 1 <= value <= LARGEST:
            raise ValueError(f"{text!r} is not a usable speed: {_SPEED_HELP}")
        return cls(value)

    @classmethod
    def of(cls, value: object) -> Self:
        """A speed from whole bytes a second or from text with a unit.

        Raises:
            ValueError: any other type (bool and float included), or under one byte a second.
        """
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST:
            raise ValueError(f"{value!r} is not a speed: {_SPEED_HELP}")
        return cls(value)


def parse_percent(text: str) -> int:
    """A whole percent, 0 to 1000.

    Raises:
        ValueError: not a whole number, or out of range.
    """
    match = _PERCENT.match(text)
    if match is None or int(match[1]) > 1000:  # noqa: PLR2004 - the limit the message names
        raise ValueError(f"{text!r} is not a percent: {_PERCENT_HELP}")
    return int(match[1])


def parse_seconds(text: str) -> int:
    """Milliseconds from seconds with up to three decimals, such as `30` or `0.5`.

    Raises:
        ValueError: not such a number, or 0.
    """
    match = _SECONDS.match(text)
    value = int(Decimal(match[1]) * 1000) if match else 0
    if value == 0:
        raise ValueError(f"{text!r} is not a number of seconds: {_SECONDS_HELP}")
    return value


def ceil_div(numerator: int, denominator: int) -> int:
    """Integer ceiling of numerator / denominator, so that no float decides a status."""
    return -(-numerator // denominator)


def gb(size: int) -> str:
    """Decimal, two places: `1,920.28 GB`; under 0.1 GB in the largest unit that shows it."""
    for unit, least in (("GB", 10**8), ("MB", 10**6), ("kB", 10**3)):
        if size >= least:
            return (
                f"{gb_digits(size)} GB" if unit == "GB" else f"{size / _DECIMAL[unit]:,.2f} {unit}"
            )
    return f"{size} B"


def gb_digits(size: int) -> str:
    """The digits of `size` in GB, two places, rounded half up: `1,920.28`."""
    hundredths = (size + 5 * 10**6) // 10**7
    return f"{hundredths // 100:,}.{hundredths % 100:02d}"


def ram(size: int) -> str:
    """Decimal with binary beside it, as RAM is sold and printed: `24.70 GB (23.00 GiB)`."""
    return f"{gb(size)} ({size / 2**30:,.2f} GiB)" if size >= 2**20 else gb(size)


def exact(size: int) -> str:
    """Every digit: `1,560,998,984,390 B`."""
    return f"{size:,} B"


def percent(value: float) -> str:
    """Two places that never hide the difference to 0 or 100: `<100%`, `<0.01%`."""
    if value >= 100:  # noqa: PLR2004 - percent
        return "100%"
    if value >= 99.995:  # noqa: PLR2004 - would round to 100.00
        return "<100%"
    if 0 < value < 0.005:  # noqa: PLR2004 - would round to 0.00
        return "<0.01%"
    return f"{value:.2f}%"


def speed(bytes_per_second: int) -> str:
    """Decimal a second: `3.20 GB/s`."""
    return f"{gb(bytes_per_second)}/s"


def seconds(milliseconds: int) -> str:
    """One place from a second up, three under it: `31.2 s`, `0.305 s`."""
    value = milliseconds / 1000
    return f"{value:,.1f} s" if milliseconds >= 1000 else f"{value:.3f} s"  # noqa: PLR2004 - a second


def seconds_floor(milliseconds: int) -> str:
    """As `seconds`, never rounded up: what must hold as a bound."""
    return seconds(milliseconds // 100 * 100 if milliseconds >= 1000 else milliseconds)  # noqa: PLR2004 - a second
