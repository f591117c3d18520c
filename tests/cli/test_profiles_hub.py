"""`profiles refresh` and `profiles new` as a user runs them, and a check with what they made."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from conftest import Command, Result
from hub_server import COMMIT, Hub, Repository, hub
from k3preflight.profiles import read_profile

GB = 10**9
Shards = list[tuple[str, int, str | None]]
GGUF: Shards = [
    ("README.md", 1000, None),
    *((f"UD-Q2/GLM-9-UD-Q2-0000{n}-of-00003.gguf", 40 * GB, f"{n:064x}") for n in (1, 2, 3)),
    ("GLM-9-BF16.gguf", 900 * GB, "9" * 64),
]
SAFETENSORS: Shards = [
    ("config.json", 1234, None),
    ("model-00001-of-00002.safetensors", 60 * GB, "1" * 64),
    ("model-00002-of-00002.safetensors", 40 * GB, "2" * 64),
]


@pytest.fixture
def server() -> Iterator[Hub]:
    with hub() as running:
        running.answers["org/GLM-9-GGUF"] = Repository(GGUF, gguf={"context_length": 2048})
        running.answers["org/GLM-9"] = Repository(SAFETENSORS)
        yield running


@pytest.fixture
def run(server: Hub, k3: Command, tmp_path: Path) -> Callable[..., Result]:
    def command(*arguments: str) -> Result:
        return k3(
            *arguments,
            HF_ENDPOINT=server.endpoint,
            HF_HOME=str(tmp_path / "hf"),
            NO_PROXY="127.0.0.1",
        )

    return command


def test_a_made_profile_is_valid_and_gives_a_right_check(
    run: Callable[..., Result], tmp_path: Path
) -> None:
    made = run("profiles", "new", "org/GLM-9-GGUF:ud-q2", "-o", "glm-9-q2.toml")
    assert (made.exit, made.err) == (0, "")
    assert made.out == (
        f"glm-9-q2.toml: 3 files, 120.00 GB, org/GLM-9-GGUF at {COMMIT}\n"
        "Fill in what FILL IN marks, then: "
        "k3preflight check glm-9-q2 --profile-file glm-9-q2.toml\n"
    )
    assert run("profiles", "validate", "glm-9-q2.toml").exit == 0
    profile = read_profile(tmp_path / "glm-9-q2.toml")
    assert profile.checkpoint.revision == COMMIT
    assert profile.checkpoint.largest_file == 40 * GB
    assert len(profile.checkpoint.sha256) == 3
    assert profile.memory.default_context.count == 2048  # no more than the model takes

    check = ("check", "glm-9-q2", "--profile-file", "glm-9-q2.toml", "--format", "json")
    for free, disk, code in (("138 GB", "pass", 3), ("137.99 GB", "fail", 1)):
        result = run(*check, "--free-disk", free, "--memory", "64 GB")
        assert result.exit == code
        found = {item["check"]: item for item in result.json["assessments"][0]["findings"]}
        assert found["disk.capacity"]["status"] == disk
        assert found["disk.capacity"]["budget"]["need"] == 138 * GB
        assert found["memory.minimum"]["status"] == "unknown"
        assert found["memory.recommended"]["status"] == "skip"
        assert found["memory.residency"]["budget"]["gap"] == 56 * GB
    commands = [line["run"] for line in result.json["assessments"][0]["commands"]]
    download = next(line for line in commands if line.startswith("hf download"))
    assert f"org/GLM-9-GGUF --revision {COMMIT} --include 'UD-Q2/*' --local-dir " in download
    assert commands[-1].startswith("./llama.cpp/build/bin/llama-cli -m ")
    assert "/UD-Q2/GLM-9-UD-Q2-00001-of-00003.gguf --ctx-size 2048" in commands[-1]


def test_what_is_filled_in_is_judged(run: Callable[..., Result], tmp_path: Path) -> None:
    run("profiles", "new", "org/GLM-9-GGUF:UD-Q2", "-o", "glm.toml")
    file = tmp_path / "glm.toml"
    lines = [
        line.removeprefix("# ") if line.startswith(("# parts", "#   {", "# ]")) else line
        for line in file.read_text().splitlines()
    ]
    file.write_text("\n".join(lines))
    check = ("check", "glm", "--profile-file", "glm.toml", "--free-disk", "1 TB")
    assert run(*check, "--memory", "39.9 GB").exit == 1
    assert run(*check, "--memory", "40 GB", "--format", "json").json["assessments"][0]["findings"]


def test_safetensors_leave_more_to_fill_in(run: Callable[..., Result], tmp_path: Path) -> None:
    made = run("profiles", "new", "org/GLM-9", "-o", "glm-9.toml", "--revision", COMMIT)
    assert made.exit == 3  # the look-alike knows no revision of it
    made = run("profiles", "new", "org/GLM-9", "-o", "glm-9.toml")
    assert made.exit == 0
    profile = read_profile(tmp_path / "glm-9.toml")
    assert profile.checkpoint.size.bytes == 100 * GB + 1234
    assert profile.checkpoint.sha256.keys() == {name for name, _, digest in SAFETENSORS if digest}
    assert profile.memory.max_context is None
    assert profile.needs.platforms == ()
    shown = run("profiles", "show", "glm-9", "--profile-file", "glm-9.toml")
    assert "Host: not stated" in shown.out
    check = ("check", "glm-9", "--profile-file", "glm-9.toml")
    assert run(*check, "--free-disk", "9 TB", "--memory", "9 TB").exit == 3
    assert run(*check, "--free-disk", "1 GB", "--memory", "9 TB").exit == 1


def test_small_repositories_without_digests(
    run: Callable[..., Result], server: Hub, tmp_path: Path
) -> None:
    server.answers["org/Tiny"] = Repository([("it's $(x).gguf", 5, None)])
    assert run("profiles", "new", "org/Tiny", "-o", "tiny.toml").exit == 0
    profile = read_profile(tmp_path / "tiny.toml")
    assert profile.checkpoint.sha256 == {}
    run_line = profile.commands[-1].run
    assert "-m {checkpoint}/'it'\"'\"'s $(x).gguf' " in run_line


def test_refresh_writes_what_it_shows(run: Callable[..., Result], tmp_path: Path) -> None:
    run("profiles", "new", "org/GLM-9-GGUF:UD-Q2", "-o", "glm.toml")
    file = tmp_path / "glm.toml"
    shutil.copy(file, tmp_path / "was.toml")
    known = ("profiles", "refresh", "glm", "--profile-file", "glm.toml")
    assert "unchanged: 3 files, 120,000,000,000 B" in run(*known).out
    file.write_text(
        file.read_text()
        .replace("40000000000\n", "39999999999\n")
        .replace("120000000000", "119999999997")
    )
    assert run("profiles", "validate", "glm.toml").exit == 0
    result = run(*known, "--write", "glm.toml")
    assert result.exit == 0
    assert (
        "size 119,999,999,997 B -> 120,000,000,000 B (+3 B)\n3 files of another size\n"
        in result.out
    )
    assert (
        read_profile(file).checkpoint.files == read_profile(tmp_path / "was.toml").checkpoint.files
    )
    assert "unchanged" in run(*known).out
    failed = run(*known, "--write", "none/glm.toml")
    assert failed.exit == 2
    assert "--write none/glm.toml: cannot be written" in failed.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("new", "org/GLM-9-GGUF", "-o", "a.toml"), "has 2 quants. Write org/GLM-9-GGUF:QUANT"),
        (("new", "org/GLM-9-GGUF:Q9", "-o", "a.toml"), "has no quant 'Q9'"),
        (("new", "org/GLM-9-GGUF:", "-o", "a.toml"), "no quant after the colon"),
        (("new", "GLM-9", "-o", "a.toml"), "'GLM-9' is not a repository of the Hub"),
        (("new", "org/GLM-9", "-o", "GLM.toml"), "a profile is named after its file"),
        (("new", "org/GLM-9", "-o", "glm.txt"), "a profile is named after its file"),
        (("new", "org/GLM-9", "-o", "there.toml"), "--output there.toml: is there already"),
        (("new", "org/GLM-9"), "Missing option"),
        (("refresh", "none"), "no profile is named 'none'"),
    ],
)
def test_a_mistake_is_one_line_and_writes_nothing(
    run: Callable[..., Result], tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "there.toml").write_text("mine")
    result = run("profiles", *arguments)
    assert result.exit == 2
    assert said in result.err
    assert result.err.count("\n") == 1
    assert (tmp_path / "there.toml").read_text() == "mine"
    assert not (tmp_path / "a.toml").exists()
