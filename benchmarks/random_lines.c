/* What memory allows a search that looks up states in a large table: nanoseconds for a read of 64 bytes at a
   random place, when each place is known only after the read before, and when many are known in advance.

   gcc -O2 -o /tmp/random_lines benchmarks/random_lines.c && /tmp/random_lines [MB] */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { READS = 20000000 };

typedef struct {
    uint64_t words[8];
} Line;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t random_place(uint64_t* state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32;
}

/* Inlined with a constant `dependent`, so that where it is 0 no place depends on a read. */
static inline __attribute__((always_inline)) double nanoseconds(Line const* lines, uint64_t count,
                                                                int dependent) {
    uint64_t state = 1, sum = 0;
    double started = seconds();
    for (int i = 0; i < READS; i++) {
        sum += lines[random_place(&state) * count >> 32].words[0];
        if (dependent) {
            state += sum; /* the words are 0, but the processor cannot know */
        }
    }
    double taken = seconds() - started;
    if (sum != 0) {
        puts("never");
    }
    return taken / READS * 1e9;
}

int main(int argc, char** argv) {
    uint64_t megabytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 512;
    uint64_t count = megabytes * 1048576 / sizeof(Line);
    Line* lines = malloc(count * sizeof(Line));
    for (uint64_t i = 0; i < count; i++) {
        lines[i] = (Line){{0}};
    }
    printf("%lu MB: one after the other %.1f ns, at once %.1f ns\n", (unsigned long)megabytes,
           nanoseconds(lines, count, 1), nanoseconds(lines, count, 0));
    free(lines);
}
