//! One line a step, for spreadsheets.

use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::StepAnalysis;
use mindful_analyze::catalogue::{self, Figure};
use mindful_core::plan::Price;

/// A header and a line a step; an unknown figure is an empty field.
pub fn steps(analysis: &Analysis) -> String {
    let summary = &analysis.summary;
    let columns = catalogue::csv();
    let titles: Vec<_> = columns.clone().map(Figure::title).collect();
    let texts = "like,commit,point,drift_check,verdict,limited_by,price";
    // The column exists only with a notice, so that other files keep their format.
    let notice = summary.notice.as_ref().map(|notice| format!(",{}", field(notice))).unwrap_or_default();
    let of_notice = if notice.is_empty() { "" } else { ",notice" };
    let mut text = format!("id,tag,validity,step,{},{texts}{of_notice}\n", titles.join(","));
    let price = summary.price.as_ref().map(Price::in_full).unwrap_or_default();
    for (number, step) in (1..).zip(&analysis.steps) {
        let validity = format!("{:?}", summary.validity).to_lowercase();
        let tag = field(summary.tag.as_deref().unwrap_or(""));
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{tag},{validity},{number}", field(&summary.id));
        for figure in columns.clone() {
            text.push(',');
            if let Some(value) = (figure.row.value)(step) {
                text.push_str(&value.to_string());
            }
        }
        text.push_str(&names(step, &price));
        text.push_str(&notice);
        text.push('\n');
    }
    text
}

/// The text columns of a step, each after its comma.
fn names(step: &StepAnalysis, price: &str) -> String {
    let StepAnalysis { summary, verdict, .. } = step;
    let point: Vec<_> = summary.point.values.iter().map(|(key, value)| format!("{key} {value}")).collect();
    let limit = verdict.as_ref().map_or("", |verdict| verdict.limit.name());
    let (like, commit) = (summary.like.kit().unwrap_or("mindful"), summary.commit.as_deref().unwrap_or(""));
    let check = if summary.point.drift_check { "yes" } else { "no" };
    let (limit, price) = (field(limit), field(price));
    // `verdict` and `limited_by` are one thing: format 1 has both names.
    format!(",{},{},{},{check},{limit},{limit},{price}", field(like), field(commit), field(&point.join("; ")))
}

/// A text field: quoted when it must be (RFC 4180), and never the start of a spreadsheet's formula.
pub(crate) fn field(text: &str) -> String {
    let text = crate::escape(text);
    let formula = text.starts_with(['=', '+', '-', '@']);
    let text = if formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\'']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
