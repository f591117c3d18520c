"""Commands to paste use exactly the places that were judged, quoted for a shell."""

import subprocess

import pytest

from factory import host, report
from k3preflight.assess.commands import quoted
from k3preflight.models.report import Policy
from k3preflight.text import visible


def test_build_and_test_come_before_the_download() -> None:
    (only,) = report(host(), "kimi-k3-in-c:desktop").assessments
    assert [command.stage for command in only.commands] == [
        "build",
        "test",
        "download",
        "prepare",
        "run",
    ]
    lines = [command.run for command in only.commands]
    assert lines[2] == "hf download moonshotai/Kimi-K3 --local-dir /data/k3"
    assert lines[3] == "./scripts/pack-trunk.sh /data/k3 /data/k3/trunk"
    assert lines[4].startswith("./bin/k3 /data/k3 --trunk /data/k3/trunk --preset desktop ")


def test_the_context_is_filled_in() -> None:
    (only,) = report(host(), "ud-iq1-s", policy=Policy(context=4096)).assessments
    assert "LLAMA_CACHE=/data/k3 " in only.commands[-1].run
    assert "--ctx-size 4096 " in only.commands[-1].run


def test_unknown_places_are_left_to_fill_in() -> None:
    machine = host().model_copy(update={"places": ()})
    (only,) = report(machine, "rabbit").assessments
    assert only.commands[2].run.endswith("--local-dir CHECKPOINT_DIR")


@pytest.mark.parametrize(
    "path",
    [b"/data/k3", b"/a b", b"/it's", b"/$HOME", b"/a;rm", b"/caf\xe9", b"/tab\tx", b"/q'\xe9"],
)
def test_a_quoted_path_is_that_path_to_a_shell(path: bytes) -> None:
    text = quoted(visible(path.decode("utf-8", "surrogateescape")))
    done = subprocess.run(
        ["bash", "-c", f"printf %s {text}"], capture_output=True, check=True, timeout=10
    )
    assert done.stdout == path
