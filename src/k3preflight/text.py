r"""Text that is safe to show: whatever a path or a foreign file holds, a terminal sees no control.

Undecodable bytes and control characters become the text `\xNN` (`\uNNNN` beyond one byte), in
documents and on the terminal alike. So does what a build log would take for an order.
"""

import re
from collections.abc import Sequence

# C0 and C1 controls and DEL; undecodable bytes as Python carries them (lone surrogates);
# line and paragraph separators; the marks that reorder a line (bidirectional controls); the
# noncharacters XML cannot hold; and the bracket of `##[`, with which a line that GitHub Actions or
# Azure Pipelines logs becomes a command, wherever in the line it stands.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
    "\ufffe\uffff]|(?<=##)\\["
)
_BYTE_SURROGATES = range(0xDC80, 0xDD00)
_ONE_BYTE = 0x100


def visible(text: str) -> str:
    r"""`text` with every control character, reordering mark and undecodable byte spelled out.

    >>> visible("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    if text.isprintable() and "##[" not in text:  # nearly every text, told far sooner
        return text
    return _UNSAFE.sub(_spelled, text)


def _spelled(match: re.Match[str]) -> str:
    code = ord(match.group())
    if code in _BYTE_SURROGATES:
        code -= 0xDC00
    return f"\\x{code:02x}" if code < _ONE_BYTE else f"\\u{code:04x}"


def listed(names: Sequence[str], *, most: int = 5, separator: str = ", ") -> str:
    """`a, b, c and 4 more`: the first `most` of `names`."""
    shown = separator.join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


def counted(count: int, noun: str) -> str:
    """`1 host`, `10,000 hosts`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
