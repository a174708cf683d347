// Client of cds::container::MSQueue with hazard pointers (source of libcds 2.3.3): two producers and two consumers.
#include <cds/container/msqueue.h>

#include "cds-items.hpp"

int main() { pass_items_through<cds::container::MSQueue<cds::gc::HP, int>>(); }
