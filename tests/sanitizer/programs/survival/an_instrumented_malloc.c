// An instrumented malloc.
//
// prints: 400
// compiler options: -fno-builtin -Wno-unused-result
#include "all.h"

#include <fencepost.h>
static _Alignas(64) char heap[1 << 24];
static atomic_size_t used;
static atomic_int busy;
static struct block { struct block* next; size_t size; } *blocks;
static void acquire(void) { fp_bcas(&busy, 0, 1, memory_order_acquire); }
static void release(void) { atomic_store_explicit(&busy, 0, memory_order_release); }
void* malloc(size_t size) {
    size = (size + 31) / 16 * 16;
    acquire();
    struct block* block = blocks;
    if (block != NULL && block->size >= size) blocks = block->next; else block = NULL;
    release();
    if (block != NULL) return block + 1;
    size_t at = atomic_fetch_add_explicit(&used, size + sizeof *block, RELAXED);
    if (at + size + sizeof *block > sizeof heap) abort();
    block = (struct block*)(heap + at);
    block->size = size;
    return block + 1;
}
void free(void* p) {
    if (p == NULL) return;
    struct block* block = (struct block*)p - 1;
    acquire();
    block->next = blocks;
    blocks = block;
    release();
}
void* calloc(size_t n, size_t size) { void* p = malloc(n * size); return memset(p, 0, n * size); }
void* realloc(void* p, size_t size) {
    void* q = malloc(size);
    if (p != NULL) {
        size_t old = ((struct block*)p - 1)->size;
        memcpy(q, p, old < size ? old : size);
        free(p);
    }
    return q;
}
void* memalign(size_t a, size_t size) { char* p = malloc(size + a); return p + (-(uintptr_t)p & (a - 1)); }
size_t malloc_usable_size(void* p) { return p == NULL ? 0 : ((struct block*)p - 1)->size; }
static atomic_int sum;
static void* work(void* _) {
    for (int i = 0; i < 100; ++i) {
        atomic_int* p = malloc(64);
        atomic_init(p, 1);
        atomic_fetch_add_explicit(&sum, atomic_fetch_add(p, 1), RELAXED);
        free(p);
    }
    return _;
}
int main(void) {
    pthread_t threads[4];
    for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
    char text[16];
    write(1, text, (size_t)snprintf(text, sizeof text, "%d", sum));
    return 0;
}
