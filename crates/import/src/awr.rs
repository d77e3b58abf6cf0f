//! AWR reports, text and HTML, of an instance or of a cluster.

mod read;
mod recognise;
mod to_run;

use std::io::BufRead;

use mindful_core::Result;

use crate::format::Format;
use crate::input;
use crate::reported::Reported;

/// What `awrrpt.sql`, `awrgrpt.sql` and their kin write.
pub struct Awr;

impl Format for Awr {
    fn what(&self) -> &'static str {
        "AWR report"
    }

    fn recognises(&self, head: &str) -> bool {
        recognise::recognises(head)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<Reported>> {
        to_run::reported(name, read::reports(&input::text(name, input)?))
    }
}
