// Who a program is: what it prints must not depend on how its threads are scheduled. With the argument "again" it
// first starts itself again.
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int get(atomic_int* x);

int main(int count, char** arguments) {
    static atomic_int x;
    if (count > 1 && strcmp(arguments[1], "again") == 0) {
        execl("/proc/self/exe", "renamed", "once more", (char*)NULL);
        return 1;
    }
    char path[4096] = "", name[64] = "", folder[4096] = "";
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0) return 2;
    FILE* file = fopen("/proc/self/comm", "r");
    if (file == NULL || fgets(name, sizeof name, file) == NULL) return 3;
    fclose(file);
    atomic_store(&x, 7);
    for (int i = 0; i < count; ++i) printf("%s\n", arguments[i]);
    printf("%s\n%s%s\n%s\n", path, name, program_invocation_name, getcwd(folder, sizeof folder));
    printf("%s %d\n", getenv("OF_ITS_OWN"), get(&x));
    return 5;
}
