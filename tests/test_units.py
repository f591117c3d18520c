"""Sizes, speeds and percents: what is read, what is refused, what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k3preflight import units
from k3preflight.units import LARGEST, Size, Speed, parse_percent


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1.56 TB", 1_560_000_000_000),
        ("128GB", 128_000_000_000),
        ("128 gb", 128_000_000_000),
        ("128 GiB", 137_438_953_472),
        ("128gIb", 137_438_953_472),
        ("683100000000 B", 683_100_000_000),
        ("0 B", 0),
        ("8.24 GiB", 8_847_632_629),  # 8,847,632,629.76: a fraction of a byte is dropped
        ("1 kB", 1000),
        ("1 PiB", 2**50),
    ],
)
def test_a_size_has_a_number_and_a_unit(text: str, size: int) -> None:
    assert Size.parse(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "-1 GB",
        "1,560 GB",
        "128 G",
        "1e12",
        "1e3 GB",
        "128",
        "",
        "GB",
        " 1 GB",
        "1  GB",
        "1 GB ",
        "1 GB\n",
        "1 GB free",
        "nan GB",
        "inf GB",
        "0.5 B",
        "1. GB",
        ".5 GB",
        "1 iB",
        "\uff11 GB",  # a full-width digit
        "9" * 30 + " TB",
        "8 EiB",
    ],
)
def test_anything_else_is_refused_with_a_good_example(text: str) -> None:
    with pytest.raises(ValueError, match=r"128 GB|bytes is not a size"):
        Size.parse(text)


@pytest.mark.parametrize("value", [True, False, 1.0, float("nan"), None, -1, LARGEST + 1, b"1 GB"])
def test_only_whole_bytes_or_text_make_a_size(value: object) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        Size.of(value)


@given(st.integers(0, LARGEST))
def test_bytes_survive_text(size: int) -> None:
    assert Size.parse(f"{size} B") == size
    assert Size.of(size) == size


@pytest.mark.parametrize(
    ("text", "speed"),
    [
        ("3.2 GB/s", 3_200_000_000),
        ("80MB/s", 80_000_000),
        ("1 Gbit/s", 125_000_000),
        ("100 mbit/s", 12_500_000),
        ("1 GiB/s", 2**30),
        ("1 B/s", 1),
    ],
)
def test_a_speed_is_bytes_a_second(text: str, speed: int) -> None:
    assert Speed.parse(text) == speed


@pytest.mark.parametrize(
    "text", ["3.2 GB", "0 GB/s", "1 bit/s", "1 Gb/s", "80 mb/s", "-1 GB/s", "fast", "1 GB/min", ""]
)
def test_a_speed_without_a_clear_unit_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"3\.2 GB/s"):
        Speed.parse(text)


def test_percents_are_whole() -> None:
    assert [parse_percent(text) for text in ("0", "15", "15%", "15 %", "1000")] == [
        0,
        15,
        15,
        15,
        1000,
    ]
    for text in ("-1", "1.5", "1001", "", "%", "15%%"):
        with pytest.raises(ValueError, match="whole percent"):
            parse_percent(text)


@given(st.integers(0, 10**30), st.integers(1, 10**12))
def test_ceiling_division_is_exact(numerator: int, denominator: int) -> None:
    quotient = units.ceil_div(numerator, denominator)
    assert (quotient - 1) * denominator < numerator <= quotient * denominator


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (1_500, "1.50 kB"),
        (37_847_040, "37.85 MB"),
        (1_919_131_500_000, "1,919.13 GB"),
        (1_794_999_999_999, "1,795.00 GB"),
        (LARGEST, "9,223,372,036.85 GB"),
    ],
)
def test_sizes_are_shown_in_decimal(size: int, shown: str) -> None:
    assert units.gb(size) == shown


def test_ram_is_shown_in_both() -> None:
    assert units.ram(25_276_063_744) == "25.28 GB (23.54 GiB)"
    assert units.ram(5) == "5 B"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0.00%"),
        (0.0001, "<0.01%"),
        (0.52820, "0.53%"),
        (8.205, "8.21%"),
        (99.9949, "99.99%"),
        (99.999, "<100%"),
        (100.0, "100%"),
    ],
)
def test_percents_never_hide_a_difference(value: float, shown: str) -> None:
    assert units.percent(value) == shown


@pytest.mark.parametrize(
    ("text", "milliseconds"), [("30", 30_000), ("0.5", 500), ("1.234 s", 1234), ("0.001s", 1)]
)
def test_seconds_are_whole_milliseconds(text: str, milliseconds: int) -> None:
    assert units.parse_seconds(text) == milliseconds


@pytest.mark.parametrize("text", ["0", "0.0", "-1", "1e3", "0.0001", "", "30 ms", "1,5", "inf"])
def test_what_is_no_number_of_seconds_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r'seconds above 0 .* such as "30" or "0.5"'):
        units.parse_seconds(text)


def test_seconds_are_shown_and_a_bound_is_never_rounded_up() -> None:
    assert [units.seconds(ms) for ms in (305, 31_250, 1_234_560)] == [
        "0.305 s",
        "31.2 s",
        "1,234.6 s",
    ]
    assert [units.seconds_floor(ms) for ms in (305, 31_299)] == ["0.305 s", "31.2 s"]


def test_speeds_and_exact_bytes_are_shown() -> None:
    assert units.speed(3_200_000_000) == "3.20 GB/s"
    assert units.exact(1_560_998_984_390) == "1,560,998,984,390 B"
