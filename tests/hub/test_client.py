"""The real client against a look-alike of the Hub over real HTTP, by the real command."""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import Command, Result
from hub_server import COMMIT, NOT_FOUND, Hub, Refusal, Repository, hub
from k3preflight.errors import UndeterminedError, UsageError
from k3preflight.hub import require_extra
from k3preflight.profiles import catalog, read_profile

REPOSITORY = "unsloth/Kimi-K3-GGUF"
PATH = "/api/models/unsloth/Kimi-K3-GGUF"


@pytest.fixture
def server() -> Iterator[Hub]:
    with hub() as running:
        yield running


@pytest.fixture
def ask(server: Hub, k3: Command, tmp_path: Path) -> Callable[..., Result]:
    """Ask the look-alike about UD-IQ1_S by `profiles refresh`, as a user with an empty home."""

    def run(*extra: str, **variables: str) -> Result:
        known = {
            "HF_ENDPOINT": server.endpoint,
            "HF_HOME": str(tmp_path / "hf"),
            "NO_PROXY": "127.0.0.1",
            "HF_HUB_ETAG_TIMEOUT": "1",
        }
        return k3("profiles", "refresh", "ud-iq1-s", *extra, **(known | variables))

    return run


def as_profiled() -> Repository:
    """The repository as the profile has it: same revision and files, and others beside them."""
    artifact = read_profile(catalog()["ud-iq1-s"]).checkpoint
    files: list[tuple[str, int, str | None]] = [
        (name, size, None) for name, size in artifact.files.items()
    ]
    assert artifact.revision is not None
    return Repository([("README.md", 5, None), *files], artifact.revision)


def one_line(result: Result) -> str:
    assert (result.exit, result.out) == (3, "")
    assert result.err.count("\n") == 1
    return result.err


def test_one_request_and_nothing_kept(
    server: Hub, ask: Callable[..., Result], tmp_path: Path
) -> None:
    server.answers[REPOSITORY] = as_profiled()
    result = ask()
    assert (result.exit, result.err) == (0, "")
    assert result.out.endswith("\nunchanged: 14 files, 594,040,923,616 B\n")
    assert server.asked == [(f"{PATH}?blobs=true", None)]
    assert not (tmp_path / "hf").exists()


def test_a_revision_and_a_token_are_handed_on(server: Hub, ask: Callable[..., Result]) -> None:
    server.answers[f"{REPOSITORY}@refs/pr/1"] = as_profiled()
    result = ask("--revision", "refs/pr/1", HF_TOKEN="hf_secret")  # noqa: S106 - a made-up one
    assert result.exit == 0
    assert server.asked == [(f"{PATH}/revision/refs%2Fpr%2F1?blobs=true", "Bearer hf_secret")]


REFUSALS: dict[str, tuple[Refusal, str]] = {
    "missing": (NOT_FOUND, f"shows no repository {REPOSITORY}: there is none, or it is private"),
    "gated": (
        Refusal(403, {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access restricted"}),
        f"{REPOSITORY} is gated",
    ),
    "bad token": (
        Refusal(401, {"X-Error-Message": "Invalid credentials in Authorization header"}),
        "(401): the token is not accepted",
    ),
    "forbidden": (Refusal(403, {"X-Error-Message": "Forbidden"}), "(403): the token is not"),
    "not found": (Refusal(404), f"answers 404 to {REPOSITORY}"),
    "too often": (
        Refusal(429, {"RateLimit": '"api";r=0;t=55', "RateLimit-Policy": '"fixed";"api";q=9;w=60'}),
        "is asked too often from here (429). Try again later",
    ),
    "broken": (Refusal(500, body=b"<html>oops</html>"), f"answers 500 to {REPOSITORY}"),
    "no JSON": (Refusal(200, body=b"<html>a login page</html>"), "did not answer as the Hub does"),
    "a list": (Refusal(200, body=b"[]"), "did not answer as the Hub does"),
    "no name": (Refusal(200, body=b'{"id": "a/b", "siblings": [{}]}'), "did not answer as the Hub"),
    "no commit": (Refusal(200, body=b'{"id": "a/b"}'), "the Hub names no commit of"),
    "slow": (Refusal(200, wait=3), "cannot be reached: ReadTimeout: "),
    "dripping": (Refusal(200, body=b" " * 60, drip=0.5), "did not finish its answer within 6 sec"),
}


@pytest.mark.parametrize("kind", REFUSALS)
def test_every_refusal_is_one_line_and_undetermined(
    server: Hub, ask: Callable[..., Result], kind: str
) -> None:
    server.answers[REPOSITORY], said = REFUSALS[kind]
    result = ask(HF_TOKEN="hf_secret")  # noqa: S106 - a made-up one
    line = one_line(result)
    assert said in line
    assert "hf_secret" not in line


def test_an_unknown_revision_is_named(server: Hub, ask: Callable[..., Result]) -> None:
    server.answers[REPOSITORY] = as_profiled()
    assert f"{REPOSITORY} has no revision nope" in one_line(ask("--revision", "nope"))


def test_nobody_there(ask: Callable[..., Result]) -> None:
    line = one_line(ask(HF_ENDPOINT="http://127.0.0.1:1"))
    assert "http://127.0.0.1:1 cannot be reached: ConnectError: " in line
    assert "Check the network, the proxy and HF_ENDPOINT." in line


def test_offline_mode_asks_nothing(server: Hub, ask: Callable[..., Result]) -> None:
    line = one_line(ask(HF_HUB_OFFLINE="1"))
    assert "offline mode is on, so unsloth/Kimi-K3-GGUF was not asked for" in line
    assert server.asked == []


@pytest.mark.parametrize(
    "endpoint", ["hub.example.org", "http://[::1", "ftp://example.org", "http://"]
)
def test_an_endpoint_that_is_no_address(ask: Callable[..., Result], endpoint: str) -> None:
    result = ask(HF_ENDPOINT=endpoint)
    assert result.exit == 2
    assert f"HF_ENDPOINT={endpoint}: not an address" in result.err


def test_a_setting_the_client_does_not_take(ask: Callable[..., Result]) -> None:
    result = ask(HF_HUB_ETAG_TIMEOUT="soon")
    assert (result.exit, result.err.count("\n")) == (2, 1)
    assert "does not take its settings: invalid literal for int()" in result.err


HOSTILE = {
    "../../etc/passwd": "no file's path",
    "/etc/passwd": "no file's path",
    "a//b": "no file's path",
    "a\\b": "no file's path",
    "a\x1b[31mb": "no file's path",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_names_that_are_no_paths_are_not_taken_over(
    server: Hub, ask: Callable[..., Result], name: str
) -> None:
    server.answers[REPOSITORY] = Repository([(name, 1, None)])
    line = one_line(ask())
    assert HOSTILE[name] in line
    assert "\x1b" not in line


@pytest.mark.parametrize("size", [None, -1, 1.5, True, "12", 2**63])
def test_sizes_that_are_none_are_not_taken_over(
    server: Hub, ask: Callable[..., Result], size: Any
) -> None:
    body = {"id": REPOSITORY, "sha": COMMIT, "siblings": [{"rfilename": "a.gguf", "size": size}]}
    server.answers[REPOSITORY] = Refusal(200, body=json.dumps(body).encode())
    assert f"does not say how large {REPOSITORY}/a.gguf is" in one_line(ask())


def test_without_the_extra_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    require_extra()
    monkeypatch.setitem(sys.modules, "tomlkit", None)
    with pytest.raises(UsageError) as caught:
        require_extra()
    assert caught.value.message == "this needs tomlkit, which is not installed"
    assert caught.value.hint == "pip install 'k3preflight[hub]'"


def test_the_client_in_this_process(
    server: Hub, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Digests and context, which the command shows only in a written profile."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    from huggingface_hub import constants  # noqa: PLC0415 - reads the environment as it loads

    from k3preflight.hub.client import fetch  # noqa: PLC0415

    monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
    digest = "d" * 64
    gguf = {"total": 1, "architecture": "kimi-k3", "context_length": 1048576}
    files: list[tuple[str, int, str | None]] = [("b.gguf", 2, digest), ("a.txt", 1, None)]
    server.answers["a/b"] = Repository(files, gguf=gguf)
    found = fetch("a/b", None)
    assert (found.commit, found.context) == (COMMIT, 1048576)
    assert [tuple(file) for file in found.files] == [("a.txt", 1, None), ("b.gguf", 2, digest)]
    server.answers["a/b"] = Repository([("b.gguf", 2, "no digest")], gguf={"context_length": "x"})
    assert fetch("a/b", None) == ("a/b", COMMIT, (("b.gguf", 2, None),), None)
    server.answers["a/b"] = Refusal(500)
    with pytest.raises(UndeterminedError, match="answers 500"):
        fetch("a/b", None)
