//! The line that pgio prints at its end.

mod read;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;

fn is_result(line: &str) -> bool {
    line.contains("RIOPS >") && line.contains("Run time:")
}

/// Output of `runit.sh` of pgio.
pub(crate) struct PgioLine;

impl Format for PgioLine {
    fn what(&self) -> &'static str {
        "pgio result"
    }

    fn recognises(&self, head: &str) -> bool {
        // By the words of the line.
        head.lines().any(is_result)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        let text = input::text(name, input)?;
        let mut steps = to_run::steps(name, &read::results(&text))?;
        if let Some(step) = steps.first_mut() {
            let damaged = text.lines().filter(|line| line.contains("RIOPS") && !is_result(line)).count();
            step.add_damage(damaged as u64, "line");
        }
        Ok(steps)
    }
}
