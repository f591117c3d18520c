"""Host documents: what `probe` printed, read back on any machine, one or many."""

import codecs
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import chain, count
from pathlib import Path
from typing import BinaryIO, NamedTuple

from pydantic import ValidationError

from k3preflight.errors import UsageError
from k3preflight.models.base import problems
from k3preflight.models.host import SCHEMA_VERSION, Host
from k3preflight.text import visible

LARGEST_DOCUMENT = 4 * 2**20  # bytes; a probe of a hundred profiles takes a tenth
MOST_ENTRIES = 1000  # places, volumes or unknown facts; judging more takes minutes
LONGEST_SKIPPED = 64 * LARGEST_DOCUMENT  # a line longer than this has no end worth waiting for
SUFFIXES = (".json", ".ndjson", ".jsonl")  # what is read of a directory

_BEGINS = (b"{", codecs.BOM_UTF8)
_HINT = "k3preflight probe prints one; k3preflight schema host is its format."


class HostDocument(NamedTuple):
    """A host, and where its document stands: the file, and the line where it has several."""

    name: str
    host: Host


class BrokenDocument(NamedTuple):
    """A document that is no host, where it stands and what is wrong with it."""

    name: str
    problem: str


Document = HostDocument | BrokenDocument


def read_hosts(sources: Sequence[str]) -> HostDocument | Iterator[Document]:
    """The one document that `sources` name, or those of several hosts, one at a time.

    A source is a file, a directory of files, or - for stdin; a file holds one document, or one a
    line. Several are several sources, a directory, or more than one document. A single one is a
    host; among several, what is broken says so.

    Raises:
        UsageError: a single document cannot be read, is over 4 MiB or is no host document; or
            there is none at all.
    """
    ((twice, times),) = Counter(sources).most_common(1)
    if times > 1:
        raise UsageError(f"--host {twice}: given twice")
    documents = chain.from_iterable(_source(source) for source in sources)
    several = len(sources) > 1 or _is_directory(sources[0])
    first = next(documents, None)
    if first is None:  # as only an empty directory has none
        raise UsageError(
            f"--host {sources[0]}: no host document there",
            "A directory's are its files *.json, *.ndjson and *.jsonl.",
        )
    second = None if several else next(documents, None)
    if several or second is not None:
        return chain([first] if second is None else [first, second], documents)
    if isinstance(first, BrokenDocument):
        raise UsageError(f"--host {first.problem}", _HINT)
    return first


def _is_directory(source: str) -> bool:
    return source != "-" and os.path.isdir(source)  # noqa: PTH112 - Path.is_dir raises for some


def _source(source: str) -> Iterator[Document]:
    """The documents of one --host."""
    name = "stdin" if source == "-" else visible(source)
    try:
        if _is_directory(source):
            yield from _directory(source)
        elif source == "-":
            # None where whoever started us has closed it.
            yield from _stream(sys.stdin.buffer if sys.stdin else BytesIO(), name)
        else:
            with Path(source).open("rb") as stream:
                yield from _stream(stream, name)
    except OSError as error:
        yield BrokenDocument(name, f"{name}: cannot be read: {error.strerror}")


def _directory(source: str) -> Iterator[Document]:
    """The documents of a directory's files, by name; folders in it and hidden files are not."""
    for name in sorted(os.listdir(source)):  # noqa: PTH208 - names take a third of the memory
        path = os.path.join(source, name)  # noqa: PTH118 - the name as given is shown
        if name.startswith(".") or not name.endswith(SUFFIXES) or _is_directory(path):
            continue
        yield from _source(path)


def _stream(stream: BinaryIO, name: str) -> Iterator[Document]:
    """The documents of one file, each named by its line where there is more than one.

    A file that does not even begin like documents is one that is broken, however many its lines.
    """
    documents = _split(_lines(stream))
    first, second = next(documents, None), next(documents, None)
    if first is None:
        yield BrokenDocument(name, f"{name}: not a host document: it is empty")
    elif second is None or not any(raw.startswith(_BEGINS) for _, raw in (first, second)):
        yield _document(name, first[1])
    else:
        for line, raw in chain((first, second), documents):
            yield _document(f"{name}, line {line}", raw)


def _document(name: str, raw: bytes) -> Document:
    if len(raw) > LARGEST_DOCUMENT:
        return BrokenDocument(
            name, f"{name}: over {LARGEST_DOCUMENT} bytes; this is no host document"
        )
    try:
        host = Host.model_validate_json(raw.removeprefix(codecs.BOM_UTF8))
    except ValidationError as error:
        return BrokenDocument(name, f"{name}: {_why(error)}")
    for what, found in (
        ("places", host.places),
        ("volumes", host.volumes),
        ("unknown", host.unknown),
    ):
        if len(found) > MOST_ENTRIES:
            return BrokenDocument(
                name, f"{name}: over {MOST_ENTRIES} {what}; this is no host document"
            )
    return HostDocument(name, host)


def _why(error: ValidationError) -> str:
    for entry in error.errors(include_url=False, include_context=False, include_input=False):
        if entry["loc"] == ("schema_version",) and entry["type"] == "less_than_equal":
            return (
                f"its schema_version is newer than {SCHEMA_VERSION}, the newest this k3preflight "
                "reads: upgrade it here"
            )
    return f"not a host document: {problems(error)}"


def _split(lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
    """Each document with the number of its first line: one a line, or indented over several.

    A document goes on over lines that are indented or begin with a closing bracket, so that a
    broken one ends where the next begins. Of one that is too large no more than its beginning is
    kept.
    """
    start, document = 0, bytearray()
    for number, line in lines:
        if document and not line.startswith(_GOES_ON):
            yield start, bytes(document)
            document.clear()
        start = start if document else number
        if len(document) <= LARGEST_DOCUMENT:
            document += line
        if line.startswith(b"}") or (line.startswith(b"{") and line.rstrip().endswith(b"}")):
            yield start, bytes(document)
            document.clear()
    if document:
        yield start, bytes(document)


_GOES_ON = (b" ", b"\t", b"}", b"]")


def _lines(stream: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, numbered; of one that is too large no more than its beginning.

    A line of which no end is near is the last one.
    """
    for number in count(1):  # pragma: no branch - it counts until the stream ends
        line = stream.readline(LARGEST_DOCUMENT + 1)
        passed, rest = 0, line
        while len(line) > LARGEST_DOCUMENT and rest and not rest.endswith(b"\n"):
            rest = stream.readline(LARGEST_DOCUMENT)
            passed += len(rest)
            if passed > LONGEST_SKIPPED:
                yield number, line
                return
        if not line:
            return
        if line.strip():
            yield number, line
