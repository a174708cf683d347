"""Witnesses as pictures."""
