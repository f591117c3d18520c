"""Tools as they really are on this machine, and programs that hang, lie or flood."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from k3preflight.models.machine import Tool
from k3preflight.probe import run, tools
from k3preflight.probe.run import Runner
from k3preflight.probe.tools import probe_tools


def script(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def tried(tool_id: str, system: str = "linux", **variables: str) -> Tool:
    (found,) = probe_tools([tool_id], system, {**os.environ, "CC": "", "CXX": ""} | variables)
    return found


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for fake programs; the private one of the tools is to be empty and gone."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    return tmp_path


@pytest.mark.programs
@pytest.mark.parametrize("tool_id", ["cc", "openmp", "cxx"])
def test_gcc_really_compiles_and_leaves_nothing_behind(folder: Path, tool_id: str) -> None:
    found = tried(tool_id, CC="gcc -O1", CXX="g++")
    assert (found.works, found.flavor, found.problem) == (True, "gcc", None)
    assert found.version == subprocess.check_output(["gcc", "-dumpfullversion"], text=True).strip()
    assert found.command == ("g++" if tool_id == "cxx" else "gcc -O1")
    assert list((folder / "tmp").iterdir()) == []


@pytest.mark.programs
@pytest.mark.parametrize("tool_id", ["git", "python", "make-or-task"])
def test_a_tool_answers_with_its_version(tool_id: str) -> None:
    found = tried(tool_id)
    assert found.works
    assert found.version
    assert found.path
    assert Path(found.path).is_absolute()


@pytest.mark.parametrize(
    ("tool_id", "name", "said", "version"),
    [
        ("make-or-task", "task", "Task version: v3.39.2 (h1:abc)", "3.39.2"),
        ("make-or-task", "task", "3.40.0", "3.40.0"),
        ("hf", "hf", "huggingface_hub version: 0.36.0", "0.36.0"),
        ("hf", "hf", "hf version\n  version: 2.4.0", "2.4.0"),
        ("cargo", "cargo", "cargo 1.85.0 (d73d2caf9 2024-12-31)", "1.85.0"),
        ("cmake", "cmake", "cmake version 3.25.1", "3.25.1"),
        ("python", "python3", "Python 3.13.0rc2", "3.13.0"),
        ("gpu-toolkit", "nvcc", "nvcc: NVIDIA (R) Cuda\nrelease 13.0, V13.0.88", "13.0"),
    ],
)
def test_versions_as_tools_print_them(
    folder: Path, tool_id: str, name: str, said: str, version: str
) -> None:
    script(folder, name, f"cat <<'END'\n{said}\nEND")
    found = tried(tool_id, PATH=f"{folder}:/bin" if name != "task" else f"{folder}:{folder}/none")
    if name == "task":
        script(folder, "task", f"echo '{said}'")
        found = tried(tool_id, PATH=str(folder))
    assert (found.works, found.version) == (True, version)


@pytest.mark.parametrize(
    ("said", "flavor", "version"),
    [
        ("gcc (crosstool-NG 1.25.0) 12.1.0\nFree Software Foundation", "gcc", "12.1.0"),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", "apple-clang", "15.0.0"),
        ("Ubuntu clang version 18.1.3 (1ubuntu1)", "clang", "18.1.3"),
        ("tcc version 0.9.27 (x86_64 Linux)", None, "0.9.27"),
    ],
)
def test_compilers_as_they_name_themselves(
    folder: Path, said: str, flavor: str | None, version: str
) -> None:
    fake = script(folder, "fake", f"cat <<'END'\n{said}\nEND")
    found = tried("cc", CC=str(fake))
    assert (found.flavor, found.version, found.chosen_by) == (flavor, version, "$CC")


def test_apple_clang_refuses_openmp_as_it_did_the_articles_author(folder: Path) -> None:
    said = "clang: error: unsupported option '-fopenmp'"
    fake = script(
        folder,
        "cc",
        f'[ "$1" = --version ] && echo "Apple clang version 15.0.0" && exit\n'
        f'case $* in *-fopenmp*) echo "{said}" >&2; exit 1;; esac',
    )
    script(folder, "xcode-select", "echo /Library/Developer")
    found = tried("openmp", "macos", CC=str(fake), PATH=f"{folder}:{os.environ['PATH']}")
    assert (found.works, found.flavor) == (False, "apple-clang")
    assert found.problem
    assert said in found.problem
    assert tried("cc", "macos", CC=str(fake)).works


def test_homebrews_libomp_makes_apple_clang_work(folder: Path) -> None:
    fake = script(
        folder,
        "cc",
        '[ "$1" = --version ] && echo "Apple clang version 15.0.0" && exit\n'
        "case $* in *Xpreprocessor*/usr/local/opt*) exit 0;; esac\nexit 1",
    )
    found = tried("openmp", "macos", CC=str(fake))
    assert found.works
    assert found.note
    assert "-I/usr/local/opt/libomp/include" in found.note


def test_a_macs_placeholders_are_not_asked(folder: Path) -> None:
    """Without the Xcode tools /usr/bin/git opens a window instead of answering."""
    script(folder, "xcode-select", "exit 2")
    found = tried("git", "macos", PATH=f"{folder}:/usr/bin")
    assert found.works is False
    assert found.problem
    assert found.problem.startswith("only a placeholder")
    assert found.version is None


def test_a_compiler_that_hangs_is_killed_with_all_it_started(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "_ANSWER_LIMIT", 0.3)
    note = folder / "pid"
    fake = script(folder, "cc", f"sleep 1000 & echo $! > {note}; wait")
    found = tried("openmp", CC=str(fake))
    assert (found.works, found.problem) == (False, "does not answer within 0.3 s")
    child = int(note.read_text())
    assert _ends(child)


def _ends(process: int) -> bool:
    """Whether a process is gone, or about to be."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        time.sleep(0.05)  # a killed process needs a moment
    return False


def test_a_compiler_that_answers_and_then_hangs(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools, "_COMPILE_LIMIT", 0.3)
    fake = script(
        folder, "cc", '[ "$1" = --version ] && echo "clang version 17.0.1" && exit; sleep 99'
    )
    found = tried("cc", CC=str(fake))
    assert (found.works, found.version, found.flavor) == (False, "17.0.1", "clang")


def test_a_program_that_floods_is_cut_off(folder: Path) -> None:
    script(folder, "git", "yes git version 2.1.0")
    found = tried("git", PATH=f"{folder}:{os.environ['PATH']}")
    assert found.works is False  # `yes` dies of the closed pipe


def test_a_tool_that_says_no_version_does_not_work(folder: Path) -> None:
    script(folder, "git", "echo hello")
    found = tried("git", PATH=f"{folder}:/bin")
    assert (found.works, found.problem) == (False, "says no version: hello")


def test_a_tool_that_fails_in_silence(folder: Path) -> None:
    script(folder, "git", "exit 3")
    assert tried("git", PATH=str(folder)).problem == "ends with code 3"


def test_a_program_that_cannot_be_started(folder: Path) -> None:
    (folder / "git").write_bytes(b"\x7fELF nonsense")
    (folder / "git").chmod(0o755)
    found = tried("git", PATH=str(folder))
    assert found.works is False
    assert found.problem
    assert found.problem.startswith("cannot be started: ")


def test_a_name_that_cannot_be_a_command(folder: Path) -> None:
    assert Runner(folder, {}).ask(["a\0b"], 1).problem == "cannot be started: embedded null byte"


@pytest.mark.parametrize("chosen", ["no-such-compiler -x", "an 'open quote"])
def test_a_compiler_that_is_not_there(folder: Path, chosen: str) -> None:
    del folder
    found = tried("cc", CC=chosen)
    assert (found.works, found.path, found.chosen_by) == (None, None, "$CC")
    assert found.problem
    assert found.problem.startswith("not found: ")


def test_a_second_name_is_tried_where_the_first_does_not_work(folder: Path) -> None:
    script(folder, "make", "exit 1")
    script(folder, "task", "echo 3.40.0")
    assert tried("make-or-task", PATH=str(folder)).command == "task"


def test_a_tool_nobody_listed_is_asked_by_its_id(folder: Path) -> None:
    script(folder, "frobnicate", "echo 1.2")
    assert tried("frobnicate", PATH=str(folder)).version == "1.2"


def test_no_tool_reaches_for_the_network(folder: Path) -> None:
    script(folder, "cargo", 'echo "cargo 1.85.0 $RUSTUP_AUTO_INSTALL$HF_HUB_OFFLINE" | tee $NOTE')
    note = folder / "note"
    tried("cargo", PATH=f"{folder}:/bin:/usr/bin", NOTE=str(note))
    assert note.read_text() == "cargo 1.85.0 01\n"


def test_nothing_wanted_is_nothing_done() -> None:
    assert probe_tools([], "linux") == ()


def test_no_temporary_directory_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/proc/nowhere")
    found = tried("git")
    assert found.works is None
    assert found.problem
    assert found.problem.startswith("no temporary directory can be made: ")


def test_an_interruption_leaves_no_compiler_behind(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = folder / "pid"
    hang = script(folder, "git", f"echo $$ > {note}; exec sleep 1000")
    started = threading.Event()
    real = run.Runner.ask

    def ask(self: Runner, command: list[str], limit: float) -> run.Answer:
        started.set()
        return real(self, command, limit)

    def interrupted(*_: object) -> None:
        started.wait(5)
        while not note.exists() or not note.read_text().strip():
            time.sleep(0.01)  # until the program runs
        raise KeyboardInterrupt

    monkeypatch.setattr(run.Runner, "ask", ask)
    monkeypatch.setattr("concurrent.futures.ThreadPoolExecutor.map", _submitting(interrupted))
    with pytest.raises(KeyboardInterrupt):
        probe_tools(["git"], "linux", {"PATH": f"{hang.parent}:/bin:/usr/bin"})
    assert _ends(int(note.read_text()))


def _submitting(then: object) -> object:
    def mapped(pool: object, function: object, names: list[str]) -> None:
        for name in names:
            pool.submit(function, name)  # type: ignore[attr-defined]  # a thread pool
        then()  # type: ignore[operator]  # raises in the main thread, as Ctrl-C does

    return mapped


def test_what_is_stopped_starts_nothing_more(folder: Path) -> None:
    runner = Runner(folder, {})
    runner.stop()
    assert runner.ask([sys.executable, "-V"], 1).problem == "stopped"


def test_what_runs_is_ended_by_a_stop(folder: Path) -> None:
    started = folder / "started"
    os.mkfifo(started)
    program = script(folder, "slow", f"echo > {started}\nexec sleep 60")
    runner = Runner(folder, {"PATH": os.environ["PATH"]})
    told: list[run.Answer] = []
    waiting = threading.Thread(target=lambda: told.append(runner.ask([str(program)], 60)))
    waiting.start()
    began = time.monotonic()
    started.read_text()  # returns once it runs
    runner.stop()
    waiting.join()
    assert time.monotonic() - began < 30
    assert told[0].code == -signal.SIGKILL


@pytest.mark.root
def test_clang_with_its_openmp_and_without(tmp_path: Path) -> None:
    """Debian's clang has it in a package of its own; its header is hidden in a mount namespace."""
    assert tried("openmp", CC="clang").works
    include = (
        Path(subprocess.check_output(["clang", "-print-resource-dir"], text=True).strip()).resolve()
        / "include"
    )
    shutil.copytree(include, tmp_path / "include", ignore=shutil.ignore_patterns("omp.h"))
    probe = f"exec {sys.executable} -m k3preflight probe kimi-k3-in-c"
    command = f"mount --bind {tmp_path}/include {include} && {probe}"
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", command],
        env=os.environ | {"CC": "clang"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'omp.h' file not found" in done.stdout
    assert '"flavor":"clang"' in done.stdout
