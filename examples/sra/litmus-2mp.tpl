// Two messages x and y announced by one flag z. What the third thread has learnt from z, the fourth learns
// through w, so they cannot miss one message each: an option must name its writer. SRA 2020, Example 5.4,
// without the explicit initialization.
// bad: t3@end && t4@end
// expect: verify sc=yes tso=yes sra=yes
// expect: robust ra=no
max_value 1;
global x, y, z, w;

fn t1 {
    x.store(1);
    z.store(1);
}

fn t2 {
    y.store(1);
    z.store(1);
}

fn t3 {
    wait(z, 1);
    w.store(1);
    wait(x, 0);
    end:
}

fn t4 {
    wait(w, 1);
    wait(y, 0);
    end:
}
