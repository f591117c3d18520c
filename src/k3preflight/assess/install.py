"""The line that installs or repairs a tool, for the distribution at hand."""

from typing import NamedTuple

from k3preflight.models.machine import System, Tool
from k3preflight.models.profile import Tool as NeededTool


class _Manager(NamedTuple):
    """How a family of distributions installs, and what it calls what is needed."""

    line: str
    packages: dict[str, str]


_APT = _Manager(
    "sudo apt-get install -y {}",
    {
        "cc": "build-essential",
        "openmp": "build-essential",
        "cxx": "build-essential",
        "make-or-task": "make",
        "git": "git",
        "cmake": "cmake",
        "python": "python3 python3-venv",
        "gpu-toolkit": "nvidia-cuda-toolkit",
        "pipx": "pipx",
    },
)
_DNF = _Manager(
    "sudo dnf install -y {}",
    {
        "cc": "gcc make",
        "openmp": "gcc",
        "cxx": "gcc-c++",
        "make-or-task": "make",
        "git": "git",
        "cmake": "cmake",
        "python": "python3",
        "pipx": "pipx",
    },
)
_PACMAN = _Manager(
    "sudo pacman -S --needed {}",
    {
        "cc": "base-devel",
        "openmp": "gcc",
        "cxx": "base-devel",
        "make-or-task": "make",
        "git": "git",
        "cmake": "cmake",
        "python": "python",
        "gpu-toolkit": "cuda",
        "pipx": "python-pipx",
    },
)
_APK = _Manager(
    "sudo apk add {}",
    {
        "cc": "build-base",
        "openmp": "gcc",
        "cxx": "build-base",
        "make-or-task": "make",
        "git": "git",
        "cmake": "cmake",
        "python": "python3",
        "pipx": "pipx",
    },
)
_ZYPPER = _Manager(
    "sudo zypper install -y {}",
    {
        "cc": "gcc make",
        "openmp": "gcc",
        "cxx": "gcc-c++",
        "make-or-task": "make",
        "git": "git",
        "cmake": "cmake",
        "python": "python3",
        "pipx": "python3-pipx",
    },
)
_BREW = _Manager("brew install {}", {"cmake": "cmake", "python": "python", "pipx": "pipx"})
_WINGET = _Manager(
    "winget install --exact --id {}",
    {
        "cxx": "Microsoft.VisualStudio.2022.BuildTools",
        "git": "Git.Git",
        "cmake": "Kitware.CMake",
        "python": "Python.Python.3.13",
        "gpu-toolkit": "Nvidia.CUDA",
    },
)
_MANAGERS = {
    "debian": _APT,
    "ubuntu": _APT,
    "fedora": _DNF,
    "rhel": _DNF,
    "arch": _PACMAN,
    "alpine": _APK,
    "suse": _ZYPPER,
    "opensuse": _ZYPPER,
}
_XCODE = "xcode-select --install"
_BY_XCODE = frozenset({"cc", "cxx", "git", "make-or-task"})
_LIBOMP = {
    "fedora": "libomp-devel",
    "arch": "openmp",
    "alpine": "openmp-dev",
    "suse": "libomp-devel",
}
_RUSTUP = "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh"
_APPLE_OPENMP = (
    "Apple's clang has no OpenMP of its own: brew install libomp, and build with "
    'CFLAGS="-Xpreprocessor -fopenmp -I$(brew --prefix libomp)/include" '
    'LDFLAGS="-L$(brew --prefix libomp)/lib -lomp"; or brew install gcc and set CC=gcc-15.'
)


_CALLED = {
    "cc": "a C compiler",
    "openmp": "a compiler with OpenMP",
    "cxx": "a C++ compiler",
    "make-or-task": "make or task",
    "gpu-toolkit": "the CUDA toolkit from https://developer.nvidia.com/cuda-downloads",
}


def install(need: NeededTool, found: Tool, system: System) -> str:
    """What to paste so that `need` is met on `system`, seeing what was `found`."""
    manager = _manager(system)
    particular = _particular(need, found, system, manager)
    if particular:
        return particular
    package = manager.packages.get(need.id) if manager else None
    if manager is None or package is None:
        called = _CALLED.get(need.id, need.id)
        least = f" {need.at_least} or later" if need.at_least else ""
        return f"Install {called}{least}, and see that it is on PATH."
    return f"Install it: {manager.line.format(package)}"


def _particular(
    need: NeededTool, found: Tool, system: System, manager: _Manager | None
) -> str | None:
    """Tools that a system's package manager has not, or not new enough, or under another name."""
    if need.id == "cargo":
        return f"Install it with rustup: {_RUSTUP}; where rustup is there: rustup update stable"
    if need.id == "hf":
        return _hf(need, manager)
    if need.id == "openmp" and found.path and system.system == "macos":
        return _APPLE_OPENMP
    if need.id == "openmp" and found.flavor == "clang":
        return _clang_openmp(found, system, manager)
    if found.chosen_by:
        return f"Let {found.chosen_by} name a compiler that works, or unset it."
    by_xcode = system.system == "macos" and need.id in _BY_XCODE
    return f"Install it: {_XCODE}" if by_xcode else None


def _manager(system: System) -> _Manager | None:
    if system.system == "macos":
        return _BREW
    if system.system == "windows":
        return _WINGET
    return next((_MANAGERS[name] for name in system.like if name in _MANAGERS), None)


def _hf(need: NeededTool, manager: _Manager | None) -> str:
    package = f"'huggingface_hub>={need.at_least}'" if need.at_least else "huggingface_hub"
    first = ""
    if manager and "pipx" in manager.packages:
        first = f"{manager.line.format(manager.packages['pipx'])} && "
    return f"Install it: {first}pipx install --force {package}"


def _clang_openmp(found: Tool, system: System, manager: _Manager | None) -> str:
    """Clang's OpenMP is a package of its own, on Debian one for each version."""
    if manager is _APT:
        package = f"libomp-{found.version.partition('.')[0]}-dev" if found.version else "libomp-dev"
    else:
        package = next((_LIBOMP[name] for name in system.like if name in _LIBOMP), None) or ""
    if manager is None or not package:
        return "Install LLVM's OpenMP for this clang, or build with CC=gcc."
    return f"Install clang's OpenMP: {manager.line.format(package)}; or build with CC=gcc."
