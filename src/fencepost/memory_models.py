"""The memory models, one row each, and the other names that every face shares.

A row says what a model is called, what can be asked about it, and where it is defined. What a model means is
in `models/`; how a question is answered is in `analyses/`. `docs/adding-a-model.md` says how to add a row.
"""

from typing import Literal, NamedTuple

# The order in which `robust` visits states, and the one that `swarm` takes instead. The engine's enumerators
# are called the same, in capitals; "auto" is made of several (`analyses/robustness.py`).
SEARCH_ORDERS = ("auto", "breadth-first", "depth-first", "largest-first", "by-location")
SWARM_ORDER = "at-random"

# What `verify` can be answered by.
Engine = Literal["portfolio", "backward", "forward"]
ENGINES: tuple[Engine, ...] = ("portfolio", "backward", "forward")

# Those whose backward search can give its proof away, for `check-certificate`.
CERTIFIED_MODELS = ("sra", "tso")

# Those that `robust`, `fix` and `relax` can be asked about if there is any number of threads.
ANY_NUMBER_MODELS = ("ra", "rc20", "cpp20")

# What keeps the backward search for safety small; each can be switched off.
PRUNINGS = ("sources", "pairs", "joint", "subsumption")

# What a question can be about, and what a program is called that has it.
CRITERIA = {
    "robust": "robust",
    "observational": "observationally robust",
    "persistent": "persistent",
    "trf": "free of triangular races",
    "either": "persistent or robust",
    "safe": "safe",
    "deadlock-free": "safe and free of deadlocks",
    "data-race-free": "free of data races",
    "write-write-race-free": "free of write/write races",
}

# What kinds of races `races` can be asked about, and the criterion of each.
RaceKind = Literal["data", "write-write"]
DATA_RACES, WRITE_RACES = "data-race-free", "write-write-race-free"
RACE_KINDS: dict[RaceKind, str] = {"data": DATA_RACES, "write-write": WRITE_RACES}

# Robustness of execution graphs, and of those values alone that a program uses.
GRAPH_CRITERIA = ("robust", "observational")
OBSERVATIONAL = "observational"
# The criterion of `verify` if deadlocks are among the bad states.
DEADLOCKS = "deadlock-free"

EXIT_HOLDS, EXIT_VIOLATED, EXIT_WRONG_INPUT, EXIT_UNDECIDED = range(4)
EXIT_MEANINGS = {
    EXIT_HOLDS: "the property holds",
    EXIT_VIOLATED: "it is violated (or a race or a failing assertion was found)",
    EXIT_WRONG_INPUT: "wrong input or usage",
    EXIT_UNDECIDED: "undecided within the limits",
}


# No struct of msgspec, for which compiler wrappers have no time; and no annotation here is a text, since that
# would have to be compiled.
class MemoryModel(NamedTuple):
    """One row: a memory model."""

    called: str  # in sentences
    criteria: dict[str, tuple[str, ...]]  # of each question about it; the first is the default
    definition: str = ""  # the module that defines it by execution graphs, as `DEFINITION`
    synchronises: bool = False  # every atomic access acquires and releases
    weak_fences: bool = False  # acquire and release fences do something
    sc_accesses: bool = False  # takes seq_cst accesses
    ordered_by_s: bool = False  # S has them and SC fences; else such a fence is an RMW of its own cell
    engines: tuple[Engine, ...] = ()  # to choose from for `verify`
    orders: tuple[str, ...] = ()  # to choose from for `robust`


MODELS = {
    "sra": MemoryModel(
        "strong release/acquire",
        criteria={"verify": ("safe", DEADLOCKS), "races": (DATA_RACES, WRITE_RACES)},
        synchronises=True,
        engines=ENGINES,
    ),
    "ra": MemoryModel(
        "release/acquire",
        criteria={
            "robust": GRAPH_CRITERIA,
            "fix": ("robust",),
            "verify": ("safe", DEADLOCKS),
            "races": (DATA_RACES,),
        },
        definition="fencepost.models.ra",
        synchronises=True,
        engines=ENGINES,
        orders=SEARCH_ORDERS,
    ),
    "rc20": MemoryModel(
        "C++20 atomics",
        criteria={
            "robust": GRAPH_CRITERIA,
            "fix": ("robust",),
            "verify": ("safe",),
            "races": (DATA_RACES,),
        },
        definition="fencepost.models.rc20",
        weak_fences=True,
        engines=("portfolio", "forward"),
        orders=SEARCH_ORDERS,
    ),
    "cpp20": MemoryModel(
        "C++20 atomics with seq_cst accesses",
        criteria={
            "robust": GRAPH_CRITERIA,
            "fix": ("robust",),
            "relax": ("robust",),
            "verify": ("safe",),
            "races": (DATA_RACES,),
        },
        definition="fencepost.models.cpp20",
        weak_fences=True,
        engines=("portfolio", "forward"),
        sc_accesses=True,
        ordered_by_s=True,
        orders=SEARCH_ORDERS,
    ),
    "tso": MemoryModel(
        "total store order (x86)",
        criteria={
            "robust": ("robust", "trf"),
            "persist": ("persistent",),
            "fix": ("either", "persistent", "robust", "trf"),
            "verify": ("safe", DEADLOCKS),
            "races": (DATA_RACES,),
        },
        sc_accesses=True,
        engines=ENGINES,
    ),
    "sc": MemoryModel(
        "sequential consistency",
        criteria={"verify": ("safe", DEADLOCKS), "races": (DATA_RACES,)},
        definition="fencepost.models.sc",
        sc_accesses=True,
    ),
}


# What is asked about if no model is named; for some programs it is cpp20 (`analyses/model_choice.py`).
DEFAULT_MODELS = {"robust": "ra", "fix": "ra", "verify": "sra", "races": "rc20", "persist": "tso"}


def models_for(question: str) -> tuple[str, ...]:
    """The models that the question can be asked about."""
    return tuple(name for name, model in MODELS.items() if question in model.criteria)


def model_for(question: str, name: str) -> MemoryModel:
    """The row of a model; raises `ValueError` if the question cannot be asked about it."""
    names = models_for(question)
    if name not in names:
        raise ValueError(f"unknown model {name!r}; expected one of {', '.join(names)}")
    return MODELS[name]


# Those of which the outcomes of a program can be listed; the strongest first, as far as they compare.
OUTCOME_MODELS = ("sc", "tso", "sra", "ra", "rc20", "cpp20")
ROBUSTNESS_MODELS = models_for("robust")
SAFETY_MODELS = models_for("verify")
# Those of robustness whose runs are execution graphs.
GRAPH_MODELS = tuple(name for name in ROBUSTNESS_MODELS if MODELS[name].definition)
# Of TSO: "either" is for repairs alone, and means the one of persistence and robustness that costs less.
TSO_CRITERIA = ("persistent", "robust", "trf")
EITHER = "either"
