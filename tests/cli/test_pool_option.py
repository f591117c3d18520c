"""`--pool hosts` through the real command: one report, and what is refused."""

from pathlib import Path

import pytest

from conftest import Command
from factory import GB, host
from k3preflight.models.names import CheckId

OTHERS = ",".join(check for check in CheckId if not check.startswith(("disk.cap", "memory.")))
POOL = ("--pool", "hosts", "--skip", OTHERS)


@pytest.fixture
def documents(tmp_path: Path) -> tuple[str, ...]:
    for name, free, memory in (("a", 800, 512), ("b", 0, 128)):
        machine = host(free * GB, memory * GB).model_copy(update={"name": name})
        (tmp_path / f"{name}.json").write_text(machine.model_dump_json())
    return ("--host", "a.json", "--host", "b.json")


def test_a_pool_is_one_report(k3: Command, documents: tuple[str, ...]) -> None:
    done = k3("check", "ud-iq1-s", *POOL, *documents, "--sizes", "published", "--format", "json")
    assert done.exit == 0
    (only,) = done.json["assessments"]
    assert only["mode"] == "resident"
    assert done.json["document"] == "a.json, b.json"
    assert done.json["policy"]["pool"] == "hosts"
    shown = k3("check", "ud-iq1-s", *POOL, *documents, "--sizes", "published").out
    words = " ".join(shown.split())
    assert "an aggregate, not a promise" in words
    assert "RPC servers are not authenticated" in words


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rabbit",), "rabbit cannot pool hosts, running on one alone"),
        (("rabbit", "ud-iq1-s"), "Name only what can: ud-iq1-s."),
        ((), "kimi-k3-in-c, rabbit cannot pool hosts"),
        (("ud-iq1-s", "--memory", "1 TB"), "--pool hosts with --memory"),
        (("ud-iq1-s", "--host", "nope.json"), "nope.json: cannot be read"),
    ],
)
def test_what_cannot_be_pooled_is_refused(
    k3: Command, documents: tuple[str, ...], arguments: tuple[str, ...], message: str
) -> None:
    done = k3("check", *arguments, *POOL, *documents)
    assert done.exit == 2
    assert message in done.err


def test_a_pool_of_one_and_of_none_is_refused(k3: Command, documents: tuple[str, ...]) -> None:
    done = k3("check", "ud-iq1-s", *POOL, *documents[:2])
    assert done.exit == 2
    assert "a.json is one host alone" in done.err
    done = k3("check", "ud-iq1-s", *POOL)
    assert done.exit == 2
    assert "none is given" in done.err
