# The thief must read top in the total order of the seq_cst operations: else it may miss that the owner has taken
# the item.
/::try_steal\(value_type/,$ s/auto t = top\.load\(std::memory_order_relaxed\)/auto t = top.load(std::memory_order_seq_cst)/
