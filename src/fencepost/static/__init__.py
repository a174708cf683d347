"""Facts about programs that are found without running them."""
