// Load buffering: RA forbids that both threads read 1, as SRA does (SRA 2020, section 3, and rocker 2019,
// where graphs grow along program order and reads-from). Robustness: computed.
// expect: robust ra=yes
max_value 1;
global x, y;

fn t1 {
    local a;
    a = x.load();
    y.store(1);
}

fn t2 {
    local b;
    b = y.load();
    x.store(1);
}
