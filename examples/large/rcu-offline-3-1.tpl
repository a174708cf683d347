// User-space read-copy-update by quiescent states (Desnoyers, McKenney, Stern, Dagenais and Walpole,
// User-level implementations of read-copy update, 2012), with 3 threads that are readers and writers
// in one and go offline and online as they like. Each writes at most once. A thread's counter is 0 while
// it is offline, and else the grace period in which it was last quiescent; `gp` counts grace periods and does
// not wrap around. A writer is offline. The two fences are the memory barriers of the implementation that
// matter here, and the waits are blocking. Written by rcu_offline.py.
// expect: robust ra=yes
// expect: race ra=no
// expect: assertion sc=no
max_value 4;
global current, gp=1, mutex, ctr[3];
na node0=1, node1;

fn thread[3] {
    local p, g, d, online, writes;
    while (1) {
        oneof({
            // update, one thread at a time: fill the free node and publish it
            assume(writes < 1);
            writes = writes + 1;
            lock(mutex);
            p = current.load();
            if (p == 0) {
                node1.nastore(1);
            } else {
                node0.nastore(1);
            }
            current.store(1 - p);

            // synchronize: whoever is online must have been quiescent since
            g = gp.load();
            g = g + 1;
            gp.store(g);
            fence;
            wait(ctr[(tid + 1) % 3], 0, g);
            wait(ctr[(tid + 2) % 3], 0, g);

            // nobody holds the old node any more: destroy it
            if (p == 0) {
                node0.nastore(0);
            } else {
                node1.nastore(0);
            }
            unlock(mutex);
        } {
            // online
            g = gp.load();
            ctr[tid].store(g);
            fence;
            online = 1;
            while (online) {
                oneof({
                    // read
                    p = current.load();
                    if (p == 0) {
                        d = node0.naload();
                    } else {
                        d = node1.naload();
                    }
                    assert(d == 1);
                } {
                    // quiescent state
                    g = gp.load();
                    ctr[tid].store(g);
                } {
                    online = 0;
                });
            }
            // offline: writers need not wait for this thread
            ctr[tid].store(0);
        });
    }
}
