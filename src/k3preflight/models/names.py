"""The closed word lists of the vocabulary. Free of pydantic, so the command line can use them."""

from enum import StrEnum


class Role(StrEnum):
    """What an artifact is to its runtime."""

    CHECKPOINT = "checkpoint"
    TRUNK = "trunk"


class Status(StrEnum):
    """What a check concludes. A pass or a warning fits."""

    PASS = "pass"  # noqa: S105 - not a password
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    SKIP = "skip"


class Sizes(StrEnum):
    """Which sizes are judged: exact bytes, or the publishers' rounded ones."""

    EXACT = "exact"
    PUBLISHED = "published"


class DocumentKind(StrEnum):
    """The documents with a published schema."""

    PROFILE = "profile"
    HOST = "host"
    REPORT = "report"


class FailOn(StrEnum):
    """What makes the exit code 1. The verdict itself is never changed by it."""

    FAIL = "fail"
    WARN = "warn"
    NEVER = "never"


class Pool(StrEnum):
    """Memory that is added up only when asked for: an aggregate, not a promise."""

    VRAM = "vram"
    HOSTS = "hosts"


ALL = "all"  # NAME:all, every preset as one alternative
LARGEST = "largest"  # NAME:largest, the largest preset the host can hold
RESERVED_PRESETS = frozenset({ALL, LARGEST})


class CheckId(StrEnum):
    """Every check there is. The ids are API: never renamed, all known from the first version."""

    DISK_CAPACITY = "disk.capacity"
    DISK_PATH = "disk.path"
    DISK_WRITABLE = "disk.writable"
    DISK_FILESYSTEM = "disk.filesystem"
    DISK_FILE_SIZE = "disk.file-size"
    DISK_INODES = "disk.inodes"
    DOWNLOAD_PRESENT = "download.present"
    DOWNLOAD_CLIENT = "download.client"
    DOWNLOAD_TIME = "download.time"
    MEMORY_MINIMUM = "memory.minimum"
    MEMORY_RECOMMENDED = "memory.recommended"
    MEMORY_RESIDENCY = "memory.residency"
    RUNTIME_PLATFORM = "runtime.platform"
    RUNTIME_CPU = "runtime.cpu"
    RUNTIME_TOOLS = "runtime.tools"
    RUNTIME_GPU = "runtime.gpu"
    SPEED_STORAGE = "speed.storage"
