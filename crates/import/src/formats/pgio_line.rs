//! The line that pgio prints at its end.

mod read;
mod to_run;

use super::format::Format;
use crate::input;

/// Output of `runit.sh` of pgio.
pub(super) static PGIO_LINE: Format = Format {
    what: "pgio result",
    // By the words of the line.
    recognises: |head| head.lines().any(read::is_result),
    read: |name, input| {
        let text = input::text(name, input)?;
        let mut steps = to_run::steps(name, &read::results(&text))?;
        if let Some(step) = steps.first_mut() {
            let damaged = text.lines().filter(|line| line.contains("RIOPS") && !read::is_result(line)).count();
            step.add_damage(damaged as u64, "line");
        }
        Ok(steps)
    },
    waits: None,
};
