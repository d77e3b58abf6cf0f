//! Sources of the form "a name, a number, a line each".

use std::io;
use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::contract::metric::{Metric, MetricKind, SampledSource, Sampler};
use mindful_host::kernel_file::{KernelFile, named_values};

/// A line worth keeping: its name, unit, kind and meaning.
pub(crate) type Line = (&'static str, &'static str, MetricKind, &'static str);

/// Samples the wanted lines of such a file.
#[derive(Debug)]
pub(crate) struct NamedValues {
    file: KernelFile,
    source: SampledSource,
}

impl NamedValues {
    /// Keeps the lines in `wanted` that this kernel provides.
    pub(crate) fn open(name: &'static str, path: PathBuf, wanted: &[Line]) -> io::Result<Self> {
        let mut file = KernelFile::open(path)?;
        let present = named_values(file.text()?);
        let metrics: Vec<Metric> = wanted
            .iter()
            .filter(|(name, ..)| present.contains_key(name))
            .map(|(name, unit, kind, help)| Metric {
                name: (*name).to_owned(),
                unit: (*unit).to_owned(),
                kind: *kind,
                help: (*help).to_owned(),
            })
            .collect();
        Ok(Self { file, source: SampledSource::new(name, metrics) })
    }
}

impl Sampler for NamedValues {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let values = named_values(self.file.read()?);
        Ok(self
            .source
            .metrics
            .iter()
            .map(|metric| values.get(metric.name.as_str()).map(|value| *value as f64))
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
