"""One family of errors: a sentence with the numbers, what to do, and the exit code it ends in."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes scripts rely on."""

    PASS = 0
    FAIL = 1
    USAGE = 2
    UNKNOWN = 3
    BUG = 70
    INTERRUPTED = 130


class K3Error(Exception):
    """Anything the user is told in one sentence instead of a result."""

    exit = Exit.BUG

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(K3Error):
    """A bad flag, an unknown profile or check, an invalid file."""

    exit = Exit.USAGE


class MissingExtraError(UsageError):
    """Something that needs an optional dependency which is not installed."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the {extra} extra, which is not installed",
            f"Install it: python -m pip install 'k3preflight[{extra}]'",
        )


class UndeterminedError(K3Error):
    """Something the answer hangs on could not be reached or read."""

    exit = Exit.UNKNOWN
