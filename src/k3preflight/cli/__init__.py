"""The command line: parse, call, print, exit. Imports that cost are inside the commands."""

import os
import sys
from typing import Annotated

import typer

from k3preflight import __version__
from k3preflight.cli import bench, check, checks, probe, profiles, record, schema, verify
from k3preflight.cli.out import explain, write_error, write_stdout
from k3preflight.errors import Exit, K3Error

ISSUES = "https://github.com/k3preflight/k3preflight/issues"

app = typer.Typer(
    name="k3preflight",
    help="Does Kimi K3 fit on this machine? Answered before the download.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(*, wanted: bool) -> None:
    if wanted:
        write_stdout(f"k3preflight {__version__}\n")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    del version


app.command("check")(check.check)
app.command("probe")(probe.probe)
app.command("bench")(bench.bench)
app.add_typer(profiles.app, name="profiles")
app.command("record")(record.record)
app.command("schema")(schema.schema)
app.command("verify")(verify.verify)
app.command("checks")(checks.checks)


def _one_line(message: str) -> str:
    return message.replace("\n", " ").replace(": Value error, ", ": ")


def run(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code. No exception leaves it but a debugged one."""
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        result: object = app(args=arguments, standalone_mode=False)
    except K3Error as error:
        write_error(arguments, error.message, error.hint, error.exit)
        return error.exit
    except typer.TyperException as error:
        message = error.format_message()
        if message.startswith("Usage: "):  # no command was named: Typer's answer is the help
            explain(message)
            return error.exit_code
        hint = "k3preflight --help lists the commands; each has its own --help."
        write_error(arguments, _one_line(message), hint, Exit(error.exit_code))
        return error.exit_code
    except Exception as error:
        if "--debug" in arguments or os.environ.get("K3PREFLIGHT_DEBUG"):
            raise
        message = f"a bug of k3preflight's own: {type(error).__name__}: {error}"
        hint = f"Please report it at {ISSUES} with the output of the same command and --debug."
        write_error(arguments, message, hint, Exit.BUG)
        return Exit.BUG
    return result if isinstance(result, int) else Exit.PASS
