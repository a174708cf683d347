# A producer whose turn has come already must see what the one before it wrote.
s/if \(tail_counter\.load\(std::memory_order_relaxed\) != k\)/if (tail_counter.load(std::memory_order_acquire) != k)/
