"""The commit of a real git checkout, and what a download noted beside its files."""

import subprocess
from pathlib import Path

import pytest

from k3preflight.probe.checkout import downloaded_revision, read_checkout

pytestmark = pytest.mark.programs

REVISION = "9f62e4e9fffbd0a83ddd60e1c209d828994b3569"


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


def test_the_commit_of_a_clean_checkout(checkout: Path) -> None:
    (checkout / "k3").write_text("what a build leaves is no change of the source")
    found = read_checkout(checkout)
    assert found == (git(checkout, "rev-parse", "HEAD"), False, None)


def test_a_changed_source_is_not_the_commit(checkout: Path) -> None:
    (checkout / "k3.c").write_text("int main(void) { return 1; }\n")
    assert read_checkout(checkout).modified is True


def test_another_repository_named_in_the_environment_does_not_answer(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert read_checkout(checkout).problem is None


def test_sources_inside_another_repository_do_not_carry_its_commit(checkout: Path) -> None:
    inside = checkout / "unpacked"
    inside.mkdir()
    found = read_checkout(inside)
    assert found.commit is None
    assert found.problem == f"{inside} is not the top of a git checkout; {checkout} is"


def test_no_checkout_and_no_commit_are_problems_in_one_line(tmp_path: Path) -> None:
    found = read_checkout(tmp_path)
    assert (found.commit, found.modified) == (None, None)
    assert found.problem is not None
    assert "not a git repository" in found.problem
    git(tmp_path, "init", "-q")
    found = read_checkout(tmp_path)
    assert (found.commit, found.modified) == (None, None)
    assert "\n" not in (found.problem or "\n")


def test_no_git_is_a_problem_too(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    problem = read_checkout(checkout).problem
    assert problem == f"git cannot be run in {checkout}: No such file or directory"


def test_a_git_that_does_not_answer_is_given_up(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = checkout / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    monkeypatch.setattr("k3preflight.probe.checkout._LIMIT", 0.2)
    assert "did not answer" in (read_checkout(checkout).problem or "")


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
