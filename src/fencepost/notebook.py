"""How programs, answers and witnesses show themselves in a notebook.

Their `_repr_html_` and `_repr_svg_` call these functions. `fencepost/__init__.py` sets them to those of
`report.html.notebook`, so that the values need not know the reports.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

answer_html: Callable[[Any], str]
program_html: Callable[[Any], str]
witness_svg: Callable[[Any], str]
