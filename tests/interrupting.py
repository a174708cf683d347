"""Pressing Ctrl-C on a process of its own, and what it may be busy with."""

import subprocess

# What is started in the background ignores the signal, and its children too: first of all heed it.
HEED_CONTROL_C = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"

# A search without end: neighbours share a counter, and count by steps of their own.
ENDLESS = "".join(
    ["global a, b, c, d;"]
    + [
        f"fn t{n} {{ local r; while (1) {{ r = FADD({x}, {n}); if (r != 9) {{ FADD({y}, {n + 4}); }} }} }}"
        for n, (x, y) in enumerate(["ab", "bc", "cd", "da"])
    ]
)


def answer_within(process: subprocess.Popen, seconds: float):
    """What the process prints until it ends; fails, and ends it, if that takes longer."""
    try:
        return process.communicate(timeout=seconds)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        raise
