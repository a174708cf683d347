// Shared pointers across an uninstrumented library. Some of the counting is done in libstdc++.so, which
// is not instrumented.
//
// prints: 50
#include "all.h"

#include <future>
#include <sstream>
#include <locale>
int main() {
    int sum = 0;
    for (int i = 0; i < 50; ++i) {
        auto shared = std::make_shared<int>(i);
        auto future = std::async(std::launch::async, [shared] {
            std::ostringstream text;
            text.imbue(std::locale::classic());
            text << *shared;
            return std::stoi(text.str());
        });
        sum += future.get() == *shared;
    }
    std::printf("%d", sum);
}
