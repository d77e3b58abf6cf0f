//! Plan keys and engine options as flags: one row of their tables becomes one flag.
//!
//! A verb's `--help` shows only the keys that its users need; `--help-all` shows every key of the plan. Engine options
//! are flags too, but only `mindful engines NAME` explains them, because the target decides which apply.

use clap::builder::{NonEmptyStringValueParser, ValueParser};
use clap::{Arg, ArgAction, Command};
use mindful_core::plan;
use mindful_core::plan::settings::{Key, Trust};

use crate::registry;
use crate::verb::Shown;

/// Plan keys under the headings of the help, in their order there.
const HEADINGS: [(&str, &str); 7] = [
    (
        "Target and dataset",
        "target target_weights scale schemas seed scan_table content compress_ratio dedupe_ratio load_streams",
    ),
    (
        "Load",
        "sessions threads update_pct work_unit update_work_unit scan_pct skew hot_spot_size hot_spot_offset \
         hot_spot_share hot_schema redo commit commit_wait access loop rate think_time like",
    ),
    ("Time", "duration warmup steady steady_cap ops guard"),
    (RESULT, "tag price"),
    ("Observation", "node_exporter device_trace facts"),
    ("Hooks", "hook_before hook_after hook_end hook_timeout hook_failure"),
    ("Several processes", "rank ranks job meet meet_timeout"),
];

/// Heading of the flags for printing and storing a result.
pub(crate) const RESULT: &str = "Result";

/// `command` with all plan keys and engine options. Its help shows only the plan keys in `common`, or all.
pub(crate) fn with_plan(command: Command, common: &str, shown: Shown) -> Command {
    let key = |name| plan::KEYS.iter().find(|key| key.name == name);
    let keys =
        HEADINGS.iter().flat_map(|(heading, names)| names.split(' ').filter_map(key).map(move |key| (heading, key)));
    let is_shown = |key: &Key| shown != Shown::Common || common.split(' ').any(|name| name == key.name);
    command
        .args(keys.map(|(heading, key)| flag(key).help_heading(*heading).hide(!is_shown(key))))
        .args(registry::options().into_iter().map(|key| flag(key).hide(shown != Shown::Everything)))
}

pub(crate) fn flag(key: &Key) -> Arg {
    // An empty path would mean the current folder, and an empty command would do nothing.
    let filled = key.trust != Trust::Value && key.value != "COMMAND";
    let value = if filled { NonEmptyStringValueParser::new().into() } else { ValueParser::string() };
    let arg = Arg::new(key.name).long(key.flag_name()).help(key.help_text()).value_parser(value);
    if key.name == "target" {
        arg.value_name(key.value).allow_hyphen_values(true).action(ArgAction::Append)
    } else if key.value.is_empty() {
        arg.num_args(0..=1).default_missing_value("on").require_equals(true).value_name("on|off")
    } else if key.value == "on|off" {
        arg.num_args(0..=1).default_missing_value("on").value_name(key.value)
    } else {
        arg.value_name(key.value).allow_hyphen_values(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_key_has_a_heading_in_the_help() {
        let mut named: Vec<&str> = HEADINGS.iter().flat_map(|(_, names)| names.split(' ')).collect();
        let mut keys: Vec<&str> = plan::KEYS.iter().map(|key| key.name).collect();
        named.sort_unstable();
        keys.sort_unstable();
        assert_eq!(named, keys);
    }

    #[test]
    fn engine_options_of_one_name_have_one_form() {
        for (engine, key) in registry::ENGINES.iter().flat_map(|e| e.options().iter().map(move |key| (e.name(), key))) {
            let options = registry::options();
            let first = options.iter().find(|first| first.name == key.name).unwrap();
            assert_eq!((key.value, key.trust), (first.value, first.trust), "--{} of {engine}", key.flag_name());
        }
    }
}
