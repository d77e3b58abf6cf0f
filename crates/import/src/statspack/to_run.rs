//! Reports as steps.

use mindful_core::Result;

use super::read::Read;
use crate::report;
use crate::reported::Reported;

/// A step of each report; of several in one file each is named by its place.
pub fn reported(name: &str, reports: Vec<Read>) -> Result<Vec<Reported>> {
    let many = reports.len() > 1;
    let step = |(number, (report, ended)): (usize, Read)| {
        let file = if many { format!("{name}#{number}") } else { name.to_owned() };
        report::reported(&file, "Statspack report", report, ended)
    };
    (1..).zip(reports).map(step).collect()
}
