"""One module per command of the command line, for the commands that need more than a few lines."""
