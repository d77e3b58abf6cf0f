//! The twelve facts without which no figure may be quoted (docs/findings.md, F23): each of them is on the page, in the
//! Markdown and below a picture, even if unknown.

use crate::charts::sweep;
use crate::forms::{WIDE, page, text, written};
use crate::made::Made;
use mindful_analyze::analyze;
use mindful_core::record::run::Run;
use mindful_report::{Detail, charts};

/// The name of each, and its value in the made run.
const FACTS: [(&str, &[&str]); 12] = [
    ("engine", &["postgres 18.6"]),
    ("block size", &["8192 B"]),
    ("database cache", &["16 MiB"]),
    ("active set", &["1 GiB", "4 schemas", "32,768 blocks"]),
    ("sessions", &["4, work loop in the database"]),
    ("work unit", &["64 blocks per operation"]),
    ("mix", &["20.0 % realised", "20.0 % asked"]),
    ("WAL and commit", &["light", "commits each update"]),
    ("buffer hits", &["2 % of logical reads"]),
    ("measured window", &["10.00 s"]),
    ("CPU", &["8 CPUs", "1.20 cores"]),
    ("storage", &[]),
];

pub(crate) fn forms(run: &Run) -> Vec<(&'static str, String)> {
    vec![
        ("page", page(run)),
        ("markdown", written(run)),
        ("caption", charts::caption(&[(run, &analyze(run))]).join("\n")),
        ("terminal", text(run, Detail::Full, &WIDE)),
    ]
}

/// The value of a fact in a text: from its name to the end of its line.
fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let marks = [format!("<dt>{name}</dt>"), format!("| {name} |"), format!("{name}: "), format!("\n  {name}  ")];
    let at = marks.iter().find_map(|mark| text.find(mark.as_str()).map(|at| at + mark.len()))?;
    text[at..].lines().next()
}

#[test]
fn each_of_the_twelve_facts_is_in_every_form() {
    let run = Made { update_pct: "20", ..Made::default() }.run();
    for (form, text) in forms(&run) {
        for (name, parts) in FACTS {
            let line = line(&text, name).unwrap_or_else(|| panic!("no {name} in {form}: {text}"));
            // A terminal wraps long lines.
            let parts = if form == "terminal" { &parts[..parts.len().min(1)] } else { parts };
            assert!(parts.iter().all(|part| line.contains(part)), "{name} in {form}: {line}");
        }
    }
}

#[test]
fn a_fact_that_is_not_known_says_so() {
    let mut empty = Made::default().run();
    empty.steps.clear();
    empty.environment.clear();
    (empty.description, empty.host, empty.dataset) = (None, None, None);
    for (form, text) in forms(&empty) {
        for name in ["block size", "database cache", "active set", "sessions", "work unit", "mix", "CPU", "storage"] {
            let line = line(&text, name).unwrap_or_else(|| panic!("no {name} in {form}: {text}"));
            assert!(line.contains("not known") || line.contains("not seen"), "{name} in {form}: {line}");
        }
    }
}

#[test]
fn names_of_marks_are_above_the_field() {
    let run = sweep(&[1, 2, 3, 4, 6, 8, 16, 32]);
    let analysis = analyze(&run);
    let drawn = charts::named("latency-iops", &[(&run, &analysis)]).unwrap().file(&[]);
    let y = |part: &str| part.split(" y=\"").nth(1)?.split('"').next()?.parse::<f64>().ok();
    let field = drawn.split("class=\"field\"").nth(1).and_then(&y).unwrap();
    let names: Vec<&str> = drawn.split("class=\"noted").skip(1).filter(|part| !part.contains("objective")).collect();
    assert!(names.iter().any(|part| part.contains("fitted capacity")), "{drawn}");
    assert!(names.iter().all(|part| y(part) < Some(field)), "{drawn}");
}
