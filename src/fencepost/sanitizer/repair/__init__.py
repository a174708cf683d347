"""Repairing compiled programs, and relaxing their memory orders, by changes that are tried in runs."""
