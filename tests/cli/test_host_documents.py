"""Reading host documents: files, directories and streams of them, whole, broken and hostile."""

import json
from collections.abc import Iterator
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from factory import host
from k3preflight.cli import hosts
from k3preflight.cli.hosts import LARGEST_DOCUMENT, BrokenDocument, HostDocument, read_hosts
from k3preflight.errors import UsageError
from k3preflight.models.host import Host


def named(name: str) -> Host:
    return host().model_copy(update={"name": name})


def line(name: str) -> str:
    return named(name).model_dump_json() + "\n"


def indented(name: str) -> str:
    return named(name).model_dump_json(indent=2) + "\n"


def read(*sources: Path | str) -> list[tuple[str, str | None]]:
    """Where each document stands, below its folder, and the host's name; None where broken."""
    found = read_hosts([str(source) for source in sources])
    documents = [found] if isinstance(found, HostDocument) else list(found)
    return [
        (
            document.name.rpartition("/")[2],
            document.host.name if isinstance(document, HostDocument) else None,
        )
        for document in documents
    ]


def problem(source: Path | str) -> str:
    found = read_hosts([str(source)])
    assert isinstance(found, Iterator)
    (broken,) = [document for document in found if isinstance(document, BrokenDocument)]
    return broken.problem


LINES = indented("a").count("\n")
CUT = indented("b")[:200] + "\n"

STREAMS = {
    "one": (line("a"), [("f", "a")]),
    "one indented": (indented("a"), [("f", "a")]),
    "one without a newline": (line("a").rstrip(), [("f", "a")]),
    "one and blank lines": ("\n\n" + line("a") + " \n\n", [("f", "a")]),
    "one behind a byte order mark": ("\ufeff" + line("a"), [("f", "a")]),
    "one a line": (line("a") + "\n" + line("b"), [("f, line 1", "a"), ("f, line 3", "b")]),
    "indented ones": (
        indented("a") + line("b") + indented("c"),
        [("f, line 1", "a"), (f"f, line {LINES + 1}", "b"), (f"f, line {LINES + 2}", "c")],
    ),
    "windows line ends": (
        (indented("a") + line("b")).replace("\n", "\r\n"),
        [("f, line 1", "a"), (f"f, line {LINES + 1}", "b")],
    ),
    "a truncated line between": (
        line("a") + line("b")[:100] + "\n" + line("c"),
        [("f, line 1", "a"), ("f, line 2", None), ("f, line 3", "c")],
    ),
    "a truncated line first": (
        line("a")[:100] + "\n" + line("b"),
        [("f, line 1", None), ("f, line 2", "b")],
    ),
    "a truncated line last": (
        line("a") + line("b")[:100],
        [("f, line 1", "a"), ("f, line 2", None)],
    ),
    "a truncated indented one between": (
        line("a") + CUT + indented("c"),
        [("f, line 1", "a"), ("f, line 2", None), (f"f, line {2 + CUT.count(chr(10))}", "c")],
    ),
    "words between": (
        line("a") + "ssh: connect to host b: Connection refused\n" + line("c"),
        [("f, line 1", "a"), ("f, line 2", None), ("f, line 3", "c")],
    ),
    "two on one line": (
        line("a").rstrip() + line("b") + line("c"),
        [("f, line 1", None), ("f, line 2", "c")],
    ),
    "nothing but null": ("null\n" + line("a"), [("f, line 1", None), ("f, line 2", "a")]),
    "an array of lines": (
        f"[\n{line('a')}]\n",
        [("f, line 1", None), ("f, line 2", "a"), ("f, line 3", None)],
    ),
    "a bracket too many": (line("a") + "}\n", [("f, line 1", "a"), ("f, line 2", None)]),
}


@pytest.mark.parametrize("case", STREAMS)
def test_a_file_holds_one_document_or_one_after_the_other(case: str, tmp_path: Path) -> None:
    text, expected = STREAMS[case]
    (tmp_path / "f").write_text(text, newline="")
    assert read(tmp_path / "f") == expected


def test_stdin_is_read_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = BytesIO((line("a") + line("b")).encode())
    monkeypatch.setattr("sys.stdin", TextIOWrapper(stream))
    assert read("-") == [("stdin, line 1", "a"), ("stdin, line 2", "b")]


def test_a_closed_stdin_has_no_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(UsageError, match="stdin: not a host document: it is empty"):
        read_hosts(["-"])


def test_a_directory_is_its_documents_by_name(tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text(indented("b"))
    (tmp_path / "a.ndjson").write_text(line("a1") + line("a2"))
    (tmp_path / "c.jsonl").write_text(line("c"))
    (tmp_path / "empty.json").touch()
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "notes.txt").write_text("not looked at")
    (tmp_path / ".hidden.json").write_text("not looked at")
    (tmp_path / "folder.json").mkdir()
    assert read(tmp_path) == [
        ("a.ndjson, line 1", "a1"),
        ("a.ndjson, line 2", "a2"),
        ("b.json", "b"),
        ("broken.json", None),
        ("c.jsonl", "c"),
        ("empty.json", None),
    ]


def test_a_directory_of_one_is_still_several(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(line("a"))
    assert not isinstance(read_hosts([str(tmp_path)]), HostDocument)


def test_what_cannot_be_read_among_several_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(line("a"))
    assert read(tmp_path / "a.json", tmp_path / "nope.json") == [
        ("a.json", "a"),
        ("nope.json", None),
    ]


USAGE = {
    "broken": ('{"schema', "f: not a host document: the document: Invalid JSON"),
    "not an object": ("[]", "Input should be an object"),
    "an indented array": (json.dumps([{}, {}], indent=2), "not a host document"),
    "text of several lines": ("Dear host,\nhow are you?\nYours", "f: not a host document: "),
    "empty": ("", "f: not a host document: it is empty"),
    "blank": ("\n \n", "f: not a host document: it is empty"),
    "a key missing": ("{}", "tool_version: Field required"),
    "a wrong type": (
        '{"tool_version": "0", "memory": {"total": "128 GB"}}',
        "memory.total: Input should be a valid integer",
    ),
    "a negative size": (
        '{"tool_version": "0", "memory": {"total": -1}}',
        "memory.total: Input should be greater than or equal to 0",
    ),
    "true for a size": (
        '{"tool_version": "0", "memory": {"total": true}}',
        "memory.total: Input should be a valid integer",
    ),
    "not a number": ('{"tool_version": "0", "memory": {"total": NaN}}', "memory.total: "),
    "a size no disk has": (
        '{"tool_version": "0", "memory": {"total": ' + "9" * 5000 + "}}",
        "number out of range",
    ),
    "half a surrogate pair": ('{"tool_version": "\\ud800"}', "Invalid JSON"),
    "deeper than anyone nests": ('{"tool_version": ' + "[" * 100_000, "recursion limit"),
    "a newer schema": (
        '{"schema_version": 2, "tool_version": "9"}',
        "f: its schema_version is newer than 1, the newest this k3preflight reads: upgrade it",
    ),
}


@pytest.mark.parametrize("case", USAGE)
def test_a_single_broken_document_is_a_usage_error(case: str, tmp_path: Path) -> None:
    text, message = USAGE[case]
    (tmp_path / "f").write_text(text)
    with pytest.raises(UsageError) as raised:
        read_hosts([str(tmp_path / "f")])
    assert message in raised.value.message
    assert len(raised.value.message) < 1000


def test_bytes_that_are_no_text_are_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b'{"tool_version": "\xff\xfe"}')
    with pytest.raises(UsageError, match="not a host document"):
        read_hosts([str(tmp_path / "f")])


def test_a_missing_file_and_an_empty_directory_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_hosts([str(tmp_path / "nope.json")])
    with pytest.raises(UsageError, match="no host document there"):
        read_hosts([str(tmp_path)])


def test_one_source_named_twice_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="--host -: given twice"):
        read_hosts(["-", "a.json", "-"])


def test_an_older_document_is_read_and_a_newer_one_refused(tmp_path: Path) -> None:
    old, new = (
        json.dumps({"schema_version": version, "tool_version": "x", "name": f"v{version}"}) + "\n"
        for version in (0, 2)
    )
    (tmp_path / "f").write_text(old + new + line("now"))
    assert read(tmp_path / "f") == [
        ("f, line 1", "v0"),
        ("f, line 2", None),
        ("f, line 3", "now"),
    ]
    assert "newer than 1" in problem(tmp_path / "f")


def test_what_a_newer_minor_version_added_is_passed_over(tmp_path: Path) -> None:
    document = json.loads(line("a")) | {"weather": "fine"}
    (tmp_path / "f").write_text(json.dumps(document))
    assert read(tmp_path / "f") == [("f", "a")]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_document_too_large_is_refused_and_the_next_one_read(
    indent: int | None, tmp_path: Path
) -> None:
    spaces = " " * LARGEST_DOCUMENT if indent is None else ["x" * 20] * (LARGEST_DOCUMENT // 20)
    large = json.dumps(json.loads(line("b")) | {"spaces": spaces}, indent=indent) + "\n"
    (tmp_path / "f").write_text(line("a") + large + line("c"))
    assert [name for _, name in read(tmp_path / "f")] == ["a", None, "c"]
    assert "line 2: over 4194304 bytes" in problem(tmp_path / "f")


@pytest.mark.parametrize("what", ["volumes", "unknown"])
def test_a_document_that_would_take_minutes_to_judge_is_refused(what: str, tmp_path: Path) -> None:
    entry = {"volumes": {"id": "/x"}, "unknown": {"fact": "x", "reason": "y"}}[what]
    for count, refused in ((1000, False), (1001, True)):
        (tmp_path / "f").write_text(
            json.dumps({"tool_version": "0", what: [entry] * count}) + "\n" + line("b")
        )
        documents = read_hosts([str(tmp_path / "f")])
        assert isinstance(documents, Iterator)
        first = next(documents)
        assert isinstance(first, BrokenDocument) is refused
        if isinstance(first, BrokenDocument):
            assert f"line 1: over 1000 {what}" in first.problem


def test_a_document_of_exactly_the_largest_size_is_read(tmp_path: Path) -> None:
    text = line("a").rstrip()
    (tmp_path / "f").write_text(text[:-1] + " " * (LARGEST_DOCUMENT - len(text)) + "}")
    assert read(tmp_path / "f") == [("f", "a")]


def test_a_line_without_an_end_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosts, "LARGEST_DOCUMENT", 1000)
    monkeypatch.setattr(hosts, "LONGEST_SKIPPED", 5000)
    (tmp_path / "f").write_text(line("a")[:900] + "\n" + "x" * 100_000 + "\n" + line("b"))
    assert read(tmp_path / "f") == [("f, line 1", None), ("f, line 2", None)]


def test_names_of_files_hold_no_controls(tmp_path: Path) -> None:
    (tmp_path / "\x1b[31m.json").write_text("{")
    assert read(tmp_path) == [("\\x1b[31m.json", None)]
    assert "\x1b" not in problem(tmp_path)
