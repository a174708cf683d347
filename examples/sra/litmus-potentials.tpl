// Three writers that read and three readers, which see the three writes in orders that form a circle: a
// thread needs more than one list in its potential. SRA 2020, Example 5.3, without the explicit
// initialization. A thread waits for what it must see to come to the outcome in question.
// bad: t1@end && t2@end && t3@end && t4@end && t5@end && t6@end
// expect: verify sc=yes tso=yes sra=no ra=no
// expect: robust ra=no
max_value 1;
global x, y, z;

fn t1 {
    x.store(1);
    wait(z, 1);
    wait(y, 0);
    end:
}

fn t2 {
    y.store(1);
    wait(x, 1);
    wait(z, 0);
    end:
}

fn t3 {
    z.store(1);
    wait(y, 1);
    wait(x, 0);
    end:
}

fn t4 {
    wait(x, 1);
    wait(y, 1);
    wait(z, 0);
    end:
}

fn t5 {
    wait(y, 1);
    wait(z, 1);
    wait(x, 0);
    end:
}

fn t6 {
    wait(z, 1);
    wait(x, 1);
    wait(y, 0);
    end:
}
