"""Pressing Ctrl-C on a process of its own."""

import subprocess

# What is started in the background ignores the signal, and its children too: first of all heed it.
HEED_CONTROL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"


def answer_within(process: subprocess.Popen, seconds: float):
    """What the process prints until it ends; fails, and ends it, if that takes longer."""
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise
