"""A new profile from a file list: what the Hub knows, and marks where a person has to go on. Pure.

The list says what lies on disk. What must be held in memory, what a token reads and, for anything
but GGUF, which program runs it, it does not say: these stand as comments that start with FILL IN,
and what depends on them is undetermined or left out of a check until they are filled in.
"""

import shlex
from collections.abc import Iterator

from k3preflight.hub.listing import Listing, Selection
from k3preflight.toml import line, quoted

_LLAMA = "https://github.com/ggml-org/llama.cpp"
_BUILD = (
    f"git clone {_LLAMA} && cmake -S llama.cpp -B llama.cpp/build -DBUILD_SHARED_LIBS=OFF"
    "{gpu} && cmake --build llama.cpp/build --config Release -j --target llama-cli llama-server"
)
_CONTEXT = 4096  # positions; enough to try a model out

_MEMORY = """\
# FILL IN what the runtime must keep resident; until then memory.minimum is undetermined. Figures:
# bytes or "40 GB"; basis: exact, derived, rounded, project-reported or policy.
# parts = [
#   { name = "dense weights", bytes = "40 GB", basis = "rounded", source = "where" },
# ]
# state = { bytes = 0, basis = "exact", source = "" }
# kv_per_token = { bytes = 0, basis = "exact", source = "" }
# recommended = { bytes = "64 GB", basis = "rounded", source = "" }
"""
_TRAFFIC = """\
# FILL IN what one token reads; until then nothing is said about speed. k3preflight profiles show
# ud-iq1-s has an example.
# [traffic]
# reads = "mmap"
# cache_policy = "page-cache"
# dense_stream = { bytes = 0, basis = "exact", source = "" }
# expert = { bytes = 0, basis = "exact", source = "" }
# experts_per_token = { bytes = 0, basis = "exact", source = "" }
# expert_pool = { bytes = 0, basis = "exact", source = "" }
"""


def new_profile(listing: Listing, selection: Selection, asked: str, today: str) -> str:
    """The text of a profile for `selection`, as `k3preflight profiles new` was `asked` for it."""
    return "\n".join(
        [
            f"# Made by k3preflight profiles new {asked} from the Hub's file list.",
            *_head(listing, selection, asked, today),
            *_artifact(listing, selection, today),
            *_memory(listing, today),
            *(_llama_needs() if selection.gguf else _other_needs()),
            *_commands(listing, selection),
            "",
        ]
    )


def _head(listing: Listing, selection: Selection, asked: str, today: str) -> Iterator[str]:
    name = listing.repository.rpartition("/")[2]
    yield line("schema_version", 1)
    yield line("title", asked)
    if selection.gguf:
        yield line("weights", "quant", '"full" where nothing was quantised')
    else:
        yield line("weights", "full", 'FILL IN "quant" where it is one')
    yield line("in_default_check", value=False)
    yield "caveats = ["
    yield f"  {quoted('made from a file list: what FILL IN marks is not known yet')},"
    yield "]\n\n[runtime]"
    if selection.gguf:
        yield line("name", "llama.cpp")
        yield line("version", "not stated", "FILL IN from which version on it loads this model")
        yield line("homepage", _LLAMA)
    else:
        for key in ("name", "version", "homepage"):
            yield line(key, "not stated", "FILL IN the program that runs it")
    yield "\n[model]"
    yield line("name", name)
    yield "# FILL IN experts and experts_per_token of a mixture of experts."
    if listing.context:
        yield f"context = {_context(listing.context, today)}"
    yield line("source", f"Hub API, {today}: {listing.repository} at {listing.commit}")
    yield "\n[headroom]"
    yield line("percent", 15)
    yield line("basis", "policy")
    yield line("source", "k3preflight: the headroom of its own profiles")


def _context(count: int, today: str) -> str:
    source = quoted(f"Hub API, {today}, GGUF metadata")
    return f'{{ count = {count}, basis = "exact", source = {source} }}'


def _artifact(listing: Listing, selection: Selection, today: str) -> Iterator[str]:
    yield "\n[[artifacts]]"
    yield line("role", "checkpoint")
    yield line("obtained", "download")
    yield line("repository", listing.repository)
    yield line("revision", listing.commit)
    if selection.include:
        yield line("include", selection.include)
    source = quoted(f"Hub API, {today}, sum of {len(selection.files)} files")
    yield line("source", f"Hub API, {today}")
    yield f'size = {{ bytes = {selection.bytes}, basis = "exact", source = {source} }}'
    yield "\n[artifacts.files]"
    for file in selection.files:
        yield line(quoted(file.name), file.bytes)
    if any(file.sha256 for file in selection.files):
        yield "\n[artifacts.sha256]"
        for file in selection.files:
            if file.sha256:
                yield line(quoted(file.name), file.sha256)


def _memory(listing: Listing, today: str) -> Iterator[str]:
    yield "\n[memory]"
    yield line("overflow", "page", '"stream" where the runtime streams weights by design')
    yield (
        f"default_context = {{ count = {min(_CONTEXT, listing.context or _CONTEXT)}, "
        'basis = "policy", source = "k3preflight: enough to try a model out" }'
    )
    if listing.context:
        yield f"max_context = {_context(listing.context, today)}"
    yield _MEMORY
    yield _TRAFFIC


def _llama_needs() -> Iterator[str]:
    yield "[needs]"
    yield line("offloads_to_gpu", value=True)
    yield line("pools_hosts", value=True)
    yield line("source", "llama.cpp build documentation")
    yield "platforms = ["
    for system in ("linux", "macos", "windows"):
        for machine in ("x86_64", "arm64"):
            yield f'  {{ system = "{system}", machine = "{machine}" }},'
    yield "]\ntools = ["
    for tool, why in (
        ("git", "fetches the source"),
        ("cmake", "configures the build"),
        ("cxx", "builds it"),
        ("gpu-toolkit", "builds the GPU backend where a GPU is to be used"),
        ("hf", "downloads the checkpoint"),
    ):
        yield f'  {{ id = "{tool}", why = "{why}" }},'
    yield "]"


def _other_needs() -> Iterator[str]:
    yield "[needs]"
    yield line("source", "not stated", "FILL IN what the runtime needs of the host")
    yield "# FILL IN the systems it runs on; until then runtime.platform is undetermined."
    yield '# platforms = [{ system = "linux", machine = "x86_64" }]'
    yield 'tools = [{ id = "hf", why = "downloads the checkpoint" }]'


def _commands(listing: Listing, selection: Selection) -> Iterator[str]:
    yield "\n[download]"
    yield line("client", "hf-local-dir")
    if selection.gguf:
        for gpu, flag in ((False, ""), (True, " -DGGML_CUDA=ON")):
            yield from _command("build", _BUILD.format(gpu=flag), gpu=gpu)
        yield from _command("test", "./llama.cpp/build/bin/llama-cli --version")
    patterns = "".join(f" --include {shlex.quote(pattern)}" for pattern in selection.include)
    yield from _command(
        "download",
        f"hf download {listing.repository} --revision {listing.commit}{patterns} "
        "--local-dir {checkpoint}",
    )
    if selection.gguf:
        first = shlex.quote(selection.files[0].name)
        yield from _command(
            "run",
            f"./llama.cpp/build/bin/llama-cli -m {{checkpoint}}/{first} --ctx-size {{context}} "
            '--prompt "The capital of France is"',
        )
    else:
        yield "\n# FILL IN how it is built and run: [[commands]] with stage and run."


def _command(stage: str, run: str, *, gpu: bool | None = None) -> Iterator[str]:
    yield "\n[[commands]]"
    yield line("stage", stage)
    if gpu is not None:
        yield line("gpu", gpu)
    yield line("run", run)
