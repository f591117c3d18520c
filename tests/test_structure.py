"""What start-up may load, and that generated files are what the tool prints."""

import json
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from conftest import CHECKOUT, Command
from factory import host, report
from k3preflight.profiles import catalog, packaged_folder

COSTLY = {"rich", "psutil", "pydantic", "tomllib", "jinja2", "huggingface_hub", "pynvml"}


LOADED = "import sys; loaded_before = set(sys.modules)\n"  # a coverage run has its own


def loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", f"{LOADED}{code}\nprint(*set(sys.modules) - loaded_before)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return {name.partition(".")[0] for name in done.stdout.split()}


def test_starting_up_loads_nothing_that_costs() -> None:
    assert not loaded_by("import k3preflight.cli") & COSTLY
    assert "typer" not in loaded_by("import k3preflight")


def test_a_json_report_draws_nothing() -> None:
    code = (
        "import sys, io; sys.stdout = io.StringIO(); from k3preflight.cli import run\n"
        "run(['check', '--free-disk', '1 GB', '--format', 'json']); sys.stdout = sys.__stdout__"
    )
    assert "rich" not in loaded_by(code)


@pytest.mark.parametrize("kind", ["profile", "host", "report"])
def test_schemas_are_what_the_tool_prints(k3: Command, kind: str) -> None:
    committed = CHECKOUT / "schemas" / f"{kind}.json"
    assert k3("schema", kind).out == committed.read_text()
    jsonschema.Draft202012Validator.check_schema(json.loads(committed.read_text()))


def schema(kind: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(
        json.loads((CHECKOUT / "schemas" / f"{kind}.json").read_text())
    )


def test_documents_are_valid_against_the_schemas(k3: Command) -> None:
    schema("host").validate(k3("probe").json)
    schema("report").validate(k3("check", "--format", "json").json)
    schema("report").validate(json.loads(report(host(usable=None)).model_dump_json()))


def test_profiles_are_valid_against_the_schema() -> None:
    import tomllib  # noqa: PLC0415 - only here

    for path in catalog().values():
        schema("profile").validate(tomllib.loads(path.read_text()))


def test_data_is_found_in_the_checkout() -> None:
    assert packaged_folder("schemas") == CHECKOUT / "schemas"


def test_the_readmes_two_commands_are_one_line_each() -> None:
    for which, ends in (("check", "k3preflight check"), ("test", "pytest")):
        done = subprocess.run(
            [sys.executable, str(CHECKOUT / ".ci" / "readme_command.py"), which],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert done.stdout.startswith("python3 -m venv ")
        assert ends in done.stdout


def test_every_file_is_text_about_the_project_itself() -> None:
    for path in (*Path(CHECKOUT, "profiles").glob("*"), *Path(CHECKOUT, "schemas").glob("*")):
        path.read_text(encoding="ascii")
