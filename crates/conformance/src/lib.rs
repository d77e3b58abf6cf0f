//! Properties of every engine, as a suite that its tests call.
//!
//! An engine's `tests/it/conformance.rs` provides a function that makes a fresh target, and [`suite!`] turns each
//! property into a test. If an engine's capabilities exclude a property, its test prints the reason. It also checks
//! that the engine refuses unsupported work.

#![expect(clippy::unwrap_used, reason = "a property that does not hold panics: that is what it is for")]
#![expect(clippy::missing_panics_doc, reason = "a property that does not hold panics: that is what it is for")]

mod any_text;
pub mod control_groups;
pub mod dataset;
pub mod finding;
mod fixture;
pub mod http;
pub mod keys;
mod mount;
mod notes;
mod places;
pub mod processes;
pub mod pseudo_terminal;
pub mod refusal;
pub mod rendezvous;
mod requirements;
pub mod sampling;
pub mod slices;
pub mod work;

pub use any_text::any_text;
pub use dataset::assert_says;
pub use fixture::{Fixture, Opened, dataset_plan, open_with, slice_of, work_side_by_side};
pub use mount::{LoopDevice, Mount, run_as_root};
pub use notes::Notes;
pub use places::{
    access_list, copy_folder, copy_of_one, names, place, quick_folder, quick_place, write_files, write_program,
};
pub use refusal::refused_settings;
pub use requirements::{
    STRANGER, network, not_run, own_mounts, own_process, tool, whole_tool, with_own_memory, with_tracefs,
    without_tracefs,
};

/// One `#[test]` a property, each on a fresh target from `$fixture`. That is a `fn() -> Fixture`, or `->
/// Option<Fixture>` that has printed the missing requirement with [`not_run`]. Properties of work may use a target of
/// `$loaded`, which has the dataset of the fixture already if an earlier property used it.
#[macro_export]
macro_rules! suite {
    ($fixture:path) => {
        $crate::suite!($fixture, $fixture);
    };
    ($fixture:path, $loaded:path) => {
        $crate::properties!($fixture, dataset if loads: [
            a_fresh_target_holds_nothing_and_lists_nothing,
            a_load_is_reported_by_dataset_and_is_complete,
            a_load_reports_its_progress,
            a_load_with_other_parameters_is_refused,
            more_schemas_are_added_to_a_load,
            a_stopped_load_is_completed_by_the_next,
            verify_proves_the_layout,
            cleanup_removes_what_inventory_lists,
        ]);
        $crate::properties!($loaded, slices: [
            a_slice_keeps_its_begin_and_its_end,
            a_report_is_consistent,
            max_ops_are_done_and_no_more,
            operations_continue_from_slice_to_slice,
            an_interrupt_ends_a_slice_or_is_harmless,
            sessions_work_in_parallel,
        ]);
        $crate::properties!($loaded, work: [
            a_read_visits_exactly_its_work_unit,
            hot_spot_and_hot_schema_keep_their_share,
            a_session_of_few_visits_several_schemas,
            thinking_is_reported,
            a_pause_continues_over_the_boundaries_of_slices,
            a_rate_is_kept_or_refused,
            the_same_seed_draws_the_same_operations,
            older_arithmetic_is_kept,
        ]);
        $crate::properties!($loaded, work if scans: [scans_read_the_scan_table]);
        $crate::properties!($loaded, work if updates: [
            the_update_mix_is_kept_over_slices,
            updates_visit_their_own_work_unit_light_and_heavy,
            fewer_commits_are_kept_or_refused,
        ]);
        $crate::properties!($loaded, sampling: [
            samplers_give_a_value_for_each_metric,
            counters_never_go_down,
            logical_reads_cover_the_blocks_visited,
        ]);
        $crate::properties!($loaded, sampling if updates: [commits_are_counted_where_known]);
        $crate::properties!($fixture, refusal: [
            a_bad_url_is_refused_in_one_line,
            plans_are_pure_and_reported_by_kind,
            capabilities_are_honest,
            the_target_describes_itself,
            options_are_named_and_reported,
        ]);
        $crate::properties!($fixture, refusal if loads: [work_beyond_the_dataset_is_refused]);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! properties {
    ($fixture:path, $module:ident: [$($property:ident),* $(,)?]) => {
        $(
            #[test]
            fn $property() {
                if let Some(fixture) = Option::<$crate::Fixture>::from($fixture()) {
                    $crate::$module::$property(&fixture);
                }
            }
        )*
    };
    ($fixture:path, $module:ident if $capability:ident: [$($property:ident),* $(,)?]) => {
        $(
            #[test]
            fn $property() {
                if let Some(fixture) = Option::<$crate::Fixture>::from($fixture())
                    && fixture.applies(fixture.can().$capability, stringify!($capability))
                {
                    $crate::$module::$property(&fixture);
                }
            }
        )*
    };
}
