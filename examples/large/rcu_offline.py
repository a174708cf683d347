"""User-space RCU with threads that go offline, for any number of threads and writes.

    python examples/large/rcu_offline.py THREADS WRITES > rcu.tpl

prints the program; without arguments the files of this directory are written. Threads are readers and writers
in one: each reads as often as it likes, announces quiescent states, goes offline, writes while it is offline,
and comes back. Each writes up to WRITES times.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
SIZES = ((2, 1), (2, 4), (3, 1), (3, 2), (3, 4))  # threads, writes

HEAD = """\
// User-space read-copy-update by quiescent states (Desnoyers, McKenney, Stern, Dagenais and Walpole,
// User-level implementations of read-copy update, 2012), with {threads} threads that are readers and writers
// in one and go offline and online as they like. Each writes at most {times}. A thread's counter is 0 while
// it is offline, and else the grace period in which it was last quiescent; `gp` counts grace periods and does
// not wrap around. A writer is offline. The two fences are the memory barriers of the implementation that
// matter here, and the waits are blocking. Written by rcu_offline.py.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value {largest};
global current, gp=1, mutex, ctr[{threads}];
na node0=1, node1;
"""

THREADS = """
fn thread[{threads}] {{
    local p, g, d, online, writes;
    while (1) {{
        oneof({{
            // update, one thread at a time: fill the free node and publish it
            assume(writes < {writes});
            writes = writes + 1;
            lock(mutex);
            p = current.load();
            if (p == 0) {{
                node1.nastore(1);
            }} else {{
                node0.nastore(1);
            }}
            current.store(1 - p);

            // synchronize: whoever is online must have been quiescent since
            g = gp.load();
            g = g + 1;
            gp.store(g);
            fence;
{waits}

            // nobody holds the old node any more: destroy it
            if (p == 0) {{
                node0.nastore(0);
            }} else {{
                node1.nastore(0);
            }}
            unlock(mutex);
        }} {{
            // online
            g = gp.load();
            ctr[tid].store(g);
            fence;
            online = 1;
            while (online) {{
                oneof({{
                    // read
                    p = current.load();
                    if (p == 0) {{
                        d = node0.naload();
                    }} else {{
                        d = node1.naload();
                    }}
                    assert(d == 1);
                }} {{
                    // quiescent state
                    g = gp.load();
                    ctr[tid].store(g);
                }} {{
                    online = 0;
                }});
            }}
            // offline: writers need not wait for this thread
            ctr[tid].store(0);
        }});
    }}
}}
"""


def program(threads: int, writes: int) -> str:
    waits = "\n".join(f"            wait(ctr[(tid + {n}) % {threads}], 0, g);" for n in range(1, threads))
    return (HEAD + THREADS).format(
        threads=threads,
        writes=writes,
        times="once" if writes == 1 else f"{writes} times",
        waits=waits,
        largest=threads * writes + 1,
    )


def files() -> dict[str, str]:
    return {f"rcu-offline-{threads}-{writes}.tpl": program(threads, writes) for threads, writes in SIZES}


def main() -> None:
    if len(sys.argv) == 3:
        print(program(int(sys.argv[1]), int(sys.argv[2])), end="")
        return
    for name, text in files().items():
        (HERE / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
