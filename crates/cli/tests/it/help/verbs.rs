//! The list of verbs and the help of each.

use std::collections::BTreeSet;

use crate::mindful::{Mindful, Words, printed};

fn help_of(args: impl Words) -> String {
    printed(&Mindful::new().succeed(args))
}

fn verbs(help: &str) -> Vec<&str> {
    let (list, _) = help.split_once("General:").unwrap();
    let (_, list) = list.split_once("VERB [OPTIONS]").unwrap();
    list.lines().filter_map(|line| line.strip_prefix("  ")?.split_whitespace().next()).collect()
}

fn flags(help: &str) -> BTreeSet<&str> {
    let lines = help.lines().filter(|line| line.starts_with("  "));
    lines.flat_map(str::split_whitespace).filter(|word| word.starts_with("--")).collect()
}

#[test]
fn the_help_lists_24_verbs_in_groups() {
    let help = help_of("--help");
    assert_eq!(verbs(&help).len(), 24, "{help}");
    for group in ["Measure", "Judge", "Keep", "Data", "Old results", "Several machines", "Setup"] {
        assert!(help.contains(&format!("\n{group}:\n")), "{group}: {help}");
    }
    assert_eq!(help, help_of("help"));
    assert_eq!(help, help_of("help -h"));
}

#[test]
fn the_help_of_each_verb_fits_a_page_and_shows_an_example() {
    let list = help_of("--help");
    for verb in verbs(&list).into_iter().chain(["generate"]) {
        let help = help_of([verb, "--help"]);
        let wide = help.lines().find(|line| line.chars().count() > 100);
        assert!(help.lines().count() <= 50 && wide.is_none(), "{help}");
        assert!(help.contains(&format!("Example: mindful {verb}")) && help.contains("docs/"), "{help}");
        assert_eq!(help, help_of([verb, "-h"]));
    }
}

#[test]
fn all_keys_are_one_flag_or_one_word_away() {
    let (usual, all) = (help_of("run --help"), help_of("run --help-all"));
    assert_eq!(all, help_of("help run"));
    let (usual, all) = (flags(&usual), flags(&all));
    assert!(usual.is_subset(&all) && all.contains("--hook-before") && !usual.contains("--hook-before"), "{all:?}");
    assert!(all.len() > usual.len() + 30, "{} and {}", usual.len(), all.len());
    let doctor = help_of("doctor --help");
    assert_eq!(flags(&doctor).intersection(&BTreeSet::from(["--sessions", "--duration"])).count(), 0, "{doctor}");
}
