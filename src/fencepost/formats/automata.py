"""Automata, the language of Trencher and Persist: their reader and their writer."""

from fencepost.formats.automata_reader import read
from fencepost.formats.automata_writer import write

__all__ = ["read", "write"]
