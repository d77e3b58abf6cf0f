//! The derived files of a pack, and their comparison with the files in a pack.
//!
//! A pack is checked by deriving its files again, not by a hash: a hash proves that bytes are unchanged, not that a
//! figure follows from the record.

use std::fmt::{self, Write as _};

use mindful_analyze::Analysis;
use mindful_core::plan::settings::Origin;
use mindful_core::record::run::Run;
use serde_json::{Value, json};

use super::json::summary;
use crate::{escape, escape_json, html};

/// Longest excerpt of a file in a difference, characters.
const EXCERPT: usize = 80;
/// Relative difference of two equal figures that two versions computed in another order.
const ROUNDING: f64 = 1e-9;

/// Derives files from the record of a run.
#[derive(Debug, Clone, Copy)]
pub struct Derivation<'a> {
    /// The record.
    pub run: &'a Run,
    pub analysis: &'a Analysis,
}

impl Derivation<'_> {
    /// The figures, as JSON.
    pub fn summary(&self) -> String {
        escape_json(&summary(&self.analysis.summary)).into_owned()
    }

    /// The settings that the user gave, as a plan file.
    pub fn plan(&self) -> String {
        let run = self.run;
        let mut text = format!("# The plan of run {}: mindful run --plan plan.toml\n", escape(&run.head.id));
        let is_key = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let given =
            run.head.settings.iter().filter(|(name, setting)| setting.origin != Origin::Default && is_key(name));
        for (name, setting) in given {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{name} = {}", toml_text(&setting.value));
        }
        text
    }

    /// Host, target and dataset, as JSON.
    pub fn environment(&self) -> String {
        let run = self.run;
        let all = json!({
            "environment": run.environment,
            "description": run.description,
            "host": run.host,
            "dataset": run.dataset,
            "proof": run.proof,
            "shapes": run.shapes,
        });
        escape_json(&format!("{all:#}\n")).into_owned()
    }

    /// The page.
    pub fn page(&self) -> String {
        escape_json(&html::page(&[(self.run, self.analysis)])).into_owned()
    }
}

/// `text` as a basic string of TOML, which has the escapes of JSON.
fn toml_text(text: &str) -> String {
    escape_json(&Value::from(text).to_string()).into_owned()
}

/// The first place where a file of a pack differs from the derived one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    file: String,
    place: String,
    stored: String,
    derived: String,
    /// Number of such places.
    count: usize,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, stored, derived, count } = self;
        write!(f, "{file} {place}: {stored} instead of {derived}")?;
        if *count > 1 { write!(f, ", and {} more", count - 1) } else { Ok(()) }
    }
}

impl Difference {
    /// A file that is missing, or that cannot be read.
    pub fn whole_file(file: &str, stored: &str) -> Self {
        let (place, derived) = ("as a whole".to_owned(), "a file that follows from the record".to_owned());
        Self { file: file.to_owned(), place, stored: escape(stored), derived, count: 1 }
    }

    /// Compares `stored` with `derived` to the character.
    pub fn of_text(file: &str, stored: &str, derived: &str) -> Option<Self> {
        if stored == derived {
            return None;
        }
        let [stored, derived] = [stored, derived].map(|text| text.split('\n').collect::<Vec<_>>());
        let differ = |at: &usize| stored.get(*at) != derived.get(*at);
        let differing: Vec<usize> = (0..stored.len().max(derived.len())).filter(differ).collect();
        let (first, count) = (*differing.first()?, differing.len());
        let [stored, derived] = [&stored, &derived].map(|lines| lines.get(first).copied().unwrap_or_default());
        let (stored, derived) = excerpts(stored, derived);
        Some(Self { file: file.to_owned(), place: format!("line {}", first + 1), stored, derived, count })
    }

    /// Compares the figures of `stored` with those of `derived`. Another version may have written `stored`, with fewer
    /// figures and other words.
    pub fn of_figures(file: &str, stored: &str, derived: &str) -> Option<Self> {
        if stored == derived {
            return None;
        }
        let parsed = [stored, derived].map(serde_json::from_str::<Value>);
        let [Ok(stored), Ok(derived)] = parsed else { return Some(Self::whole_file(file, "no JSON")) };
        let mut found = Vec::new();
        compare_figures(&stored, Some(&derived), "", &mut found);
        let count = found.len();
        let (place, stored, derived) = found.into_iter().next()?;
        Some(Self { file: file.to_owned(), place, stored, derived, count })
    }
}

/// Adds each figure of `stored` that `derived` does not have, or has otherwise, to `found`.
fn compare_figures(stored: &Value, derived: Option<&Value>, path: &str, found: &mut Vec<(String, String, String)>) {
    match (stored, derived) {
        (Value::Object(fields), Some(Value::Object(others))) => {
            for (name, value) in fields.iter().filter(|(name, _)| !WORDS.contains(&name.as_str())) {
                let dot = if path.is_empty() { "" } else { "." };
                compare_figures(value, others.get(name), &format!("{path}{dot}{name}"), found);
            }
        }
        (Value::Array(values), Some(Value::Array(others))) if values.len() == others.len() => {
            for (at, (value, other)) in values.iter().zip(others).enumerate() {
                compare_figures(value, Some(other), &format!("{path}[{at}]"), found);
            }
        }
        (Value::Number(a), Some(Value::Number(b))) if is_same(a, b) => {}
        (Value::Null, _) | (Value::String(_), Some(Value::String(_))) => {}
        (a, Some(b)) if a == b => {}
        (a, b) => {
            let text = |value: &Value| excerpt(&value.to_string(), 0);
            found.push((escape(path), text(a), b.map_or_else(|| "nothing".to_owned(), text)));
        }
    }
}

/// Parts of a summary with version-dependent words.
const WORDS: [&str; 2] = ["findings", "validity"];

fn is_same(a: &serde_json::Number, b: &serde_json::Number) -> bool {
    let floats = (a.is_f64() || b.is_f64()).then(|| a.as_f64().zip(b.as_f64())).flatten();
    floats.map_or_else(|| a == b, |(a, b)| (a - b).abs() <= ROUNDING * a.abs())
}

/// Both lines around the first character in which they differ.
fn excerpts(a: &str, b: &str) -> (String, String) {
    let same = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let from = if a.chars().count().max(b.chars().count()) <= EXCERPT { 0 } else { same.saturating_sub(EXCERPT / 2) };
    (excerpt(a, from), excerpt(b, from))
}

fn excerpt(line: &str, from: usize) -> String {
    let text = line.trim_end();
    if text.is_empty() {
        return "nothing".to_owned();
    }
    let cut: String = text.chars().skip(from).take(EXCERPT).collect();
    format!("`{}`", escape(cut.trim()))
}
