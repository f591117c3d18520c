"""Asks the Hub for a file list, in one request of its own client.

HF_ENDPOINT, HF_TOKEN and HF_HUB_OFFLINE mean what they mean to it; HF_HUB_ETAG_TIMEOUT is how long
one answer may take to begin (10 seconds without it).
"""

import os
import re
from collections.abc import Callable
from logging import ERROR
from threading import Thread
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from k3preflight.errors import K3Error, UndeterminedError, UsageError
from k3preflight.hub.listing import HubFile, Listing
from k3preflight.text import visible
from k3preflight.units import LARGEST

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

_COMMIT = re.compile(r"[0-9a-f]{40,64}\Z")
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")
_WHOLE_ANSWER = 6  # times the limit of one answer's beginning: a server that drips is given up


def fetch(repository: str, revision: str | None) -> Listing:
    """Every file of `repository` at `revision`, or at the head of its default branch.

    Raises:
        UsageError: HF_ENDPOINT is no address, or another setting of the client's is wrong.
        UndeterminedError: the Hub cannot be reached, refuses, or answers what it should not.
    """
    _refuse_endpoint(os.environ.get("HF_ENDPOINT"))
    # Or the client asks for more than the list, to say who asks, and writes it down.
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        from huggingface_hub import constants  # noqa: PLC0415 - an extra, and slow to load
        from huggingface_hub.utils import logging  # noqa: PLC0415
    except ValueError as error:
        raise UsageError(
            f"the Hub's client does not take its settings: {error}", "Check the HF_ variables."
        ) from error
    logging.set_verbosity(ERROR)  # its advice about tokens is not ours to print
    seconds = constants.HF_HUB_ETAG_TIMEOUT
    answer = _within(
        seconds * _WHOLE_ANSWER, lambda: _ask(repository, revision, seconds), constants.ENDPOINT
    )
    return _listing(repository, answer)


def _refuse_endpoint(endpoint: str | None) -> None:
    if endpoint is None:
        return
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        usable = False
    if not usable:
        raise UsageError(f"HF_ENDPOINT={endpoint}: not an address such as https://huggingface.co")


def _within(seconds: float, ask: Callable[[], "ModelInfo"], endpoint: str) -> "ModelInfo":
    """What `ask` returns or raises; a thread that is abandoned where it takes longer."""
    results: list[ModelInfo | BaseException] = []

    def run() -> None:
        try:
            results.append(ask())
        except BaseException as error:  # noqa: BLE001 - raised again below, in the caller's thread
            results.append(error)

    worker = Thread(target=run, daemon=True)
    worker.start()
    worker.join(seconds)
    if not results:
        raise UndeterminedError(
            f"{endpoint} did not finish its answer within {seconds:g} seconds", _LATER
        )
    if isinstance(results[0], BaseException):
        raise results[0]
    return results[0]


_LATER = "Try again later; what is in the profile still stands."


def _ask(repository: str, revision: str | None, seconds: float) -> "ModelInfo":
    from huggingface_hub import HfApi, constants  # noqa: PLC0415 - as above
    from huggingface_hub import errors as hub  # noqa: PLC0415

    where = f"{repository}{f' at {revision}' if revision else ''}"
    try:
        return HfApi().model_info(
            repository, revision=revision, files_metadata=True, timeout=seconds
        )
    except hub.OfflineModeIsEnabled as error:
        raise UndeterminedError(
            f"offline mode is on, so {where} was not asked for", "Unset HF_HUB_OFFLINE."
        ) from error
    except hub.GatedRepoError as error:
        raise UndeterminedError(
            f"{where} is gated: the Hub wants a token that has been granted access", _TOKEN
        ) from error
    except hub.RepositoryNotFoundError as error:
        raise UndeterminedError(
            f"the Hub shows no repository {where}: there is none, or it is private", _TOKEN
        ) from error
    except hub.RevisionNotFoundError as error:
        raise UndeterminedError(f"{repository} has no revision {revision}") from error
    except hub.HfHubHTTPError as error:
        raise _refused(where, error.response.status_code, constants.ENDPOINT) from error
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise UndeterminedError(
            f"{constants.ENDPOINT} did not answer as the Hub does: {_said(error)}", _ENDPOINT
        ) from error
    except hub.HTTPError as error:  # type: ignore[attr-defined]  # the base of the client's transport errors, which it does not name again
        raise UndeterminedError(
            f"{constants.ENDPOINT} cannot be reached: {_said(error)}", _ENDPOINT
        ) from error


_TOKEN = "Set HF_TOKEN, or check the name."  # noqa: S105 - a hint
_ENDPOINT = "Check the network, the proxy and HF_ENDPOINT."


def _said(error: Exception) -> str:
    """The kind of an error and the first line of what it says, without the rest of its page."""
    return f"{type(error).__name__}: {visible(str(error).strip().partition(chr(10))[0])[:200]}"


def _refused(where: str, status: int, endpoint: str) -> K3Error:
    match status:
        case 401 | 403:
            return UndeterminedError(
                f"the Hub refuses {where} ({status}): the token is not accepted", _TOKEN
            )
        case 429:
            return UndeterminedError(
                f"{endpoint} is asked too often from here (429)",
                f"{_LATER} With HF_TOKEN it allows more.",
            )
        case _:
            return UndeterminedError(f"{endpoint} answers {status} to {where}", _LATER)


def _listing(repository: str, answer: "ModelInfo") -> Listing:
    """The answer, checked: it decides file names and sizes, and comes from elsewhere."""
    if not _COMMIT.match(str(answer.sha)):
        raise UndeterminedError(f"the Hub names no commit of {repository}", _ENDPOINT)
    files = []
    for entry in answer.siblings or ():
        name, size = entry.rfilename, entry.size
        parts = name.split("/")
        if visible(name) != name or {"", ".", ".."} & set(parts) or "\\" in name:
            raise UndeterminedError(f"the file list of {repository} holds {name!r}, no file's path")
        if type(size) is not int or not 0 <= size <= LARGEST:
            raise UndeterminedError(f"the Hub does not say how large {repository}/{name} is")
        digest = entry.lfs.sha256 if entry.lfs else None
        files.append(HubFile(name, size, digest if _SHA256.match(str(digest)) else None))
    context = (answer.gguf or {}).get("context_length")
    return Listing(
        repository,
        str(answer.sha),
        tuple(sorted(files)),
        context if type(context) is int and context > 0 else None,
    )
