"""`k3preflight probe`: this machine's facts, as a document that `check --host` judges anywhere."""

import sys

from k3preflight.cli import options
from k3preflight.cli.out import write_stdout
from k3preflight.errors import Exit


def probe(
    scenarios: options.Scenarios = None,
    every: options.Every = False,
    directory: options.Directory = None,
    places: options.Places = None,
    profile_files: options.ProfileFiles = None,
    skip: options.Skip = None,
    bench: options.Bench = False,
    debug: options.Debug = False,
) -> int:
    """Print what this machine has, as JSON, without judging it. Unknown facts are null."""
    del debug
    from k3preflight.cli.wanted import wanted  # noqa: PLC0415 - pydantic
    from k3preflight.probe import probe as read_machine  # noqa: PLC0415 - psutil, pydantic
    from k3preflight.profiles import catalog, choose  # noqa: PLC0415

    choices = choose(scenarios or (), catalog(profile_files or ()), every=every)
    facts = read_machine(wanted(choices, directory, places or (), options.flat(skip)))
    if bench:
        from k3preflight.cli.benching import with_bench  # noqa: PLC0415 - rich

        facts = with_bench(facts)
    terminal = sys.stdout is not None and sys.stdout.isatty()
    write_stdout(facts.model_dump_json(indent=2 if terminal else None) + "\n")
    interrupted = facts.storage is not None and not facts.storage.complete
    return Exit.INTERRUPTED if interrupted else Exit.PASS
