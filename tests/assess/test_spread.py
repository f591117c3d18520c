"""A checkpoint spread over several volumes: whole shards, laid largest first."""

from pathlib import Path

from disks import small_choice
from factory import GB, choices
from k3preflight.assess import assess
from k3preflight.assess.case import Case
from k3preflight.assess.layout import REST, lay
from k3preflight.models.disk import (
    Presence,
)
from k3preflight.models.names import CheckId, Status
from k3preflight.models.report import Policy
from rabbit import FILES, NEED, found, judge, spread


def test_whole_shards_are_laid_on_two_drives() -> None:
    outcomes = judge(spread(1000 * GB, 1000 * GB))[CheckId.DISK_CAPACITY]
    assert [item.status for item in outcomes] == [Status.PASS, Status.PASS]
    needs = [item.budget.need for item in outcomes if item.budget]
    assert NEED <= sum(needs) <= NEED + 1
    report = assess(choices("rabbit"), spread(1000 * GB, 1000 * GB), Policy())
    lines = [line.run for line in report.assessments[0].commands]
    names = " ".join(line for line in lines if line.startswith("hf download"))
    assert all(names.count(name) == 1 for name in FILES)
    assert "--shard-dirs /v0/k3,/v1/k3" in lines[-1]


def test_what_cannot_be_laid_is_told() -> None:
    outcomes = judge(spread(1000 * GB, 500 * GB))[CheckId.DISK_CAPACITY]
    (failed,) = [item for item in outcomes if item.status is Status.FAIL]
    assert failed.subject == "checkpoint"
    assert failed.budget is not None
    assert failed.budget.gap
    assert "find no room" in failed.message
    # The sum of the two would do; whole files do not.
    shard = 16_990_916_912 * 115 // 100
    tight = judge(spread(NEED - shard + 10**9, shard - 10**9))[CheckId.DISK_CAPACITY]
    assert Status.FAIL in {item.status for item in tight}


def test_a_spread_over_an_unknown_drive_is_unknown_or_fails() -> None:
    outcomes = judge(spread(None, 2000 * GB))[CheckId.DISK_CAPACITY]
    assert {item.status for item in outcomes} == {Status.UNKNOWN, Status.PASS}


def test_a_shard_on_a_drive_of_unknown_room_is_laid_like_any_other() -> None:
    machine = spread(None, 2000 * GB)
    name = next(iter(FILES))
    there = machine.places[0].model_copy(update={"presence": Presence(files=(found(name),))})
    machine = machine.model_copy(update={"places": (there, machine.places[1])})
    outcomes = judge(machine)[CheckId.DISK_CAPACITY]
    assert {item.status for item in outcomes} == {Status.UNKNOWN, Status.PASS}
    (passed,) = [item for item in outcomes if item.status is Status.PASS]
    assert passed.budget is not None
    assert passed.budget.need == NEED  # none of it is left to the other drive


def test_where_every_file_is_listed_no_others_are_laid(tmp_path: Path) -> None:
    """Rabbit lists less than its checkpoint's size, the small profile all of it."""
    scenario = small_choice(tmp_path).scenarios[0]
    places = tuple(
        place.model_copy(update={"profile": "small"})
        for place in spread(1000 * GB, 1000 * GB).places
    )
    machine = spread(1000 * GB, 1000 * GB).model_copy(update={"places": places})
    shares = lay(Case(scenario, machine, Policy())).shares
    laid = sorted(name for (share,) in shares.values() for name in share.files)
    assert laid == sorted(scenario.profile.checkpoint.files)
    listed = choices("rabbit")[0].scenarios[0]
    shares = lay(Case(listed, spread(1000 * GB, 1000 * GB), Policy())).shares
    assert REST in [name for (share,) in shares.values() for name in share.files]


def test_shards_already_there_stay() -> None:
    machine = spread(1000 * GB, 1000 * GB)
    names = list(FILES)[:40]
    presence = Presence(files=tuple(found(name) for name in names))
    places = (machine.places[0], machine.places[1].model_copy(update={"presence": presence}))
    machine = machine.model_copy(update={"places": places})
    report = assess(choices("rabbit"), machine, Policy())
    (second,) = [
        line.run
        for line in report.assessments[0].commands
        if line.run.endswith("--local-dir /v1/k3")
    ]
    assert all(name in second for name in names)


def test_two_directories_on_one_volume_are_one_need() -> None:
    machine = spread(2000 * GB, 1)
    places = tuple(item.model_copy(update={"volume": "/v0"}) for item in machine.places)
    machine = machine.model_copy(update={"places": places})
    (only,) = judge(machine)[CheckId.DISK_CAPACITY]
    assert only.status is Status.PASS
    lines = [
        line.run for line in assess(choices("rabbit"), machine, Policy()).assessments[0].commands
    ]
    names = " ".join(line for line in lines if line.startswith("hf download"))
    assert all(names.count(name) == 1 for name in FILES)  # each is fetched, into one of the two


def test_a_second_copy_on_another_drive_is_no_room() -> None:
    names = list(FILES)[:20]
    presence = Presence(files=tuple(found(name) for name in names))
    machine = spread(1000 * GB, 1000 * GB)
    once = (machine.places[0].model_copy(update={"presence": presence}), machine.places[1])
    twice = tuple(place.model_copy(update={"presence": presence}) for place in machine.places)
    for places in (once, twice):
        outcomes = judge(machine.model_copy(update={"places": places}))[CheckId.DISK_CAPACITY]
        haves = [item.budget.have for item in outcomes if item.budget]
        assert haves == [1000 * GB + sum(FILES[name] for name in names), 1000 * GB]


def test_rounded_sizes_know_nothing_of_what_is_there() -> None:
    presence = Presence(files=tuple(found(name) for name in list(FILES)[:20]))
    machine = spread(1000 * GB, 1000 * GB)
    places = tuple(place.model_copy(update={"presence": presence}) for place in machine.places)
    machine = machine.model_copy(update={"places": places})
    outcomes = judge(machine, sizes="published")[CheckId.DISK_CAPACITY]
    assert [item.budget.have for item in outcomes if item.budget] == [1000 * GB, 1000 * GB]


def test_what_if_so_much_were_free_on_each_drive() -> None:
    outcomes = judge(spread(1, 1), free_disk=1000 * GB)[CheckId.DISK_CAPACITY]
    assert [item.status for item in outcomes] == [Status.PASS, Status.PASS]
    assert {item.subject for item in outcomes} == {"/v0/k3", "/v1/k3"}
