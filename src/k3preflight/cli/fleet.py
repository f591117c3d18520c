"""Many hosts: each document read, judged, shown and dropped; counters alone are kept."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from k3preflight.assess.fleet import Tally, every
from k3preflight.assess.verdict import Answer
from k3preflight.cli.deliver import Delivery
from k3preflight.cli.exits import answer_of, exit_for
from k3preflight.cli.hosts import Document
from k3preflight.cli.judging import judge
from k3preflight.cli.out import whole_file, write_stdout
from k3preflight.errors import Exit, UsageError
from k3preflight.models.fleet import Summary
from k3preflight.models.names import FailOn
from k3preflight.models.report import Policy, Report
from k3preflight.models.scenario import Choice
from k3preflight.render import Format, Screen, render

if TYPE_CHECKING:
    from k3preflight.render.fleet import FleetTable


def check_hosts(
    documents: Iterator[Document],
    choices: Sequence[Choice],
    policy: Policy,
    delivery: Delivery,
    fail_on: FailOn,
    *,
    named: bool,
) -> Exit:
    """Judge every document as it comes. Every host must pass.

    Raises:
        UsageError: a format is made of one report, or an output cannot be written.
    """
    names = [scenario.name for choice in choices for scenario in choice.scenarios]
    tally, answers = Tally(), Counter[Answer]()
    with ExitStack() as files:
        sheets = _sheets(names, delivery, files)
        for sheet in sheets:
            sheet.begin()
        for document in documents:
            report = judge(document, choices, policy, named=named)
            tally.add(report)
            answers[answer_of(report, fail_on)] += 1
            for sheet in sheets:
                sheet.show(report)
        for sheet in sheets:
            sheet.end(tally.summary())
    return exit_for(every(answers), fail_on)


class _Sheet(NamedTuple):
    """One destination: what writes there, and the table it is drawn as; none for ndjson."""

    write: Callable[[str], object]
    page: Screen
    table: "FleetTable | None"

    def begin(self) -> None:
        if self.table:
            self.write(self.table.header())

    def show(self, report: Report) -> None:
        self.write(
            self.table.rows(report) if self.table else render(report, Format.NDJSON, self.page)
        )

    def end(self, summary: Summary) -> None:
        if self.table:
            self.write(self.table.summary(summary))


def _sheets(names: Sequence[str], delivery: Delivery, files: ExitStack) -> list[_Sheet]:
    """A sheet for each output and the last one for stdout; the files are kept open by `files`."""
    delivery.refuse_twice()
    targets = [(output.form or delivery.form, output.path) for output in delivery.outputs]
    for form in (delivery.form, *(form for form, _ in targets)):
        if form not in {Format.TABLE, Format.NDJSON}:
            raise UsageError(
                f"--format {form} is made of one host's report, and these are several",
                "Use --format ndjson, one report a line.",
            )

    page = delivery.page
    plain = page._replace(color=False)
    written = [
        _Sheet(files.enter_context(whole_file(path)).write, plain, _table(names, form, plain))
        for form, path in targets
    ]
    return [*written, _Sheet(write_stdout, page, _table(names, delivery.form, page))]


def _table(names: Sequence[str], form: Format, page: Screen) -> "FleetTable | None":
    if form is not Format.TABLE:
        return None
    from k3preflight.render.fleet import FleetTable  # noqa: PLC0415 - rich is loaded only to draw

    return FleetTable(names, page)
