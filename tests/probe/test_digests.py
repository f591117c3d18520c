"""Digests as the Hub client leaves them, in both of its layouts."""

import hashlib
import os
from pathlib import Path

import pytest

from k3preflight.probe.digests import left_beside, matches

CONTENT = b"a shard" * 1000
SHA256 = hashlib.sha256(CONTENT).hexdigest()
GIT = hashlib.sha1(b"blob 7000\0" + CONTENT, usedforsecurity=False).hexdigest()


@pytest.mark.parametrize("digest", [SHA256, GIT])
def test_in_the_cache_the_digest_is_the_name_of_the_blob(tmp_path: Path, digest: str) -> None:
    blob = tmp_path / "models--a--b" / "blobs" / digest
    link = tmp_path / "models--a--b" / "snapshots" / ("c" * 40) / "sub" / "model.safetensors"
    for path in (blob, link):
        path.parent.mkdir(parents=True)
    blob.write_bytes(CONTENT)
    link.symlink_to(os.path.relpath(blob, link.parent))
    found = left_beside(tmp_path, "sub/model.safetensors", link)
    assert found == digest
    read: list[int] = []
    assert matches(link, digest, read.append)
    assert sum(read) == len(CONTENT)
    blob.write_bytes(CONTENT[:-1] + b"x")
    assert not matches(link, digest, read.append)


def test_with_a_local_directory_it_stands_in_the_metadata(tmp_path: Path) -> None:
    beside = tmp_path / ".cache" / "huggingface" / "download" / "model.safetensors.metadata"
    beside.parent.mkdir(parents=True)
    for text, expected in (
        (f"{'c' * 40}\n{SHA256}\n1.0\n", SHA256),
        (f"{'c' * 40}\nno digest\n1.0\n", None),
        (f"{'c' * 40}\n", None),
    ):
        beside.write_text(text)
        assert (
            left_beside(tmp_path, "model.safetensors", tmp_path / "model.safetensors") == expected
        )


@pytest.mark.parametrize(("folder", "name"), [("blobs", "model.safetensors"), ("files", SHA256)])
def test_a_digest_is_a_digest_only_among_blobs(tmp_path: Path, folder: str, name: str) -> None:
    path = tmp_path / folder / name
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    assert left_beside(path.parent, name, path) is None
