"""`python -m k3preflight` and the `k3preflight` command."""

import gc
import sys

_OBJECTS = 100_000  # made before the collector looks again; the default is 700


def main() -> int:
    """Run the command line and return its exit code, also when interrupted during start-up."""
    gc.set_threshold(_OBJECTS)  # loading modules makes no garbage, and looking for it costs
    try:
        from k3preflight.cli import run  # noqa: PLC0415 - an interrupt during the import is caught

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
