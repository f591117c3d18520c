"""Real file systems, taken down again whatever happens, and artifacts of a small size."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from k3preflight.assess import assess
from k3preflight.cli.options import PlaceOption
from k3preflight.cli.wanted import wanted
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Role, Status
from k3preflight.models.report import Finding, Policy, Report
from k3preflight.models.scenario import Choice
from k3preflight.probe import probe
from k3preflight.probe.alternatives import with_alternatives
from k3preflight.probe.counters import disks_under
from k3preflight.probe.mounts import covering, mounts
from k3preflight.probe.root import REAL
from k3preflight.profiles import catalog, choose, packaged_folder

MEMORY = 10**12  # so that disk alone decides
_FILE = re.compile(r'^("[^"]+") = (\d+)$', re.MULTILINE)


def sh(*command: str | Path) -> str:
    """Run a command that must work, and return what it prints."""
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


class Disks:
    """Mounts of a test's own."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder = folder
        self._stack = stack
        self._count = 0

    def _new(self, kind: str) -> Path:
        self._count += 1
        return self._folder / f"{kind}{self._count}"

    def point(self) -> Path:
        """A directory to mount on."""
        path = self._new("mnt")
        path.mkdir()
        return path

    def mount(self, *arguments: str | Path, on: Path | None = None) -> Path:
        """Mount something; it is unmounted when the test ends, lazily where it is stuck."""
        point = on or self.point()
        sh("mount", *arguments, point)
        self.defer(lambda: subprocess.run(["umount", "-l", str(point)], check=False))
        return point

    def image(self, size: str, *mkfs: str, folder: Path | None = None) -> Path:
        """A sparse image with a file system; none where `mkfs` is empty."""
        path = self._new("image") if folder is None else folder / "inner.img"
        sh("truncate", "-s", size, path)
        if mkfs:
            sh(*mkfs, path)
        return path

    def loop(self, size: str, *mkfs: str) -> Path:
        """A sparse image, mounted."""
        return self.mount("-o", "loop", self.image(size, *mkfs))

    def device(self, image: Path, *options: str) -> str:
        """A loop device of one's own over an image."""
        device = sh("losetup", "--find", "--show", *options, image).strip()
        self.defer(lambda: subprocess.run(["losetup", "-d", device], check=False))
        return device

    def defer(self, step: Callable[[], object]) -> None:
        """A step of the taking down, done after everything made later."""
        self._stack.callback(step)

    def run(self, *command: str | Path) -> subprocess.Popen[bytes]:
        """A process of the test's own, killed at its end."""
        process = subprocess.Popen([*map(str, command)])
        self._stack.callback(process.wait)
        self._stack.callback(process.kill)
        return process


@contextmanager
def disks_in(folder: Path) -> Iterator[Disks]:
    """Disks that are gone afterwards."""
    with ExitStack() as stack:
        yield Disks(folder, stack)


def device_under(path: Path) -> str:
    """The one disk that `path` lies on in the end, `major:minor`."""
    mount = covering(mounts(REAL), os.path.realpath(path), None)
    assert mount
    (device,) = disks_under(mount, mounts(REAL), REAL).devices
    return device


EXT4 = ("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=1,lazy_journal_init=1")
BIG_EXT4 = (*EXT4, "-T", "largefile4")
BTRFS = ("mkfs.btrfs", "-q")
XFS = ("mkfs.xfs", "-q")


def small_profile(folder: Path, base: str = "rabbit", divisor: int = 10**5) -> Path:
    """A profile with every file of `base`, each `divisor` times smaller: real bytes to write."""
    text = (packaged_folder("profiles") / f"{base}.toml").read_text()
    head, *artifacts = text.split("[[artifacts]]")
    artifacts[-1], marker, rest = artifacts[-1].partition("[memory]")
    text = "[[artifacts]]".join([head, *(_smaller(part, divisor) for part in artifacts)])
    text += marker + rest
    path = folder / "small.toml"
    path.write_text(text)
    return path


def _smaller(artifact: str, divisor: int) -> str:
    text = _FILE.sub(lambda match: f"{match[1]} = {int(match[2]) // divisor}", artifact)
    total = sum(int(match[2]) for match in _FILE.finditer(text))
    text = re.sub(r"(?m)^other_bytes = [0-9]+", "other_bytes = 0", text)
    return re.sub(r"(?m)^size = \{ bytes = [0-9]+", f"size = {{ bytes = {total}", text, count=1)


def small_choice(folder: Path, base: str = "rabbit", divisor: int = 10**5) -> Choice:
    """That profile, chosen."""
    return choose(["small"], catalog([small_profile(folder, base, divisor)]))[0]


def as_client(choice: Choice, client: str) -> Choice:
    """The same, fetched by another client."""
    (scenario,) = choice.scenarios
    download = scenario.profile.download.model_copy(update={"client": client})
    profile = scenario.profile.model_copy(update={"download": download})
    return choice._replace(scenarios=(scenario._replace(profile=profile),))


def looked_at(
    choices: tuple[Choice, ...],
    directory: Path | str | None = None,
    *,
    write: bool = False,
    **places: Path | list[Path],
) -> Host:
    """The host with these places, and what else is there where they are too small."""
    options = [
        PlaceOption(Role(role), str(path))
        for role, paths in places.items()
        for path in (paths if isinstance(paths, list) else [paths])
    ]
    asked = wanted(choices, None if directory is None else str(directory), options)
    return probe(asked.model_copy(update={"write_probe": write}))


def judged(
    choices: tuple[Choice, ...], host: Host, policy: Policy | None = None, *, others: bool = False
) -> Report:
    """The report, with memory out of the way."""
    policy = (policy or Policy()).model_copy(update={"memory": MEMORY})
    return assess(choices, with_alternatives(host) if others else host, policy)


def findings(report: Report, check: CheckId) -> tuple[Finding, ...]:
    """What the check found for the first scenario."""
    return report.assessments[0].of(check)


def status(report: Report, check: CheckId) -> Status:
    """The worst of them."""
    found = {finding.status for finding in findings(report, check)}
    order = (Status.FAIL, Status.UNKNOWN, Status.WARN, Status.PASS, Status.SKIP)
    return next(item for item in order if item in found)
