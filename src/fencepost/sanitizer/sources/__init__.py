"""The sources of a compiled program: how they were built, and patches of them."""
