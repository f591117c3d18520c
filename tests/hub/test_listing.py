"""Which files of a repository are meant, and the patterns that take them and no others."""

from fnmatch import fnmatchcase

import pytest

from k3preflight.errors import UsageError
from k3preflight.hub.listing import HubFile, Listing, chosen, included, repository_name

COMMIT = "c" * 40


def listing(*names: str) -> Listing:
    return Listing("a/b", COMMIT, tuple(HubFile(name, 10) for name in names))


FOLDERS = listing(
    "README.md",
    "UD-Q2_K_XL/M-UD-Q2_K_XL-00001-of-00002.gguf",
    "UD-Q2_K_XL/M-UD-Q2_K_XL-00002-of-00002.gguf",
    "Q2_K_XL/M-Q2_K_XL-00001-of-00001.gguf",
    "mmproj-F16.gguf",
)
FLAT = listing(
    "M-Q4_K.gguf",
    "M-Q4_K_M.gguf",
    "M-Q8_0-00001-of-00002.gguf",
    "M-Q8_0-00002-of-00002.gguf",
    "M[v1]-Q3_K.gguf",
)


@pytest.mark.parametrize(
    ("files", "quant", "include"),
    [
        (FOLDERS, "UD-Q2_K_XL", "UD-Q2_K_XL/*"),
        (FOLDERS, "ud-q2_k_xl", "UD-Q2_K_XL/*"),
        (FOLDERS, "Q2_K_XL", "Q2_K_XL/*"),
        (FOLDERS, "M-Q2_K_XL", "Q2_K_XL/*"),
        (FLAT, "Q4_K", "M-Q4_K.gguf"),
        (FLAT, "Q4_K_M", "M-Q4_K_M.gguf"),
        (FLAT, "Q8_0", "M-Q8_0-?????-of-?????.gguf"),
        (FLAT, "Q3_K", "M[[]v1]-Q3_K.gguf"),
    ],
)
def test_a_quant_by_its_folder_or_its_name(files: Listing, quant: str, include: str) -> None:
    found = chosen(files, quant)
    assert found.include == (include,)
    taken = {file.name for file in files.files if fnmatchcase(file.name, include)}
    assert taken == {file.name for file in found.files}
    assert included(files, found.include).files == found.files
    assert found.gguf
    assert found.bytes == 10 * len(found.files)


def test_the_pattern_of_a_shared_folder_takes_its_own_files_alone() -> None:
    files = listing("gguf/M-Q4_0-00001-of-00001.gguf", "gguf/M-Q8_0-00001-of-00001.gguf")
    assert chosen(files, "Q8_0").include == ("gguf/M-Q8_0-?????-of-?????.gguf",)


def test_safetensors_are_the_whole_repository_as_the_download_takes_it() -> None:
    files = listing("README.md", "model-00001-of-000002.safetensors", "extra.gguf")
    found = chosen(files, None)
    assert (found.include, found.files) == ((), files.files)
    assert not found.gguf


def test_the_only_quant_needs_no_name() -> None:
    assert chosen(listing("M-Q4_0.gguf", "mmproj-F16.gguf"), None).include == ("M-Q4_0.gguf",)


@pytest.mark.parametrize(
    ("files", "quant", "said"),
    [
        (FOLDERS, None, "a/b at cccccccc has 2 quants"),
        (FOLDERS, "Q9", "a/b at cccccccc has no quant 'Q9'"),
        (FOLDERS, "F16", "has no quant 'F16'"),  # a projector is none
        (listing("x/M-Q4_0.gguf", "y/M-Q4_0.gguf"), "Q4_0", "a/b at cccccccc has 2 quants"),
        (listing("README.md"), None, "neither safetensors nor GGUF"),
        (listing("README.md"), "Q4_0", "has no quant 'Q4_0'"),
        (listing("M-Q8_0-00002-of-00003.gguf"), "Q8_0", "of 3 shards the repository lacks 1, 3"),
    ],
)
def test_what_cannot_be_meant_is_said(files: Listing, quant: str | None, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(files, quant)
    assert said in caught.value.message


def test_the_known_quants_are_named() -> None:
    with pytest.raises(UsageError) as caught:
        chosen(FOLDERS, "Q9")
    assert caught.value.hint == "Write a/b:QUANT; it has UD-Q2_K_XL, Q2_K_XL."


def test_patterns_that_take_nothing_are_an_error_not_a_checkpoint_of_nothing() -> None:
    with pytest.raises(UsageError, match=r"a/b has no file UD-Q1_0/\* at cccccccc"):
        included(FLAT, ("UD-Q1_0/*",))
    with pytest.raises(UsageError, match="no file at all"):
        included(listing(), ())


@pytest.mark.parametrize(
    "text", ["a", "a/b/c", "/b", "a/", "../b", "a/b;c", "a/b\n", "a b/c", "-a/b"]
)
def test_what_is_no_repository_is_not_asked_for(text: str) -> None:
    with pytest.raises(UsageError):
        repository_name(text)
    assert repository_name("moonshotai/Kimi-K3") == "moonshotai/Kimi-K3"
