# Concurrency Kit: pointers are read and written by volatile accesses, not by plain ones to pointers to volatile.
s/\*\(volatile void \*const\*\)\(target\)/*(void *volatile const *)(target)/
s/\*\(volatile void \*\*\)target/*(void *volatile *)target/
