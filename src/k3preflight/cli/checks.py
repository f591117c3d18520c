"""`k3preflight checks`: every check by its id."""

from k3preflight.cli.out import write_stdout


def checks() -> int:
    """List the checks: the ids that --skip and --ignore take, and what each decides."""
    from k3preflight.assess import CHECKS  # noqa: PLC0415 - pydantic

    width = max(len(check.id) for check in CHECKS)
    write_stdout("".join(f"{check.id:<{width}}  {check.summary}\n" for check in CHECKS))
    return 0
