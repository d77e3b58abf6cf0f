//! Findings, with the same lines in every report.

pub(crate) mod fold;

use std::collections::HashSet;

use mindful_core::result::{Finding, Severity};

use crate::panels::Panel;
use crate::style::{Detail, Tone};
use crate::{escape, grouped};

/// One line for each kind, however many steps it is true of, the most severe first. In full, each has its evidence and its
/// effect on the result. In short, infos share one line.
pub(crate) fn panel(findings: &[Finding], detail: Detail) -> Panel {
    let mut page = Panel::default();
    if findings.is_empty() {
        return page;
    }
    page.heading("findings");
    let kinds = kinds(findings);
    for kind in &kinds {
        let finding = kind[0];
        let tone = match finding.severity {
            Severity::Error => Tone::Bad,
            Severity::Warning => Tone::Doubtful,
            Severity::Info if detail == Detail::Short => continue,
            Severity::Info => Tone::Faint,
        };
        page.hanging(
            2,
            tone,
            &format!("{:7}", finding.severity),
            &format!("{}: {}", escape(&finding.code), escape(&fold::evidence(kind, detail))),
        );
        if finding.severity > Severity::Info && detail == Detail::Full {
            page.wrapped(6, &escape(&finding.text));
        }
    }
    let infos: Vec<_> = kinds.iter().filter(|kind| kind[0].severity == Severity::Info).collect();
    if detail == Detail::Short && !infos.is_empty() {
        page.hanging(2, Tone::Faint, "info   ", &codes(infos.into_iter()));
    }
    page
}

/// Findings grouped by kind, in the order of their first occurrence. A kind has one severity, one code and one text,
/// figures aside: a code such as `host-setting` covers several settings, each with its own text.
pub(crate) fn kinds(findings: &[Finding]) -> Vec<Vec<&Finding>> {
    let kind = |finding: &Finding| (finding.severity, finding.code.clone(), fold::wording(&finding.text));
    grouped(findings.iter().map(|finding| (kind(finding), finding))).into_iter().map(|(_, kind)| kind).collect()
}

pub(crate) fn codes<'a>(kinds: impl Iterator<Item = &'a Vec<&'a Finding>>) -> String {
    let mut seen = HashSet::new();
    let codes = kinds.map(|kind| escape(&kind[0].code)).filter(|code| seen.insert(code.clone()));
    codes.collect::<Vec<_>>().join(", ")
}

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
