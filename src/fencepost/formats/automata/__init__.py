"""Automata, the language of Trencher and Persist: their reader and their writer."""

from fencepost.formats.automata.reader import read
from fencepost.formats.automata.writer import write

__all__ = ["read", "write"]
