"""The download: what is there, what its client demands, how long the rest takes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from factory import GB, choices, host
from k3preflight.assess import assess
from k3preflight.assess.case import Case
from k3preflight.assess.download import client, duration
from k3preflight.models.disk import (
    Disk,
    Elsewhere,
    Presence,
    Scratch,
)
from k3preflight.models.host import Host
from k3preflight.models.names import CheckId, Sizes, Status
from k3preflight.models.report import Finding, Policy
from rabbit import FILES, NEED, changed, found, judge, one, partial, with_files


def test_unwritten_and_unverifiable_files_are_said() -> None:
    first, second = list(FILES)[:2]
    machine = with_files(NEED, found(first, written=False), found(second, verified=False))
    present = one(machine, CheckId.DOWNLOAD_PRESENT)
    assert "never written" in present.message
    assert "allocation cannot be verified here" in present.message
    assert "verify rabbit --place checkpoint=/data/k3 --sha256" in (present.remedy or "")


def test_partials_that_llama_goes_on_from() -> None:
    machine = with_files(NEED, partials=(partial("x.downloadInProgress", GB, resumes=True),))
    assert "will be continued" in one(machine, CheckId.DOWNLOAD_PRESENT).message
    took = one(machine, CheckId.DOWNLOAD_TIME, link=10**9).message
    assert took.startswith("1,560.00 GB to download")
    published = one(machine, CheckId.DOWNLOAD_TIME, link=10**9, sizes=Sizes.PUBLISHED).message
    assert published.startswith("1,560.00 GB to download")  # its own figure, nothing credited


def test_files_elsewhere_and_git_lfs() -> None:
    presence = Presence(
        elsewhere=(Elsewhere(path="/other", files=3, bytes=GB),), git_lfs="/data/k3/.git/lfs"
    )
    present = one(changed(host(), presence=presence), CheckId.DOWNLOAD_PRESENT)
    assert "3 whole files (1.00 GB) lie in /other" in present.message
    assert present.status is Status.WARN
    assert "second time" in present.message


def test_presence_nobody_looked_at() -> None:
    present = one(host(), CheckId.DOWNLOAD_PRESENT)
    assert present.status is Status.SKIP
    assert one(host(), CheckId.DOWNLOAD_PRESENT, free_disk=GB).status is Status.SKIP


def test_the_scripts_own_demand() -> None:
    def demand(machine: Host) -> Finding:
        found_ = judge(machine, "kimi-k3-in-c")[CheckId.DOWNLOAD_CLIENT]
        return next(item for item in found_ if item.subject == "./scripts/download-model.sh")

    assert demand(host(free=1_560_936_091_448)).status is Status.PASS
    refused = demand(host(free=1_560_936_091_447))
    assert refused.status is Status.WARN
    assert "hf download moonshotai/Kimi-K3 --local-dir /data/k3" in (refused.remedy or "")
    assert "HF_XET_HIGH_PERFORMANCE" in refused.message
    assert demand(host(free=None)).status is Status.SKIP


def test_a_script_that_demands_no_room_is_still_not_the_way() -> None:
    (choice,) = choices("kimi-k3-in-c:laptop")
    profile = choice.scenarios[0].profile
    script = profile.download.demand
    assert script is not None
    download = profile.download.model_copy(
        update={"demand": script.model_copy(update={"free": None})}
    )
    scenario = choice.scenarios[0]._replace(
        profile=profile.model_copy(update={"download": download})
    )
    outcome = next(client(Case(scenario, host(free=1), Policy())))
    assert outcome.status is Status.PASS
    assert outcome.message == (
        "./scripts/download-model.sh; it also turns on HF_XET_HIGH_PERFORMANCE"
    )
    assert "hf download moonshotai/Kimi-K3 --local-dir /data/k3" in (outcome.remedy or "")


@pytest.mark.parametrize(
    ("disk", "status", "word"),
    [
        (Disk(scratch=Scratch(path="/x", decided_by="HF_HOME", free=GB)), Status.WARN, "HF_HOME"),
        (Disk(scratch=Scratch(path="/x", decided_by="d", free=20 * GB)), Status.PASS, "20.00 GB"),
        (
            Disk(scratch=Scratch(path="/x", decided_by="d", free=GB, volume="/data")),
            Status.PASS,
            "same volume",
        ),
        (Disk(high_performance=True), Status.WARN, "HF_XET_HIGH_PERFORMANCE is on"),
        (Disk(), Status.PASS, "demands nothing"),
    ],
)
def test_where_the_client_writes_besides(disk: Disk, status: Status, word: str) -> None:
    machine = host(usable=128 * GB, available=63 * GB).model_copy(update={"disk": disk})
    found_ = one(machine, CheckId.DOWNLOAD_CLIENT)
    assert found_.status is status
    assert word in found_.message
    assert one(machine, CheckId.DOWNLOAD_CLIENT, "ud-iq1-s").status is Status.PASS


def test_the_time_of_what_is_missing() -> None:
    assert one(host(), CheckId.DOWNLOAD_TIME).status is Status.SKIP
    slow = one(host(), CheckId.DOWNLOAD_TIME, link=125_000_000)
    assert "3 h 28 min" in slow.message
    assert "1,000 Mbit/s" in slow.message
    done = with_files(NEED, *(found(name) for name in FILES))
    assert "3.13 MB to download" in one(done, CheckId.DOWNLOAD_TIME, link=1000).message
    published = one(done, CheckId.DOWNLOAD_TIME, link=10**9, sizes=Sizes.PUBLISHED)
    assert "1,560.00 GB" in published.message


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3660, "1 h 1 min"), (90000, "1 d 1 h")],
)
def test_durations(seconds: int, text: str) -> None:
    assert duration(seconds) == text


def test_commands_for_a_client_that_finds_its_own_cache() -> None:
    named = assess(choices("ud-iq1-s"), host(), Policy()).assessments[0].commands
    assert any(line.run.startswith("LLAMA_CACHE=/data/k3 ") for line in named)
    own = assess(choices("ud-iq1-s"), changed(host(), own_cache=True), Policy())
    lines = [line.run for line in own.assessments[0].commands]
    assert any(line.startswith("./llama.cpp") for line in lines)
    assert not any("LLAMA_CACHE" in line for line in lines)


@given(st.lists(st.integers(0, 100), min_size=3, max_size=20), st.integers(-5, 5))
@settings(max_examples=30, deadline=None)
def test_a_download_never_changes_the_verdict(steps: list[int], spare: int) -> None:
    names = list(FILES)
    statuses = set()
    for done in sorted(steps):
        whole = names[: min(done, 90)]
        growing = tuple(
            partial(f"{name}.incomplete", FILES[name] * (done % 7) // 7, live=True)
            for name in names[len(whole) : len(whole) + 16]
        )
        used = sum(FILES[name] for name in whole) + sum(item.allocated for item in growing)
        machine = with_files(
            max(0, NEED + spare - used), *(found(name) for name in whole), partials=growing
        )
        statuses.add(one(machine, CheckId.DISK_CAPACITY).status)
    assert statuses == {Status.PASS if spare >= 0 else Status.FAIL}
