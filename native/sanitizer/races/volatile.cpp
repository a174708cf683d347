// The compilers call functions of their own for volatile accesses, which ThreadSanitizer does not have: to it
// they are plain accesses. A jump leaves it the place in the program from which they were called.
#if defined(__x86_64__)
#define GO_TO(name) "jmp " name "@PLT\n"
#else
#define GO_TO(name) "b " name "\n"
#endif

#define IS(volatile_name, name)                                  \
    __asm__(".text\n.globl " volatile_name                       \
            "\n"                                                 \
            ".type " volatile_name ", %function\n" volatile_name \
            ":\n" GO_TO(name) ".size " volatile_name ", . - " volatile_name "\n");
#define OF_SIZE(size)                                   \
    IS("__tsan_volatile_read" size, "__tsan_read" size) \
    IS("__tsan_volatile_write" size, "__tsan_write" size)
#define UNALIGNED_OF_SIZE(size)                                             \
    IS("__tsan_unaligned_volatile_read" size, "__tsan_unaligned_read" size) \
    IS("__tsan_unaligned_volatile_write" size, "__tsan_unaligned_write" size)
OF_SIZE("1")
OF_SIZE("2")
OF_SIZE("4")
OF_SIZE("8")
OF_SIZE("16")
UNALIGNED_OF_SIZE("2")
UNALIGNED_OF_SIZE("4")
UNALIGNED_OF_SIZE("8")
UNALIGNED_OF_SIZE("16")
