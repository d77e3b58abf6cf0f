//! What speaks against a result, or is good to know, with the next move.

use mindful_core::result::{Finding, Severity};

use super::page::Page;
use crate::escape;
use crate::style::Tone;

/// All findings, the worst first; what is only good to know without its text.
pub fn findings(page: &mut Page, findings: &[Finding]) {
    if findings.is_empty() {
        return;
    }
    page.heading("findings");
    for finding in findings {
        let (word, tone) = match finding.severity {
            Severity::Error => ("error", Tone::Bad),
            Severity::Warning => ("warning", Tone::Doubtful),
            Severity::Info => ("info", Tone::Faint),
        };
        let title = format!("{}: {}", escape(&finding.code), escape(&finding.evidence));
        page.hanging(2, tone, word, &title);
        if finding.severity > Severity::Info {
            page.wrapped(6, &escape(&finding.text));
        }
    }
}

/// Remarks made on the way.
pub fn notes(page: &mut Page, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    page.heading("notes");
    for note in notes {
        page.wrapped(2, &escape(note));
    }
}
