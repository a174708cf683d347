// Client of cds::container::TreiberStack with hazard pointers (source of libcds 2.3.3): two producers and two consumers.
#include <cds/container/treiber_stack.h>

#include "cds-items.hpp"

int main() { pass_items_through<cds::container::TreiberStack<cds::gc::HP, int>>(); }
