//! What speaks against a result, or is good to know, with the next move.

use mindful_core::result::{Finding, Severity};

use crate::escape;
use crate::panel::Panel;
use crate::style::Tone;

/// All findings, the worst first; what is only good to know without its text.
pub fn findings(findings: &[Finding]) -> Panel {
    let mut page = Panel::default();
    if findings.is_empty() {
        return page;
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
    page
}

/// Remarks made on the way.
pub fn notes(notes: &[String]) -> Panel {
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
