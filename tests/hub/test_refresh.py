"""A profile brought up to date: its comments kept, its figures the Hub's, the rest pointed at."""

import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

from k3preflight.errors import UsageError
from k3preflight.hub.listing import HubFile, Listing
from k3preflight.hub.refresh import Refreshed, refreshable, refreshed, summary
from k3preflight.models.profile import Profile
from k3preflight.profiles import catalog, read_profile

NEW = "b" * 40
DAY = "2026-08-20"


def text_of(name: str) -> str:
    return catalog()[name].read_text()


def listed(profile: Profile, commit: str = NEW, **sizes: int) -> Listing:
    """The checkpoint's files as the profile has them, but for `sizes` by shard (s01 is shard 1)."""
    files = [
        HubFile(name, sizes.get(f"s{n:02}", size), f"{n:064x}")
        for n, (name, size) in enumerate(sorted(profile.checkpoint.files.items()), 1)
    ]
    return Listing(str(profile.checkpoint.repository), commit, (*files, HubFile("README.md", 5)))


def renewed(name: str, text: str) -> Profile:
    return Profile.model_validate(tomllib.loads(text) | {"name": name})


def test_what_is_as_the_profile_has_it_changes_nothing() -> None:
    profile = read_profile(catalog()["ud-iq1-s"])
    same = listed(profile, str(profile.checkpoint.revision))
    plain = same._replace(files=tuple(file._replace(sha256=None) for file in same.files))
    result = refreshed(profile, text_of("ud-iq1-s"), plain, DAY)
    assert result == Refreshed(text_of("ud-iq1-s"), (), ())
    assert summary(profile, text_of("ud-iq1-s"), result, plain) == (
        f"ud-iq1-s: unsloth/Kimi-K3-GGUF at {profile.checkpoint.revision}\n"
        "unchanged: 14 files, 594,040,923,616 B\n"
    )


def test_the_updated_text_is_a_profile_with_the_hubs_figures() -> None:
    profile, text = read_profile(catalog()["ud-iq1-s"]), text_of("ud-iq1-s")
    result = refreshed(profile, text, listed(profile, s14=4_000_000_000), DAY)
    after = renewed("ud-iq1-s", result.text)
    assert after.checkpoint.size.bytes == 594_040_923_616 - 3_993_680_640 + 4_000_000_000
    assert after.checkpoint.size.source == "Hub API, 2026-08-20, sum of 14 files"
    assert after.checkpoint.revision == NEW
    assert len(after.checkpoint.sha256) == 14
    assert "README.md" not in after.checkpoint.files
    unchanged: dict[str, Any] = {"artifacts": ()}
    assert after.model_copy(update=unchanged) == profile.model_copy(update=unchanged)
    assert result.changes == (
        f"revision {profile.checkpoint.revision} -> {NEW}",
        "size 594,040,923,616 B -> 594,047,242,976 B (+6.32 MB)",
        "1 file of another size",
        "14 files with a digest the profile has not",
    )


def test_what_still_speaks_of_the_old_revision_or_size_is_pointed_at() -> None:
    profile, text = read_profile(catalog()["ud-iq1-s"]), text_of("ud-iq1-s")
    stale = refreshed(profile, text, listed(profile, s14=4_000_000_000), DAY).stale
    assert [entry.partition(" = ")[0] for entry in stale] == [
        "caveats[1]",
        "memory.parts[0].source",
    ]
    shown = summary(profile, text, refreshed(profile, text, listed(profile), DAY), listed(profile))
    assert "still of before, look at:\n  caveats[1] = 'sizes change" in shown


def test_a_number_that_is_the_old_size_is_pointed_at() -> None:
    profile, text = read_profile(catalog()["rabbit"]), text_of("rabbit")
    now = listed(profile, str(profile.checkpoint.revision))
    marked = text.replace(
        "[memory]\n", "[memory]\nstate = { bytes = 1560998984390, basis = 'exact', source = 's' }\n"
    )
    stale = refreshed(renewed("rabbit", marked), marked, now, DAY).stale
    assert "memory.state.bytes = 1,560,998,984,390" in stale


def test_the_whole_repository_becomes_known_by_file() -> None:
    profile, text = read_profile(catalog()["kimi-k3-in-c"]), text_of("kimi-k3-in-c")
    result = refreshed(profile, text, listed(profile), DAY)
    after = renewed("kimi-k3-in-c", result.text)
    assert after.checkpoint.other_bytes == 0
    assert after.checkpoint.named_files == ()
    assert after.checkpoint.files["README.md"] == 5
    assert after.artifacts[1] == profile.artifacts[1]  # the trunk is no download
    assert "1 file new in the profile" in result.changes


def test_a_profile_without_files_gets_them_and_its_upper_figure_follows() -> None:
    profile, text = read_profile(catalog()["ud-q1-0"]), text_of("ud-q1-0")
    files = (HubFile("UD-Q1_0/a.gguf", 7, "e" * 64), HubFile("UD-Q1_0/b.gguf", 3))
    result = refreshed(profile, text, Listing("unsloth/Kimi-K3-GGUF", NEW, files), DAY)
    after = renewed("ud-q1-0", result.text)
    assert after.checkpoint.files == {"UD-Q1_0/a.gguf": 7, "UD-Q1_0/b.gguf": 3}
    assert after.checkpoint.sha256 == {"UD-Q1_0/a.gguf": "e" * 64}
    assert after.memory.parts is not None
    assert after.memory.parts[0].at_most == 10
    assert after.checkpoint.file_count is None
    assert result.text.startswith(text[: text.index("[[artifacts]]")])
    assert "\n\n[memory]\n" in result.text
    assert result.stale == ()


def test_comments_stay_and_files_that_are_gone_go() -> None:
    text = text_of("ud-iq1-s").replace("= 6934144\n", "= 6934144  # metadata alone\n")
    text = text.replace("[artifacts.files]\n", '[artifacts.files]\n"UD-IQ1_S/old.gguf" = 0\n')
    profile = renewed("ud-iq1-s", text)
    now = listed(profile, s01=6934145)
    kept = tuple(file for file in now.files if not file.name.endswith("old.gguf"))
    result = refreshed(profile, text, now._replace(files=kept), DAY)
    assert "old.gguf" not in result.text
    assert "# metadata alone\n" in result.text
    assert "1 file no longer there" in result.changes


def test_the_same_size_with_another_digest_is_another_content() -> None:
    profile, text = read_profile(catalog()["ud-iq1-s"]), text_of("ud-iq1-s")
    once = refreshed(profile, text, listed(profile), DAY).text
    now = listed(profile)
    other = (now.files[0]._replace(sha256="f" * 64), *now.files[1:])
    result = refreshed(renewed("ud-iq1-s", once), once, now._replace(files=other), DAY)
    assert result.changes == ("1 file of the same size, other content",)
    assert "f" * 64 in result.text
    bare = now._replace(files=tuple(file._replace(sha256=None) for file in now.files))
    moved = refreshed(renewed("ud-iq1-s", once), once, bare._replace(commit="a" * 40), DAY)
    assert renewed("ud-iq1-s", moved.text).checkpoint.sha256 == {}


@pytest.mark.programs
def test_the_difference_is_a_patch_that_git_takes(tmp_path: Path) -> None:
    profile, text = read_profile(catalog()["ud-iq1-s"]), text_of("ud-iq1-s")
    result = refreshed(profile, text, listed(profile, s02=1), DAY)
    (tmp_path / "ud-iq1-s.toml").write_text(text)
    shown = summary(profile, text, result, listed(profile, s02=1))
    subprocess.run(["git", "apply", "-p0"], input=shown, text=True, cwd=tmp_path, check=True)
    assert (tmp_path / "ud-iq1-s.toml").read_text() == result.text


def test_a_profile_without_a_repository_has_nothing_to_be_compared_with() -> None:
    profile = read_profile(catalog()["rabbit"])
    own = profile.checkpoint.model_copy(update={"repository": None})
    with pytest.raises(UsageError, match="rabbit names no repository"):
        refreshable(profile.model_copy(update={"artifacts": (own,)}))
    assert refreshable(profile) == "moonshotai/Kimi-K3"
