"""Text from paths and foreign files cannot steer a terminal."""

import sys
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from k3preflight.text import listed, visible

REORDERS = {"LRE", "LRO", "RLE", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


def test_controls_are_spelled_out() -> None:
    assert visible("a\x1b[31mb\n\x9b\x7f") == r"a\x1b[31mb\x0a\x9b\x7f"


def test_an_undecodable_byte_is_that_byte() -> None:
    assert visible(b"caf\xe9".decode("utf-8", "surrogateescape")) == r"caf\xe9"
    assert visible("\ud800") == r"\ud800"


def test_reordering_marks_are_spelled_out() -> None:
    assert visible("a\u202eb\u2028") == r"a\u202eb\u2028"


def test_ordinary_text_is_left_alone() -> None:
    assert visible("/daten/größe/模型 [x] & co\\") == "/daten/größe/模型 [x] & co\\"


@given(st.text())
def test_what_is_visible_stays_so(text: str) -> None:
    shown = visible(text)
    assert visible(shown) == shown
    shown.encode()  # no lone surrogate is left
    assert not any(ord(char) < 0x20 or 0x7F <= ord(char) < 0xA0 for char in shown)


def test_long_lists_say_how_many_more() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed(list("abcdefg"), most=3) == "a, b, c and 4 more"
    assert listed(list("abc"), most=2, separator="; ") == "a; b and 1 more"


def test_no_character_that_moves_a_terminal_is_left() -> None:
    for code in range(sys.maxunicode + 1):
        character = chr(code)
        if (
            unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}
            or unicodedata.bidirectional(character) in REORDERS
        ):
            assert visible(f"a{character}b").isprintable()
