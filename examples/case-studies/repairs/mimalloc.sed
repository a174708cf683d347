# Readers of the list of abandoned segments against those who wait for them.
s/^( *)mi_atomic_increment_relaxed\(&abandoned_readers\);/&\n\1atomic_thread_fence(memory_order_seq_cst);/
s/^( *)n = mi_atomic_load_acquire\(&abandoned_readers\);/\1atomic_thread_fence(memory_order_seq_cst);\n&/
s/mi_atomic_decrement_relaxed\(&abandoned_readers\)/mi_atomic_sub_acq_rel(\&abandoned_readers, 1)/
# Who finds a page in the state of delayed freeing sees the heap that it belongs to.
s/cas_weak_release\(&page->xthread_free, &tfree, tfreex\)/cas_weak_acq_rel(\&page->xthread_free, \&tfree, tfreex)/
