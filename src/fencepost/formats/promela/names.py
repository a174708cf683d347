"""Which names can a file for Spin have?

Spin makes C of the file: names are fields of structures there, next to macros of its own. So a name must not
be taken in Promela, in C, or by Spin.
"""

from __future__ import annotations

import re

from fencepost.formats.text.names import is_c_name

_KEYWORDS = """
    D_proctype active always assert atomic bit bool byte c_code c_decl c_expr c_state c_track chan d_step do
    else empty enabled equivalent eval eventually false fi for full get_priority hidden if implies in init
    inline int len local ltl mtype nempty never nfull next notrace np_ od of pc_value pid printf printm
    priority proctype provided release run select set_priority short show skip stronguntil timeout trace true
    typedef unless unsigned until weakuntil xr xs
"""

# Macros, types and fields of what Spin writes. Its other macros are in capitals.
_IN_THE_VERIFIER = """
    Addproc IfNotBlocked Index Max Offsetof PanSource Pclaim SpinVersion StackSize TargetQ_Full
    TargetQ_NotFull UnBlock bfs_do_store cas enter_critical final get16bits get_permuted getframe grab_state
    iam_alive leave_critical max mix now onstack_now onstack_put onstack_zap pptr q_sz qptr rot sv uchar
    uint ulong ushort wasnew
"""

# What `writer.py` itself calls so.
_OURS = "robust race_free stale ended"

_TAKEN = frozenset((_KEYWORDS + _IN_THE_VERIFIER + _OURS).split())

# Macros, labels, saved values, and the sets of `monitor.py`.
_FAMILIES = re.compile(
    r"[A-Z][A-Z0-9_]*|G_(int|long)|(Air|Pp|P|minseq|maxseq)[0-9]+"
    r"|((end_)?at|saved)_[0-9_]+|(VSC|MSC|WSC|C|W)[0-9]*_\w+"
)


def is_name(name: str) -> bool:
    """Whether a file for Spin can use the name."""
    return is_c_name(name) and name not in _TAKEN and not _FAMILIES.fullmatch(name)
