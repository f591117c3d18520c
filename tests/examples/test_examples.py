"""What people paste, pasted: each example run for real, or held against the schema its reader has.

Nothing here talks to a CI service, a cluster or a scheduler: those files are validated alone.
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from conftest import CHECKOUT, Command
from factory import GB, host

EXAMPLES = CHECKOUT / "examples"
BIN = Path(sys.executable).parent

TINY = """
schema_version = 1
title = "A small artifact"
weights = "quant"
[runtime]
name = "none"
version = "1"
homepage = "https://example.org"
[model]
name = "small"
experts = 2
experts_per_token = 1
context = { count = 1, basis = "policy", source = "test" }
source = "test"
[headroom]
percent = 15
basis = "policy"
source = "test"
[[artifacts]]
role = "checkpoint"
obtained = "download"
source = "test"
size = { bytes = "100 MB", basis = "policy", source = "test" }
[memory]
overflow = "page"
parts = [{ name = "all", bytes = "1 MB", basis = "policy", source = "test" }]
default_context = { count = 1, basis = "policy", source = "test" }
max_context = { count = 1, basis = "policy", source = "test" }
[needs]
source = "test"
platforms = [{ system = "linux", machine = "x86_64" }, { system = "linux", machine = "arm64" }]
[download]
client = "hf-local-dir"
"""


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """A profile that fits almost anywhere but on a volume of 32 MiB."""
    profile = tmp_path / "tiny.toml"
    profile.write_text(TINY)
    return profile


@pytest.fixture
def path(environment: dict[str, str]) -> dict[str, str]:
    """An environment in which `k3preflight` is the command of this installation."""
    return environment | {"PATH": f"{BIN}:{environment['PATH']}"}


@pytest.fixture
def small_volume(tmp_path: Path) -> Iterator[Path]:
    """A mounted ext4 volume of 32 MiB."""
    image, mount = tmp_path / "small.img", tmp_path / "small"
    mount.mkdir()
    with image.open("wb") as stream:
        stream.truncate(32 * 2**20)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    subprocess.run(["mount", "-o", "loop", image, mount], check=True)
    try:
        yield mount
    finally:
        subprocess.run(["umount", mount], check=True)


def run(
    command: list[str | Path], environment: dict[str, str], stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env=environment,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


# The provisioning script.


def wrapper(folder: Path, script: str) -> Path:
    folder.mkdir()
    command = folder / "k3preflight"
    command.write_text(f"#!/bin/sh\n{script}\n")
    command.chmod(0o755)
    return folder


def test_provisioning_downloads_only_where_it_fits(
    tmp_path: Path, tiny: Path, path: dict[str, str]
) -> None:
    real = f'"{BIN}/k3preflight" "$@" --profile-file {tiny}'
    folder = wrapper(tmp_path / "bin", real)
    environment = path | {"PATH": f"{folder}:{path['PATH']}"}
    script, models = EXAMPLES / "provision.sh", tmp_path / "models"
    done = run([script, "tiny", models, "touch", models / "downloaded"], environment)
    assert done.returncode == 0, done.stderr
    assert (models / "downloaded").exists()
    assert json.loads((models / "preflight.json").read_text())["verdict"]["status"] == "pass"


@pytest.mark.parametrize("code", [1, 2, 3, 70, 130])
def test_provisioning_handles_each_exit(code: int, tmp_path: Path, path: dict[str, str]) -> None:
    folder = wrapper(tmp_path / "bin", f"exit {code}")
    environment = path | {"PATH": f"{folder}:{path['PATH']}"}
    models = tmp_path / "models"
    done = run([EXAMPLES / "provision.sh", "x", models, "touch", models / "d"], environment)
    assert done.returncode == code
    assert not models.exists()
    assert done.stderr.startswith("provision: ") is (code != 130)


def test_provisioning_stops_where_it_really_does_not_fit(
    tmp_path: Path, path: dict[str, str]
) -> None:
    a_file = tmp_path / "file"
    a_file.touch()
    done = run([EXAMPLES / "provision.sh", "rabbit", a_file / "k3", "touch", tmp_path / "d"], path)
    assert done.returncode == 1
    assert "does not fit" in done.stderr
    assert not (tmp_path / "d").exists()


def test_the_job_script_runs_its_command_only_after_the_check(
    tmp_path: Path, path: dict[str, str]
) -> None:
    command: list[str | Path] = ["bash", EXAMPLES / "slurm.sh", "echo", "running"]
    for code, out in ((0, "running\n"), (1, "")):
        folder = wrapper(tmp_path / f"bin{code}", f"exit {code}")
        environment = path | {"PATH": f"{folder}:{path['PATH']}", "SCRATCH": str(tmp_path)}
        done = run(command, environment)
        assert (done.returncode, done.stdout) == (code, out)


def test_the_cron_line_replaces_the_metrics_whatever_the_verdict(
    tmp_path: Path, path: dict[str, str]
) -> None:
    lines = (EXAMPLES / "node-exporter.cron").read_text().splitlines()
    (line,) = (item for item in lines if item.startswith("*/15"))
    schedule, user, command = line.split(maxsplit=5)[:5], *line.split(maxsplit=6)[5:]
    assert (schedule, user) == (["*/15", "*", "*", "*", "*"], "root")
    assert "%" not in command  # cron's own newline
    command = command.replace("/var/lib/node_exporter", str(tmp_path))
    command = command.replace("/models/k3", str(tmp_path))
    done = run(["sh", "-c", command], path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "# TYPE k3preflight" in (tmp_path / "k3preflight.prom").read_text()


# Everything from here needs what the gate installs.


@pytest.mark.root
def test_shell_scripts_pass_shellcheck(environment: dict[str, str]) -> None:
    scripts: list[str | Path] = [*EXAMPLES.glob("*.sh")]
    assert len(scripts) == 3
    done = run(["shellcheck", *scripts], environment)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.root
@pytest.mark.parametrize(
    "arguments",
    [
        ("vendor.github-workflows", "github-actions.yml"),
        ("vendor.gitlab-ci", "--data-transform=gitlab-ci", "gitlab-ci.yml"),
    ],
)
def test_ci_files_are_valid_against_the_vendored_schemas(
    arguments: tuple[str, ...], environment: dict[str, str], tmp_path: Path
) -> None:
    schema, *options, name = arguments
    checker: list[str | Path] = [BIN / "check-jsonschema", f"--builtin-schema={schema}", *options]
    assert run([*checker, EXAMPLES / name], environment).returncode == 0
    broken = tmp_path / name
    text = (EXAMPLES / name).read_text()
    broken.write_text(text.replace("runs-on:", "run-on:").replace("script:", "scripts:"))
    assert run([*checker, broken], environment).returncode == 1


@pytest.mark.root
def test_the_manifest_is_valid_against_the_api_schema(
    environment: dict[str, str], tmp_path: Path
) -> None:
    checker: list[str | Path] = [BIN / "kubernetes-validate", "--strict"]
    done = run([*checker, EXAMPLES / "kubernetes.yaml"], environment)
    assert done.returncode == 0, done.stdout + done.stderr
    broken = tmp_path / "kubernetes.yaml"
    text = (EXAMPLES / "kubernetes.yaml").read_text()
    broken.write_text(text.replace("initContainers", "initContainer"))
    assert run([*checker, broken], environment).returncode != 0


@pytest.mark.root
def test_jq_recipes_answer_from_real_reports(k3: Command, environment: dict[str, str]) -> None:
    stream = "".join(
        host(free * GB, usable * GB).model_copy(update={"name": name}).model_dump_json() + "\n"
        for name, free, usable in (("a", 4000, 900), ("b", 1, 900), ("c", 1, 1))
    )
    checks = ("disk.path,disk.writable,disk.filesystem,disk.file-size,disk.inodes,"
              "download.present,download.client,download.time,runtime.platform,runtime.cpu,"
              "runtime.tools,runtime.gpu,speed.storage")  # fmt: skip
    reports = k3(
        "check", "rabbit", "--host", "-", "--format", "ndjson", "--skip", checks,
        stdin=stream + "not a host\n",
    ).out  # fmt: skip
    answers = {
        "fitting": "a\trabbit\n",
        "failing": "b\trabbit\tdisk.capacity\t1794148832049\n"
        "c\trabbit\tdisk.capacity\t1794148832049\n"
        "c\trabbit\tmemory.minimum\t35212254720\n",
        "stoppers": "2\tdisk.capacity\n1\tmemory.minimum\n",
        "largest": "a\t900000000000\nb\t900000000000\nc\t1000000000\n",
    }
    for question, answer in answers.items():
        done = run([EXAMPLES / "jq.sh", question], environment, reports)
        assert (done.returncode, done.stdout) == (0, answer), done.stderr
    done = run([EXAMPLES / "jq.sh", "broken"], environment, reports)
    assert done.stdout.startswith("stdin, line 4: not a host document")
    assert run([EXAMPLES / "jq.sh"], environment).returncode == 2


class Server(NamedTuple):
    """An SSH server of the test's own on loopback, and the key that opens it."""

    port: int
    key: Path


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    for name in ("host", "user"):
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True
        )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    Path("/run/sshd").mkdir(exist_ok=True)
    options = {
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "user.pub",
        "ListenAddress": "127.0.0.1",
        "PidFile": "none",
        "PermitRootLogin": "prohibit-password",
        "StrictModes": "no",  # the key lies below /tmp
        "Subsystem": "sftp internal-sftp",
        "UsePAM": "no",
    }
    sshd = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    assert sshd, "openssh-server is not installed"
    process = subprocess.Popen(
        [sshd, "-D", "-e", "-f", "/dev/null", "-p", str(port)]
        + [f"-o{key}={value}" for key, value in options.items()],
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port)
        yield Server(port, tmp_path / "user")
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _wait_for(port: int) -> None:
    """Until the server listens; a second server would not tell us either."""
    deadline = time.monotonic() + 30
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


@pytest.mark.root
def test_the_playbook_fails_the_one_host_where_it_does_not_fit(
    server: Server, small_volume: Path, tiny: Path, tmp_path: Path, path: dict[str, str]
) -> None:
    roomy, inventory = tmp_path / "roomy", tmp_path / "inventory.ini"
    common = (
        f"ansible_host=127.0.0.1 ansible_port={server.port} "
        f"ansible_ssh_private_key_file={server.key} ansible_python_interpreter={sys.executable}"
    )
    inventory.write_text(
        f"roomy {common} model_directory={roomy}\nsmall {common} model_directory={small_volume}\n"
    )
    variables = {
        "scenario": "tiny",
        "k3preflight": str(BIN / "k3preflight"),
        "profiles": ["--profile-file", str(tiny)],
        "facts_directory": str(tmp_path / "facts"),
    }
    environment = path | {
        "ANSIBLE_HOST_KEY_CHECKING": "False",
        "ANSIBLE_HOME": str(tmp_path / "ansible"),
        "ANSIBLE_NOCOLOR": "1",
        "ANSIBLE_LOCAL_TEMP": str(tmp_path / "ansible" / "tmp"),
    }
    done = run(
        [
            BIN / "ansible-playbook",
            "-i", inventory,
            EXAMPLES / "ansible" / "preflight.yml",
            "-e", json.dumps(variables),
        ],
        environment,
    )  # fmt: skip
    assert done.returncode == 2, done.stdout + done.stderr  # Ansible's word for a failed host
    recap = {line.split()[0]: line for line in done.stdout.splitlines() if "unreachable=" in line}
    assert "failed=0" in recap["roomy"]
    assert "failed=1" in recap["small"]
    assert "unreachable=0" in recap["small"]
    assert "does not fit: short by" in done.stdout
    judge: list[str | Path] = [BIN / "k3preflight", "check", "tiny", "--profile-file", tiny]
    again = run([*judge, "--host", tmp_path / "facts", "--format", "ndjson"], environment)
    statuses = [json.loads(line)["verdict"]["status"] for line in again.stdout.splitlines()]
    assert statuses == ["pass", "fail"]
    assert again.returncode == 1
