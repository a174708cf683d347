"""Certificates of robustness for every number of threads, and their check."""

from fencepost.certificates.any_number.certificate import (
    ViewCertificate,
    decode_views,
    encode_views,
    is_view_certificate,
)
from fencepost.certificates.any_number.check import ViewsChecked, check_views

__all__ = [
    "ViewCertificate",
    "ViewsChecked",
    "check_views",
    "decode_views",
    "encode_views",
    "is_view_certificate",
]
