"""Repair: the cheapest changes that make a program right."""
