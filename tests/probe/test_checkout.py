"""The commit of a git checkout, and what a download noted beside its files.

A bare machine has no git: there its recorded answers stand for it, and the gate asks the real one.
"""

import subprocess
from pathlib import Path

import pytest

from k3preflight.probe.checkout import Checkout, downloaded_revision, read_checkout

REVISION = "9f62e4e9fffbd0a83ddd60e1c209d828994b3569"


COMMIT = "9472d8f241509bfb4f52318394003c16839609b7"
# git 2.39.5 on Debian 12. It obeys GIT_DIR, wherever it is told to look.
REPLAY = """#!/bin/sh
if [ -n "$GIT_DIR" ]; then
  echo "fatal: not a git repository: '$GIT_DIR'" >&2
  exit 128
fi
case "$*" in
"--no-optional-locks -c core.fsmonitor=false -C {directory} "*) ;;
*) echo "no such question was recorded: $*" >&2; exit 129 ;;
esac
case "$*" in
*" rev-parse --show-toplevel") {top} ;;
*" rev-parse --verify HEAD") {head} ;;
*" status --porcelain --untracked-files=no") {status} ;;
esac
"""
NO_REPOSITORY = "fatal: not a git repository (or any of the parent directories): .git"
NO_COMMIT = "fatal: Needed a single revision"


def refused(text: str) -> str:
    return f"echo '{text}' >&2; exit 128"


@pytest.mark.parametrize(
    ("top", "head", "status", "expected"),
    [
        ("echo {0}", f"echo {COMMIT}", "true", Checkout(COMMIT, modified=False)),
        ("echo {0}", f"echo {COMMIT}", "echo ' M k3.c'", Checkout(COMMIT, modified=True)),
        (
            "echo {1}",
            f"echo {COMMIT}",
            "true",
            Checkout(problem="{0} is not the top of a git checkout; {1} is"),
        ),
        (
            refused(NO_REPOSITORY),
            "true",
            "true",
            Checkout(problem=f"git cannot read {{0}}: {NO_REPOSITORY}"),
        ),
        (
            "echo {0}",
            refused(NO_COMMIT),
            "true",
            Checkout(problem=f"git cannot read {{0}}: {NO_COMMIT}"),
        ),
    ],
    ids=["clean", "changed", "inside", "none", "empty"],
)
def test_what_git_answered(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    top: str,
    head: str,
    status: str,
    expected: Checkout,
) -> None:
    sources, programs = tmp_path / "sources", tmp_path / "programs"
    sources.mkdir()
    programs.mkdir()
    top = top.format(sources, tmp_path)
    git = programs / "git"
    git.write_text(REPLAY.format(directory=sources, top=top, head=head, status=status))
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    problem = expected.problem and expected.problem.format(sources, tmp_path)
    assert read_checkout(sources) == expected._replace(problem=problem)


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ["git", "-C", str(directory), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one commit and one tracked file."""
    top = tmp_path / "runtime"
    top.mkdir()
    git(top, "init", "-q")
    (top / "k3.c").write_text("int main(void) { return 0; }\n")
    git(top, "add", "k3.c")
    git(top, "commit", "-q", "-m", "first")
    return top


@pytest.mark.programs
def test_the_commit_of_a_clean_checkout(checkout: Path) -> None:
    (checkout / "k3").write_text("what a build leaves is no change of the source")
    found = read_checkout(checkout)
    assert found == (git(checkout, "rev-parse", "HEAD"), False, None)


@pytest.mark.programs
def test_a_changed_source_is_not_the_commit(checkout: Path) -> None:
    (checkout / "k3.c").write_text("int main(void) { return 1; }\n")
    assert read_checkout(checkout).modified is True


@pytest.mark.programs
def test_another_repository_named_in_the_environment_does_not_answer(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert read_checkout(checkout).problem is None


@pytest.mark.programs
def test_sources_inside_another_repository_do_not_carry_its_commit(checkout: Path) -> None:
    inside = checkout / "unpacked"
    inside.mkdir()
    found = read_checkout(inside)
    assert found.commit is None
    assert found.problem == f"{inside} is not the top of a git checkout; {checkout} is"


@pytest.mark.programs
def test_no_checkout_and_no_commit_are_problems_in_one_line(tmp_path: Path) -> None:
    found = read_checkout(tmp_path)
    assert (found.commit, found.modified) == (None, None)
    assert found.problem is not None
    assert "not a git repository" in found.problem
    git(tmp_path, "init", "-q")
    found = read_checkout(tmp_path)
    assert (found.commit, found.modified) == (None, None)
    assert "\n" not in (found.problem or "\n")


def test_no_git_is_a_problem_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    problem = read_checkout(tmp_path).problem
    assert problem == f"git cannot be run in {tmp_path}: No such file or directory"


def test_a_git_that_does_not_answer_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    monkeypatch.setattr("k3preflight.probe.checkout._LIMIT", 0.2)
    assert "did not answer" in (read_checkout(tmp_path).problem or "")


def note(directory: Path, name: str, revision: str) -> None:
    file = directory / ".cache" / "huggingface" / "download" / f"{name}.metadata"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{revision}\netag\n1785000000.0\n")


def test_the_revision_a_download_noted(tmp_path: Path) -> None:
    assert downloaded_revision(tmp_path) is None
    note(tmp_path, "config.json", REVISION)
    note(tmp_path, "UD-IQ1_S/model.gguf", REVISION)
    assert downloaded_revision(tmp_path) == REVISION


def test_files_of_two_revisions_have_none(tmp_path: Path) -> None:
    note(tmp_path, "config.json", REVISION)
    note(tmp_path, "model.safetensors", REVISION[::-1])
    assert downloaded_revision(tmp_path) is None


@pytest.mark.parametrize("text", ["", "main", "not a commit at all", "\x1b[31m" + REVISION])
def test_a_note_that_is_no_commit_is_not_believed(tmp_path: Path, text: str) -> None:
    note(tmp_path, "config.json", text)
    assert downloaded_revision(tmp_path) is None


def test_notes_that_cannot_be_read_are_none(tmp_path: Path) -> None:
    broken = tmp_path / ".cache" / "huggingface" / "download" / "a.metadata"
    broken.mkdir(parents=True)
    assert downloaded_revision(tmp_path) is None
