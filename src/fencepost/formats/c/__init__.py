"""Programs written as C11."""
