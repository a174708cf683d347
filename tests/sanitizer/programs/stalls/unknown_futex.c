// A thread that sleeps in a system call that no library function makes, as in libgomp.
//
// prints: woken
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
static int word;
static atomic_int x;
static long futex(int operation, int value) {
#if defined(__x86_64__)
    long result;
    register long timeout __asm__("r10") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"((long)SYS_futex), "D"(&word), "S"((long)operation), "d"((long)value), "r"(timeout)
                     : "rcx", "r11", "memory");
    return result;
#else
    return syscall(SYS_futex, &word, operation, value, 0, 0, 0);
#endif
}
static void* sleeper(void* _) {
    while (*(int volatile*)&word == 0) futex(FUTEX_WAIT_PRIVATE, 0);
    return _;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, sleeper, 0);
    for (int i = 0; i < 100; ++i) atomic_fetch_add(&x, 1);
    *(int volatile*)&word = 1;
    futex(FUTEX_WAKE_PRIVATE, 1);
    pthread_join(thread, 0);
    printf("woken");
    return 0;
}
