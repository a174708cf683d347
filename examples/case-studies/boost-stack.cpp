// Client of boost::lockfree::stack (Debian: libboost-dev): two producers and two consumers, nodes from the
// heap that go through a list of free ones.
#include <boost/lockfree/stack.hpp>

#include "items.hpp"

int main() {
    boost::lockfree::stack<int> stack(2);
    pass_items(
        2, [&](int, int item) { return stack.push(item); }, [&](int& item) { return stack.pop(item); });
}
