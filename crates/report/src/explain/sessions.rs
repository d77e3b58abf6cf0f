//! Each session: its start, its end, and its work.

use std::fmt::Write as _;

use mindful_analyze::Analysis;

pub(super) const NAMES: [&str; 4] = ["by_session", "start_ms", "stop_ms", "ops"];

pub(super) fn explained(analysis: &Analysis) -> String {
    let mut text = String::from(
        "by_session\n  = begin of a session's first slice and end of its last, after the instant chosen for all to start\n",
    );
    for (number, step) in (1..).zip(&analysis.steps) {
        let Some(sessions) = &step.summary.by_session else {
            let _ = writeln!(text, "step {number}: unknown");
            continue;
        };
        let _ = writeln!(text, "step {number}: {}", crate::figure::format_counted(sessions.ops.len(), "session"));
        let times = sessions.start_ms.iter().zip(&sessions.stop_ms);
        for (session, ((start, stop), ops)) in times.zip(&sessions.ops).enumerate() {
            let _ = writeln!(text, "  session {session}: from {start:.3} to {stop:.3} ms, {ops:.0} operations");
        }
    }
    text
}
