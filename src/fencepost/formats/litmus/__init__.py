"""C litmus tests, the language of herd: their reader and their writer."""

from fencepost.formats.litmus.reader import read
from fencepost.formats.litmus.writer import write

__all__ = ["read", "write"]
