"""The sources of a compiled program: how they were built, and patches of them."""

from fencepost.sanitizer.sources.builds import Build, NoBuildError, builds_of
from fencepost.sanitizer.sources.patch import SourceChangedError, patch_sources
from fencepost.sanitizer.sources.units import CannotReadSourceError
from fencepost.sanitizer.sources.writing import CannotWritePatchError, write_patch

__all__ = [
    "Build",
    "CannotReadSourceError",
    "CannotWritePatchError",
    "NoBuildError",
    "SourceChangedError",
    "builds_of",
    "patch_sources",
    "write_patch",
]
