"""A program that does with the run-time library's file what a test wants, in place of a real one.

`play` runs events that were written by hand through `fencepost run`, with stacks that lead into a module
which was really compiled, so that lines and names are looked up for real.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.sanitizer.building import INSTALLED, Shell

# Line numbers matter: PLACES names them.
SOURCE = """#include <stdatomic.h>
static atomic_int flags[4];
int turn;
static inline __attribute__((always_inline)) int get(int i) {
    return atomic_load_explicit(&flags[i], memory_order_acquire);
}
__attribute__((noinline)) void writer(void) {
    atomic_store_explicit(&flags[2], 1, memory_order_relaxed);
}
__attribute__((noinline)) int reader(void) {
    return get(2);
}
__attribute__((noinline)) int other(void) {
    return get(3);
}
int main(void) {
    writer();
    return reader() + other() + turn;
}
atomic_int *all(void) { return flags; }
"""

# The program under `fencepost run`: it reads what to do from its first argument.
_PLAYER = """#!{python}
import json, os, signal, sys, time
options = {{}}
for part in os.environ["FENCEPOST_OPTIONS"].split(":"):
    name, _, value = part.partition("=")
    options[name] = value
script = json.load(open(sys.argv[1]))
with open("options.log", "a") as log:
    log.write(json.dumps(options | {{"pid": os.getpid()}}) + "\\n")
events = script["by_seed"].get(options.get("seed", ""), script["events"])
for process, lines in enumerate(events):
    with open(options["json"].replace("%p", f"{{os.getpid()}}-{{process}}"), "w") as file:
        file.writelines(json.dumps(line) + "\\n" if isinstance(line, dict) else line for line in lines)
if "decisions" in options:
    open(options["decisions"], "w").write("turns of seed " + options["seed"])
if "replay" in options:
    open("replayed.log", "a").write(open(options["replay"]).read() + "\\n")
exec(script["code"])
"""


class Module(NamedTuple):
    """A compiled `SOURCE`, and where its functions and variables start."""

    path: Path
    symbols: dict[str, int]

    def place(self, symbol: str, inside: int = 0) -> dict[str, str]:
        return {"module": str(self.path), "offset": hex(self.symbols[symbol] + inside)}


def build_module(directory: Path, source: str = SOURCE, compiler: str = INSTALLED[0].cc) -> Module:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "spin.c").write_text(source, encoding="utf-8")
    subprocess.run([compiler, "-g", "-O1", "spin.c", "-o", "spin"], cwd=directory, check=True)
    listing = subprocess.run(["nm", "spin"], cwd=directory, check=True, capture_output=True, text=True)
    lines = [line.split() for line in listing.stdout.splitlines()]
    return Module(directory / "spin", {line[2]: int(line[0], 16) for line in lines if len(line) == 3})


def finding(module: Module, reader: str = "reader", **changes: Any) -> dict[str, Any]:
    """`reader` can miss what `writer` wrote, as the run-time library says it."""
    read, write = module.place(reader), module.place("writer")
    return {
        "event": "finding",
        "kind": "robustness",
        "access": "load",
        "id": "1",
        "pid": 77,
        "address": "0x555555558028",
        "size": 4,
        "order": "acquire",
        "value": 1,
        "by": {"thread": 2, "name": "reader", "stack": [read, module.place("main")]},
        "missed": {"thread": 1, "name": "", "order": "relaxed", "stack": [write, module.place("main")]},
        "could": {"value": 0},
        "chain": [{"thread": 1, "stack": [write], "what": "write flags"}],
        "location": {"kind": "global", "name": None, **module.place("flags", 8)},
        "repair": [{"what": "fence", "order": "seq_cst", "thread": 2, "after": write, "before": read}],
        **changes,
    }


def end(**changes: Any) -> dict[str, Any]:
    return {"event": "end", "pid": 77, "findings": 0, "atomics": 10, "steps": 20, "exit": 0, **changes}


def play(
    shell: Shell,
    *options: str,
    events: list[list[Any]] | None = None,
    by_seed: dict[int, list[list[Any]]] | None = None,
    code: str = "",
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """`fencepost run OPTIONS -- PROGRAM`, where the program writes these events and then does `code`.

    There is one list of events for each of its processes; without any, the run-time library was not there.
    """
    program = shell.write("program", _PLAYER.format(python=sys.executable))
    program.chmod(0o755)
    script = {"events": [] if events is None else events, "by_seed": by_seed or {}, "code": code}
    shell.write("script.json", json.dumps(script))
    return shell.run("fencepost", "run", *options, "--", "./program", "script.json", **environment)


def options_given(shell: Shell) -> list[dict[str, Any]]:
    """What each run found in FENCEPOST_OPTIONS."""
    lines = (shell.directory / "options.log").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]
