"""Where the clients put files: tables of environments, with the real Hub client as reference."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from k3preflight.models.disk import WantedPlace
from k3preflight.models.names import Role
from k3preflight.probe.resolvers import decide, hf_cache, llama_cache, xet_cache

VARIABLES = (
    "HF_HUB_CACHE",
    "HUGGINGFACE_HUB_CACHE",
    "HF_HOME",
    "XDG_CACHE_HOME",
    "HF_XET_CACHE",
    "LLAMA_CACHE",
    "KIMI_MODEL_DIR",
)
HUB_CONSTANTS = """
import json, os
from huggingface_hub import constants
paths = constants.HF_HUB_CACHE, constants.HF_XET_CACHE
print(json.dumps([os.path.abspath(path) for path in paths]))
"""
ENVIRONMENTS: list[dict[str, str]] = [
    {},
    {"HF_HUB_CACHE": "/a/hub"},
    {"HUGGINGFACE_HUB_CACHE": "/b/hub"},
    {"HF_HUB_CACHE": "/a/hub", "HUGGINGFACE_HUB_CACHE": "/b/hub", "HF_HOME": "/c"},
    {"HF_HOME": "/c"},
    {"HF_HOME": "~/c"},
    {"HF_HOME": "$K3_TEST/c"},
    {"HF_HOME": "${K3_TEST}/c"},
    {"HF_HOME": ""},
    {"HF_HOME": "relative"},
    {"XDG_CACHE_HOME": "/x"},
    {"XDG_CACHE_HOME": "~/x"},
    {"XDG_CACHE_HOME": ""},
    {"HF_HUB_CACHE": ""},
    {"HF_HUB_CACHE": "~/h"},
    {"HF_HUB_CACHE": "$K3_TEST/h"},
    {"HF_HUB_CACHE": "$K3_NOT_SET/h"},
    {"HF_HUB_CACHE": "rel/h"},
    {"HUGGINGFACE_HUB_CACHE": "~/h"},
    {"HUGGINGFACE_HUB_CACHE": "", "HF_HOME": "/c"},
    {"HF_XET_CACHE": "/xet"},
    {"HF_XET_CACHE": "~/xet"},
    {"HF_XET_CACHE": "", "HF_HOME": "/c"},
]


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("K3_TEST", "/expanded")
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def hub_answers(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """What huggingface_hub itself says for every environment: one process each, all at once."""
    folder = tmp_path_factory.mktemp("reference")
    plain = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("HF_", "XDG_", "HUGGING"))
    }
    answers = []
    for environment in ENVIRONMENTS:
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", HUB_CONSTANTS],
            env=plain | {"HOME": str(folder / "home"), "K3_TEST": "/expanded"} | environment,
            cwd=folder,
            capture_output=True,
            text=True,
            check=True,
        )
        answers.append([str(folder), *json.loads(done.stdout)])
    return answers


@pytest.mark.parametrize(
    "index", range(len(ENVIRONMENTS)), ids=lambda index: str(ENVIRONMENTS[index])
)
def test_as_the_hub_client_itself(
    index: int, hub_answers: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, cache, xet = hub_answers[index]
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HOME", f"{folder}/home")
    for name, value in ENVIRONMENTS[index].items():
        monkeypatch.setenv(name, value)
    assert str(Path(hf_cache().path).absolute()) == cache.rstrip("/")
    assert str(Path(xet_cache().path).absolute()) == xet


@pytest.mark.parametrize(
    ("environment", "by", "caution"),
    [
        ({}, "default of the Hub client", None),
        ({"HF_HUB_CACHE": "/a"}, "HF_HUB_CACHE", None),
        ({"HF_HUB_CACHE": ""}, "HF_HUB_CACHE", "is empty"),
        ({"HF_HUB_CACHE": "a"}, "HF_HUB_CACHE", "is relative"),
        ({"HF_HOME": ""}, "HF_HOME", "is empty"),
        ({"HF_HOME": "~/a"}, "HF_HOME", None),
        ({"XDG_CACHE_HOME": ""}, "XDG_CACHE_HOME", "is empty"),
        ({"XDG_CACHE_HOME": "a"}, "XDG_CACHE_HOME", "is relative"),
    ],
)
def test_the_hub_cache_names_what_decided(
    environment: dict[str, str], by: str, caution: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    decided = hf_cache()
    assert decided.by == by
    assert decided.own_cache
    assert (decided.caution is None) if caution is None else caution in (decided.caution or "")


@pytest.mark.parametrize(
    ("environment", "path", "by"),
    [
        ({}, "HOME/.cache/huggingface/hub", "default of llama-cli -hf"),
        ({"LLAMA_CACHE": "/l", "HF_HUB_CACHE": "/h"}, "/l", "LLAMA_CACHE"),
        ({"LLAMA_CACHE": "", "HF_HUB_CACHE": "/h"}, "/h", "HF_HUB_CACHE"),
        ({"HUGGINGFACE_HUB_CACHE": "/g", "HF_HOME": "/c"}, "/g", "HUGGINGFACE_HUB_CACHE"),
        ({"HF_HUB_CACHE": "", "HF_HOME": "/c"}, "/c/hub", "HF_HOME"),
        ({"XDG_CACHE_HOME": "/x"}, "/x/huggingface/hub", "XDG_CACHE_HOME"),
        ({"LLAMA_CACHE": "~/l"}, "CWD/~/l", "LLAMA_CACHE"),
        ({"LLAMA_CACHE": "$K3_TEST/l"}, "CWD/$K3_TEST/l", "LLAMA_CACHE"),
    ],
)
def test_llama_passes_over_empty_variables_and_expands_nothing(
    environment: dict[str, str], path: str, by: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    expected = path.replace("HOME", str(tmp_path / "home")).replace("CWD", str(tmp_path))
    decided = llama_cache()
    assert (decided.path, decided.by, decided.own_cache) == (expected, by, True)
    assert (decided.caution is not None) == path.startswith("CWD")


def want(client: str, **more: str | None) -> WantedPlace:
    facts = {"profile": "p", "role": Role.CHECKPOINT, "requested": None, "decided_by": "?"}
    return WantedPlace.model_validate(facts | {"client": client} | more)


def test_a_named_directory_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KIMI_MODEL_DIR", "/variable")
    named = want(
        "hf-local-dir", requested="/d", decided_by="--dir", directory_variable="KIMI_MODEL_DIR"
    )
    assert decide(named)[:2] == ("/d", "--dir")


@pytest.mark.parametrize(
    ("value", "path", "by"),
    [("/k", "/k", "KIMI_MODEL_DIR"), ("", ".", "a guess: the current directory")],
)
def test_a_local_directory_by_variable_or_guess(
    value: str, path: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIMI_MODEL_DIR", value)
    decided = decide(want("hf-local-dir", directory_variable="KIMI_MODEL_DIR"))
    assert decided[:3] == (path, by, False)
    below = decide(want("hf-local-dir", directory_variable="KIMI_MODEL_DIR", subfolder="trunk"))
    assert below[:2] == (f"{path}/trunk", "default")


def test_each_client_has_its_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LLAMA_CACHE", "/l")
    monkeypatch.setenv("HF_HUB_CACHE", "/h")
    assert decide(want("llama-cache")).path == "/l"
    assert decide(want("hf-cache")).path == "/h"


def test_without_a_current_directory_a_relative_variable_stays_relative(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    monkeypatch.setenv("LLAMA_CACHE", "cache")
    decided = llama_cache()
    assert decided.path == "./cache"
    assert "it moves with the current directory" in (decided.caution or "")
