"""The language of Figure 8 of persist-2015: its reader and its writer."""

from fencepost.formats.persist.reader import read
from fencepost.formats.persist.writer import write

__all__ = ["read", "write"]
