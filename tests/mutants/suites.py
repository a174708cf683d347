"""Which tests should notice a mutant."""

from __future__ import annotations

ENGINE = "tests/engine"
SAFETY = "tests/analyses/safety"
DEFINITIONS = f"{ENGINE}/test_against_definitions.py"
COUNTING = f"{ENGINE}/test_robust_by_counting.py"
NATIVE = "tests/native/test_native.py::test_part_of_the_engine"
FEW_COUNTED = f"{COUNTING}::test_a_robust_program_has_no_graphs_but_those_of_sc[0]"

# First some that are fast, then those for mutants that survive these. `make test` runs all of them.
SUITES: dict[str, list[list[str]]] = {
    "monitors": [
        [
            f"{NATIVE}[monitors]",
            f"{DEFINITIONS}::test_programs_that_once_disagreed",
            f"{DEFINITIONS}::test_programs_that_tell_the_rules_of_s_apart",
            f"{ENGINE}/test_observational.py::test_a_load_comes_before_the_next_write_whatever_it_reads",
        ],
        [
            f"{DEFINITIONS}::test_random_programs[0-cpp20]",
            f"{DEFINITIONS}::test_random_programs[0-rc20]",
            f"{DEFINITIONS}::test_random_programs[0-ra]",
        ],
        [FEW_COUNTED],
        [f"{ENGINE}/test_topics.py"],
        [
            f"{DEFINITIONS}::test_random_programs[250-cpp20]",
            f"{DEFINITIONS}::test_random_programs[250-rc20]",
            COUNTING,
        ],
        [DEFINITIONS, f"{ENGINE}/test_observational.py", f"{ENGINE}/test_reductions.py"],
    ],
    "topics": [
        [
            f"{NATIVE}[labels]",
            f"{NATIVE}[monitors]",
            f"{DEFINITIONS}::test_programs_that_once_disagreed",
            f"{ENGINE}/test_reductions.py::test_topics_change_with_the_threads_that_are_exchanged",
            f"{ENGINE}/test_reductions.py::test_monitors_that_others_cover_are_dropped",
            f"{ENGINE}/test_reductions.py::test_states_with_the_same_future_are_followed_once",
            f"{ENGINE}/test_reductions.py::test_sequence_locks_have_few_different_futures",
            f"{ENGINE}/test_reductions.py::test_no_monitor_is_followed_where_nobody_can_ask",
            f"{ENGINE}/test_reductions.py::test_who_has_accessed_a_location_is_not_stale_there",
        ],
        [
            f"{ENGINE}/test_topics.py",
            f"{DEFINITIONS}::test_programs_that_tell_the_rules_of_s_apart",
        ],
        [FEW_COUNTED],
        [f"{ENGINE}/test_reductions.py", COUNTING],
        [DEFINITIONS],
    ],
    "reductions": [
        [f"{NATIVE}[monitors]", f"{NATIVE}[known_steps]"],
        [
            f"{DEFINITIONS}::test_programs_that_once_disagreed",
            f"{DEFINITIONS}::test_random_programs[0-ra]",
            f"{ENGINE}/test_tso.py::test_persistent_sets_leave_out_no_violation",
            f"{ENGINE}/test_known_steps.py",
            f"{ENGINE}/test_observational.py::test_a_taint_changes_with_the_threads_that_are_exchanged",
            f"{ENGINE}/test_reductions.py::test_a_spinning_thread_does_not_keep_others_from_their_violation",
            f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-rc20]",
            f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-ra]",
            f"{ENGINE}/test_reductions.py::test_stale_values_rotate_with_the_others",
            f"{ENGINE}/test_reductions.py::test_cells_of_an_array_rotate_with_their_indices",
        ],
        [
            "tests/analyses/test_deadlocks.py::TestAgainstTheDefinition::test_robust_on_random_programs",
            "tests/analyses/test_deadlocks.py::TestWhatADeadlockIs",
            f"{ENGINE}/test_observational.py",
        ],
        [f"{ENGINE}/test_reductions.py", f"{ENGINE}/test_explorer.py"],
    ],
    "tso": [
        [
            f"{ENGINE}/test_tso.py::test_random_programs[0]",
            f"{ENGINE}/test_tso.py::test_programs_that_once_disagreed",
        ],
        [f"{ENGINE}/test_tso.py::test_programs_with_read_modify_writes_anywhere"],
        [
            f"{ENGINE}/test_tso.py::{test}"
            for test in (
                "test_a_pivot_reads_what_others_write_to_its_cells",
                "test_all_ways_past_a_write_are_found",
                "test_a_pivot_that_is_safe_alone_is_in_no_violation",
                "test_flattening_sees_what_the_paper_leaves_out",
                "test_a_proof_by_flattening_says_so",
                "test_a_reduced_search_keeps_to_its_limits",
                "test_persistent_sets_leave_out_no_violation",
            )
        ],
        [
            f"tests/analyses/repair/test_tso.py::{test}"
            for test in ("test_no_smaller_set_of_fences_will_do", "test_every_fence_of_a_minimum_is_needed")
        ],
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
        [
            f"{ENGINE}/test_coverability.py::test_random_programs[0]",
            f"{ENGINE}/test_coverability.py::test_programs_that_pass_messages",
            f"{ENGINE}/test_coverability.py::test_every_reachable_state_is_found",
            f"{ENGINE}/test_coverability.py::test_a_choice_that_was_tried_leaves_nothing_behind",
        ],
        [f"{ENGINE}/test_coverability.py::test_programs_with_read_modify_writes_anywhere"],
        [f"{ENGINE}/test_coverability.py"],
        [
            "tests/certificates/test_engine_certificates.py",
            "tests/analyses/safety/test_data_races.py",
            "tests/analyses/safety/test_safety.py",
        ],
    ],
    "forward": [
        [
            f"{ENGINE}/test_sra_forward.py::test_random_programs[200000]",
            f"{ENGINE}/test_sra_forward.py::test_programs_that_pass_messages",
            f"{ENGINE}/test_sra_forward.py::test_a_search_that_leaves_writes_out_says_so",
        ],
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
    "any-number": [
        [
            "tests/analyses/safety/test_any_number.py::test_threads_that_are_not_there_stand_nowhere",
            *(
                f"tests/analyses/test_any_number.py::{test}"
                for test in (
                    "test_a_write_is_attacked_by_each_read_that_overtakes_it",
                    "test_what_some_threads_have_done_in_an_attack_is_not_done_by_all",
                    "test_views_of_an_attack_are_found_whatever_came_first_in_its_first_half",
                )
            ),
        ],
        ["tests/analyses/test_any_number.py"],
        ["tests/analyses/safety/test_any_number.py"],
        ["tests/certificates/test_view_certificates.py"],
    ],
    "sanitizer": [
        ["tests/sanitizer/test_rules.py"],
        ["tests/sanitizer/test_weak_executions.py::test_weak_executions_are_those_of_the_definition"],
    ],
    "weak": [["tests/sanitizer/test_weak_executions.py::test_weak_executions_are_those_of_the_definition"]],
    "planner": [
        [
            f"tests/sanitizer/test_check.py::{test}"
            for test in (
                "test_the_exploration_runs_each_graph_once",
                "test_a_race_between_earlier_events_counts_anew_when_later_ones_change",
                "test_the_exploration_runs_each_graph_once_of_starts_and_sizes",
                "test_a_lock_that_perhaps_cannot_come_first_hides_no_other_race",
                "test_choices_stay_with_the_event_that_they_follow",
                "test_choices_follow_all_that_they_need",
                "test_walks_that_share_the_work_run_each_graph_once",
            )
        ],
    ],
    # What is told.
    "answers": [
        ["tests/verdicts", "tests/analyses/test_robustness.py", "tests/cli/test_cli.py::TestExitCodes"],
        ["tests/cli", "tests/report/export"],
        [
            "tests/analyses/test_deadlocks.py",
            "tests/analyses/test_swarm.py",
            "tests/analyses/safety/test_safety.py",
        ],
    ],
    "any-number-answers": [
        ["tests/analyses/test_any_number.py"],
        ["tests/analyses/safety/test_any_number.py", "tests/certificates/test_view_certificates.py"],
    ],
    "tso-answers": [[f"{ENGINE}/test_tso.py"], ["tests/analyses/repair/test_tso.py", "tests/cli"]],
    "outcomes": [["tests/analyses/test_outcomes.py"], ["tests/cli", "tests/examples/test_outcome_tables.py"]],
    "observational-answers": [[f"{ENGINE}/test_observational.py"]],
    "safety-answers": [
        [f"{SAFETY}/test_safety.py", "tests/analyses/test_deadlocks.py::TestVerify"],
        [f"{SAFETY}/test_data_races.py", f"{SAFETY}/test_tso.py", f"{SAFETY}/test_graph_search.py"],
        ["tests/cli", "tests/analyses/test_deadlocks.py"],
    ],
    "program-answers": [["tests/verdicts"]],
    "translations": [[f"{ENGINE}/test_translations.py"]],
    "static": [
        [
            "tests/static",
            f"{ENGINE}/test_reductions.py::test_threads_with_different_orders_for_failure_are_not_exchanged",
            f"{ENGINE}/test_reductions.py::test_seq_cst_accesses_to_own_locations_are_steps_where_there_are_sc_fences",
            f"{ENGINE}/test_reductions.py::test_accesses_that_nobody_sees_are_no_scheduling_points",
        ],
        [
            f"{DEFINITIONS}::test_random_programs[0-rc20]",
            f"{ENGINE}/test_reductions.py::test_looping_programs_keep_their_findings[0-rc20]",
            f"{ENGINE}/test_known_steps.py",
        ],
        [
            f"{ENGINE}/test_reductions.py",
            f"{ENGINE}/test_observational.py",
            "tests/analyses/test_deadlocks.py::TestWhatADeadlockIs",
        ],
        [DEFINITIONS],
    ],
    # In the library that programs are linked with.
    "watching": [
        ["tests/sanitizer/test_runtime.py"],
        ["tests/sanitizer/test_races.py"],
        ["tests/sanitizer/test_known_to_tsan.py", "tests/sanitizer/test_run.py"],
    ],
    "stores": [[f"{ENGINE}/test_stores.py::test_bitstate_never_says_robust"]],
    "patches": [["tests/sanitizer/test_patches.py"], ["tests/sanitizer/test_random_patches.py"]],
    "observational": [[f"{ENGINE}/test_observational.py", "tests/models/test_observational.py"]],
    "certificates": [["tests/certificates"]],
    "repair": [
        ["tests/cheapest", "tests/analyses/repair/test_changes.py"],
        [f"tests/analyses/repair/test_{name}.py" for name in ("programs", "relax", "edits", "tso")],
    ],
}
