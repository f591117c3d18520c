"""Profiles kept true to the Hub: its file lists, the difference to a profile, and new profiles.

The only package that uses a network, and it asks for a list of files alone.
"""

from importlib.util import find_spec

from k3preflight.errors import UsageError


def require_extra() -> None:
    """Refuse where what this package is made with is not installed.

    Raises:
        UsageError: names what is missing, and how to install it.
    """
    missing = [name for name in ("huggingface_hub", "tomlkit") if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"this needs {' and '.join(missing)}, which is not installed",
            "pip install 'k3preflight[hub]'",
        )
