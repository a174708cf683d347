// Message passing where the producer itself writes the flag again, relaxed. That continued the release
// sequence in C++11, and does not since C++20 (P0982, Boehm, Giroux and Vafeiadis 2018): a race.
// expect: robust ra=yes rc20=yes
// expect: race ra=no rc20=yes
// expect: assertion sc=no
max_value 2;
global flag;
na data;

fn producer {
    data.nastore(1);
    flag.store(1, rel);
    flag.store(2, rlx);
}

fn consumer {
    local d;
    wait(flag, 2, acq);
    d = data.naload();
    assert(d == 1);
}
