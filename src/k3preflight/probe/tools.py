"""The tools that build and download: found, answering, and for compilers really compiling.

All of them are tried side by side, each under a limit, in a private folder that is removed again.
"""

import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from k3preflight.models.machine import Tool
from k3preflight.probe.run import Answer, Runner

_ANSWER_LIMIT = 10.0  # seconds for --version
_COMPILE_LIMIT = 20.0  # seconds for three lines
_VERSION = re.compile(r"(?<![\w.])[vb]?(\d+(?:\.\d+)+)")

_C = "int main(void) {\n  return 0;\n}\n"
_CXX = "#include <string>\nint main() { return std::string().size() ? 1 : 0; }\n"
_OPENMP = """#include <omp.h>
int main(void) {
  int sum = 0;
#pragma omp parallel reduction(+ : sum)
  sum += omp_get_num_threads();
  return sum == 0;
}
"""
_PROGRAMS: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "cc": ("plain.c", _C, ()),
    "cxx": ("plain.cpp", _CXX, ("-std=c++17",)),
    "openmp": ("openmp.c", _OPENMP, ("-fopenmp",)),
}
_LIBOMP = ("/opt/homebrew/opt/libomp", "/usr/local/opt/libomp")

_NAMES: dict[str, tuple[str, ...]] = {
    "cc": ("cc", "gcc", "clang"),
    "openmp": ("cc", "gcc", "clang"),
    "cxx": ("c++", "g++", "clang++"),
    "make-or-task": ("make", "gmake", "task", "go-task"),
    "git": ("git",),
    "cargo": ("cargo",),
    "cmake": ("cmake",),
    "gpu-toolkit": ("nvcc",),
    "hf": ("hf",),
    "python": ("python3", "python"),
}
_VARIABLES = {"cc": "CC", "openmp": "CC", "cxx": "CXX"}
# No tool is to reach for the network: no toolchain, no news of a newer version.
_QUIET = {
    "LC_ALL": "C",
    "NO_COLOR": "1",
    "RUSTUP_AUTO_INSTALL": "0",
    "HF_HUB_OFFLINE": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
}


def probe_tools(
    wanted: Iterable[str], system: str, environment: Mapping[str, str] | None = None
) -> tuple[Tool, ...]:
    """Every wanted tool by its id, as it is on this machine; `environment` is the user's."""
    names = tuple(wanted)
    if not names:
        return ()
    given = os.environ if environment is None else environment
    try:
        with tempfile.TemporaryDirectory(
            prefix="k3preflight-", ignore_cleanup_errors=True
        ) as folder:
            return _tried(names, system, Runner(Path(folder), {**given, **_QUIET}))
    except OSError as error:
        problem = f"no temporary directory can be made: {error.strerror}"
        return tuple(Tool(id=name, problem=problem) for name in names)


def _tried(names: Sequence[str], system: str, runner: Runner) -> tuple[Tool, ...]:
    bench = _Bench(runner, system)
    with ThreadPoolExecutor(max_workers=len(names)) as pool:
        try:
            return tuple(pool.map(bench.tool, names))
        except BaseException:  # interrupted: leave no compiler behind
            runner.stop()
            raise


class _Bench:
    """Where the tools are tried."""

    def __init__(self, runner: Runner, system: str) -> None:
        self.runner = runner
        self.system = system
        # Asking a placeholder of a Mac without the tools behind it opens a window.
        self._placeholders = system == "macos" and self.ask(["xcode-select", "-p"]).code != 0

    def ask(self, command: Sequence[str]) -> Answer:
        return self.runner.ask(command, _ANSWER_LIMIT)

    def compile(self, command: Sequence[str]) -> Answer:
        return self.runner.ask(command, _COMPILE_LIMIT)

    def tool(self, tool_id: str) -> Tool:
        """The first of the tool's names that works, else the first that is there at all."""
        tried: list[Tool] = []
        chosen_by, commands = _candidates(tool_id, self.runner.environment)
        for command in commands:
            path = shutil.which(command[0], path=self.runner.environment.get("PATH"))
            if path is None:
                continue
            path = os.path.abspath(path)  # noqa: PTH100 - links stay: they name the program
            found = Tool(id=tool_id, command=shlex.join(command), chosen_by=chosen_by, path=path)
            if self._placeholders and path.startswith("/usr/bin/"):
                problem = "only a placeholder: the Xcode command line tools are not installed"
                tried.append(_broken(found, problem))
                continue
            trial = _compiles if tool_id in _PROGRAMS else _answers
            tried.append(trial(found, [path, *command[1:]], self))
            if tried[-1].works:
                return tried[-1]
        if tried:
            return tried[0]
        problem = f"not found: {' or '.join(command[0] for command in commands)}"
        return Tool(id=tool_id, chosen_by=chosen_by, problem=problem)


def _candidates(tool_id: str, environment: Mapping[str, str]) -> tuple[str | None, list[list[str]]]:
    """What a build would use: what $CC or $CXX says and nothing else, or the usual names."""
    variable = _VARIABLES.get(tool_id, "")
    chosen = environment.get(variable, "").strip()
    if not chosen:
        return None, [[name] for name in _NAMES.get(tool_id, (tool_id,))]
    try:
        return f"${variable}", [shlex.split(chosen)]
    except ValueError:  # an open quote
        return f"${variable}", [[chosen]]


def _answers(tool: Tool, command: list[str], bench: _Bench) -> Tool:
    """Asked for its version, the tool answers with one."""
    question = ["version"] if tool.id == "hf" else ["--version"]
    answer = bench.ask([*command, *question])
    version = _version(answer.text)
    if answer.code != 0 or version is None:
        return _broken(tool, _problem(answer))
    return tool.model_copy(update={"works": True, "version": version})


def _version(text: str) -> str | None:
    """The first version in `text`; what a packager puts in brackets is not the tool's own."""
    match = _VERSION.search(re.sub(r"\([^)]*\)", " ", text)) or _VERSION.search(text)
    return match[1] if match else None


def _problem(answer: Answer) -> str:
    """What went wrong, in the program's own words where it has any."""
    if answer.problem:
        return answer.problem
    lines = [line.strip() for line in answer.text.splitlines() if line.strip()]
    said = next((line for line in lines if "error" in line.lower()), lines[0] if lines else "")
    ended = "says no version" if answer.code == 0 else f"ends with code {answer.code}"
    return f"{ended}: {said[:200]}" if said else ended


def _flavor(text: str) -> str | None:
    """The compiler's family, as its own --version tells it."""
    if "Apple clang" in text or "Apple LLVM" in text:
        return "apple-clang"
    if "clang" in text:
        return "clang"
    if "Free Software Foundation" in text:
        return "gcc"
    return None


def _compiles(tool: Tool, command: list[str], bench: _Bench) -> Tool:
    """The compiler makes a program of three lines."""
    answer = bench.ask([*command, "--version"])
    known = tool.model_copy(
        update={"version": _version(answer.text), "flavor": _flavor(answer.text)}
    )
    if answer.code is None:
        return _broken(known, _problem(answer))
    name, text, flags = _PROGRAMS[tool.id]
    (bench.runner.folder / name).write_text(text, encoding="ascii")
    made = bench.compile([*command, *flags, name, "-o", f"{tool.id}.out"])
    if made.code == 0:
        return known.model_copy(update={"works": True})
    for library in _LIBOMP if tool.id == "openmp" and bench.system == "macos" else ():
        extra = ["-Xpreprocessor", "-fopenmp", f"-I{library}/include", f"-L{library}/lib", "-lomp"]
        again = bench.compile([*command, name, *extra, "-o", f"{tool.id}.out"])
        if again.code == 0:
            note = f"with Homebrew's libomp: {' '.join(extra)}"
            return known.model_copy(update={"works": True, "note": note})
    return _broken(known, _problem(made))


def _broken(tool: Tool, problem: str) -> Tool:
    return tool.model_copy(update={"works": False, "problem": problem})
