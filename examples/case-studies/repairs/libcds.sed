# A thread that takes over what an ended one has left must see all that this one wrote there.
/smr::alloc_thread_data/,/^    }/ s/(compare_exchange_strong\( thId, curThreadId, atomics::memory_order_)relaxed/\1acquire/
