"""Which memory model a question about a program is asked of."""

from __future__ import annotations

from fencepost.memory_models import DEFAULT_MODELS, MODELS, model_for, models_for
from fencepost.program import Program


def chosen_model(program: Program, question: str, model: str | None) -> str:
    """The model that was named, or the default for this program.

    Raises `ValueError` if the question cannot be asked about it, and `InputError` if the program has a
    seq_cst access and the model does not say what that means.
    """
    model = model or default_model(program, question)
    model_for(question, model)
    if program.sc_access is not None and not MODELS[model].sc_accesses:
        names = [f"`--model {name}`" for name in models_for(question) if MODELS[name].sc_accesses]
        message = f"the model {model} has no seq_cst accesses; {' and '.join(names)} can be asked about them"
        raise program.mistake(message, program.sc_access.at)
    return model


def default_model(program: Program, question: str) -> str:
    """cpp20 for C litmus tests and for programs with seq_cst accesses, if it can be asked about."""
    is_c = program.format == "litmus" or program.sc_access is not None
    return "cpp20" if is_c and "cpp20" in models_for(question) else DEFAULT_MODELS[question]
