"""`k3preflight record`: what to write down of a run, filled in as far as this machine says it."""

from pathlib import Path
from typing import Annotated

import typer

from k3preflight.cli import options
from k3preflight.cli.out import complain, write_new_file, write_stdout
from k3preflight.errors import Exit, UsageError


def record(
    scenario: Annotated[
        str, typer.Argument(metavar="SCENARIO", help="What was run: NAME or NAME:PRESET.")
    ],
    directory: options.Directory = None,
    places: options.Places = None,
    runtime_dir: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="The runtime's git checkout, for its commit."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What the runtime printed, for its timings."),
    ] = None,
    context: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Positions it was run with.")
    ] = None,
    prompt_renderer: Annotated[
        str | None,
        typer.Option(metavar="TEXT", help="What turned the prompt into tokens."),
    ] = None,
    bench: options.Bench = False,
    label: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Your name for the run.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Write it there, not to stdout."),
    ] = None,
    profile_files: options.ProfileFiles = None,
    debug: options.Debug = False,
) -> int:
    """Write down a run: runtime commit, weights, machine, settings, timings; the rest is empty."""
    del debug
    from k3preflight.cli.recording import mismatch, read_run_log, recorded  # noqa: PLC0415 - pydantic
    from k3preflight.cli.wanted import wanted  # noqa: PLC0415
    from k3preflight.probe import probe  # noqa: PLC0415 - psutil
    from k3preflight.probe.checkout import read_checkout  # noqa: PLC0415
    from k3preflight.profiles import catalog, choose  # noqa: PLC0415
    from k3preflight.records import record_text  # noqa: PLC0415

    (choice,) = choose([scenario], catalog(profile_files or ()))
    if choice.rule != "one":
        raise UsageError(
            f"{scenario}: a run is of one preset", f"Such as {choice.scenarios[0].name}."
        )
    if runtime_dir is not None and not runtime_dir.is_dir():
        raise UsageError(f"--runtime-dir {runtime_dir}: no such directory")
    said = read_run_log(log) if log else None
    source = read_checkout(runtime_dir) if runtime_dir else None
    host = probe(wanted([choice], directory, places or ()))
    if bench:
        from k3preflight.cli.benching import with_bench  # noqa: PLC0415 - rich

        host = with_bench(host)
    ran = recorded(choice.scenarios[0], host, source, said)
    settings = {"context": context, "prompt_renderer": prompt_renderer}
    given = {key: value for key, value in settings.items() if value is not None}
    text = record_text(
        ran.model_copy(update={"label": label, "settings": ran.settings.model_copy(update=given)})
    )
    for remark in (source and source.problem, said and mismatch(choice.scenarios[0], said)):
        if remark:
            complain(f"k3preflight: {remark}")
    if output is None:
        write_stdout(text)
    else:
        write_new_file(output, text)
        left = text.count(' = ""')
        write_stdout(f"{output}: written, {left} fields left to fill in\n")
    return Exit.PASS
