"""JSON Schemas generated from the models: what the committed files are held against."""

import json

from pydantic import BaseModel

from k3preflight.models.host import SCHEMA_VERSION as HOST_VERSION
from k3preflight.models.host import Host
from k3preflight.models.names import DocumentKind
from k3preflight.models.profile import SCHEMA_VERSION as PROFILE_VERSION
from k3preflight.models.profile import Profile
from k3preflight.models.report import SCHEMA_VERSION as REPORT_VERSION
from k3preflight.models.report import Report

_MODELS: dict[DocumentKind, tuple[type[BaseModel], int]] = {
    DocumentKind.PROFILE: (Profile, PROFILE_VERSION),
    DocumentKind.HOST: (Host, HOST_VERSION),
    DocumentKind.REPORT: (Report, REPORT_VERSION),
}
BASE = "https://github.com/k3preflight/k3preflight/schemas"


def schema_text(kind: DocumentKind) -> str:
    """The schema of `kind` as indented JSON that ends in a newline."""
    model, version = _MODELS[kind]
    body = model.model_json_schema(
        mode="validation" if kind is DocumentKind.PROFILE else "serialization"
    )
    if kind is DocumentKind.PROFILE:  # the name is the file's, not a key of it
        del body["properties"]["name"]
        body["required"].remove("name")
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"{BASE}/{kind}-{version}.json",
    }
    return json.dumps(head | body, indent=2) + "\n"
