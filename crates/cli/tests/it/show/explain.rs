//! The explanation of each figure of the summary.

use serde_json::Value;

use crate::mindful::Mindful;

/// Names of all figures of a step, with the path to them; of one kind of operation that ran. Words, such as the name of
/// an old kit, are not figures.
fn figures(value: &Value, path: &str, names: &mut Vec<String>) {
    for (name, value) in value.as_object().unwrap() {
        let name = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        match value {
            Value::Object(_) => figures(value, &name, names),
            Value::Null if path == "ops" || name == "commit" => {}
            Value::String(_) => {}
            // Sources of counters are lists, and no figures of a step.
            Value::Array(values) if values.first().is_some_and(Value::is_object) => {}
            _ => names.push(name),
        }
    }
}

#[test]
fn every_figure_of_the_summary_can_be_explained() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--sessions 2");
    let mut names = vec!["little".to_owned(), "foreign_share".to_owned()];
    figures(&ran["steps"][0], "", &mut names);
    assert!(names.len() > 25, "{names:?}");
    for name in names {
        mindful.shows(format!("show --explain {name}"), "  = …step 1: ");
    }
}

#[test]
fn an_explanation_holds_the_readings_the_figure_is_made_of() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--duration 2s --sessions 2");
    let text = mindful.text("show --explain physical_reads_per_s");
    let line = text.lines().find(|line| line.contains("physical_reads from ")).unwrap();
    let readings: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [from, to, seconds] = readings[..] else { panic!("{line}") };
    let figure = ran["steps"][0]["physical_reads_per_s"].as_f64().unwrap();
    assert!(((to - from) / seconds / figure - 1.0).abs() < 0.01, "{line}: {figure}");
}

#[test]
fn the_rules_of_the_verdict_have_limits_and_near_names() {
    let mindful = Mindful::new();
    mindful.measured("");
    let text = mindful.text("show --explain verdict");
    assert!(text.matches("limit ").count() >= 9, "{text}");
    mindful.refuses("show --explain hit_ration", "did you mean `hit_ratio`?");
}
