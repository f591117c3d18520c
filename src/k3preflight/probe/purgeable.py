"""Purgeable space: what macOS would clear on APFS for a file that needs it, where it says so.

statvfs does not count it, nor does diskutil. It is what Foundation calls available for important
usage, less what is free, and is asked for through the system's own script interpreter.
"""

import shutil
import subprocess

from k3preflight.models.base import Bytes

_LIMIT = 3.0  # seconds; a daemon is asked for the figure
_SCRIPT = """
function run(paths) {
  ObjC.import('Foundation');
  const key = 'NSURLVolumeAvailableCapacityForImportantUsageKey';
  const values = $.NSURL.fileURLWithPath(paths[0]).resourceValuesForKeysError([key], null);
  return String(values.valueForKey(key).js);
}
"""


def purgeable(directory: str, free: Bytes | None) -> Bytes | None:
    """The bytes that could be cleared beyond `free`; None where the system does not say."""
    interpreter = shutil.which("osascript")
    if interpreter is None or free is None:
        return None
    try:
        done = subprocess.run(  # noqa: S603 - the system's own, with a fixed script
            [interpreter, "-l", "JavaScript", "-e", _SCRIPT, directory],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_LIMIT,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return purgeable_of(done.stdout, free)


def purgeable_of(told: str, free: Bytes) -> Bytes | None:
    """What `told`, the available bytes as they are printed, has beyond `free`.

    Where the system cannot tell it prints 0, and `undefined` where the volume has no such figure.
    """
    words = told.strip()
    if not (words.isascii() and words.isdecimal()) or int(words) == 0:
        return None
    return max(0, int(words) - free)
