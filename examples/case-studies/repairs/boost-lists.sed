# All loads are seq_cst, as the compare-and-exchanges are.
s/\.load\((detail::)?memory_order_(relaxed|consume|acquire)\)/.load()/
