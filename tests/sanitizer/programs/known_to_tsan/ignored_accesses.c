// Plain accesses that the program wants left alone, and a race that it calls benign.
//
// seen in: full races
#include <pthread.h>
void AnnotateIgnoreReadsBegin(char const*, int);
void AnnotateIgnoreReadsEnd(char const*, int);
void AnnotateIgnoreWritesBegin(char const*, int);
void AnnotateIgnoreWritesEnd(char const*, int);
void AnnotateBenignRaceSized(char const*, int, void const volatile*, long, char const*);
static int volatile hint, hits;
static void* work(void* _) {
#ifndef SILENT
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
#endif
    for (int i = 0; i < 100; ++i) ++hint;
#ifndef SILENT
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
#endif
    for (int i = 0; i < 100; ++i) ++hits;
    return _;
}
int main(void) {
#ifndef SILENT
    AnnotateBenignRaceSized(__FILE__, __LINE__, &hits, sizeof hits, "a count of little importance");
#endif
    pthread_t t[2];
    for (int i = 0; i < 2; ++i) pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < 2; ++i) pthread_join(t[i], 0);
    return 0;
}
