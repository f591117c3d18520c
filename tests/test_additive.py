"""Within a schema version documents only gain keys; old ones are kept and still read."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from additive import Schema, violations
from conftest import CHECKOUT
from factory import choices
from k3preflight.assess import assess
from k3preflight.models.host import Host
from k3preflight.models.report import Policy, Report

KEPT = Path(__file__).parent / "data" / "kept"
MODELS: dict[str, type[Host] | type[Report]] = {"host": Host, "report": Report}
DOCUMENTS = sorted(path for path in KEPT.glob("*.json") if not path.name.endswith(".schema.json"))


def schema(kind: str) -> Schema:
    found: Schema = json.loads((CHECKOUT / "schemas" / f"{kind}.json").read_text())
    return found


def kept(kind: str) -> Schema:
    found: Schema = json.loads((KEPT / f"{kind}-1.schema.json").read_text())
    return found


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.stem)
def test_a_kept_document_is_still_valid_and_still_read(path: Path) -> None:
    kind = path.name.partition("-")[0]
    document = json.loads(path.read_text())
    jsonschema.Draft202012Validator(schema(kind)).validate(document)
    read = MODELS[kind].model_validate(document)
    written = read.model_dump(mode="json")
    assert within(document, written)


def within(old: Any, new: Any) -> bool:
    """Whether everything that `old` says is said by `new` too."""
    if isinstance(old, dict):
        return all(key in new and within(value, new[key]) for key, value in old.items())
    if isinstance(old, list):
        return len(old) == len(new) and all(map(within, old, new))
    return bool(old == new)


def test_there_are_kept_documents_of_each_kind() -> None:
    assert {path.name.partition("-")[0] for path in DOCUMENTS} == set(MODELS)


def test_a_kept_host_is_judged() -> None:
    for path in KEPT.glob("host-1-*.json"):
        facts = Host.model_validate_json(path.read_bytes())
        assert len(assess(choices(), facts, Policy(), named=False).assessments) >= 3


@pytest.mark.parametrize("kind", sorted(MODELS))
def test_the_schema_has_only_grown(kind: str) -> None:
    assert violations(kept(kind), schema(kind)) == []


@pytest.mark.parametrize("kind", ["host", "profile", "report"])
def test_a_schema_names_itself_and_its_version(kind: str) -> None:
    found = schema(kind)
    version = found["properties"]["schema_version"]
    assert version.get("const", version.get("maximum")) == 1
    assert found["$id"].endswith(f"/schemas/{kind}-1.json")


Change = Callable[[Schema], None]


def _drop_key(found: Schema) -> None:
    del found["$defs"]["Budget"]["properties"]["gap"]


def _rename_key(found: Schema) -> None:
    fields = found["$defs"]["Finding"]["properties"]
    fields["advice"] = fields.pop("remedy")


def _change_type(found: Schema) -> None:
    found["$defs"]["Budget"]["properties"]["need"]["type"] = "number"


def _allow_null(found: Schema) -> None:
    fields = found["$defs"]["Assessment"]["properties"]
    fields["title"] = {"anyOf": [{"type": "string"}, {"type": "null"}]}


def _require(found: Schema) -> None:
    found["$defs"]["Verdict"]["required"].append("advice")


def _new_required(found: Schema) -> None:
    found["$defs"]["Verdict"]["properties"]["score"] = {"type": "integer"}
    found["$defs"]["Verdict"]["required"].append("score")


def _new_status(found: Schema) -> None:
    found["$defs"]["Status"]["enum"].append("maybe")


def _lose_check(found: Schema) -> None:
    found["$defs"]["CheckId"]["enum"].remove("disk.inodes")


def _tighten(found: Schema) -> None:
    found["$defs"]["Budget"]["properties"]["need"]["minimum"] = 1


def _flatten(found: Schema) -> None:
    found["properties"]["assessments"]["items"] = {"type": "string"}


def _new_version(found: Schema) -> None:
    found["properties"]["schema_version"]["const"] = 2


@pytest.mark.parametrize(
    "change",
    [
        _drop_key, _rename_key, _change_type, _allow_null, _require, _new_required, _new_status,
        _lose_check, _tighten, _flatten, _new_version,
    ],
)  # fmt: skip
def test_a_change_that_breaks_readers_is_found(change: Change) -> None:
    changed = copy.deepcopy(schema("report"))
    change(changed)
    assert violations(schema("report"), changed)


def _add_key(found: Schema) -> None:
    found["$defs"]["Verdict"]["properties"]["score"] = {"type": "integer", "default": 0}


def _add_check(found: Schema) -> None:
    found["$defs"]["CheckId"]["enum"].append("disk.age")


def _reword(found: Schema) -> None:
    found["$defs"]["Budget"]["description"] = "Other words."


def _add_model(found: Schema) -> None:
    found["$defs"]["Mood"] = {"type": "object"}
    found["$defs"]["Finding"]["properties"]["mood"] = {"$ref": "#/$defs/Mood"}


@pytest.mark.parametrize("change", [_add_key, _add_check, _reword, _add_model])
def test_a_change_that_only_adds_is_allowed(change: Change) -> None:
    changed = copy.deepcopy(schema("report"))
    change(changed)
    assert violations(schema("report"), changed) == []
