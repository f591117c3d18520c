"""What is written is what a TOML reader reads back."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k3preflight.errors import UsageError
from k3preflight.toml import Value, line, read_toml

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.one_of(
    TEXT,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.lists(TEXT),
)


@given(VALUES, st.one_of(st.none(), TEXT.filter(str.isprintable)))
def test_any_value_comes_back_as_it_was(value: Value, comment: str | None) -> None:
    read = tomllib.loads(line("key", value, comment))["key"]
    assert read == value
    assert type(read) is type(value)


def test_a_comment_stays_on_its_line() -> None:
    assert line("bytes", 1, "first\nsecond = 2") == "bytes = 1  # first second = 2"


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\udcff"])
def test_what_toml_cannot_carry_is_an_error_not_a_broken_file(value: Value) -> None:
    with pytest.raises(ValueError, match=r"JSON compliant|surrogates"):
        line("key", value)


def test_reading_says_in_one_line_what_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    with pytest.raises(UsageError, match=r"a\.toml: cannot be read: No such file"):
        read_toml(file, most=10, kind="thing")
    file.write_text("key = 'long enough'")
    with pytest.raises(UsageError, match="over 10 bytes; this is not a thing"):
        read_toml(file, most=10, kind="thing")
    file.write_bytes(b"key = '\xff'")
    with pytest.raises(UsageError, match="not valid TOML: 'utf-8' codec"):
        read_toml(file, most=100, kind="thing")
    file.write_text("key = ")
    with pytest.raises(UsageError, match="not valid TOML: Invalid value"):
        read_toml(file, most=100, kind="thing")
