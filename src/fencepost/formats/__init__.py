"""Programs in files: readers and writers of languages, and which one a file is in."""

from fencepost.formats.registry import (
    BY_ENDING,
    FORMATS,
    LARGEST_FILE,
    Format,
    Reading,
    given_input,
    load,
    load_as,
    text_of,
    write,
)

__all__ = [
    "BY_ENDING",
    "FORMATS",
    "LARGEST_FILE",
    "Format",
    "Reading",
    "given_input",
    "load",
    "load_as",
    "text_of",
    "write",
]
