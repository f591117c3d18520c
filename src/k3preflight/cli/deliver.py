"""A report to everything that was asked for: files first, then stdout."""

import os
from typing import TYPE_CHECKING, NamedTuple

from k3preflight.cli.options import OutputOption
from k3preflight.cli.out import screen, write_file, write_stdout
from k3preflight.errors import UsageError
from k3preflight.render import Detail, Format, Screen, render

if TYPE_CHECKING:
    from k3preflight.models.report import Report


class Delivery(NamedTuple):
    """Where reports go, in which formats, and how much a person is shown."""

    form: Format
    outputs: tuple[OutputOption, ...] = ()
    detail: Detail = Detail.NORMAL

    @property
    def page(self) -> Screen:
        """What is drawn for stdout."""
        return screen()._replace(detail=self.detail)

    def refuse_twice(self) -> None:
        """Refuse two outputs to one file.

        Raises:
            UsageError: names it.
        """
        seen: set[str] = set()
        for output in self.outputs:
            target = os.path.realpath(output.path)
            if target in seen:
                raise UsageError(
                    f"--output {output.path}: named twice; every output needs its own file"
                )
            seen.add(target)


def deliver(report: "Report", delivery: Delivery) -> None:
    """Render everything, then write every file, then print.

    So a format that cannot be made leaves no file behind, and an output that cannot be written
    leaves stdout to the error.

    Raises:
        UsageError: a format needs what is not installed, two outputs name one file, or one of them
            cannot be written.
    """
    delivery.refuse_twice()
    page, form = delivery.page, delivery.form
    texts = [
        (output.path, render(report, output.form or form, page._replace(color=False)))
        for output in delivery.outputs
    ]
    printed = render(report, form, page)
    for path, text in texts:
        write_file(path, text)
    write_stdout(printed)
