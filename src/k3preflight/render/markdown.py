"""The report as Markdown, for a pull request comment or a job summary: CommonMark with tables."""

import re
from collections.abc import Iterator

from k3preflight.models.names import Status
from k3preflight.models.report import Assessment, Report
from k3preflight.render import Detail, words
from k3preflight.render.rows import NUMBERS, laid_out, plain

_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;", "@": "@&#8203;"}
_SPECIAL = re.compile(r"[\\`*_\[\]<>&@|~#$]")


def render(report: Report, detail: Detail) -> str:
    """Verdict first, then the table, what is not a pass, and what to do next."""
    return "\n".join(_blocks(report, detail))


def _blocks(report: Report, detail: Detail) -> Iterator[str]:
    verdict, quiet = Status(report.verdict.status), detail is Detail.QUIET
    yield f"## k3preflight: {verdict.upper()} on {escaped(report.name)}\n"
    yield f"**Verdict: {verdict.upper()}** {escaped(words.fits(report))}\n"
    if not quiet:
        if report.host is not None:
            yield f"Memory: {escaped('; '.join(words.memory(report.host)))}.\n"
        yield from (f"{escaped(line)}.\n" for line in words.experts(report))
        yield from (f"Note: {escaped(note)}\n" for note in words.notes(report))
        yield from _rows(report, detail)
    for item in report.assessments:
        yield from _findings(item, detail)
    if not quiet:
        yield from _caveats(report)
    yield from _choice(report, quiet=quiet)


def _rows(report: Report, detail: Detail) -> Iterator[str]:
    if not report.assessments:
        return
    columns, rows = laid_out(report.assessments)
    yield f"| {' | '.join(columns)} |"
    yield f"|{'|'.join('---:' if column in NUMBERS else '---' for column in columns)}|"
    for row in rows:
        yield f"| {' | '.join(escaped(plain(cell)) for cell in row)} |"
    yield ""
    paces = words.paces(report, detail)
    yield from (f"- {escaped(name)}, seconds per token: {escaped(said)}" for name, said in paces)
    if paces:
        yield ""


def _findings(item: Assessment, detail: Detail) -> Iterator[str]:
    findings = words.shown(item, detail)
    if not findings:
        return
    yield f"### {escaped(item.scenario)}\n"
    for finding in findings:
        yield f"- **{finding.status.upper()}** {finding.check}: {escaped(finding.message)}"
        yield from (f"  - {escaped(part)}" for part in words.parts(finding, detail))
        if finding.remedy:
            yield f"  - To do: {escaped(finding.remedy)}"
    yield ""


def _caveats(report: Report) -> Iterator[str]:
    by_profile = words.caveats(report)
    if by_profile:
        yield "### Caveats\n"
        for name, caveats in by_profile.items():
            yield from (f"- {escaped(name)}: {escaped(caveat)}" for caveat in caveats)
        yield ""


def _choice(report: Report, *, quiet: bool) -> Iterator[str]:
    if not quiet:
        for scenario, why, commands in words.options(report):
            yield f"### {escaped(scenario)} fits\n"
            yield f"{escaped(why)}.\n"
            yield from code_block(list(commands)) if commands else ()
    stopped = list(words.obstacles(report))
    if stopped:
        yield "### What would let the others fit\n"
        yield from (f"- {escaped(line)}" for line in stopped)
        yield ""
    yield from (f"{escaped(line)}\n" for line in report.verdict.advice)


def escaped(text: str) -> str:
    """`text` as it stands, whatever it holds: no markup, no HTML, and nobody is mentioned by it."""
    return _SPECIAL.sub(lambda match: _ENTITIES.get(match[0], f"\\{match[0]}"), text)


def code_block(lines: list[str]) -> Iterator[str]:
    """Lines to paste, in a fence longer than any run of backticks in them."""
    runs = (len(run) for line in lines for run in re.findall("`+", line))
    fence = "`" * max(3, 1 + max(runs, default=0))
    yield f"{fence}sh"
    yield from lines
    yield f"{fence}\n"
