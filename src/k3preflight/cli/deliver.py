"""One report to everything that was asked for: files first, then stdout."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from k3preflight.cli.options import OutputOption
from k3preflight.cli.out import screen, write_file, write_stdout
from k3preflight.errors import UsageError
from k3preflight.render import Detail, Format, render

if TYPE_CHECKING:
    from k3preflight.models.report import Report


def deliver(
    report: "Report", form: Format, outputs: Sequence[OutputOption], detail: Detail
) -> None:
    """Render everything, then write every file, then print.

    So a format that cannot be made leaves no file behind, and an output that cannot be written
    leaves stdout to the error.

    Raises:
        UsageError: a format needs what is not installed, two outputs name one file, or one of them
            cannot be written.
    """
    _refuse_twice(outputs)
    page = screen()._replace(detail=detail)
    texts = [
        (output.path, render(report, output.form or form, page._replace(color=False)))
        for output in outputs
    ]
    printed = render(report, form, page)
    for path, text in texts:
        write_file(path, text)
    write_stdout(printed)


def _refuse_twice(outputs: Sequence[OutputOption]) -> None:
    seen: set[str] = set()
    for output in outputs:
        target = os.path.realpath(output.path)
        if target in seen:
            raise UsageError(
                f"--output {output.path}: named twice; every output needs its own file"
            )
        seen.add(target)
