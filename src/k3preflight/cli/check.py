"""`k3preflight check`: judge this machine, or a host document, before the download."""

from typing import Annotated

import typer

from k3preflight.cli import options
from k3preflight.cli.deliver import Delivery, deliver
from k3preflight.errors import UsageError
from k3preflight.models.names import FailOn, Pool, Sizes
from k3preflight.render import Format


def check(
    ctx: typer.Context,
    scenarios: options.Scenarios = None,
    every: options.Every = False,
    directory: options.Directory = None,
    places: options.Places = None,
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=options.SizeOption,
            envvar="K3PREFLIGHT_MEMORY",
            help="What if the host had this much RAM.",
        ),
    ] = None,
    free_disk: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE",
            parser=options.SizeOption,
            help="What if this much were free; no path is touched.",
        ),
    ] = None,
    headroom: Annotated[
        int | None,
        typer.Option(
            metavar="PERCENT",
            parser=options.PercentOption,
            envvar="K3PREFLIGHT_HEADROOM",
            help="Disk headroom. [default: the profile's, 15]",
        ),
    ] = None,
    context: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Positions the KV cache must hold. [default: the profile's]"
        ),
    ] = None,
    sizes: Annotated[
        Sizes, typer.Option(help="Exact bytes, or the publishers' rounded sizes.")
    ] = Sizes.EXACT,
    link: Annotated[
        int | None,
        typer.Option(
            metavar="SPEED",
            parser=options.SpeedOption,
            help="How long the download takes at this speed, such as '1 Gbit/s'.",
        ),
    ] = None,
    write_probe: Annotated[
        bool,
        typer.Option(
            "--write-probe", help="Also try the disk: create, size and remove a file there."
        ),
    ] = False,
    bandwidth: options.Bandwidths = None,
    max_seconds: Annotated[
        int | None,
        typer.Option(
            "--max-seconds-per-token",
            metavar="N",
            parser=options.SecondsOption,
            help="Fail where even the bound on seconds per token is above N.",
        ),
    ] = None,
    require_resident: Annotated[
        bool, typer.Option("--require-resident", help="Weights beyond memory fail.")
    ] = False,
    pool: Annotated[
        Pool | None,
        typer.Option(help="Add this to what holds the weights: an aggregate, not a promise."),
    ] = None,
    hosts: Annotated[
        list[str] | None,
        typer.Option(
            "--host",
            metavar="FILE|DIR",
            help="Judge this host document, or all of a directory or of several --host; - reads "
            "stdin, one document or one a line.",
        ),
    ] = None,
    profile_files: options.ProfileFiles = None,
    ignore: options.Ignore = None,
    skip: options.Skip = None,
    fail_on: Annotated[
        FailOn, typer.Option(envvar="K3PREFLIGHT_FAIL_ON", help="What makes the exit code 1.")
    ] = FailOn.FAIL,
    form: options.FormatOption = Format.TABLE,
    outputs: options.Outputs = None,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    debug: options.Debug = False,
) -> int:
    """Say whether Kimi K3 fits: disk, memory, runtime, and what to do instead.

    Exits 0 when it fits, 1 when it does not, 2 on bad usage, 3 when it cannot be told.
    """
    del debug  # read from the arguments, where an exception is caught
    from k3preflight.cli.bandwidth import bandwidths  # noqa: PLC0415 - pydantic is loaded only to judge
    from k3preflight.cli.exits import exit_of  # noqa: PLC0415
    from k3preflight.models.report import Policy  # noqa: PLC0415
    from k3preflight.profiles import catalog, choose, refuse_context, unchosen  # noqa: PLC0415

    detail = options.detail_of(quiet, verbose)
    known = catalog(profile_files or ())
    choices = choose(scenarios or (), known, every=every)
    if context is not None:
        refuse_context(context, choices)
    policy = Policy(
        sizes=sizes,
        headroom_percent=headroom,
        context=context,
        require_resident=require_resident,
        pool=pool,
        memory=memory,
        free_disk=free_disk,
        link=link,
        bandwidth=bandwidths(bandwidth or (), choices),
        max_milliseconds_per_token=max_seconds,
        ignore=options.flat(ignore),
        skip=options.flat(skip),
    )
    if write_probe and free_disk is not None:
        raise UsageError(
            "--write-probe with --free-disk: no path is touched then", "Leave one out."
        )
    if pool is Pool.HOSTS and not hosts:
        raise UsageError(
            "--pool hosts adds up several host documents, and none is given",
            "Give one --host for each, the one that downloads first.",
        )
    delivery = Delivery(form, tuple(outputs or ()), detail)
    if hosts:
        from k3preflight.cli.hosts import HostDocument, read_hosts  # noqa: PLC0415
        from k3preflight.cli.judging import judge  # noqa: PLC0415

        given = None if options.from_environment(ctx, "directory") else directory
        _refuse_touching(given, places, write_probe=write_probe)
        documents = read_hosts(hosts)
        if pool is Pool.HOSTS:
            from k3preflight.cli.pool import judge_pool  # noqa: PLC0415

            report = judge_pool(documents, choices, policy, named=bool(scenarios))
            deliver(report, delivery)
            return exit_of(report, fail_on)
        if not isinstance(documents, HostDocument):
            from k3preflight.cli.fleet import check_hosts  # noqa: PLC0415

            return check_hosts(documents, choices, policy, delivery, fail_on, named=bool(scenarios))
        report = judge(documents, choices, policy, named=bool(scenarios))
        facts = documents.host
    else:
        from k3preflight.assess import assess, too_small  # noqa: PLC0415 - pydantic, to judge
        from k3preflight.cli.wanted import wanted  # noqa: PLC0415
        from k3preflight.probe import probe  # noqa: PLC0415 - psutil is loaded only to probe
        from k3preflight.probe.alternatives import with_alternatives  # noqa: PLC0415

        asked = wanted(choices, directory, places or (), policy.skip, touch_disk=free_disk is None)
        facts = probe(asked.model_copy(update={"write_probe": write_probe}))
        report = assess(choices, facts, policy, named=bool(scenarios))
        if free_disk is None and too_small(report):
            facts = with_alternatives(facts)
            report = assess(choices, facts, policy, named=bool(scenarios))
    if not scenarios and not report.verdict.fits:
        from k3preflight.assess import assess  # noqa: PLC0415

        # Nothing fits: judged again with what else there is, so that a smaller quant can be named.
        others = unchosen(choices, known)
        report = report.model_copy(
            update={"verdict": assess(choices, facts, policy, named=False, others=others).verdict}
        )
    deliver(report, delivery)
    return exit_of(report, fail_on)


def _refuse_touching(
    directory: str | None, places: list[options.PlaceOption] | None, *, write_probe: bool
) -> None:
    for option, given in (
        ("--dir", directory),
        ("--place", places),
        ("--write-probe", write_probe),
    ):
        if given:
            raise UsageError(
                f"--host with {option}: the host document carries its own places",
                f"Leave one out, or give {option} to k3preflight on that machine.",
            )
