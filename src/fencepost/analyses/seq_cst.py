"""Which models can be asked about a program with seq_cst accesses."""

from __future__ import annotations

from fencepost.memory_models import MODELS, models_for
from fencepost.program import Program


def check_sc_accesses(program: Program, question: str, model: str) -> None:
    """Raises `InputError` if the program has a seq_cst access and the model does not say what that means."""
    if program.sc_access is None or MODELS[model].sc_accesses:
        return
    names = [f"`--model {name}`" for name in models_for(question) if MODELS[name].sc_accesses]
    instead = f"; {' and '.join(names)} can be asked about them" if names else ""
    raise program.mistake(f"the model {model} has no seq_cst accesses{instead}", program.sc_access.at)
