// What libstdc++ does inside semaphores, barriers, latches and shared pointers is not robust either, but it is
// not the user's.
#include <barrier>
#include <latch>
#include <memory>
#include <semaphore>
#include <thread>
#include <vector>

int main() {
    std::counting_semaphore<4> places(1);
    std::barrier meeting(3);
    std::latch done(3);
    auto shared = std::make_shared<int>(1);
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; i++)
        threads.emplace_back([&, own = shared] {
            for (int round = 0; round < 3; round++) {
                places.acquire();
                places.release();
                meeting.arrive_and_wait();
                if (places.try_acquire()) places.release();
                std::weak_ptr<int> weak = own;
                if (own.use_count() > 100 || weak.expired()) return;
            }
            done.arrive_and_wait();
        });
    for (std::thread &thread : threads) thread.join();
    return 0;
}
