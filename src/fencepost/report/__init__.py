"""An answer for every face: terminal text, SVG, JSON, a table of many files, and notebooks.

Each module turns the values of `fencepost.verdicts` into one form and prints nothing itself.
"""
