// Clients of containers of libcds 2.3.3 with hazard pointers: two producers and two consumers.
#pragma once

#include <cds/gc/hp.h>
#include <cds/init.h>

#include "items.hpp"

// Threads of the library have hazard pointers from their first use of it to their end.
struct Attached {
    Attached() { cds::threading::Manager::attachThread(); }
    ~Attached() { cds::threading::Manager::detachThread(); }
};
inline void attach() {
    thread_local Attached const attached;
    (void)attached;
}

template <class Container>
void pass_items_through() {
    cds::Initialize();
    {
        cds::gc::HP hazard_pointers;
        cds::threading::Manager::attachThread();
        Container items;
        pass_items(
            2,
            [&](int, int item) {
                attach();
                return items.push(item);
            },
            [&](int& item) {
                attach();
                return items.pop(item);
            });
    }
    cds::Terminate();
}
