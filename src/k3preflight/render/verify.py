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
        if part.missing:
            out.line(f"missing: {listed(part.missing, most=100)}", indent=2)
        if digests:
            without = [item.name for item in part.files if not part.digests[item.path]]
            out.line(f"digests: {part.compared} match", indent=2)
            if without:
                out.line(f"no digest known, size alone compared: {listed(without)}", indent=2)
    good = all(part.whole for part in parts)
    out.line("Verified: ", word(Status.PASS if good else Status.FAIL))
    if any(part.broken for part in parts):
        out.line("Delete what is broken, then start the same download again.")
    elif not good:
        out.line("Start the same download again: it fetches what is missing.")
    return out.text
