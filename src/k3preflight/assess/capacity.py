"""Capacity: does what the scenario needs fit on the volumes its places lie on?"""

from collections.abc import Iterator

from k3preflight.assess.case import Case, Outcome
from k3preflight.assess.commands import quoted
from k3preflight.assess.here import Credit, credit_of
from k3preflight.assess.layout import Layout, Share, lay
from k3preflight.assess.remedy import Shortfall, delete_command, remedy
from k3preflight.models.disk import Place, Volume
from k3preflight.models.names import Status
from k3preflight.models.profile import Artifact
from k3preflight.models.report import Budget, Item
from k3preflight.text import listed
from k3preflight.units import ceil_div, exact, gb

_BTRFS_MARGIN = 20  # a twentieth: btrfs only estimates what is free


def capacity(case: Case) -> Iterator[Outcome]:
    """Every volume can take the artifacts placed on it, with headroom; files already there count.

    need = ceil(sum of their bytes x (100 + headroom) / 100); have = free to this user + whole files
    there + allocated bytes of partial ones, so that a running download does not change the verdict.
    A gap that only space purgeable by macOS would close is a warning. Unknown where the free space
    of a volume could not be read.
    """
    layout = lay(case)
    for volume_id, shares in layout.shares.items():
        yield _on_volume(case, layout, case.host.volume(volume_id), shares)
    if layout.unlaid:
        yield _unlaid(case, layout)
    placed = {place.role for place in case.host.places_of(case.scenario.profile.name)}
    for artifact in case.scenario.profile.artifacts:
        if artifact.role not in placed:
            yield Outcome(
                Status.UNKNOWN,
                f"the host document has no place for the {artifact.role}",
                f"Probe it again: k3preflight probe {case.scenario.profile.name}",
                subject=artifact.role,
            )


def _on_volume(
    case: Case, layout: Layout, volume: Volume | None, shares: tuple[Share, ...]
) -> Outcome:
    places = [place for share in shares for place in share.places]
    bare = sum(share.bytes for share in shares)
    need = ceil_div(bare * (100 + case.headroom_percent), 100)
    items = [*_need_items(case, shares), _headroom_item(case, need - bare)]
    roles = " and ".join(_named(share) for share in shares)
    subject = volume.id if volume else places[0].path
    if volume is None or volume.free is None:
        return Outcome(
            Status.UNKNOWN,
            f"free space for the {roles} at {places[0].path} is unknown: {_why(case, places[0])}",
            "Name a directory that can be read with --dir, or say what is free with --free-disk.",
            Budget.of(need, None, items),
            subject,
        )
    credit = credit_of(case, places, layout.copies.get(volume.id, frozenset()))
    have = volume.free + credit.total
    budget = Budget.of(need, have, [*items, *_have_items(volume, credit)])
    wanted = f"{gb(need)} for {roles} with {case.headroom_percent}% headroom"
    has = f"{gb(volume.free)} free on {_where(volume)}{_credited(credit)}"
    if budget.gap and budget.gap <= (volume.purgeable or 0):
        return Outcome(
            Status.WARN,
            f"short by {_short(budget.gap)}, which only macOS clearing purgeable space would close "
            f"({gb(volume.purgeable or 0)} on its word): {wanted} needed, {has}",
            "Make the room before the download, and check again: tmutil thinlocalsnapshots "
            f"{quoted(volume.id)} {budget.gap} 4",
            budget,
            subject,
        )
    if budget.gap:
        shortfall = Shortfall(case, layout, volume, shares, bare, have, budget.gap)
        return Outcome(
            Status.FAIL,
            f"short by {_short(budget.gap)}: {wanted} needed, {has}",
            remedy(shortfall),
            budget,
            subject,
        )
    fits = f"{has}, {wanted} needed"
    if need > have - credit.deletable:
        return Outcome(
            Status.WARN,
            f"{fits}; {gb(credit.deletable)} of it is held by files of no use",
            f"Delete them first: {delete_command(case, places)}",
            budget,
            subject,
        )
    if volume.filesystem == "btrfs" and (have - need) * _BTRFS_MARGIN < need:
        return Outcome(
            Status.WARN,
            f"{fits}; btrfs only estimates what is free, and the margin is under 5%",
            f"Leave more room, or look closer: btrfs filesystem usage {volume.mount_point}",
            budget,
            subject,
        )
    return Outcome(Status.PASS, fits, None, budget, subject)


def _named(share: Share) -> str:
    if not share.files:
        return share.artifact.role
    return f"{share.artifact.role} ({len(share.files)} of its files)"


def _where(volume: Volume) -> str:
    """The volume with its device, as an unmounted disk looks like an empty directory."""
    return f"{volume.id} ({volume.device})" if volume.device else volume.id


def _credited(credit: Credit) -> str:
    parts = []
    if credit.whole:
        parts.append(f"{gb(credit.whole)} already there")
    if credit.live:
        parts.append(f"{gb(credit.live)} in partial files")
    if credit.deletable:
        parts.append(f"{gb(credit.deletable)} that can be deleted")
    return "".join(f" + {part}" for part in parts)


def _unlaid(case: Case, layout: Layout) -> Outcome:
    artifact = next(
        share.artifact
        for shares in layout.shares.values()
        for share in shares
        if share.places[0] in layout.spread
    )
    missing = ceil_div(sum(layout.unlaid.values()) * (100 + case.headroom_percent), 100)
    need = ceil_div(artifact.size.bytes * (100 + case.headroom_percent), 100)
    names = listed(list(layout.unlaid), most=3)
    where = ", ".join(dict.fromkeys(place.path for place in layout.spread))
    return Outcome(
        Status.FAIL,
        f"{len(layout.unlaid)} of the {artifact.role}'s files find no room on {where}, laid whole "
        f"and largest first: {gb(missing)} with headroom are missing ({names})",
        f"Free {gb(missing)} there, or add a directory: --place {artifact.role}=PATH",
        Budget.of(
            need, need - missing, _need_items(case, (Share(artifact, artifact.size.bytes, ()),))
        ),
        artifact.role,
    )


def _need_items(case: Case, shares: tuple[Share, ...]) -> list[Item]:
    return [
        Item(
            side="need",
            name=_named(share),
            bytes=share.bytes,
            source=_size_source(case, share.artifact),
        )
        for share in shares
    ]


def _headroom_item(case: Case, size: int) -> Item:
    asked = case.policy.headroom_percent is not None
    source = "--headroom" if asked else case.scenario.profile.headroom.source
    return Item(side="need", name=f"headroom {case.headroom_percent}%", bytes=size, source=source)


def _have_items(volume: Volume, credit: Credit) -> list[Item]:
    free = "--free-disk" if volume.source == "flag" else _free_source(volume)
    parts = (
        ("free", volume.free or 0, free),
        ("whole files already there", credit.whole, "allocated, by exact name and size"),
        ("partial files in use", credit.live, "allocated; a download turns them into files"),
        ("deletable files", credit.deletable, "allocated; orphaned, or of a wrong size"),
    )
    return [
        Item(side="have", name=name, bytes=size, source=source)
        for name, size, source in parts
        if size or name == "free"
    ]


def _free_source(volume: Volume) -> str:
    text = f"free to this user on {volume.id}, measured"
    return f"{text}, within {volume.quota}" if volume.quota_free is not None else text


def _short(gap: int) -> str:
    shown = gb(gap)
    return shown if shown.endswith(" B") else f"{shown} ({exact(gap)})"


def _size_source(case: Case, artifact: Artifact) -> str:
    figure = (
        artifact.published_size if case.published and artifact.published_size else artifact.size
    )
    return f"{figure.source} ({figure.basis})"


def _why(case: Case, place: Place) -> str:
    if place.problem:
        return place.problem
    prefix = f"places.{place.profile}.{place.role}"
    missing = "volume" if place.measured else "measured"
    return case.host.why(f"{prefix}.{missing}")
