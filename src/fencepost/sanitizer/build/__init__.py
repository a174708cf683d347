"""The compiler wrappers."""
