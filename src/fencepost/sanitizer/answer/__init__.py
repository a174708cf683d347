"""From what runs have shown to one answer."""
