"""Threads as transition systems: what the readers and writers of automata and of Persist programs share."""
