// A single thread, whose additions wrap around at 5 values. Rocker 2019, Example 2.2.
// expect: robust ra=yes
max_value 4;
global x;

fn t1 {
    local r;
    again: r = r + 1;
    if (r < 2) goto again;
    x.store(r);
}
