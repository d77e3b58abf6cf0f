//! Sources of the form "a name, a number, a line each".

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::metric::{Metric, MetricKind, Sampler};

use crate::proc_file::ProcFile;

/// The numbers by name; a colon after the name and a unit after the number are left out.
pub(crate) fn parse(text: &str) -> BTreeMap<&str, u64> {
    let pairs = text.lines().filter_map(|line| {
        let mut words = line.split_ascii_whitespace();
        let name = words.next()?.trim_end_matches(':');
        Some((name, words.next()?.parse().ok()?))
    });
    pairs.collect()
}

/// A line worth keeping: its name, unit, kind and meaning.
pub(crate) type Line = (&'static str, &'static str, MetricKind, &'static str);

/// Samples the wanted lines of such a file.
#[derive(Debug)]
pub(crate) struct NamedValues {
    name: &'static str,
    file: ProcFile,
    metrics: Vec<Metric>,
}

impl NamedValues {
    /// Keeps those of `wanted` that this kernel has.
    pub(crate) fn open(name: &'static str, path: PathBuf, wanted: &[Line]) -> io::Result<Self> {
        let mut file = ProcFile::open(path)?;
        let present = parse(file.text()?);
        let metrics = wanted
            .iter()
            .filter(|(name, ..)| present.contains_key(name))
            .map(|(name, unit, kind, help)| Metric {
                name: (*name).to_owned(),
                unit: (*unit).to_owned(),
                kind: *kind,
                help: (*help).to_owned(),
            })
            .collect();
        Ok(Self { name, file, metrics })
    }
}

impl Sampler for NamedValues {
    fn name(&self) -> &str {
        self.name
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let values = parse(self.file.read()?);
        Ok(self.metrics.iter().map(|metric| values.get(metric.name.as_str()).map(|value| *value as f64)).collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_of_line_are_read() {
        let values = parse("pgpgin 1789041\nMemTotal:       24684084 kB\nHugePages_Total:       0\ntorn\nx -1\n");
        assert_eq!(
            values.into_iter().collect::<Vec<_>>(),
            [("HugePages_Total", 0), ("MemTotal", 24_684_084), ("pgpgin", 1_789_041)]
        );
    }

    #[test]
    fn a_line_this_kernel_lacks_is_no_metric() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmstat");
        std::fs::write(&path, "pgpgin 7\n").unwrap();
        let wanted = [
            ("pgpgin", "KiB", MetricKind::Counter, "read"),
            ("pgwonder", "1", MetricKind::Counter, "not in this kernel"),
        ];
        let mut sampler = NamedValues::open("vmstat", path.clone(), &wanted).unwrap();
        assert_eq!(sampler.metrics().len(), 1);
        assert_eq!(sampler.read().unwrap(), [Some(7.0)]);
        std::fs::write(&path, "other 7\n").unwrap();
        assert_eq!(sampler.read().unwrap(), [None]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_text_makes_the_parser_panic(text in "([a-z]+|:| |[0-9]+|\\PC|\n){0,60}") {
            let _ = parse(&text);
        }
    }
}
