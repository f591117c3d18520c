"""What README blocks are made of: the tool's own output, and tables from its own data."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).parents[1]
_LEFT_OUT = ("FORCE_COLOR", "NO_COLOR", "GITHUB_ACTIONS", "K3PREFLIGHT_", "COLUMNS")


def output(command: str, columns: int = 80) -> str:
    """What a shell prints for `command`, run in the checkout by this interpreter."""
    tool = f'k3preflight() {{ {shlex.quote(sys.executable)} -m k3preflight "$@"; }}'
    kept = {key: value for key, value in os.environ.items() if not key.startswith(_LEFT_OUT)}
    done = subprocess.run(  # noqa: S603 - the README's own commands
        ["bash", "-c", f"{tool}; {command}"],  # noqa: S607 - the reader's own shell
        capture_output=True,
        text=True,
        cwd=CHECKOUT,
        env=kept | {"COLUMNS": str(columns)},
        check=False,
    )
    return done.stdout + done.stderr


def console(*commands: str, columns: int = 80) -> None:
    """A console block: each command and what it prints."""
    print("```console")
    for command in commands:
        print(f"$ {command}")
        print(output(command, columns).rstrip())
    print("```")


def checks() -> None:
    """The table of checks, with the anchors that findings name."""
    from k3preflight.assess import CHECKS  # noqa: PLC0415 - only where the table is made

    print("| check | passes when |")
    print("|---|---|")
    for check in CHECKS:
        anchor = check.anchor.partition("#")[2]
        print(f'| <a id="{anchor}"></a>`{check.id}` | {check.summary} |')


def profiles() -> None:
    """The table of profiles."""
    from k3preflight.models.profile import Profile  # noqa: PLC0415 - only here
    from k3preflight.profiles import catalog, read_profile  # noqa: PLC0415 - only here
    from k3preflight.units import gb  # noqa: PLC0415 - only here

    def row(profile: Profile) -> str:
        need = gb(sum(artifact.size.bytes for artifact in profile.artifacts))
        presets = ", ".join(preset.name for preset in profile.presets) or "-"
        return f"| `{profile.name}` | {need} | {presets} | {profile.title} |"

    print("| profile | on disk | presets | what it is |")
    print("|---|---|---|---|")
    for path in catalog().values():
        print(row(read_profile(path)))


def backtest() -> None:
    """The published runs against the bound and the estimate, and whether the goals are met."""
    sys.path.insert(0, str(CHECKOUT / "benchmarks"))
    import backtest as published  # noqa: PLC0415 - found by the line above

    print(published.markdown(published.rows()))
