"""What is shown where a report or a profile leaves something out."""

from factory import GB, host, report
from k3preflight.models.report import Policy
from k3preflight.profiles import catalog, read_profile
from k3preflight.render import Format, Screen, render
from k3preflight.render.profile import profile_page


def test_the_commands_of_a_profile_stand_once() -> None:
    judged = report(host(usable=640 * GB), "kimi-k3-in-c:all", policy=Policy())
    text = render(judged, Format.TABLE, Screen(120))
    assert text.count("./scripts/pack-trunk.sh") == 1
    assert text.index("1. kimi-k3-in-c:max") < text.index("2. kimi-k3-in-c:server")


def test_a_finding_without_a_remedy_is_an_annotation_of_one_line() -> None:
    judged = report(host(usable=40 * GB), "rabbit")
    bare = tuple(
        item.model_copy(
            update={
                "findings": tuple(
                    found.model_copy(update={"remedy": None}) for found in item.findings
                )
            }
        )
        for item in judged.assessments
    )
    text = render(judged.model_copy(update={"assessments": bare}), Format.GITHUB, Screen())
    assert "memory.recommended" in text
    assert "->" not in text


def test_a_profile_that_needs_no_tools_has_no_list_of_them() -> None:
    profile = read_profile(catalog()["rabbit"])
    needs = profile.needs.model_copy(update={"tools": ()})
    assert "Tools" in profile_page(profile, Screen())
    assert "Tools" not in profile_page(profile.model_copy(update={"needs": needs}), Screen())
