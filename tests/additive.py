"""What may change in a schema within one version: keys may be added, and nothing else.

A reader of any minor version must be able to read a document of any other. So a key is never
removed or renamed, keeps its type and its bounds, a value of a closed list is never taken away,
and what is new is never required.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

Schema = dict[str, Any]
_WORDING = {"title", "description", "default", "examples", "$comment", "$defs", "$id", "$schema"}
_GROWING = {"CheckId"}  # a reader must expect a check it has never heard of
_NESTED = {"properties", "required", "items", "anyOf", "oneOf", "prefixItems"}


class _Pair(NamedTuple):
    """The same place in the old schema and in the new one."""

    old: Schema
    new: Schema
    old_root: Schema
    new_root: Schema
    path: str = ""
    models: tuple[str, ...] = ()

    def at(self, old: Schema, new: Schema, path: str) -> "_Pair":
        return self._replace(old=old, new=new, path=path.lstrip("."))


def violations(old: Schema, new: Schema) -> list[str]:
    """Every change from `old` to `new` that a document or a reader of `old` could break on."""
    return [*_differences(_Pair(old, new, old, new))]


def _differences(pair: _Pair) -> Iterator[str]:
    name = str(pair.old.get("$ref", "")).rpartition("/")[2]
    if name in pair.models:  # a model within itself
        return
    pair = pair._replace(
        old=_resolved(pair.old, pair.old_root),
        new=_resolved(pair.new, pair.new_root),
        models=(*pair.models, name) if name else pair.models,
    )
    yield from _keys(pair)
    yield from _nested(pair)
    for key in sorted((pair.old.keys() | pair.new.keys()) - _WORDING - _NESTED):
        before, after = pair.old.get(key), pair.new.get(key)
        if key == "enum" and name in _GROWING and before and after:
            yield from (f"{pair.path}: {value} removed" for value in before if value not in after)
        elif before != after:
            yield f"{pair.path}: {key} was {before}, is {after}"


def _keys(pair: _Pair) -> Iterator[str]:
    fields = pair.new.get("properties", {})
    for key, was in pair.old.get("properties", {}).items():
        path = f"{pair.path}.{key}".lstrip(".")
        if key in fields:
            yield from _differences(pair.at(was, fields[key], path))
        else:
            yield f"{path}: removed"
    for key in sorted({*pair.new.get("required", ())} - {*pair.old.get("required", ())}):
        yield f"{pair.path}.{key}: required"


def _nested(pair: _Pair) -> Iterator[str]:
    """Elements of lists, and alternatives, which stay the same ones in the same order."""
    for key in ("items", "anyOf", "oneOf", "prefixItems"):
        before, after = pair.old.get(key, []), pair.new.get(key, [])
        old, new = ([part] if isinstance(part, dict) else part for part in (before, after))
        if len(old) != len(new):
            yield f"{pair.path}: {key} changed"
            continue
        for was, now in zip(old, new, strict=True):
            yield from _differences(pair.at(was, now, pair.path + "[]" * (key == "items")))


def _resolved(schema: Schema, root: Schema) -> Schema:
    reference = schema.get("$ref")
    if reference is None:
        return schema
    found: Schema = root["$defs"][reference.rpartition("/")[2]]
    return found
