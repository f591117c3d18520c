"""`k3preflight record`: filled in as far as the machine and the log say, and empty beyond."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from conftest import CHECKOUT, Command, Result
from factory import host
from k3preflight.cli.recording import recorded
from k3preflight.models.machine import Gpu
from k3preflight.models.storage import DirectoryRates, Rate, Storage
from k3preflight.profiles import catalog, choose
from k3preflight.records import read_record

RUNS = CHECKOUT / "tests" / "data" / "runs"
REVISION = "9f62e4e9fffbd0a83ddd60e1c209d828994b3569"


def document(result: Result) -> dict[str, Any]:
    assert result.exit == 0
    return tomllib.loads(result.out)


def test_without_a_log_the_run_is_empty_and_the_machine_is_not(k3: Command) -> None:
    record = document(k3("record", "rabbit"))
    assert set(record["run"].values()) == {""}
    assert record["hardware"]["memory_total"] > 0
    assert record["hardware"]["cores"] > 0
    assert record["scenario"] == "rabbit"
    assert record["runtime"] == {"name": "Rabbit", "commit": "", "modified": "", "version": ""}
    assert record["checkpoint"]["repository"] == "moonshotai/Kimi-K3"
    assert record["checkpoint"]["revision"] == ""  # the profile's is not what was downloaded
    (volume,) = record["volumes"]
    assert volume["roles"] == ["checkpoint"]
    assert volume["mount_point"]


def test_a_log_fills_in_the_run(k3: Command, tmp_path: Path) -> None:
    target = tmp_path / "run.toml"
    arguments = ("--log", str(RUNS / "kimi-k3-in-c.txt"), "--label", "first", "-o", str(target))
    result = k3("record", "kimi-k3-in-c:laptop", *arguments, "--context", "16")
    assert (result.exit, result.err) == (0, "")
    record = read_record(target)
    left = target.read_text().count(' = ""')
    assert result.out == f"{target}: written, {left} fields left to fill in\n"
    assert (record.label, record.scenario) == ("first", "kimi-k3-in-c:laptop")
    assert record.run.seconds_per_token == 32.69
    assert record.settings.context == 16  # as said, not as the log has it
    assert record.settings.cache is not None
    assert record.settings.prompt_renderer is None
    assert [volume.roles for volume in record.volumes] == [("checkpoint", "trunk")]


@pytest.mark.programs
def test_the_commit_and_the_downloaded_revision(k3: Command, tmp_path: Path) -> None:
    note = tmp_path / "model" / ".cache" / "huggingface" / "download" / "config.json.metadata"
    note.parent.mkdir(parents=True)
    note.write_text(f"{REVISION}\n")
    arguments = ("--runtime-dir", str(tmp_path), "--dir", str(tmp_path / "model"))
    result = k3("record", "ud-iq1-s", *arguments, "--prompt-renderer", "none")
    record = document(result)
    assert record["checkpoint"]["revision"] == REVISION
    assert record["checkpoint"]["quant"] == "UD-IQ1_S"
    assert record["settings"]["prompt_renderer"] == "none"
    assert record["runtime"]["commit"] == ""
    assert result.err.startswith("k3preflight: git cannot read ")
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("scenario", "said"),
    [
        ("rabbit", "the log is of kimi-k3-in-c, the record of Rabbit"),
        ("kimi-k3-in-c:max", "the log is of preset laptop, the record of kimi-k3-in-c:max"),
    ],
)
def test_a_log_of_something_else_is_remarked(k3: Command, scenario: str, said: str) -> None:
    result = k3("record", scenario, "--log", str(RUNS / "kimi-k3-in-c.txt"))
    assert result.exit == 0
    assert result.err == f"k3preflight: {said}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("kimi-k3-in-c:all",), "kimi-k3-in-c:all: a run is of one preset. Such as"),
        (("rabbit", "--runtime-dir", "none"), "--runtime-dir none: no such directory"),
        (("rabbit", "--log", "none"), "--log none: cannot be read: No such file"),
        (("rabbit", "--log", "other.txt"), "--log other.txt: no finished run of"),
        (("rabbit", "--log", "invalid.txt"), "the runtime calls this run invalid: 3 routed"),
        (("rabbit", "-o", "other.txt"), "--output other.txt: is there already"),
        (("rabbit", "-o", "none/run.toml"), "--output none/run.toml: cannot be written"),
    ],
)
def test_a_mistake_is_one_line(
    k3: Command, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "other.txt").write_text("nothing of a run\n")
    invalid = (RUNS / "kimi-k3-in-c.txt").read_text() + "RUN INVALID: 3 routed expert loads\n"
    (tmp_path / "invalid.txt").write_text(invalid)
    result = k3("record", *arguments)
    assert (result.exit, result.out) == (2, "")
    assert said in result.err
    assert result.err.count("\n") == 1
    assert (tmp_path / "other.txt").read_text() == "nothing of a run\n"


def test_a_huge_log_is_refused(k3: Command, tmp_path: Path) -> None:
    with (tmp_path / "big.txt").open("wb") as stream:
        stream.truncate(2**27)
    result = k3("record", "rabbit", "--log", "big.txt")
    assert result.exit == 2
    assert "--log big.txt: over 67108864 bytes" in result.err


def test_the_gpus_a_run_could_use() -> None:
    (choice,) = choose(["ud-iq1-s"], catalog())
    machine = host().model_copy(update={"gpus": None})
    assert recorded(choice.scenarios[0], machine, None, None).hardware.gpus is None
    seen = (
        Gpu(name="H100", total=80 * 2**30),
        Gpu(name="A100", total=40 * 2**30, visible=False),
        Gpu(),
    )
    found = recorded(choice.scenarios[0], machine.model_copy(update={"gpus": seen}), None, None)
    assert found.hardware.gpus == ("H100, 85.90 GB (80.00 GiB)", "unnamed, memory unknown")


def test_what_a_bench_measured_is_filled_in() -> None:
    (choice,) = choose(["rabbit"], catalog())
    rates = tuple(
        Rate(
            pattern=pattern,
            median_bytes_per_second=median,
            min_bytes_per_second=median - 1,
            best_bytes_per_second=median + 1,
        )
        for pattern, median in (("sequential-8", 5_000_000_000), ("random-8", 4_000_000_000))
    )
    measured = DirectoryRates(
        directory="/data", volume="/data", rates=rates, best_bytes_per_second=5_000_000_001
    )
    machine = host().model_copy(update={"storage": Storage(directories=(measured,))})
    (volume,) = recorded(choice.scenarios[0], machine, None, None).volumes
    assert volume.best_bytes_per_second == 5_000_000_001
    assert volume.best_from == "concurrent"
    assert volume.sequential_median_bytes_per_second == 5_000_000_000
    assert volume.random_min_bytes_per_second == 3_999_999_999
    (unmeasured,) = recorded(choice.scenarios[0], host(), None, None).volumes
    assert unmeasured.best_bytes_per_second is None
    assert unmeasured.best_from is None
