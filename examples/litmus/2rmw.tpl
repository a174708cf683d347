// Two read-modify-writes never read from the same write: one of the two fails. Rocker 2019, Example 3.5;
// SRA 2020, Example 3.9.
// expect: robust ra=yes
max_value 1;
global x;

fn t1 {
    local a;
    a = CAS(x, 0, 1);
}

fn t2 {
    local b;
    b = CAS(x, 0, 1);
}
