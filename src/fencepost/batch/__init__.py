"""Questions about many files at once, on one machine or many."""
