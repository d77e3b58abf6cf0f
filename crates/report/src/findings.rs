//! What speaks against a result, or is good to know: the same lines in every report.

use mindful_core::result::{Finding, Severity};

use crate::panel::Panel;
use crate::style::{Detail, Tone};
use crate::{escape, fold};

/// A line a code, however many steps it is true of, the gravest first. In full each has its evidence, and what it does to
/// the result; in short those that are only good to know are one line.
pub(crate) fn panel(findings: &[Finding], detail: Detail) -> Panel {
    let mut page = Panel::default();
    if findings.is_empty() {
        return page;
    }
    page.heading("findings");
    let kinds = kinds(findings);
    for kind in &kinds {
        let finding = kind[0];
        let (word, tone) = match finding.severity {
            Severity::Error => ("error", Tone::Bad),
            Severity::Warning => ("warning", Tone::Doubtful),
            Severity::Info if detail == Detail::Short => continue,
            Severity::Info => ("info", Tone::Faint),
        };
        page.hanging(
            2,
            tone,
            &format!("{word:7}"),
            &format!("{}: {}", escape(&finding.code), escape(&fold::evidence(kind, detail))),
        );
        if finding.severity > Severity::Info && detail == Detail::Full {
            page.wrapped(6, &escape(&finding.text));
        }
    }
    let infos: Vec<_> = kinds.iter().filter(|kind| kind[0].severity == Severity::Info).collect();
    if detail == Detail::Short && !infos.is_empty() {
        let codes: Vec<_> = infos.iter().map(|kind| escape(&kind[0].code)).collect();
        page.hanging(2, Tone::Faint, "info   ", &codes.join(", "));
    }
    page
}

/// Findings of one code and severity together, in the order in which each kind comes first.
pub(crate) fn kinds(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let mut kinds: Vec<Vec<&Finding>> = Vec::new();
    for finding in findings {
        let same = |kind: &&mut Vec<&Finding>| (kind[0].severity, &kind[0].code) == (finding.severity, &finding.code);
        match kinds.iter_mut().find(same) {
            Some(kind) => kind.push(finding),
            None => kinds.push(vec![finding]),
        }
    }
    kinds
}

/// Remarks made on the way.
pub(crate) fn notes(notes: &[String]) -> Panel {
    let mut page = Panel::default();
    if notes.is_empty() {
        return page;
    }
    page.heading("notes");
    for note in notes {
        page.wrapped(2, &escape(note));
    }
    page
}
