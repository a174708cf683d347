"""Which tests should notice a mutant."""

from __future__ import annotations

ENGINE = "tests/engine"
DEFINITIONS = f"{ENGINE}/test_against_definitions.py"
COUNTING = f"{ENGINE}/test_robust_by_counting.py"
FEW_COUNTED = f"{COUNTING}::test_a_robust_program_has_no_graphs_but_those_of_sc[0]"

# First some that are fast, then those for mutants that survive these. `make test` runs all of them.
SUITES: dict[str, list[list[str]]] = {
    "monitors": [
        [
            f"{DEFINITIONS}::test_random_programs[0-cpp20]",
            f"{DEFINITIONS}::test_random_programs[0-rc20]",
            f"{DEFINITIONS}::test_random_programs[0-ra]",
            f"{DEFINITIONS}::test_programs_that_tell_the_rules_of_s_apart",
        ],
        [FEW_COUNTED],
        [f"{ENGINE}/test_topics.py"],
        [
            f"{DEFINITIONS}::test_random_programs[250-cpp20]",
            f"{DEFINITIONS}::test_random_programs[250-rc20]",
            f"{DEFINITIONS}::test_programs_that_once_disagreed",
            COUNTING,
        ],
        [DEFINITIONS, f"{ENGINE}/test_observational.py", f"{ENGINE}/test_reductions.py"],
    ],
    "topics": [
        [
            f"{ENGINE}/test_topics.py",
            f"{DEFINITIONS}::test_programs_that_tell_the_rules_of_s_apart",
        ],
        [FEW_COUNTED],
        [f"{ENGINE}/test_reductions.py", COUNTING],
        [DEFINITIONS],
    ],
    "reductions": [
        [
            f"{ENGINE}/test_known_steps.py",
            f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-rc20]",
            f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-ra]",
            f"{ENGINE}/test_observational.py",
        ],
        [f"{ENGINE}/test_reductions.py", f"{ENGINE}/test_explorer.py", "tests/analyses/test_deadlocks.py"],
        [DEFINITIONS, f"{ENGINE}/test_tso.py"],
    ],
    "tso": [
        [f"{ENGINE}/test_tso.py::test_random_programs[0]"],
        [f"{ENGINE}/test_tso.py::test_programs_with_read_modify_writes_anywhere"],
        [f"{ENGINE}/test_tso.py", "tests/analyses/repair/test_tso.py"],
        ["tests/examples/test_tso_corpus.py"],
    ],
    "tso-safety": [
        [f"{ENGINE}/test_tso_safety.py::test_random_programs[0]"],
        [f"{ENGINE}/test_tso_safety.py::test_programs_with_read_modify_writes_anywhere"],
        [f"{ENGINE}/test_tso_safety.py"],
        ["tests/certificates/test_tso_certificates.py", "tests/analyses/safety/test_tso.py"],
    ],
    "safety": [
        [f"{ENGINE}/test_coverability.py::test_random_programs[0]"],
        [f"{ENGINE}/test_coverability.py::test_programs_with_read_modify_writes_anywhere"],
        [f"{ENGINE}/test_coverability.py"],
        [
            "tests/certificates/test_engine_certificates.py",
            "tests/analyses/safety/test_data_races.py",
            "tests/analyses/safety/test_safety.py",
        ],
    ],
    "forward": [
        [f"{ENGINE}/test_sra_forward.py::test_random_programs[200000]"],
        [f"{ENGINE}/test_sra_forward.py::test_programs_with_read_modify_writes_anywhere"],
        [f"{ENGINE}/test_sra_forward.py"],
        ["tests/analyses/safety/test_data_races.py", "tests/analyses/safety/test_safety.py"],
    ],
    "graphs": [
        [f"{ENGINE}/test_graph_enumeration.py"],
        [FEW_COUNTED],
        [COUNTING, "tests/analyses/test_outcomes.py"],
        ["tests/analyses/safety/test_graph_search.py"],
    ],
    "any-number": [["tests/analyses/test_any_number.py"], ["tests/certificates/test_view_certificates.py"]],
    "sanitizer": [
        ["tests/sanitizer/test_rules.py"],
        ["tests/sanitizer/test_weak_executions.py::test_weak_executions_are_those_of_the_definition"],
    ],
    "weak": [["tests/sanitizer/test_weak_executions.py::test_weak_executions_are_those_of_the_definition"]],
    "static": [
        [
            f"{DEFINITIONS}::test_random_programs[0-rc20]",
            f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-rc20]",
            f"{ENGINE}/test_known_steps.py",
            "tests/static",
        ],
        [
            f"{ENGINE}/test_reductions.py",
            f"{ENGINE}/test_observational.py",
            "tests/analyses/test_deadlocks.py",
        ],
        [DEFINITIONS],
    ],
    "observational": [[f"{ENGINE}/test_observational.py", "tests/models/test_observational.py"]],
    "certificates": [["tests/certificates"]],
    "repair": [
        ["tests/cheapest", "tests/analyses/repair/test_changes.py"],
        ["tests/analyses/repair"],
    ],
}
