// Treiber's stack. A compare-exchange that fails passes on what it has read, so a thread may expect first one node,
// then another, and then the first again. Rounds of the same two accesses in either order are not the same.
// summary: robust: all 34 executions seen
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
struct node { struct node* next; int value; };
static _Atomic(struct node*) head;
static struct node nodes[2];
static void push(struct node* n) {
    struct node* top = atomic_load(&head);
    do n->next = top; while (!atomic_compare_exchange_strong(&head, &top, n));
}
static struct node* pop(void) {
    struct node* top = atomic_load(&head);
    while (top != NULL && !atomic_compare_exchange_strong(&head, &top, top->next)) {}
    return top;
}
static void* run(void* a) { push(a); pop(); return NULL; }
int main(void) {
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, run, &nodes[i]);
    for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}
