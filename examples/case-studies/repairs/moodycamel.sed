# Everything is seq_cst.
s/memory_order_(relaxed|acquire|release|acq_rel)/memory_order_seq_cst/g
