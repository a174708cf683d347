"""C litmus tests, the language of herd: their reader and their writer."""

from fencepost.formats.litmus_reader import read
from fencepost.formats.litmus_writer import write

__all__ = ["read", "write"]
