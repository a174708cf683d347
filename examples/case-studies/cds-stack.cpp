// Client of cds::container::TreiberStack with hazard pointers (source of libcds 2.3.3): two producers and two consumers.
#include <cds/container/treiber_stack.h>
#include <cds/gc/hp.h>
#include <cds/init.h>

#include "items.hpp"

namespace {

// Threads of the library have hazard pointers from their first use of it to their end.
struct Attached {
    Attached() { cds::threading::Manager::attachThread(); }
    ~Attached() { cds::threading::Manager::detachThread(); }
};
void attach() {
    thread_local Attached const attached;
    (void)attached;
}

}  // namespace

int main() {
    cds::Initialize();
    {
        cds::gc::HP hazard_pointers;
        cds::threading::Manager::attachThread();
        cds::container::TreiberStack<cds::gc::HP, int> items;
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
