"""What verify found, for a person at a terminal."""

from collections.abc import Sequence

from k3preflight.models.names import Status
from k3preflight.models.verified import Verified
from k3preflight.render import Screen
from k3preflight.render.console import Page, word
from k3preflight.text import listed
from k3preflight.units import gb


def page(name: str, parts: Sequence[Verified], screen: Screen, *, digests: bool) -> str:
    """Each artifact's files, every broken and missing one by name, and the answer."""
    out = Page(screen)
    for part in parts:
        size = gb(sum(item.bytes for item in part.files))
        out.line(
            (f"{name} {part.role}", "bold"),
            f" in {', '.join(part.paths)}: {len(part.files)} of {part.expected} files whole "
            f"({size})",
        )
        for item in part.broken:
            out.line(f"broken: {item.path} {item.why}", indent=2)
        if part.problem or part.missing:
            out.line(part.problem or f"missing: {_missing(part)}", indent=2)
        if digests:
            without = [item.name for item in part.files if not part.digests[item.path]]
            out.line(f"digests: {part.compared} match", indent=2)
            if without:
                out.line(f"no digest known, size alone compared: {listed(without)}", indent=2)
    good = all(part.whole for part in parts)
    out.line("Verified: ", word(Status.PASS if good else Status.FAIL))
    if not good:
        out.line(_what_to_do(parts))
    return out.text


def _missing(part: Verified) -> str:
    if not part.files and not part.broken:
        return "all of them"
    return listed(part.missing, most=100)


def _what_to_do(parts: Sequence[Verified]) -> str:
    if any(part.problem for part in parts):
        return "Name the directory the download went to: --dir, or --place ROLE=PATH."
    if any(part.broken for part in parts):
        return "Delete what is broken, then start the same download again."
    return "Start the same download again: it fetches what is missing."
