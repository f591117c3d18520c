"""Profiles: every packaged one is sound, and a bad file is refused with file, key and reason."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import BaseModel

from k3preflight.errors import UsageError
from k3preflight.models.figures import Sourced
from k3preflight.models.names import Role
from k3preflight.models.profile import Profile
from k3preflight.profiles import catalog, choose, read_profile, refuse_context

PROFILES = sorted((Path(__file__).parents[1] / "profiles").glob("*.toml"))
RABBIT = PROFILES[0].with_name("rabbit.toml").read_text()


def figures(model: BaseModel) -> Iterator[Sourced]:
    for _, value in model:
        for item in value if isinstance(value, tuple) else (value,):
            if isinstance(item, Sourced):
                yield item
            if isinstance(item, BaseModel):
                yield from figures(item)


@pytest.mark.parametrize("path", PROFILES, ids=lambda path: path.stem)
def test_every_profile_adds_up_and_names_its_sources(path: Path) -> None:
    profile = read_profile(path)
    assert profile.name == path.stem
    for artifact in profile.artifacts:
        assert artifact.source
        if artifact.files:
            assert sum(artifact.files.values()) + artifact.other_bytes == artifact.size.bytes
    found = list(figures(profile))
    assert found
    assert all(figure.source and figure.basis for figure in found)
    stages = [command.stage for command in profile.commands]
    assert stages == sorted(stages, key=["build", "test", "download", "prepare", "run"].index)


def test_the_checkpoint_is_the_whole_repository() -> None:
    kimi, rabbit = (
        read_profile(PROFILES[0].with_name(f"{name}.toml")) for name in ("kimi-k3-in-c", "rabbit")
    )
    checkpoint = kimi.checkpoint
    shards = {name: size for name, size in checkpoint.files.items() if "safetensors" in name}
    del shards["model.safetensors.index.json"]
    assert len(shards) == 96
    assert sum(shards.values()) == 1_560_936_091_448
    assert checkpoint.size.bytes == 1_560_998_984_390
    assert checkpoint.largest_file == 16_990_916_912
    assert rabbit.checkpoint.files == checkpoint.files
    assert rabbit.checkpoint.size == checkpoint.size
    assert rabbit.artifact(Role.TRUNK) is None


def test_the_default_check_is_the_three_ways() -> None:
    names = [choice.scenarios[0].name for choice in choose((), catalog())]
    assert names == ["kimi-k3-in-c:laptop", "rabbit", "ud-iq1-s"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rabit", "no profile is named 'rabit'.*kimi-k3-in-c.*rabbit"),
        ("", "no profile is named ''"),
        ("kimi-k3-in-c:labtop", "no preset 'labtop'.*laptop.*all, largest"),
        ("rabbit:all", "rabbit has no presets"),
        ("kimi-k3-in-c:", "no preset ''"),
    ],
)
def test_unknown_names_list_the_known_ones(name: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        choose([name], catalog())


def test_the_nearest_spelling_is_offered() -> None:
    with pytest.raises(UsageError) as refused:
        choose(["kimi-k3-in-c:labtop"], catalog())
    assert refused.value.hint == "Did you mean 'laptop'?"


def test_presets_can_be_named_or_taken_all() -> None:
    every, largest, one = choose(
        ["kimi-k3-in-c:all", "kimi-k3-in-c:largest", "kimi-k3-in-c:max", "kimi-k3-in-c:max"],
        catalog(),
    )
    assert (every.rule, largest.rule, one.rule) == ("any", "largest", "one")
    assert [scenario.name for scenario in every.scenarios][0::4] == [
        "kimi-k3-in-c:laptop",
        "kimi-k3-in-c:max",
    ]
    assert every.scenarios == largest.scenarios
    assert one.scenarios[0].name == "kimi-k3-in-c:max"


def write(folder: Path, text: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('weights = "full"', 'wieghts = "full"', "wieghts: Extra inputs are not permitted"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        (
            "other_bytes = 3128846",
            "other_bytes = 1",
            "add up to 1560995855545 bytes, but size says",
        ),
        ("bytes = 4000000000", 'bytes = "4 G"', "memory.parts.1.bytes: '4 G' is not a size"),
        ("bytes = 4000000000", "bytes = 4e9", "memory.parts.1.bytes: 4000000000.0 is not a size"),
        ("bytes = 4000000000", "bytes = true", "memory.parts.1.bytes: True is not a size"),
        ("bytes = 4000000000", "bytes = 4000000000, at_most = 1", "at_most 1 is below bytes"),
        ('role = "checkpoint"', 'role = "trunk"', "no checkpoint among the roles"),
        ("percent = 15", "percent = -1", "headroom.percent"),
        ('basis = "policy"\n', "", "headroom.basis: Field required"),
        ("schema_version = 1", "schema_version = ", "not valid TOML"),
        ("schema_version = 1", 'schema_version = 1\nname = "x"', "name: not a key"),
        ("schema_version = 1", 'schema_version = 1\ndefault_preset = "x"', "no presets are"),
        (
            "experts_per_token = 16\n",
            "",
            "slots_per_layer says nothing without experts_per_token",
        ),
    ],
)
def test_a_bad_file_is_refused_with_file_key_and_reason(
    tmp_path: Path, old: str, new: str, reason: str
) -> None:
    assert old in RABBIT
    path = write(tmp_path, RABBIT.replace(old, new, 1))
    with pytest.raises(UsageError) as refused:
        read_profile(path)
    assert str(path) in refused.value.message
    assert reason in refused.value.message


PRESET = '\n[[presets]]\nname = "{}"\nparts = []\n'
COMPUTE = """
[[traffic.compute]]
release = "v1"
low = 2.0
mid = 1.0
high = 3.0
cpu = "A CPU"
cores = 8
basis = "project-reported"
source = "x"
"""
SECOND_CHECKPOINT = """
[[artifacts]]
role = "checkpoint"
obtained = "derive"
source = "x"
size = { bytes = 1, basis = "exact", source = "x" }
"""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (PRESET.format("all"), "preset name 'all' is reserved"),
        (PRESET.format("a") * 2, "a name is given twice"),
        (PRESET.format("a"), "default_preset None is none of ['a']"),
        (SECOND_CHECKPOINT, "a role is given twice"),
        (COMPUTE, "compute v1: low, mid and high are not in this order"),
    ],
)
def test_what_is_added_to_a_file_must_agree_with_it(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_profile(write(tmp_path, RABBIT + text))
    assert reason in refused.value.message


def test_what_is_no_profile_is_refused(tmp_path: Path) -> None:
    for path, reason in (
        (tmp_path / "none.toml", "No such file"),
        (tmp_path, "Is a directory"),
        (write(tmp_path, "a" * (4 * 2**20 + 1), "big.toml"), "over 4194304 bytes"),
    ):
        with pytest.raises(UsageError, match=reason):
            read_profile(path)
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b"title = 'caf\xe9'")
    with pytest.raises(UsageError, match="not valid TOML"):
        read_profile(latin)


def test_own_profiles_join_and_replace_the_packaged_ones(tmp_path: Path) -> None:
    mine = write(tmp_path, RABBIT.replace('title = "', 'title = "my '), "rabbit.toml")
    other = write(tmp_path, RABBIT)
    found = catalog([mine, other])
    assert read_profile(found["rabbit"]).title.startswith("my ")
    assert [choice.requested for choice in choose((), found)][-1] == "mine"
    (tmp_path / "b").mkdir()
    with pytest.raises(UsageError, match="two profile files are named 'mine'"):
        catalog([other, write(tmp_path / "b", RABBIT)])


def test_a_context_beyond_any_chosen_scenario_is_refused() -> None:
    choices = choose((), catalog())
    refuse_context(36_864, choices)
    with pytest.raises(UsageError, match="kimi-k3-in-c:laptop takes at most 36,864 positions"):
        refuse_context(36_865, choices)
    refuse_context(1_048_576, choose(["ud-iq1-s"], catalog()))


def test_published_sizes_are_used_where_there_are_any() -> None:
    kimi = read_profile(PROFILES[0].with_name("kimi-k3-in-c.toml"))
    assert kimi.checkpoint.bytes(published=True) == 1_560_000_000_000
    bare = kimi.checkpoint.model_copy(update={"published_size": None})
    assert bare.bytes(published=True) == 1_560_998_984_390


def test_a_profile_survives_json() -> None:
    for path in PROFILES:
        profile = read_profile(path)
        assert Profile.model_validate_json(profile.model_dump_json()) == profile
