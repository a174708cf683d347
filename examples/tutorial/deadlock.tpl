// Two threads that take the same two locks in different orders.
// expect: robust ra=yes
max_value 1;
global first, second;

fn left {
    lock(first);
    lock(second);
    unlock(second);
    unlock(first);
}

fn right {
    lock(second);
    lock(first);
    unlock(first);
    unlock(second);
}
