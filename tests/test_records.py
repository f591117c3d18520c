"""Run records: an empty field is empty, a filled one comes back."""

import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from k3preflight.errors import UsageError
from k3preflight.models.names import Role
from k3preflight.models.record import Hardware, Record, Run, RuntimeUsed, SettingsUsed, VolumeUsed
from k3preflight.records import read_record, record_text

BARE = Record(scenario="rabbit", runtime=RuntimeUsed(name="Rabbit"))
FULL = Record(
    scenario="kimi-k3-in-c:laptop",
    label='the "first" run',
    runtime=RuntimeUsed(name="kimi-k3-in-c", commit="0" * 40, modified=False),
    settings=SettingsUsed(context=16, cache="--preset laptop"),
    hardware=Hardware(host="h", gpus=(), cores=0, memory_total=2**36),
    volumes=(
        VolumeUsed(roles=(Role.CHECKPOINT,), mount_point="/a", best_bytes_per_second=3_200_000_000),
        VolumeUsed(roles=(Role.TRUNK,), mount_point="/b"),
    ),
    run=Run(tokens=8, seconds_per_token=32.69, prefill_seconds=0.0, peak_rss=8_240_000_000),
)


@pytest.mark.parametrize("record", [BARE, FULL])
def test_a_record_is_read_back_as_it_was(record: Record, tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(record_text(record))
    assert read_record(file) == record


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_no_text_breaks_the_file(text: str) -> None:
    record = Record(scenario="rabbit", label=text, runtime=RuntimeUsed(name="Rabbit"))
    assert Record.model_validate(tomllib.loads(record_text(record))) == record


def test_every_field_is_there_to_fill_in_and_empty_is_not_zero() -> None:
    text = record_text(BARE)
    for key in [*Run.model_fields, *Hardware.model_fields, *SettingsUsed.model_fields]:
        assert f'\n{key} = ""' in text
    assert " = 0" not in text
    assert " = false" not in text


def test_what_a_person_fills_in_may_have_units(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    text = record_text(FULL).replace("best_bytes_per_second = 3200000000", "")
    text = text.replace('best_bytes_per_second = ""', 'best_bytes_per_second = "4.6 GB/s"')
    file.write_text(text.replace("peak_rss = 8240000000", 'peak_rss = "8.73 GB"'))
    record = read_record(file)
    assert record.run.peak_rss == 8_730_000_000
    assert record.volumes_of(Role.TRUNK)[0].best_bytes_per_second == 4_600_000_000
    assert record.volumes_of(Role.CHECKPOINT)[0].best_bytes_per_second is None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("tokens = 8", 'tokens = "eight"', "run.tokens: Input should be a valid integer"),
        ("tokens = 8", "token = 8", "run.token: Extra inputs are not permitted"),
        ('scenario = "kimi-k3-in-c:laptop"', 'scenario = ""', "scenario: Field required"),
        ('mount_point = "/b"', 'mount_point = "/a"', "volumes: a mount point is given twice"),
        ("per_second = 3200000000", "per_second = 0", "0 is not a speed: write a number"),
        ("per_second = 3200000000", "per_second = true", "True is not a speed"),
        ("seconds_per_token = 32.69", "seconds_per_token = inf", "run.seconds_per_token"),
        ("schema_version = 1", "schema_version = 2", "schema_version: Input should be 1"),
        ("schema_version = 1", "schema_version = 1\nlabels = 1", "labels: Extra inputs"),
    ],
)
def test_a_mistake_is_named_with_its_key(tmp_path: Path, old: str, new: str, said: str) -> None:
    file = tmp_path / "run.toml"
    text = record_text(FULL)
    assert old in text
    file.write_text(text.replace(old, new))
    with pytest.raises(UsageError) as caught:
        read_record(file)
    assert said in caught.value.message
    assert "run.toml: not a run record: " in caught.value.message


def test_a_table_that_is_none_is_named() -> None:
    with pytest.raises(ValidationError, match=r"run\n.*valid dictionary"):
        Record.model_validate({"scenario": "a", "runtime": {"name": "b"}, "run": 1})
