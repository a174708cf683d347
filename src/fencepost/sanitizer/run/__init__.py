"""Running sanitized programs."""
