//! The list of verbs and the help of each.

use std::collections::BTreeSet;

use crate::mindful::Mindful;

fn printed(args: &[&str]) -> String {
    let output = Mindful::new().run(args);
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
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
    let help = printed(&["--help"]);
    assert_eq!(verbs(&help).len(), 24, "{help}");
    for group in ["Measure", "Judge", "Keep", "Data", "Old results", "Several machines", "Setup"] {
        assert!(help.contains(&format!("\n{group}:\n")), "{group}: {help}");
    }
    assert_eq!(help, printed(&["help"]));
    assert_eq!(help, printed(&["help", "-h"]));
}

#[test]
fn the_help_of_each_verb_fits_a_page_and_shows_an_example() {
    let list = printed(&["--help"]);
    for verb in verbs(&list) {
        let help = printed(&[verb, "--help"]);
        let wide = help.lines().find(|line| line.chars().count() > 100);
        assert!(help.lines().count() <= 50 && wide.is_none(), "{help}");
        assert!(help.contains(&format!("Example: mindful {verb}")) && help.contains("docs/"), "{help}");
        assert_eq!(help, printed(&[verb, "-h"]));
    }
}

#[test]
fn all_keys_are_one_flag_or_one_word_away() {
    let (usual, all) = (printed(&["run", "--help"]), printed(&["run", "--help-all"]));
    assert_eq!(all, printed(&["help", "run"]));
    let (usual, all) = (flags(&usual), flags(&all));
    assert!(usual.is_subset(&all) && all.contains("--hook-before") && !usual.contains("--hook-before"), "{all:?}");
    assert!(all.len() > usual.len() + 30, "{} and {}", usual.len(), all.len());
    let doctor = printed(&["doctor", "--help"]);
    assert_eq!(flags(&doctor).intersection(&BTreeSet::from(["--sessions", "--duration"])).count(), 0, "{doctor}");
}
