"""Where a download client puts files when nobody names a directory: one resolver a client.

They follow the clients to the letter, oddities included: the place that is measured must be the
place that fills up.
"""

import os
from typing import NamedTuple, assert_never

from k3preflight.models.disk import WantedPlace

# ruff: noqa: PTH111, PTH118, PTH109 - paths are joined and expanded exactly as the clients do it


class Decided(NamedTuple):
    """A directory, what decided it, and what is odd about that."""

    path: str
    by: str
    own_cache: bool = False
    caution: str | None = None


def decide(want: WantedPlace) -> Decided:
    """The directory of `want`: as it is named, else where its client would put it."""
    if want.requested is not None:
        return Decided(want.requested, want.decided_by)
    home = _home(want)
    if not want.subfolder:
        return home
    path = os.path.join(home.path, want.subfolder)
    return home._replace(path=path, by="default", own_cache=False)


def _home(want: WantedPlace) -> Decided:
    match want.client:
        case "hf-cache":
            return hf_cache()
        case "llama-cache":
            return llama_cache()
        case "hf-local-dir":
            variable = want.directory_variable
            named = os.environ.get(variable, "") if variable else ""
            if variable and named:
                return _absolute(named, variable)
            return Decided(".", "a guess: the current directory")
        case _:
            assert_never(want.client)


def hf_cache() -> Decided:
    """`hf download` without --local-dir. An empty variable counts: it is the current directory."""
    for name in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if name in os.environ:
            return _expanded(os.environ[name], name)._replace(own_cache=True)
    home = hf_home()
    return home._replace(path=os.path.join(home.path, "hub"), own_cache=True)


def hf_home() -> Decided:
    """The Hub client's home, which holds its token and, by default, its caches."""
    if "HF_HOME" in os.environ:
        return _expanded(os.environ["HF_HOME"], "HF_HOME")
    if "XDG_CACHE_HOME" in os.environ:
        cache = os.environ["XDG_CACHE_HOME"]
        return _expanded(os.path.join(cache, "huggingface"), "XDG_CACHE_HOME", empty=not cache)
    return Decided(_user_cache("huggingface"), "default of the Hub client")


def xet_cache() -> Decided:
    """Where the Hub client's Xet transfer keeps side files. `~` in its variable stays as it is."""
    if "HF_XET_CACHE" in os.environ:
        return _absolute(os.environ["HF_XET_CACHE"], "HF_XET_CACHE")
    home = hf_home()
    return home._replace(path=os.path.join(home.path, "xet"))


def llama_cache() -> Decided:
    """`llama-cli -hf`. Empty variables are passed over, and nothing in them is expanded."""
    for name, below in (
        ("LLAMA_CACHE", ""),
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", os.path.join("huggingface", "hub")),
    ):
        value = os.environ.get(name)
        if value:
            path = os.path.join(value, below) if below else value
            return _absolute(path, name)._replace(own_cache=True)
    return Decided(_user_cache("huggingface", "hub"), "default of llama-cli -hf", own_cache=True)


def _user_cache(*below: str) -> str:
    return os.path.join(os.path.expanduser("~"), ".cache", *below)


def _expanded(value: str, variable: str, *, empty: bool | None = None) -> Decided:
    """`value` as the Hub client expands it: `~` and `$NAME`."""
    decided = _absolute(os.path.expandvars(os.path.expanduser(value)), variable)
    if empty or (empty is None and not value):
        return decided._replace(caution=f"{variable} is empty, which means the current directory")
    return decided


def _absolute(value: str, variable: str) -> Decided:
    """`value` as it stands; `~` in it is a name like any other, so it is made absolute here."""
    if os.path.isabs(value):  # noqa: PTH117 - as the clients see it
        return Decided(value, variable)
    path = os.path.join(_working_directory(), value) if value else _working_directory()
    caution = f"{variable} is relative ({value!r}): it moves with the current directory"
    return Decided(path, variable, caution=caution)


def _working_directory() -> str:
    try:
        return os.getcwd()
    except OSError:  # deleted under us: left relative, and reported as such
        return "."
