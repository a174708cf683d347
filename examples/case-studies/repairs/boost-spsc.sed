# An SC fence before each operation: between the index that the last one wrote and the one that this reads.
s/^( *)(const size_t write_index = write_index_\.load\()/\1std::atomic_thread_fence(std::memory_order_seq_cst);\n\1\2/
