// The ticket lock of ticket-lock-wait.c: three threads that enter twice.
// expect: robust rc20=yes
// expect: assertion sc=no
max_value 7;
global next, serving, owner;

fn worker[3] {
    local t, r, round;
    while (round < 2) {
        t = FADD(next, 1);
        wait(serving, t, acq);
        owner.store(tid);
        r = owner.load();
        assert(r == tid);
        serving.store(t + 1, rel);
        round = round + 1;
    }
}
