// Who comes first initialises. The other one sees before its call that all is done, or only in it.
// summary: robust: all 4 executions seen
#include <atomic>
#include <thread>
std::atomic<int> x;
struct Variable {
    Variable() { x.store(1, std::memory_order_relaxed); }
    int value = 1;
};
static void use() {
    static Variable variable;
    (void)variable.value;
}
int main() {
    std::thread a(use), b(use);
    a.join();
    b.join();
}
