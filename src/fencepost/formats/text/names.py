"""Names for what is written: which ones a language can have, and what to call the others.

Every writer says which names its language can spell, and `spellings` finds one for each name of a program.
The names that C has taken (keywords, macros, and whatever headers declare) stand here too, for all writers
whose text ends up in a C compiler.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable


def spellings(
    names: Iterable[str], is_name: Callable[[str], bool], taken: Iterable[str] = ()
) -> dict[str, str]:
    """A name that the language has, and that is not taken, for each of `names`: itself where possible."""
    names = list(dict.fromkeys(names))
    used = set(taken)
    kept = {name for name in names if is_name(name) and name not in used}
    used |= kept
    result = {}
    for name in names:
        result[name] = name if name in kept else _fresh(name, is_name, used)
        used.add(result[name])
    return result


def _fresh(name: str, is_name: Callable[[str], bool], used: set[str]) -> str:
    fresh = re.sub(r"\W+", "_", name, flags=re.ASCII).strip("_")
    if not is_name(fresh) and not is_name(f"{fresh}_"):
        fresh = f"v_{fresh}"
    while not is_name(fresh) or fresh in used:
        fresh += "_"
    return fresh


def is_c_name(name: str) -> bool:
    """Whether a C file can use the name, and should."""
    is_identifier = re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name) is not None
    return is_identifier and name not in _TAKEN_IN_C and not _C_FAMILIES.fullmatch(name)


_C_KEYWORDS = """
    alignas alignof asm auto bool break case char const constexpr continue default do double else enum
    extern false float for goto if inline int long nullptr register restrict return short signed sizeof
    static static_assert struct switch thread_local true typedef typeof typeof_unqual union unsigned void
    volatile while
"""

# What our own C files declare, and what <pthread.h>, <stdatomic.h>, <stdint.h>, <stdio.h> and <stdlib.h>
# declare with every extension of the GNU C library, as far as `_C_FAMILIES` does not cover it.
_C_DECLARED = """
    argument failed linux main memory_order tid uint unix BIG_ENDIAN BUFSIZ BYTE_ORDER CLOCKS_PER_SEC
    CSIGNAL EOF EXIT_FAILURE EXIT_SUCCESS FILE LITTLE_ENDIAN MB_CUR_MAX NFDBITS NULL PDP_ENDIAN TIME_UTC
    a64l abort abs aligned_alloc alloca arc4random arc4random_buf arc4random_uniform asctime asprintf
    at_quick_exit atexit atof atoi atol atoll bsearch calloc canonicalize_file_name clearenv clearerr
    clock clone close ctermid ctime cuserid daylight difftime div dprintf dysize ecvt exit fclose
    fcloseall fcvt fd_mask fd_set fdopen feof ferror fflush fgetc fgetpos fgets fileno flockfile fmemopen
    fopen fopencookie fprintf fputc fputs fread free freopen fscanf fseek fseeko fsetpos ftell ftello
    ftrylockfile funlockfile fwrite gcvt gmtime grantpt initstate itimerspec kill_dependency l64a labs
    ldiv llabs lldiv localtime malloc mblen mbstowcs mbtowc mktime nanosleep obstack obstack_printf
    obstack_vprintf offsetof on_exit open_memstream pclose perror popen posix_memalign posix_openpt printf
    pselect ptsname putc putchar putenv puts putw qecvt qfcvt qgcvt qsort quick_exit rand random
    random_data read realloc reallocarray realpath remove rename renameat renameat2 rewind rpmatch scanf
    secure_getenv select sigevent sigmask snprintf sprintf srand srandom sscanf stderr stdin stdout system
    tempnam time timegm timelocal timespec timespec_get timespec_getres timeval timex timezone tm tmpfile
    tmpnam tzname tzset u_char u_int u_long u_short ulong ungetc unlockpt unsetenv unshare ushort va_list
    valloc vasprintf vdprintf vfprintf vfscanf vprintf vscanf vsnprintf vsprintf vsscanf wcstombs wctomb
    write
"""

_C_FAMILIES = re.compile(
    r"_\w*"
    r"|(fp|FP|FENCEPOST|va|pthread|PTHREAD|atomic|ATOMIC|memory_order|thread|sched|SCHED|clock|CLOCK|timer|TIMER"
    r"|CLONE|CPU|ADJ|MOD|STA|FD|FOPEN|L|P|RAND|RENAME|SEEK|TMP|FILENAME|cookie)_\w+"
    r"|u?int\w*_t|U?INT\w+|(PTRDIFF|SIG_ATOMIC|SIZE|WCHAR|WINT)_(MAX|MIN|WIDTH)|W[A-Z]+"
    r"|(str(from|to|f|p)|get|set|mk)[a-z]\w*"
    r"|(be|le|hto)[a-z]*(16|32|64)[a-z]*"
    r"|\w+(_t|_r|_l|_unlocked|64|48)"
)

_TAKEN_IN_C = frozenset((_C_KEYWORDS + _C_DECLARED).split())
