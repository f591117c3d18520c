"""Profiles for a person: the list, and one page with every figure and its source."""

from collections.abc import Iterable, Iterator

from pydantic import BaseModel
from rich.table import Table

from k3preflight.models.figures import SizeFigure, Sourced
from k3preflight.models.profile import Artifact, Profile
from k3preflight.render import Screen
from k3preflight.render.console import Page
from k3preflight.units import exact, gb


def profile_list(profiles: Iterable[Profile], screen: Screen) -> str:
    """A row a profile where the screen is wide enough, else a paragraph each."""
    page = Page(screen)
    rows = [
        (
            profile.name,
            gb(sum(artifact.size.bytes for artifact in profile.artifacts)),
            " ".join(preset.name for preset in profile.presets) or "-",
            profile.title,
        )
        for profile in profiles
    ]
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("profile", "on disk", "presets", "what it is"):
        table.add_column(column, no_wrap=True, justify="right" if column == "on disk" else "left")
    for row in rows:
        table.add_row(*row)
    if page.fits(table):
        page.draw(table)
    else:
        for name, size, presets, title in rows:
            page.line((name, "bold"), f": {title}; {size} on disk; presets: {presets}")
    return page.text


def profile_page(profile: Profile, screen: Screen) -> str:
    """One profile, readable: artifacts, presets, every figure with basis and source."""
    page = Page(screen)
    page.line((profile.name, "bold"), f": {profile.title}")
    page.line(f"{profile.runtime.name} {profile.runtime.version}, {profile.runtime.homepage}")
    for artifact in profile.artifacts:
        _artifact(page, artifact)
    page.blank()
    page.line("Figures")
    for name, figure in _figures(profile.model_copy(update={"artifacts": ()}), ""):
        page.line(f"{name}: {_value(figure)} ({figure.basis}: {figure.source})", indent=2)
    page.blank()
    page.line(
        "Host: ",
        "; ".join(f"{item.system} {item.machine}" for item in profile.needs.platforms)
        or "not stated",
    )
    if profile.needs.cpu_flags:
        page.line("CPU flags: ", " ".join(profile.needs.cpu_flags))
    if profile.needs.tools:
        page.line("Tools")
        for tool in profile.needs.tools:
            page.line(f"{tool.id} {tool.at_least or ''}".rstrip() + f": {tool.why}", indent=2)
    for caveat in profile.caveats:
        page.line(f"Caveat: {caveat}")
    page.blank()
    page.line("Commands")
    for command in profile.commands:
        page.paste(command.run)
    return page.text


def _artifact(page: Page, artifact: Artifact) -> None:
    page.blank()
    repository = f" from {artifact.repository}" if artifact.repository else ""
    verb = "downloaded" if artifact.obtained == "download" else "derived"
    page.line(f"{artifact.role}, {verb}{repository}: {exact(artifact.size.bytes)}")
    if artifact.revision:
        page.line(f"revision {artifact.revision}", indent=2)
    for name, figure in (("exact", artifact.size), ("published", artifact.published_size)):
        if figure:
            page.line(f"{name}: {_value(figure)} ({figure.basis}: {figure.source})", indent=2)
    page.line(
        f"{len(artifact.files)} files with exact bytes, {len(artifact.named_files)} by name alone; "
        f"{exact(artifact.other_bytes)} in the rest ({artifact.source})",
        indent=2,
    )


def _figures(model: BaseModel, path: str) -> Iterator[tuple[str, Sourced]]:
    """Every sourced figure under `model`, with the keys that lead to it."""
    for key, value in model:
        for item in value if isinstance(value, tuple) else (value,):
            if not isinstance(item, BaseModel):
                continue
            label = getattr(item, "name", None) or getattr(item, "setting", None)
            inner = f"{path}{key}" + (f"[{label}]" if label else "")
            if isinstance(item, Sourced):
                yield inner, item
            yield from _figures(item, f"{inner}.")


def _value(figure: Sourced) -> str:
    if isinstance(figure, SizeFigure):
        at_most = getattr(figure, "at_most", None)
        text = f"{exact(figure.bytes)} ({gb(figure.bytes)})"
        return f"{text} to {exact(at_most)}" if at_most else text
    numbers = figure.model_dump(exclude={"basis", "source", "setting", "host"}, exclude_none=True)
    return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in numbers.items())
