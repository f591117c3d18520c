"""JSON Schemas generated from the models: what the committed files are held against."""

import json

from pydantic import BaseModel

from k3preflight.cli.schema import Kind
from k3preflight.models.host import SCHEMA_VERSION as HOST_VERSION
from k3preflight.models.host import Host
from k3preflight.models.profile import SCHEMA_VERSION as PROFILE_VERSION
from k3preflight.models.profile import Profile
from k3preflight.models.report import SCHEMA_VERSION as REPORT_VERSION
from k3preflight.models.report import Report

_MODELS: dict[Kind, tuple[type[BaseModel], int]] = {
    Kind.PROFILE: (Profile, PROFILE_VERSION),
    Kind.HOST: (Host, HOST_VERSION),
    Kind.REPORT: (Report, REPORT_VERSION),
}
BASE = "https://github.com/k3preflight/k3preflight/schemas"


def schema_text(kind: Kind) -> str:
    """The schema of `kind` as indented JSON that ends in a newline."""
    model, version = _MODELS[kind]
    body = model.model_json_schema(mode="validation" if kind is Kind.PROFILE else "serialization")
    if kind is Kind.PROFILE:  # the name is the file's, not a key of it
        del body["properties"]["name"]
        body["required"].remove("name")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE}/{kind}-{version}.json",
    }
    return json.dumps(head | body, indent=2) + "\n"
