"""Certificates of safety under SRA and TSO, and their check, which shares no code with the searches.

Those of robustness for every number of threads are in `any_number`.
"""

from fencepost.certificates.bad import Bad
from fencepost.certificates.certificate import (
    BasisState,
    Certificate,
    Standing,
    decode,
    encode,
)
from fencepost.certificates.check import Checked, Refuted, check
from fencepost.certificates.local_graphs import FAILED

__all__ = [
    "FAILED",
    "Bad",
    "BasisState",
    "Certificate",
    "Checked",
    "Refuted",
    "Standing",
    "check",
    "decode",
    "encode",
]
